/**
 * The line that shows what hooks have set with `ctx.ui.setStatus`.
 *
 * @module
 */

import { cellsOf, keepColours, truncateToCells } from "./text.ts";

const { compare } = new Intl.Collator();

/**
 * Makes the status line: texts in the order of their keys, one space apart, on one line, cut to the width.
 *
 * @param statuses Text by key.
 * @param width Terminal cells that there are.
 * @returns The line.
 *
 * @example
 * ```ts
 * import { formatStatusLine } from "@xcsh/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(formatStatusLine(new Map([["tests", "3 failed"], ["branch", "main"]]), 80), "main 3 failed");
 * ```
 */
export function formatStatusLine(statuses: ReadonlyMap<string, string | undefined>, width: number): string {
  const sorted = [...statuses]
    .filter((status): status is [string, string] => status[1] !== undefined)
    .sort(([a], [b]) => compare(a, b));
  let line = "";
  let cells = 0;
  for (const [, text] of sorted) {
    const clean = keepColours(text).replaceAll(/[\r\n\t ]+/g, " ").trim();
    if (clean === "") continue;
    line += line === "" ? clean : ` ${clean}`;
    // Of what has no room on the line, any number costs nothing.
    if ((cells += cellsOf(clean) + 1) > width + 1) break;
  }
  return truncateToCells(line, width);
}
