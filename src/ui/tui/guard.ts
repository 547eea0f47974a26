/**
 * Components that we did not write.
 *
 * @module
 */

import type { Component } from "../../api.ts";
import { errorText } from "../../values.ts";
import { plainText } from "../text.ts";
import { fitLine } from "./fit.ts";
import type { PiTui } from "./pi_tui.ts";

/** Most lines of a component that are shown. */
const MAX_LINES = 1_000;

/** What a guard is told. */
export interface GuardOptions {
  /** Whether colours are shown. */
  readonly colour: boolean;
  /** Told once, when the component throws. */
  readonly onError: (error: unknown) => void;
  /** Draws the screen again. */
  readonly requestRender: () => void;
}

/**
 * Shows a component of a hook: nothing but text and colours of it reaches the terminal, its lines fit, and what it throws is told
 * and shown in its place.
 */
export class Guard {
  /** Whether keys go to it. Asked by the library, which puts the cursor where the component marks it. */
  focused = false;
  /** Whether it wants to know of keys that are released. */
  readonly wantsKeyRelease: boolean;
  #failed: string | undefined;
  #width = 0;

  /**
   * @param lib The terminal library.
   * @param component The component.
   * @param options See {@linkcode GuardOptions}.
   */
  constructor(readonly lib: PiTui, readonly component: Component, readonly options: GuardOptions) {
    this.wantsKeyRelease = component.wantsKeyRelease === true;
  }

  /** Its lines for a width. */
  render(width: number): string[] {
    const lines = this.#try(() => {
      if ("focused" in this.component) this.component.focused = this.focused;
      const drawn: unknown = this.component.render(width);
      if (!Array.isArray(drawn)) throw new TypeError("render() of a component returns a list of lines");
      return drawn.slice(0, MAX_LINES).map((line) => this.#line(String(line), width));
    });
    if (this.#failed !== undefined || lines === undefined) return this.#failureLines(width);
    this.#redrawLater(width);
    return lines;
  }

  /** Hands it a key. */
  handleInput(data: string): void {
    this.#try(() => this.component.handleInput?.(data));
  }

  /** Forgets what was drawn. */
  invalidate(): void {
    this.#try(() => this.component.invalidate?.());
  }

  /** Ends it. */
  dispose(): void {
    this.#try(() => this.component.dispose?.());
  }

  /** A component that draws elsewhere says when its lines for a new width are there. */
  #redrawLater(width: number): void {
    if (this.#width === width) return;
    this.#width = width;
    this.#try(() => this.component.whenDrawn?.(width).then(this.options.requestRender));
  }

  #line(line: string, width: number): string {
    return fitLine(this.lib, line, width, { colour: this.options.colour, cursor: this.focused });
  }

  #failureLines(width: number): string[] {
    return [this.lib.truncateToWidth(plainText(this.#failed ?? "").replaceAll(/\s+/g, " "), width, "…")];
  }

  #try<T>(act: () => T): T | undefined {
    try {
      const value = act();
      if (value instanceof Promise) value.catch((error) => this.#fail(error));
      return value;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#failed !== undefined) return;
    this.#failed = errorText(error);
    this.options.onError(error);
    this.options.requestRender();
  }
}
