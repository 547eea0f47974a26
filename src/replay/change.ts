/**
 * How much a hook changed, without telling what.
 *
 * @module
 */

import type { UserContent } from "../messages.ts";
import { sameData } from "../values.ts";

/** How much of a content was changed. */
export interface ContentChange {
  /** Parts that were changed, added or taken away. */
  parts: number;
  /** Characters of text that were replaced or taken away. */
  chars: number;
}

/**
 * Compares contents.
 *
 * @param before The content as it was.
 * @param after The content as a hook left it.
 */
export function contentChange(before: readonly UserContent[], after: readonly UserContent[]): ContentChange {
  const change: ContentChange = { parts: 0, chars: 0 };
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const was = before[i];
    const is = after[i];
    if (sameData(was, is)) continue;
    change.parts++;
    if (was?.type === "text") change.chars += replacedChars(was.text, is?.type === "text" ? is.text : "");
  }
  return change;
}

/** Counts line by line where the lines still match up, so that two far-apart changes are not one large one. */
function replacedChars(before: string, after: string): number {
  const was = before.split("\n");
  const is = after.split("\n");
  if (was.length !== is.length) return replacedInLine(before, after);
  return was.reduce((sum, line, i) => sum + (line === is[i] ? 0 : replacedInLine(line, is[i]!)), 0);
}

function replacedInLine(before: string, after: string): number {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return before.length - start - end;
}
