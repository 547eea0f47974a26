/**
 * Text that waits for whoever reads it.
 *
 * @module
 */

import { delay } from "../src/session/wait.ts";

/** Most characters that may wait when more is added. */
const MAX_WAITING = 128 * 1024 * 1024;

/** Characters of which a reader is so far behind that nothing more should be asked for. */
const FAR_BEHIND = 16 * 1024 * 1024;

/** Texts that are joined before they are written. */
const BATCH = 100;
const encoder = new TextEncoder();

/** Writes one thing after the other, while the program goes on. */
export class WriteQueue {
  readonly #stream: { write(bytes: Uint8Array): Promise<number> };
  readonly #atomic: number;
  readonly #gone: () => void;
  #waiting: string[] = [];
  #size = 0;
  #writing: Promise<void> = Promise.resolve();
  #busy = false;
  #closed = false;
  readonly #closing = Promise.withResolvers<void>();
  /** Resolves when the reader is not far behind any more; `undefined` while it is not, or nobody asks. */
  #caughtUp: PromiseWithResolvers<void> | undefined;

  /**
   * @param stream Where to.
   * @param atomic Bytes that are written whole or not at all.
   * @param gone Called once, when nobody reads any more, or reads too slowly.
   */
  constructor(stream: { write(bytes: Uint8Array): Promise<number> }, atomic: number, gone: () => void) {
    this.#stream = stream;
    this.#atomic = atomic;
    this.#gone = gone;
  }

  /** Adds text to what waits. */
  add(text: string): void {
    if (this.#closed) return;
    // One record may have any size; what must not grow is what waits for a reader that does not read.
    if (this.#size > MAX_WAITING) return this.#close();
    this.#waiting.push(text);
    this.#size += text.length;
    if (!this.#busy) this.#writing = this.#write();
  }

  /** Resolves when the reader is not far behind any more, or is gone; `undefined` when it is not now. */
  caughtUp(): Promise<void> | undefined {
    if (this.#closed || this.#size <= FAR_BEHIND) return undefined;
    return (this.#caughtUp ??= Promise.withResolvers()).promise;
  }

  /** Resolves when nothing waits any more. */
  async written(): Promise<void> {
    while (this.#busy && !this.#closed) await Promise.race([this.#writing, this.#closing.promise]);
  }

  async #write(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const texts = this.#waiting.splice(0, BATCH);
      for (const piece of pieces(texts, this.#atomic)) await this.#writePiece(piece);
      for (const text of texts) this.#size -= text.length;
      if (this.#size <= FAR_BEHIND) this.#letGo();
    }
    // At once, so that what is added from now on is not left to a write that has ended.
    this.#busy = false;
  }

  async #writePiece(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.length && !this.#closed;) {
      try {
        from += await this.#stream.write(piece.subarray(from));
      } catch (error) {
        if (!(error instanceof Deno.errors.WouldBlock)) return this.#close();
        await delay(1, new AbortController().signal);
      }
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = [];
    this.#closing.resolve();
    this.#letGo();
    this.#gone();
  }

  #letGo(): void {
    this.#caughtUp?.resolve();
    this.#caughtUp = undefined;
  }
}

/** Joins what is small and cuts what is large. */
function* pieces(texts: readonly string[], size: number): Generator<Uint8Array> {
  const piece = new Uint8Array(size);
  let filled = 0;
  for (const text of texts) {
    const chunk = encoder.encode(text);
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + size - filled);
      piece.set(part, filled);
      from += part.length;
      filled += part.length;
      if (filled < size) continue;
      yield piece;
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}
