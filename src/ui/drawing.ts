/**
 * A component that is shown somewhere else.
 *
 * @module
 */

import type { Component } from "../api.ts";
import { keepColours, truncateToCells } from "./text.ts";

/** Most lines of a frame, and most characters of each: more than any screen takes. */
const MAX_LINES = 1_000;
const MAX_CHARACTERS = 20_000;

/** Shortest time between two frames, in ms: more of them nobody sees. */
const FRAME_TIME = 16;

/** What a drawing needs. */
export interface DrawingOptions {
  /** Makes the component; `tui` is what it can ask to be drawn again. */
  readonly make: (tui: unknown) => Component | Promise<Component>;
  /** How large the screen is; read for each frame. */
  readonly screen: { readonly columns: number; readonly rows: number };
  /** Shows lines that differ from those before. */
  readonly show: (width: number, lines: readonly string[]) => void;
  /** The component threw; it is not drawn any more. */
  readonly failed: (error: Error) => void;
}

/** Draws a component whenever it asks for it, and at most once at a time. */
export class Drawing {
  readonly #options: DrawingOptions;
  readonly #made: Promise<Component | undefined>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #drawing = false;
  #again = false;
  #disposed = false;
  #drawn = -FRAME_TIME;
  #shown = "";

  /** @param options See {@linkcode DrawingOptions}. */
  constructor(options: DrawingOptions) {
    this.#options = options;
    this.#made = this.#make();
    this.redraw();
  }

  /** Hands the component what was typed, as soon as there is one. */
  async input(data: string): Promise<void> {
    const component = await this.#made;
    if (this.#disposed) return;
    try {
      component?.handleInput?.(data);
      this.redraw();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Draws soon. A component that asks for it while it draws does not keep the program from doing anything else. */
  redraw(): void {
    if (this.#drawing) this.#again = true;
    else if (!this.#disposed) {
      const wait = Math.max(0, this.#drawn + FRAME_TIME - performance.now());
      this.#timer ??= setTimeout(() => this.#draw(), wait);
    }
  }

  /** Ends it. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#made.then((component) => component?.dispose?.()).catch(() => {
      // It is gone either way.
    });
  }

  async #make(): Promise<Component | undefined> {
    const { make, screen } = this.#options;
    const tui = {
      requestRender: () => this.redraw(),
      terminal: {
        get columns() {
          return screen.columns;
        },
        get rows() {
          return screen.rows;
        },
      },
    };
    // The question is open before its component can say that it is done.
    await Promise.resolve();
    if (this.#disposed) return undefined;
    try {
      return await make(tui);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #draw(): Promise<void> {
    this.#timer = undefined;
    this.#drawing = true;
    this.#again = false;
    this.#drawn = performance.now();
    try {
      const component = await this.#made;
      if (this.#disposed || component === undefined) return;
      const width = this.#options.screen.columns;
      await component.whenDrawn?.(width);
      if (this.#disposed) return;
      const lines = cleanLines(component.render(width), width);
      const shown = JSON.stringify([width, lines]);
      if (shown !== this.#shown) {
        this.#shown = shown;
        this.#options.show(width, lines);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#drawing = false;
    }
    if (this.#again) this.redraw();
  }

  #fail(error: unknown): void {
    if (this.#disposed) return;
    this.#options.failed(error instanceof Error ? error : new Error(String(error)));
    this.dispose();
  }
}

/** Lines that hold colours and no other control characters, and are no more than a screen takes. */
export function cleanLines(lines: Iterable<unknown>, width = Infinity): string[] {
  return Array.from(lines).slice(0, MAX_LINES).map((line) =>
    truncateToCells(keepColours(String(line).slice(0, MAX_CHARACTERS)).replaceAll(/[\r\n\t]/g, " "), width)
  );
}
