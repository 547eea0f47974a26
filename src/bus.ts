/**
 * Messages of hooks to each other.
 *
 * @module
 */

import type { HookLogger } from "./api.ts";
import { errorText } from "./values.ts";

/** What hooks find as `pi.events`. */
export interface HookEventBus {
  /**
   * Listens on a channel.
   *
   * @returns Ends the listening.
   */
  on(channel: string, listener: (data: unknown) => void): () => void;
  /** Tells all that listen on a channel: at once those of this process, soon those of isolated hooks, which get a copy. */
  emit(channel: string, data?: unknown): void;
}

/** One hook's end of the bus. */
export class BusEnd implements HookEventBus {
  readonly #listeners = new Map<string, Set<(data: unknown) => void>>();
  readonly #logger: HookLogger;
  #publish: ((channel: string, data: unknown) => void) | undefined;
  /** What was said before there were others to hear it. */
  #early: [channel: string, data: unknown][] = [];

  /** @param logger Told of listeners that throw. */
  constructor(logger: HookLogger) {
    this.#logger = logger;
  }

  /** Listens on a channel. */
  on(channel: string, listener: (data: unknown) => void): () => void {
    if (typeof listener !== "function") throw new TypeError("pi.events.on(channel, listener) needs a function");
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Tells all that listen on a channel. */
  emit(channel: string, data?: unknown): void {
    this.deliver(channel, data);
    if (this.#publish !== undefined) this.#publish(channel, data);
    else if (this.#early.length < 1_000) this.#early.push([channel, data]);
  }

  /** Takes what another hook said. */
  deliver(channel: string, data: unknown): void {
    for (const listener of [...this.#listeners.get(channel) ?? []]) {
      try {
        Promise.resolve(listener(data) as unknown).catch((error) => this.#failed(channel, error));
      } catch (error) {
        this.#failed(channel, error);
      }
    }
  }

  /** Joins it to the others; what was said before is passed on now. */
  connect(publish: (channel: string, data: unknown) => void): void {
    this.#publish = publish;
    for (const [channel, data] of this.#early.splice(0)) publish(channel, data);
  }

  #failed(channel: string, error: unknown): void {
    this.#logger.error(`a listener of pi.events on ${JSON.stringify(channel)} threw: ${errorText(error)}`);
  }
}
