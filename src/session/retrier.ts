/**
 * Sends failed requests again.
 *
 * @module
 */

import type { HookRunner } from "../runner.ts";
import type { ModelErrorEvent } from "../models/model.ts";
import { isRetryable, retryDelay, type RetrySettings } from "./retry.ts";
import type { SessionEvent } from "./session_events.ts";
import { delay } from "./wait.ts";

/** What a retrier needs of the session. */
export interface RetrierHost {
  /** Emits an event to the hooks, and does not wait much longer than until the signal aborts. */
  emit(event: Parameters<HookRunner["emit"]>[0], signal: AbortSignal): Promise<void>;
  /** Tells those who watch the session. */
  tell(event: SessionEvent): void;
}

/** Sends failed requests of one session again. Each `auto_retry_start` is followed by one `auto_retry_end`. */
export class Retrier {
  readonly #host: RetrierHost;
  readonly #settings: RetrySettings;
  #attempt = 0;
  #isOpen = false;

  /**
   * Makes a retrier.
   *
   * @param host The session.
   * @param settings The settings.
   */
  constructor(host: RetrierHost, settings: RetrySettings) {
    this.#host = host;
    this.#settings = settings;
  }

  /**
   * Waits before another attempt.
   *
   * @param failure What went wrong.
   * @param signal Ends the wait.
   * @returns Whether the request is to be sent again.
   */
  async wait(failure: ModelErrorEvent, signal: AbortSignal): Promise<boolean> {
    const { enabled, maxRetries, maxDelayMs } = this.#settings;
    if (!enabled || this.#attempt >= maxRetries || !isRetryable(failure) || signal.aborted) return false;
    const delayMs = retryDelay(this.#attempt + 1, failure, this.#settings);
    if (delayMs > maxDelayMs) {
      const message = `The provider asks to be left alone for ${Math.ceil(delayMs / 1_000)} s; try again then`;
      this.#host.tell({ type: "notice", level: "error", message });
      return false;
    }
    this.#attempt++;
    this.#isOpen = true;
    const start = {
      type: "auto_retry_start" as const,
      attempt: this.#attempt,
      maxAttempts: maxRetries,
      delayMs,
      errorMessage: failure.message,
    };
    await this.#host.emit(start, signal);
    this.#host.tell(start);
    try {
      await delay(delayMs, signal);
      return true;
    } catch {
      await this.end("Retry cancelled", signal);
      return false;
    }
  }

  /**
   * An answer came, or failed, or was given up: closes an attempt that is open.
   *
   * @param finalError Why it failed; nothing when it went through.
   * @param signal Ends the waiting for hooks.
   */
  async end(finalError: string | undefined, signal: AbortSignal): Promise<void> {
    const success = finalError === undefined;
    const attempt = this.#attempt;
    if (success) this.#attempt = 0;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const end = { type: "auto_retry_end" as const, success, attempt, ...finalError !== undefined && { finalError } };
    await this.#host.emit(end, signal);
    this.#host.tell(end);
  }

  /** A new prompt counts its attempts anew. */
  reset(): void {
    this.#attempt = 0;
  }
}
