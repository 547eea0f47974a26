/**
 * Compacts a session behind its hooks.
 *
 * @module
 */

import type { CompactionEntry } from "../entries.ts";
import type { AutoCompactionStartEvent, CompactionResult } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import type { LanguageModel, ModelErrorEvent } from "../models/model.ts";
import type { HookRunner } from "../runner.ts";
import { errorText, isRecord } from "../values.ts";
import {
  type CompactionSettings,
  generateCompaction,
  NothingToCompactError,
  prepareCompaction,
  shouldCompact,
} from "./compaction.ts";
import { isRetryable, retryDelay, type RetrySettings } from "./retry.ts";
import type { SessionEvent } from "./session_events.ts";
import type { SessionManager } from "./store.ts";
import { contextTokens } from "./tokens.ts";
import { delay, settle } from "./wait.ts";

/** What a compactor needs of the session. */
export interface CompactorHost {
  /** Knows the hooks. */
  readonly runner: HookRunner;
  /** The session's entries. */
  manager(): SessionManager;
  /** The agent's messages. */
  messages(): readonly AgentMessage[];
  /** The model in use. */
  model(): LanguageModel | undefined;
  /** Builds the agent's memory anew. */
  restore(): void;
  /** Emits an event to the hooks, and does not wait much longer than until the signal aborts. */
  emit(event: Parameters<HookRunner["emit"]>[0], signal: AbortSignal): Promise<void>;
  /** Tells those who watch the session. */
  tell(event: SessionEvent): void;
}

/** A compaction that a hook stopped. */
export class CompactionCancelledError extends Error {
  /** Tells it from other errors. */
  override name = "CompactionCancelledError";
}

/** Compacts one session. */
export class Compactor {
  readonly #host: CompactorHost;
  readonly #settings: CompactionSettings;
  readonly #retry: RetrySettings;

  /**
   * Makes a compactor.
   *
   * @param host The session.
   * @param settings The settings.
   * @param retry How a summary that failed is asked for again.
   */
  constructor(host: CompactorHost, settings: CompactionSettings, retry: RetrySettings) {
    this.#host = host;
    this.#settings = settings;
    this.#retry = retry;
  }

  /** Whether the context is above the threshold, and compaction by itself is on. */
  isDue(): boolean {
    const window = this.#host.model()?.contextWindow;
    if (!this.#settings.enabled || window === undefined) return false;
    return shouldCompact(contextTokens(this.#host.messages()), window, this.#settings);
  }

  /**
   * Compacts because a person asked for it.
   *
   * @param customInstructions What the summary should mind.
   * @param signal Ends it.
   * @throws {NothingToCompactError} When there is too little.
   * @throws {CompactionCancelledError} When a hook stops it.
   * @throws {Error} When the model fails; the signal's reason when it aborts. Nothing has changed then.
   */
  async compact(customInstructions: string | undefined, signal: AbortSignal): Promise<CompactionResult> {
    const { runner } = this.#host;
    const manager = this.#host.manager();
    const branchEntries = manager.getBranch();
    const preparation = prepareCompaction(branchEntries, this.#settings);
    const answer = await settle(
      runner.emit({
        type: "session_before_compact",
        preparation,
        branchEntries,
        ...customInstructions !== undefined && { customInstructions },
        signal,
      }),
      signal,
    );
    if (answer?.cancel) throw new CompactionCancelledError("Compaction cancelled");
    const own = answer?.compaction;
    const result = own !== undefined
      ? checkCompaction(own)
      : await this.#generate(preparation, customInstructions, signal);
    signal.throwIfAborted();
    const fromExtension = own !== undefined;
    const id = manager.appendCompaction({ ...result, ...fromExtension && { fromExtension } });
    this.#host.restore();
    const compactionEntry = manager.getEntry(id) as CompactionEntry;
    await this.#host.emit({ type: "session_compact", compactionEntry, fromExtension }, signal);
    this.#host.tell({ type: "session_compact", compactionEntry, fromExtension });
    return result;
  }

  /**
   * Compacts because the context is full. Emits `auto_compaction_start` and `auto_compaction_end` whatever comes of it.
   *
   * @param reason Why.
   * @param willRetry Whether a request that failed is sent again after it.
   * @param signal Ends it.
   * @returns Whether the context was compacted.
   */
  async autoCompact(
    reason: AutoCompactionStartEvent["reason"],
    willRetry: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const action = "context-full";
    const start = { type: "auto_compaction_start" as const, reason, action } as const;
    await this.#host.emit(start, signal);
    this.#host.tell(start);
    let result: CompactionResult | undefined;
    let skipped = false;
    let errorMessage: string | undefined;
    let aborted = false;
    try {
      if (this.#host.model() === undefined) skipped = true;
      else result = await this.compact(undefined, signal);
    } catch (error) {
      if (error instanceof NothingToCompactError) skipped = true;
      else if (signal.aborted || error instanceof CompactionCancelledError) aborted = true;
      else {
        const what = reason === "overflow" ? "Context overflow recovery failed" : "Auto-compaction failed";
        errorMessage = `${what}: ${errorText(error)}`;
      }
    }
    const end = {
      type: "auto_compaction_end" as const,
      action,
      result,
      aborted,
      willRetry: willRetry && result !== undefined && !signal.aborted,
      ...errorMessage !== undefined && { errorMessage },
      ...skipped && { skipped },
    } as const;
    await this.#host.emit(end, signal);
    this.#host.tell(end);
    return result !== undefined;
  }

  async #generate(
    preparation: ReturnType<typeof prepareCompaction>,
    customInstructions: string | undefined,
    signal: AbortSignal,
  ): Promise<CompactionResult> {
    const model = this.#host.model();
    if (model === undefined) throw new Error("No model to write the summary");
    const hooks = await settle(
      this.#host.runner.emit({
        type: "session.compacting",
        sessionId: this.#host.manager().getSessionId(),
        messages: [...preparation.messagesToSummarize, ...preparation.turnPrefixMessages],
      }),
      signal,
    );
    for (let attempt = 1;; attempt++) {
      try {
        return await generateCompaction(preparation, model, {
          ...customInstructions !== undefined && { customInstructions },
          ...hooks !== undefined && { hooks },
          signal,
        });
      } catch (error) {
        if (signal.aborted || !await this.#waits(attempt, error, signal)) throw error;
      }
    }
  }

  /** Waits before a summary is asked for once more; tells whether it is. */
  async #waits(attempt: number, error: unknown, signal: AbortSignal): Promise<boolean> {
    const { enabled, maxRetries, maxDelayMs } = this.#retry;
    const failure = isRecord(error) ? error.failure as ModelErrorEvent | undefined : undefined;
    if (!enabled || failure === undefined || attempt > maxRetries || !isRetryable(failure)) return false;
    const delayMs = retryDelay(attempt, failure, this.#retry);
    if (delayMs > maxDelayMs) return false;
    this.#host.tell({
      type: "notice",
      level: "warning",
      message: `The summary failed (${failure.message}) and is asked for again in ${Math.ceil(delayMs / 1_000)} s`,
    });
    await delay(delayMs, signal);
    return true;
  }
}

/** A hook's own compaction is kept as it is; what cannot be kept is refused before anything changes. */
function checkCompaction(compaction: CompactionResult): CompactionResult {
  const { summary, firstKeptEntryId, tokensBefore } = isRecord(compaction) ? compaction : {} as CompactionResult;
  if (typeof summary !== "string" || typeof firstKeptEntryId !== "string") {
    throw new TypeError("The compaction of a hook needs summary and firstKeptEntryId, which are strings");
  }
  return { ...compaction, tokensBefore: typeof tokensBefore === "number" ? tokensBefore : 0 };
}
