/**
 * Keeps what a tool answers within bounds.
 *
 * @module
 */

/** Most lines that a tool answers with. */
export const MAX_LINES = 2_000;
/** Most characters that a tool answers with. */
export const MAX_CHARS = 50_000;

/** A text that may have been cut. */
export interface Bounded {
  /** What is left, with a notice if something is missing. */
  text: string;
  /** Whether something is missing. */
  truncated: boolean;
}

/**
 * Keeps the end of a text, where commands print what matters.
 *
 * @param text The text.
 * @returns Its last {@linkcode MAX_LINES} lines and {@linkcode MAX_CHARS} characters.
 */
export function keepEnd(text: string): Bounded {
  if (text === "") return { text, truncated: false };
  let from = Math.max(0, text.length - MAX_CHARS);
  // Whole lines, unless the last line alone is too long.
  const newline = from === 0 ? -1 : text.indexOf("\n", from - 1);
  if (newline !== -1 && newline < text.length - 1) from = newline + 1;
  let start = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let lines = 0; lines < MAX_LINES && start > from; lines++) start = text.lastIndexOf("\n", start - 1);
  from = Math.max(from, start + 1);
  if (from === 0) return { text, truncated: false };
  return { text: `[${from} characters before this were left out]\n${text.slice(from)}`, truncated: true };
}

/**
 * Joins lines until the bounds are reached.
 *
 * @param lines The lines.
 * @param most How many at most.
 * @returns The text, and how many lines are in it.
 */
export function keepStart(lines: readonly string[], most: number = MAX_LINES): { text: string; count: number } {
  let size = 0;
  let count = 0;
  while (count < lines.length && count < most) {
    size += lines[count]!.length + 1;
    if (size > MAX_CHARS && count > 0) break;
    count++;
  }
  return { text: lines.slice(0, count).join("\n").slice(0, MAX_CHARS), count };
}
