/**
 * Lines on their way to the screen.
 *
 * @module
 */

import type { Component } from "../../api.ts";
import { errorText } from "../../values.ts";
import { keepColours, plainText } from "../text.ts";
import type { PiTui } from "./pi_tui.ts";

/** A part of the screen. */
export type Part = Component & { invalidate(): void };

/** Most characters of a line that are looked at: more than any screen takes, with a colour for each cell. */
const MAX_LENGTH = 20_000;
const HARMLESS = /^[\x20-\x7e]*$/;

/**
 * Makes a line one that the screen can take: text, colours and the mark of the cursor, in one line that is no wider than the screen.
 * The library gives up the terminal over a wider one.
 *
 * @param lib The terminal library.
 * @param line The line.
 * @param width Cells that there are.
 * @param keep Whether colours and the mark of the cursor stay.
 */
export function fitLine(
  lib: PiTui,
  line: string,
  width: number,
  keep: { colour: boolean; cursor: boolean } = { colour: true, cursor: true },
): string {
  if (line.length <= width && HARMLESS.test(line)) return line;
  const { CURSOR_MARKER, truncateToWidth, visibleWidth } = lib;
  const [before = "", ...after] = line.slice(0, MAX_LENGTH).split(CURSOR_MARKER).map((text) =>
    (keep.colour ? keepColours(text) : plainText(text)).replaceAll(/[\r\n\t]/g, " ")
  );
  const text = before + (after.length > 0 && keep.cursor ? CURSOR_MARKER : "") + after.join("");
  if (visibleWidth(text) <= width) return text;
  const cut = truncateToWidth(text, width, "…");
  return visibleWidth(cut) <= width ? cut : "";
}

/**
 * Makes a part one that the screen can take, whatever it holds: its lines fit, and when it cannot be drawn, that is what it says.
 *
 * @param lib The terminal library.
 * @param part The part.
 */
export function fitted(lib: PiTui, part: Component): Part {
  return {
    render(width) {
      let lines: string[];
      try {
        lines = part.render(width);
      } catch (error) {
        lines = [plainText(`This cannot be drawn: ${errorText(error)}`)];
      }
      return lines.map((line) => fitLine(lib, line, width));
    },
    invalidate: () => part.invalidate?.(),
  };
}
