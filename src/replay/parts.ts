/**
 * Checks what recorded messages are made of.
 *
 * @module
 */

import type { UserContent } from "../messages.ts";
import { isRecord } from "../values.ts";

/** The content of a user message or a tool result: its parts that can be read. */
export function userContent(given: unknown): UserContent[] {
  if (typeof given === "string") return [{ type: "text", text: given }];
  if (!Array.isArray(given)) return [];
  return given.every(isUserContent) ? given : given.filter(isUserContent);
}

function isUserContent(part: unknown): part is UserContent {
  return isRecord(part) &&
    (part.type === "text" ? typeof part.text === "string" : part.type === "image" && typeof part.data === "string");
}

/** A recorded time in ms; 0 when it cannot be read. */
export function timeOf(given: unknown): number {
  if (typeof given !== "string" && typeof given !== "number") return 0;
  const ms = new Date(given).getTime();
  return Number.isNaN(ms) ? 0 : ms;
}

/** A recorded time as ISO 8601. */
export function isoTimeOf(given: unknown): string {
  return typeof given === "string" && ISO_TIME.test(given) ? given : new Date(timeOf(given)).toISOString();
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** The arguments of a tool call; text is read as JSON, as some models write it. */
export function toolArguments(given: unknown): Record<string, unknown> | undefined {
  if (isRecord(given)) return given;
  if (given === undefined || given === null || given === "") return {};
  if (typeof given !== "string") return undefined;
  try {
    const parsed: unknown = JSON.parse(given);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
