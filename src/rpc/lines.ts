/**
 * Lines of a program that is not ours.
 *
 * @module
 */

import { MAX_LINE, RpcError } from "./protocol.ts";

/** Cuts bytes into lines in bounded memory: what is no line is an error in its place, and what follows it counts again. */
export class Lines {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #limit: number;
  // One buffer that grows, since many small pieces would keep many times their size.
  #begun = new Uint8Array(0);
  #size = 0;
  #skipping = false;

  /** @param limit Most bytes of a line. */
  constructor(limit: number = MAX_LINE) {
    this.#limit = limit;
  }

  /** Takes bytes and gives the lines that they end. */
  *push(bytes: Uint8Array): Generator<string | RpcError> {
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      yield* this.#keep(bytes.subarray(start, end));
      yield* this.end();
      start = end + 1;
    }
    yield* this.#keep(bytes.subarray(start));
  }

  /** Gives the line that has begun: nothing ends it any more. */
  *end(): Generator<string | RpcError> {
    const line = this.#begun.subarray(0, this.#size);
    this.#forget();
    this.#skipping = false;
    if (line.length === 0) return;
    try {
      yield this.#decoder.decode(line);
    } catch {
      yield new RpcError("malformed", "The line is not UTF-8");
    }
  }

  *#keep(piece: Uint8Array): Generator<RpcError> {
    if (this.#skipping) return;
    const size = this.#size + piece.length;
    if (size > this.#limit) {
      this.#forget();
      this.#skipping = true;
      yield new RpcError("too_long", `The line has more than ${this.#limit} bytes, and is skipped`);
      return;
    }
    if (size > this.#begun.length) {
      const grown = new Uint8Array(Math.max(size, 2 * this.#begun.length));
      grown.set(this.#begun.subarray(0, this.#size));
      this.#begun = grown;
    }
    this.#begun.set(piece, this.#size);
    this.#size = size;
  }

  #forget(): void {
    this.#begun = new Uint8Array(0);
    this.#size = 0;
  }
}
