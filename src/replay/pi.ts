/**
 * Reads sessions of pi, oh-my-pi and xcsh, versions 1 to 3.
 *
 * @module
 */

import type { SessionEntry, SessionHeader } from "../entries.ts";
import type { AssistantContent, StopReason } from "../messages.ts";
import { isRecord } from "../values.ts";
import type { RecordedLine, SessionReader } from "./format.ts";
import { isoTimeOf, timeOf, toolArguments, userContent } from "./parts.ts";

/** Types that no other format has. */
const ENTRY_TYPES = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
  "model_change",
  "thinking_level_change",
  "session_init",
  "session_info",
]);

const STOP_REASONS: ReadonlySet<unknown> = new Set<StopReason>(["stop", "length", "toolUse", "error", "aborted"]);

/**
 * Reads the lines of a pi session. Version 1 has neither ids nor parents: entries get ids by their order, and each is the
 * child of the one before.
 */
export class PiReader implements SessionReader {
  /** Whether a line is of this format. */
  static knows(record: Record<string, unknown>): boolean {
    if (record.type === "session") return typeof record.id === "string";
    return typeof record.type === "string" && ENTRY_TYPES.has(record.type) &&
      (record.type !== "message" || (isRecord(record.message) && typeof record.message.role === "string"));
  }

  /** The format. */
  readonly format = "pi";
  #version: number | undefined;
  #records = 0;
  #leaf: string | null = null;

  /** Version of the format; 1 when the header does not tell. */
  get version(): number {
    return this.#version ?? 1;
  }

  /** Reads one line. */
  read(record: Record<string, unknown>): RecordedLine {
    // Version 1 refers to entries by their place among all records.
    const index = this.#records++;
    if (record.type === "session") return this.#readHeader(record);
    if (typeof record.type !== "string") return { steps: [], problem: "is no entry: it has no type" };
    const hasId = typeof record.id === "string" && record.id !== "";
    const id = hasId ? record.id as string : idOf(index);
    const parentId = hasId && (typeof record.parentId === "string" || record.parentId === null)
      ? record.parentId
      : this.#leaf;
    this.#leaf = id;
    // The record is ours, so it becomes the entry; what hooks read is checked, the rest is kept as it was recorded.
    const entry = record;
    entry.id = id;
    entry.parentId = parentId;
    entry.timestamp = isoTimeOf(record.timestamp);
    if (record.type === "compaction") {
      entry.summary = String(record.summary ?? "");
      entry.tokensBefore = Number(record.tokensBefore ?? 0);
      if (typeof record.firstKeptEntryId !== "string") {
        entry.firstKeptEntryId = idOf(Number(record.firstKeptEntryIndex));
      }
    }
    if (record.type !== "message") return step(entry);
    const message = record.message;
    if (!isRecord(message) || typeof message.role !== "string") return { steps: [], problem: "holds no message" };
    if (typeof message.timestamp !== "number") message.timestamp = timeOf(record.timestamp);
    const problem = completeMessage(message);
    if (problem === undefined) return step(entry, message.role === "user");
    return { ...(message.role === "assistant" ? step(entry) : NO_STEPS), problem };
  }

  #readHeader(record: Record<string, unknown>): RecordedLine {
    this.#version ??= typeof record.version === "number" ? record.version : 1;
    const header: Partial<SessionHeader> = {
      type: "session",
      version: this.version,
      timestamp: isoTimeOf(record.timestamp),
    };
    for (const key of ["id", "cwd", "title", "parentSession"] as const) {
      const value = record[key];
      if (typeof value === "string") header[key] = value;
    }
    return { header, steps: [] };
  }
}

const NO_STEPS: RecordedLine = { steps: [] };

function step(entry: Record<string, unknown>, prompt = false): RecordedLine {
  return { steps: [{ entry: entry as unknown as SessionEntry, prompt, side: false }] };
}

function idOf(index: number): string {
  return index.toString(16).padStart(8, "0");
}

/** Makes a recorded message what its role says that it is. */
function completeMessage(message: Record<string, unknown>): string | undefined {
  switch (message.role) {
    case "user":
      if (typeof message.content !== "string") message.content = userContent(message.content);
      return undefined;
    case "assistant":
      return completeAssistant(message);
    case "toolResult":
      if (typeof message.toolCallId !== "string") return "holds a tool result that names no call, which was left out";
      if (typeof message.toolName !== "string") message.toolName = "";
      message.content = userContent(message.content);
      message.isError = message.isError === true;
      return undefined;
    case "hookMessage":
      // So it was called before version 3.
      message.role = "custom";
      return undefined;
    default:
      return undefined;
  }
}

function completeAssistant(message: Record<string, unknown>): string | undefined {
  if (!STOP_REASONS.has(message.stopReason)) message.stopReason = "stop";
  if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
  const parts: unknown[] = Array.isArray(message.content) ? message.content : [];
  const content = message.content = parts.filter(isAssistantContent);
  return content.length === parts.length ? undefined : "holds a part without what it needs, which was left out";
}

function isAssistantContent(part: unknown): part is AssistantContent {
  if (!isRecord(part) || typeof part.type !== "string") return false;
  if (part.type !== "toolCall") return part.type !== "text" || typeof part.text === "string";
  const args = toolArguments(part.arguments);
  if (typeof part.id !== "string" || typeof part.name !== "string" || args === undefined) return false;
  part.arguments = args;
  return true;
}
