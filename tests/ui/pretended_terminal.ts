/**
 * A terminal that nobody sees.
 *
 * @module
 */
import type { ScreenOptions } from "../../src/ui/tui/screen.ts";

type Terminal = NonNullable<ScreenOptions["terminal"]>;

/** Keys are pressed by calls, and what is written is kept. */
export class PretendedTerminal {
  columns = 80;
  rows = 24;
  kittyProtocolActive = false;
  /** All that was written. */
  written = "";
  /** Presses a key, or pastes. */
  press: (data: string) => void = () => {};
  /** Says that the size is another one now. */
  resized: () => void = () => {};
  /** Told of what is written. */
  onWrite: (data: string) => void = (data) => void (this.written += data);

  /** What the library takes it for. */
  get asTerminal(): Terminal {
    return this as unknown as Terminal;
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.press = onInput;
    this.resized = onResize;
  }
  write(data: string): void {
    this.onWrite(data);
  }
  stop(): void {}
  async drainInput(): Promise<void> {}
  moveBy(): void {}
  hideCursor(): void {}
  showCursor(): void {}
  clearLine(): void {}
  clearFromCursor(): void {}
  clearScreen(): void {}
  setTitle(): void {}
  setProgress(): void {}
}
