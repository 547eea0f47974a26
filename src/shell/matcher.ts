/**
 * Which tools, or reasons, a Claude-style hook is for.
 *
 * @module
 */

import { errorText, nearest } from "../values.ts";
import { KNOWN_TOOLS } from "./tools.ts";

/** Whether any of the names is meant. */
export type Matcher = (names: readonly string[]) => boolean;

/** Only such characters: a list of whole names. Any other one makes a regular expression of it. */
const LIST = /^[\w ,|-]*$/;

/**
 * Reads a matcher: nothing, `""` and `*` mean every name; a name or names with `|` between them mean exactly these; anything
 * else is a regular expression that is looked for in the name.
 *
 * @param text The matcher.
 * @returns The test.
 * @throws {Error} When it is no regular expression.
 */
export function parseMatcher(text: string): Matcher {
  if (text === "" || text === "*") return () => true;
  if (LIST.test(text)) {
    const wanted = new Set(listed(text));
    return (names) => names.some((name) => wanted.has(name));
  }
  let pattern: RegExp;
  try {
    pattern = new RegExp(text);
  } catch (error) {
    throw new Error(`the matcher ${JSON.stringify(text)} is no regular expression (${errorText(error)})`);
  }
  return (names) => names.some((name) => pattern.test(name));
}

/**
 * Says what is odd about a matcher for tools.
 *
 * @param text A matcher that {@linkcode parseMatcher} can read.
 * @returns A sentence when no tool that is known has such a name.
 */
export function oddMatcher(text: string): string | undefined {
  if (text === "" || text === "*" || text.includes("mcp")) return undefined;
  const never = `the matcher ${JSON.stringify(text)} matches no tool that is known`;
  if (!LIST.test(text)) return parseMatcher(text)(KNOWN_TOOLS) ? undefined : never;
  const unknown = listed(text).find((name) => !KNOWN_TOOLS.includes(name));
  if (unknown === undefined) return text.trim() === "" ? never : undefined;
  const near = nearest(unknown, KNOWN_TOOLS);
  const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
  return `the matcher ${JSON.stringify(text)} names ${JSON.stringify(unknown)}, which is no tool that is known${hint}`;
}

function listed(text: string): string[] {
  return text.split(/[|,]/).map((name) => name.trim()).filter((name) => name !== "");
}
