/**
 * The line that shows what hooks have set with `ctx.ui.setStatus`.
 *
 * @module
 */

import { keepColours, truncateToCells } from "./text.ts";

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
  const line = [...statuses]
    .filter((status): status is [string, string] => status[1] !== undefined)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([, text]) => keepColours(text).replaceAll(/[\r\n\t ]+/g, " ").trim())
    .filter((text) => text !== "")
    .join(" ");
  return truncateToCells(line, width);
}
