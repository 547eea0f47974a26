/**
 * Brings the entries of older session files into today's form.
 *
 * @module
 */

import { isRecord } from "../values.ts";
import { SESSION_VERSION } from "./reader.ts";

/**
 * Turns the lines of a session of version 1 or 2 into those of version 3. Version 1 has neither ids nor a tree: its lines
 * become one chain. Version 2 calls messages of hooks by another role.
 *
 * @param lines The lines after the header; they are changed in place.
 * @param version Their version.
 * @param newId Makes an id that no entry has.
 */
export function migrateEntries(lines: Record<string, unknown>[], version: number, newId: () => string): void {
  if (version >= SESSION_VERSION) return;
  if (version < 2) chain(lines, newId);
  for (const line of lines) {
    if (line.type === "message" && isRecord(line.message) && line.message.role === "hookMessage") {
      line.message.role = "custom";
    }
  }
}

function chain(lines: Record<string, unknown>[], newId: () => string): void {
  let parentId: string | null = null;
  for (const line of lines) {
    line.id = newId();
    line.parentId = parentId;
    if (typeof line.timestamp !== "string") line.timestamp = new Date(0).toISOString();
    parentId = line.id as string;
  }
  for (const line of lines) {
    if (line.type !== "compaction" || typeof line.firstKeptEntryIndex !== "number") continue;
    // The index counts the header as 0.
    line.firstKeptEntryId = lines[line.firstKeptEntryIndex - 1]?.id ?? "";
    delete line.firstKeptEntryIndex;
  }
}
