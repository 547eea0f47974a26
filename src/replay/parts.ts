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
  return given.filter((part): part is UserContent =>
    isRecord(part) &&
    (part.type === "text" ? typeof part.text === "string" : part.type === "image" && typeof part.data === "string")
  );
}

/** A time as ISO 8601 and in ms; an unreadable one is the beginning of time. */
export function timeOf(given: unknown): { iso: string; ms: number } {
  const date = new Date(typeof given === "string" || typeof given === "number" ? given : 0);
  const ms = Number.isNaN(date.getTime()) ? 0 : date.getTime();
  return { iso: new Date(ms).toISOString(), ms };
}

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
