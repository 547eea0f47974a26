/**
 * Colours.
 *
 * @module
 */

import type { Theme } from "../api.ts";

const CODES: Readonly<Record<string, number>> = {
  error: 31,
  success: 32,
  warning: 33,
  accent: 36,
  muted: 90,
  dim: 90,
};

/** The theme of a terminal with the sixteen colours that all have. A colour that it does not know is no colour. */
export const colourTheme: Theme = {
  fg: (color, text) => Object.hasOwn(CODES, color) ? sgr(CODES[color]!, 39, text) : text,
  bg: (color, text) => Object.hasOwn(CODES, color) ? sgr(CODES[color]! + 10, 49, text) : text,
  bold: (text) => sgr(1, 22, text),
  italic: (text) => sgr(3, 23, text),
  underline: (text) => sgr(4, 24, text),
  strikethrough: (text) => sgr(9, 29, text),
  inverse: (text) => sgr(7, 27, text),
};

function sgr(on: number, off: number, text: string): string {
  return `\x1b[${on}m${text}\x1b[${off}m`;
}
