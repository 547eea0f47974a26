/**
 * Reads sessions of pi, oh-my-pi and xcsh, versions 1 to 3.
 *
 * @module
 */

import type { SessionEntry, SessionHeader } from "../entries.ts";
import type { AgentMessage, AssistantContent, AssistantMessage, StopReason } from "../messages.ts";
import { isRecord } from "../values.ts";
import type { RecordedLine, SessionReader } from "./format.ts";
import { timeOf, toolArguments, userContent } from "./parts.ts";

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
    const base = { ...record, id, parentId, timestamp: timeOf(record.timestamp).iso };
    if (record.type === "compaction") {
      const { firstKeptEntryId, firstKeptEntryIndex } = record;
      return step({
        ...base,
        summary: String(record.summary ?? ""),
        tokensBefore: Number(record.tokensBefore ?? 0),
        firstKeptEntryId: typeof firstKeptEntryId === "string" ? firstKeptEntryId : idOf(Number(firstKeptEntryIndex)),
      });
    }
    if (record.type !== "message") return step(base);
    const { message, problem } = readMessage(record.message, timeOf(record.timestamp).ms);
    if (message === undefined) return { steps: [], problem: problem ?? "holds no message" };
    return {
      ...step({ ...base, message }, message.role === "user"),
      ...(problem === undefined ? {} : { problem }),
    };
  }

  #readHeader(record: Record<string, unknown>): RecordedLine {
    this.#version ??= typeof record.version === "number" ? record.version : 1;
    const header: Partial<SessionHeader> = {
      type: "session",
      version: this.version,
      timestamp: timeOf(record.timestamp).iso,
    };
    for (const key of ["id", "cwd", "title", "parentSession"] as const) {
      const value = record[key];
      if (typeof value === "string") header[key] = value;
    }
    return { header, steps: [] };
  }
}

function step(entry: Record<string, unknown>, prompt = false): RecordedLine {
  // What the hooks read is checked above; the rest of an entry is kept as it was recorded.
  return { steps: [{ entry: entry as unknown as SessionEntry, prompt, side: false }] };
}

function idOf(index: number): string {
  return index.toString(16).padStart(8, "0");
}

function readMessage(raw: unknown, recordedAt: number): { message?: AgentMessage; problem?: string } {
  if (!isRecord(raw) || typeof raw.role !== "string") return { problem: "holds no message" };
  const timestamp = typeof raw.timestamp === "number" ? raw.timestamp : recordedAt;
  switch (raw.role) {
    case "user":
      if (typeof raw.content === "string") {
        return { message: { ...raw, role: "user", content: raw.content, timestamp } };
      }
      return { message: { ...raw, role: "user", content: userContent(raw.content), timestamp } };
    case "assistant":
      return readAssistant(raw, timestamp);
    case "toolResult":
      if (typeof raw.toolCallId !== "string") return { problem: "holds a tool result that names no call" };
      return {
        message: {
          ...raw,
          role: "toolResult",
          toolCallId: raw.toolCallId,
          toolName: typeof raw.toolName === "string" ? raw.toolName : "",
          content: userContent(raw.content),
          isError: raw.isError === true,
          timestamp,
        },
      };
    case "hookMessage":
      // So it was called before version 3.
      return { message: { ...raw, role: "custom", timestamp } as unknown as AgentMessage };
    default:
      return { message: { ...raw, timestamp } as unknown as AgentMessage };
  }
}

function readAssistant(raw: Record<string, unknown>, timestamp: number): { message: AgentMessage; problem?: string } {
  let problem: string | undefined;
  const content: AssistantContent[] = [];
  const parts = typeof raw.content === "string" ? [{ type: "text", text: raw.content }] : raw.content;
  for (const part of Array.isArray(parts) ? parts : []) {
    if (!isRecord(part) || typeof part.type !== "string") continue;
    if (part.type !== "toolCall") {
      content.push(part as unknown as AssistantContent);
      continue;
    }
    const args = toolArguments(part.arguments);
    if (typeof part.id !== "string" || typeof part.name !== "string" || args === undefined) {
      problem = "holds a tool call without id, name or arguments, which was left out";
      continue;
    }
    content.push({ type: "toolCall", id: part.id, name: part.name, arguments: args });
  }
  const message: AssistantMessage = {
    ...raw,
    role: "assistant",
    content,
    stopReason: STOP_REASONS.has(raw.stopReason) ? raw.stopReason as StopReason : "stop",
    timestamp,
  };
  return problem === undefined ? { message } : { message, problem };
}
