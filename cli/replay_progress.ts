/**
 * How far a replay is, for people who wait for it.
 *
 * @module
 */

import type { ReplayProgress } from "../src/replay/mod.ts";

const LONG = 4 << 20;
const WIDTH = 24;
const EVERY_MS = 100;
const encoder = new TextEncoder();
// Bound now: later, what others print on standard error is sent elsewhere.
const print = Deno.stderr.writeSync.bind(Deno.stderr);

/** A bar on the terminal, for long files only; nothing where there is no terminal. */
export class ProgressBar {
  readonly #enabled: boolean;
  #shown = false;
  #next = 0;

  /**
   * Makes a bar that is not shown yet.
   *
   * @param sharesTerminal Whether other output comes while it is shown; if that goes to the terminal, there is no bar.
   */
  constructor(sharesTerminal: boolean) {
    this.#enabled = Deno.stderr.isTerminal() && Deno.env.get("TERM") !== "dumb" &&
      !(sharesTerminal && Deno.stdout.isTerminal());
  }

  /** Draws it. */
  readonly show = ({ bytes, lines, size }: ReplayProgress): void => {
    if (!this.#enabled || size === undefined || size < LONG) return;
    const now = performance.now();
    if (now < this.#next) return;
    this.#next = now + EVERY_MS;
    this.#shown = true;
    const part = Math.min(1, bytes / size);
    const full = Math.round(part * WIDTH);
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full);
    print(encoder.encode(`\r\x1b[2K${bar} ${Math.floor(part * 100)} %  ${lines} lines`));
  };

  /** Takes it away. */
  clear(): void {
    if (this.#shown) print(encoder.encode("\r\x1b[2K"));
    this.#shown = false;
  }
}
