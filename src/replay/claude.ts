/**
 * Reads transcripts of Claude Code.
 *
 * @module
 */

import type { MessageEntry, SessionEntry, SessionHeader } from "../entries.ts";
import type { AssistantContent, AssistantMessage, StopReason, UserContent } from "../messages.ts";
import { isRecord } from "../values.ts";
import type { RecordedLine, RecordedStep, SessionReader } from "./format.ts";
import { isoTimeOf, timeOf, toolArguments } from "./parts.ts";

const LINE_TYPES = new Set([
  "user",
  "assistant",
  "system",
  "summary",
  "progress",
  "attachment",
  "queue-operation",
  "file-history-snapshot",
  "custom-title",
  "permission-mode",
]);
const MARKS = ["sessionId", "uuid", "leafUuid", "messageId", "parentUuid"];

/** The tools that have a counterpart of ours, and what their arguments are called. */
const TOOLS: Readonly<Record<string, readonly [name: string, args: Readonly<Record<string, string>>]>> = {
  Bash: ["bash", {}],
  Read: ["read", { file_path: "path" }],
  Write: ["write", { file_path: "path" }],
  Edit: ["edit", { file_path: "path", old_string: "oldText", new_string: "newText" }],
  MultiEdit: ["edit", { file_path: "path", old_string: "oldText", new_string: "newText" }],
  Grep: ["grep", {}],
  Glob: ["find", {}],
};

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  tool_use: "toolUse",
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
};

/** Text that Claude Code puts into user messages by itself. */
const NOT_TYPED =
  /^(?:<(?:command-|local-command-|bash-|task-notification|user-memory-)|\[Request interrupted by user)/;

/** Reads the lines of a Claude Code transcript. One answer of the model may be spread over several lines, a part each. */
export class ClaudeReader implements SessionReader {
  /** Whether a line is of this format. */
  static knows(record: Record<string, unknown>): boolean {
    if (typeof record.type !== "string" || !LINE_TYPES.has(record.type)) return false;
    return MARKS.some((mark) => record[mark] !== undefined) || isRecord(record.message);
  }

  /** The format. */
  readonly format = "claude";
  /** Transcripts have no version of their format. */
  readonly version: undefined = undefined;
  #lines = 0;
  #steps = 0;
  #leaf: string | null = null;

  /** Reads one line. */
  read(record: Record<string, unknown>): RecordedLine {
    this.#lines++;
    const header: Partial<SessionHeader> = { type: "session" };
    if (typeof record.sessionId === "string") header.id = record.sessionId;
    if (typeof record.cwd === "string") header.cwd = record.cwd;
    if (typeof record.timestamp === "string") header.timestamp = isoTimeOf(record.timestamp);
    if (record.type === "summary" && typeof record.summary === "string") header.title = record.summary;
    if (record.type !== "user" && record.type !== "assistant") return { header, steps: [] };
    if (!isRecord(record.message)) return { header, steps: [], problem: "holds no message" };
    return { header, ...(record.type === "user" ? this.#readUser(record) : this.#readAssistant(record)) };
  }

  #readUser(record: Record<string, unknown>): RecordedLine {
    const raw = (record.message as Record<string, unknown>).content;
    const timestamp = timeOf(record.timestamp);
    const steps: RecordedStep[] = [];
    const said: UserContent[] = [];
    let problem: string | undefined;
    const results = Array.isArray(raw) ? raw.filter((part) => isRecord(part) && part.type === "tool_result") : [];
    for (const part of results) {
      if (typeof part.tool_use_id !== "string") {
        problem = "holds a tool result that names no call, which was left out";
        continue;
      }
      steps.push(this.#step(record, {
        role: "toolResult",
        toolCallId: part.tool_use_id,
        // Only the call tells.
        toolName: "",
        content: contentOf(part.content),
        // The line has one only, so it can be that of one result only.
        ...(results.length === 1 && record.toolUseResult !== undefined ? { details: record.toolUseResult } : {}),
        isError: part.is_error === true,
        timestamp,
      }));
    }
    said.push(...contentOf(Array.isArray(raw) ? raw.filter((part) => !results.includes(part)) : raw));
    if (said.some((part) => part.type !== "text" || part.text !== "")) {
      const prompt = record.isMeta !== true && record.isCompactSummary !== true && record.isSidechain !== true &&
        !said.every((part) => part.type === "text" && NOT_TYPED.test(part.text));
      const content = typeof raw === "string" ? raw : said;
      steps.push({ ...this.#step(record, { role: "user", content, timestamp }), prompt });
    }
    return problem === undefined ? { steps } : { steps, problem };
  }

  #readAssistant(record: Record<string, unknown>): RecordedLine {
    const raw = record.message as Record<string, unknown>;
    const parts = typeof raw.content === "string" ? [{ type: "text", text: raw.content }] : raw.content;
    if (!Array.isArray(parts)) return { steps: [], problem: "holds a message without content" };
    let problem: string | undefined;
    const content: AssistantContent[] = [];
    for (const part of parts) {
      if (!isRecord(part)) continue;
      if (part.type === "text" && typeof part.text === "string") content.push({ type: "text", text: part.text });
      else if (part.type === "thinking" && typeof part.thinking === "string") {
        content.push({ type: "thinking", thinking: part.thinking });
      } else if (part.type === "tool_use") {
        const input = toolArguments(part.input);
        if (typeof part.id === "string" && typeof part.name === "string" && input !== undefined) {
          content.push({ type: "toolCall", id: part.id, ...mapTool(part.name, input) });
        } else problem = "holds a tool call without id, name or input, which was left out";
      }
    }
    const calls = content.some((part) => part.type === "toolCall");
    const stopReason = typeof raw.stop_reason === "string" ? STOP_REASONS[raw.stop_reason] : undefined;
    const message: AssistantMessage = {
      role: "assistant",
      content,
      provider: "anthropic",
      ...(typeof raw.model === "string" ? { model: raw.model } : {}),
      ...usageOf(raw.usage),
      stopReason: stopReason ?? (calls ? "toolUse" : "stop"),
      timestamp: timeOf(record.timestamp),
    };
    const made = this.#step(record, message);
    if (typeof raw.id === "string") made.turn = raw.id;
    return problem === undefined ? { steps: [made] } : { steps: [made], problem };
  }

  #step(record: Record<string, unknown>, message: MessageEntry["message"]): RecordedStep {
    const side = record.isSidechain === true;
    this.#steps++;
    const id = `${this.#lines.toString(16)}-${this.#steps.toString(16)}`;
    const entry: SessionEntry = {
      type: "message",
      id,
      parentId: this.#leaf,
      timestamp: isoTimeOf(record.timestamp),
      message,
    };
    // A transcript is read as one line of entries: it names its parents by line, and a line may hold several.
    if (!side) this.#leaf = id;
    return { entry, prompt: false, side };
  }
}

/**
 * What a tool of Claude Code is called here.
 *
 * @param name Its name there.
 * @param input Its arguments there.
 * @returns Name and arguments; those of an unknown tool as they are.
 */
export function mapTool(
  name: string,
  input: Record<string, unknown>,
): { name: string; arguments: Record<string, unknown> } {
  const known = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (known === undefined) return { name, arguments: input };
  const [ours, names] = known;
  const args = renamed(input, names);
  if (name === "MultiEdit" && Array.isArray(args.edits)) {
    args.edits = args.edits.map((edit) => isRecord(edit) ? renamed(edit, names) : edit);
  }
  // Theirs is in ms, ours in seconds.
  if (name === "Bash" && typeof args.timeout === "number") args.timeout /= 1000;
  return { name: ours, arguments: args };
}

function renamed(input: Record<string, unknown>, names: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [Object.hasOwn(names, key) ? names[key]! : key, value]),
  );
}

function contentOf(given: unknown): UserContent[] {
  if (typeof given === "string") return [{ type: "text", text: given }];
  if (!Array.isArray(given)) return [];
  return given.flatMap((part): UserContent[] => {
    if (!isRecord(part)) return [];
    if (part.type === "text" && typeof part.text === "string") return [{ type: "text", text: part.text }];
    const source = part.type === "image" && isRecord(part.source) ? part.source : undefined;
    if (typeof source?.data !== "string") return [];
    return [{ type: "image", data: source.data, mimeType: String(source.media_type ?? "image/png") }];
  });
}

function usageOf(given: unknown): Pick<AssistantMessage, "usage"> {
  if (!isRecord(given)) return {};
  const count = (key: string): number => typeof given[key] === "number" ? given[key] : 0;
  const input = count("input_tokens");
  const output = count("output_tokens");
  const cacheRead = count("cache_read_input_tokens");
  const cacheWrite = count("cache_creation_input_tokens");
  return { usage: { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite } };
}
