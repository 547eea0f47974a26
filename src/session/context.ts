/**
 * What the model reads of a session.
 *
 * @module
 */

import type { CompactionEntry, SessionEntry } from "../entries.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  textOf,
  type ToolResultMessage,
  type UserContent,
  type UserMessage,
} from "../messages.ts";
import { contentFault, messageFault, soundMessage, textFault } from "../message_check.ts";

/** A message in the form that models take. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** What a branch means to the agent. */
export interface SessionContext {
  /** The messages, oldest first. */
  messages: AgentMessage[];
  /** The model in use, as `provider/id`, when the branch tells. */
  model?: string;
  /** Names of the stream rules that the model has been shown. */
  injectedRules: Set<string>;
}

/**
 * Builds the agent's messages from a branch. After a compaction its summary stands in for all that came before the first
 * entry that it kept.
 *
 * @param branch The entries, root first. What is malformed in them is left out.
 * @param warn Told what was left out and why.
 * @returns The messages, and the settings in force at the end of the branch.
 */
export function buildSessionContext(
  branch: readonly SessionEntry[],
  warn?: (warning: string) => void,
): SessionContext {
  if (warn !== undefined) {
    for (const entry of branch) {
      const fault = entryFault(entry);
      if (fault !== undefined) warn(`Entry ${entry.id} is malformed, and the model reads it without that: ${fault}`);
    }
  }
  let at = branch.length;
  return collectContext({
    length: branch.length,
    previous: () => --at,
    kind: (index) => kindOfEntry(branch[index]!),
    message: (index) => messageOf(branch[index]!),
    entry: (index) => branch[index]!,
    indexOf: (id) => branch.findIndex((entry) => entry.id === id),
  });
}

/** What the context needs of an entry beside its message: nothing, perhaps the model, or all of it. */
export type EntryKind = 0 | 1 | 2;

/** What the context needs of an entry beside its message: nothing, perhaps the model, or all of it. */
export function kindOfEntry(entry: SessionEntry): EntryKind {
  if (entry.type === "message") return entry.message?.role === "assistant" ? 1 : 0;
  return entry.type === "compaction" || entry.type === "ttsr_injection" || entry.type === "model_change" ? 2 : 0;
}

/** A branch that is walked from its end, by the numbers of its entries, so that a long one costs no list of them. */
export interface BranchCursor {
  /** How many entries it has. */
  readonly length: number;
  /** Number of the last entry, then of the one before it, and so on; negative at the end. */
  previous(): number;
  /** Its kind. */
  kind(index: number): EntryKind;
  /** Its message. */
  message(index: number): AgentMessage | undefined;
  /** All of it. */
  entry(index: number): SessionEntry;
  /** Number of an entry; negative when there is none. */
  indexOf(id: string): number;
}

/**
 * As {@linkcode buildSessionContext}.
 *
 * @param branch The branch.
 * @returns The messages, and the settings in force at the end of the branch.
 */
export function collectContext(branch: BranchCursor): SessionContext {
  // Filled from its end, so that a long one is neither grown nor turned round. A compaction leaves room for its summary.
  const messages: AgentMessage[] = new Array(branch.length);
  let first = messages.length;
  const injectedRules = new Set<string>();
  let model: string | undefined;
  let compaction: CompactionEntry | undefined;
  let afterCompaction = first;
  let firstKept = -1;
  let foundKept = false;
  for (let at = branch.previous(); at >= 0; at = branch.previous()) {
    const kind = branch.kind(at);
    if (kind === 2 || kind === 1 && model === undefined) {
      const entry = branch.entry(at);
      if (entry.type === "ttsr_injection") addRules(injectedRules, entry.injectedRules);
      else if (entry.type === "compaction" && compaction === undefined && entryFault(entry) === undefined) {
        compaction = entry;
        afterCompaction = first;
        firstKept = branch.indexOf(entry.firstKeptEntryId);
      } else model ??= modelIn(entry);
    }
    if (foundKept) continue;
    const message = branch.message(at);
    if (message !== undefined) messages[--first] = message;
    foundKept = at === firstKept;
  }
  if (compaction !== undefined) {
    // What was to be kept is not there: then nothing from before is.
    if (!foundKept) first = afterCompaction;
    messages[--first] = summaryMessage(compaction);
  }
  return {
    messages: first === 0 ? messages : messages.slice(first),
    ...model !== undefined && { model },
    injectedRules,
  };
}

function summaryMessage({ summary, tokensBefore, timestamp }: CompactionEntry): AgentMessage {
  return { role: "compactionSummary", summary, tokensBefore, timestamp: Date.parse(timestamp) };
}

/**
 * What is wrong with an entry that puts something into the context.
 *
 * @param entry The entry.
 * @returns The field and what it should be, or `undefined`.
 */
export function entryFault(entry: SessionEntry): string | undefined {
  switch (entry.type) {
    case "message":
      return messageFault(entry.message);
    case "custom_message":
      return textFault(entry.customType, "customType") ?? contentFault(entry.content);
    case "compaction":
      return textFault(entry.summary, "summary");
    case "branch_summary":
      // Some programs leave an empty one out.
      return entry.summary ? textFault(entry.summary, "summary") : undefined;
    default:
      return undefined;
  }
}

/**
 * The message that an entry puts into the context.
 *
 * @param entry The entry.
 * @returns The message without what is malformed in it, or `undefined` for an entry that the model never reads, and for compactions.
 */
export function messageOf(entry: SessionEntry): AgentMessage | undefined {
  switch (entry.type) {
    case "message":
      return soundMessage(entry.message);
    case "custom_message":
      return soundMessage({
        role: "custom",
        customType: entry.customType,
        content: entry.content,
        display: entry.display,
        ...entry.details !== undefined && { details: entry.details },
        attribution: entry.attribution ?? "agent",
        timestamp: Date.parse(entry.timestamp),
      });
    case "branch_summary":
      if (!entry.summary || entryFault(entry) !== undefined) return undefined;
      return {
        role: "branchSummary",
        summary: entry.summary,
        fromId: entry.fromId,
        timestamp: Date.parse(entry.timestamp),
      };
    default:
      return undefined;
  }
}

/**
 * Turns the agent's messages into what models take: messages of hooks and summaries become the user's, every tool call
 * gets exactly one result right after it, answers that failed are left out, and of those that were aborted the text stays.
 *
 * @param given The messages; they are not changed. What is malformed in them is left out.
 * @param warn Told what was left out and why.
 * @returns Messages that a provider accepts.
 */
export function toModelMessages(
  given: readonly AgentMessage[],
  warn?: (warning: string) => void,
): ModelMessage[] {
  const messages = soundMessages(given, warn);
  const out: ModelMessage[] = [];
  const { results, answered } = pairResults(messages);
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === "toolResult") continue;
    if (message.role !== "assistant") {
      const user = toUserMessage(message);
      if (user !== undefined) out.push(user);
      continue;
    }
    const answer = usableAnswer(message);
    if (answer === undefined) continue;
    out.push(answer);
    for (const part of answer.content) {
      if (part.type !== "toolCall") continue;
      out.push(results.get(answered(i, part.id)) ?? missingResult(part.id, part.name, message.timestamp));
    }
  }
  return mergeUsers(out);
}

function soundMessages(given: readonly AgentMessage[], warn?: (warning: string) => void): readonly AgentMessage[] {
  let faulty = false;
  for (let i = 0; i < given.length; i++) {
    const fault = messageFault(given[i], `messages[${i}]`);
    if (fault === undefined) continue;
    faulty = true;
    warn?.(`The model reads the conversation without what is malformed in it: ${fault}`);
  }
  return faulty ? given.map(soundMessage).filter((message) => message !== undefined) : given;
}

/** Finds for each call the result that came after it and before the same id was used again. */
function pairResults(messages: readonly AgentMessage[]) {
  const results = new Map<string, ToolResultMessage>();
  const lastCall = new Map<string, number>();
  const answered = (index: number, id: string) => `${index}\0${id}`;
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === "assistant" && Array.isArray(message.content)) {
      for (const part of message.content) if (part.type === "toolCall") lastCall.set(part.id, i);
    } else if (message.role === "toolResult") {
      const index = lastCall.get(message.toolCallId);
      if (index !== undefined) results.set(answered(index, message.toolCallId), message);
    }
  }
  return { results, answered };
}

function usableAnswer(message: AssistantMessage): AssistantMessage | undefined {
  if (!Array.isArray(message.content) || message.stopReason === "error" || message.interruptedBy) return undefined;
  const aborted = message.stopReason === "aborted";
  const content = message.content.filter((part) =>
    part.type === "text" ? part.text.trim() !== "" : !aborted && (part.type === "toolCall" || part.thinking !== "")
  );
  if (content.length === 0) return undefined;
  return content.length === message.content.length ? message : { ...message, content };
}

function missingResult(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: [{ type: "text", text: "No result: the call was interrupted" }],
    isError: true,
    timestamp,
  };
}

function toUserMessage(message: AgentMessage): UserMessage | undefined {
  const { timestamp } = message;
  switch (message.role) {
    case "user":
    case "developer":
    case "custom":
      if (typeof message.content !== "string" && !Array.isArray(message.content)) return undefined;
      return message.content.length === 0 ? undefined : { role: "user", content: message.content, timestamp };
    case "branchSummary":
      return {
        role: "user",
        content: "Another branch of this conversation was left. Its summary:\n\n" +
          `<summary>\n${message.summary}\n</summary>`,
        timestamp,
      };
    case "compactionSummary":
      return {
        role: "user",
        content: "The conversation before this point was summarised to save space:\n\n" +
          `<summary>\n${message.summary}\n</summary>`,
        timestamp,
      };
    case "bashExecution":
      if (message.excludeFromContext) return undefined;
      return { role: "user", content: bashText(message), timestamp };
    default:
      return undefined;
  }
}

function bashText(message: Extract<AgentMessage, { role: "bashExecution" }>): string {
  const end = message.cancelled
    ? "\n\n(cancelled)"
    : typeof message.exitCode === "number" && message.exitCode !== 0
    ? `\n\nExit code ${message.exitCode}`
    : "";
  return `I ran \`${message.command}\`:\n\n\`\`\`\n${message.output}\n\`\`\`${end}`;
}

/** Joins texts of the user that follow each other, since some providers want the roles to alternate. */
function mergeUsers(messages: readonly ModelMessage[]): ModelMessage[] {
  const out: ModelMessage[] = [];
  for (let i = 0; i < messages.length;) {
    const first = messages[i]!;
    let end = i + 1;
    if (isUserText(first)) { while (end < messages.length && isUserText(messages[end]!)) end++; }
    out.push(
      end === i + 1 ? first : { ...first as UserMessage, content: messages.slice(i, end).map(textIn).join("\n\n") },
    );
    i = end;
  }
  return out;
}

function isUserText(message: ModelMessage): boolean {
  return message.role === "user" && isText(message.content);
}

function textIn(message: ModelMessage): string {
  return textOf(message.content);
}

function isText(content: string | UserContent[]): boolean {
  return typeof content === "string" || content.every((part) => part.type === "text");
}

function addRules(to: Set<string>, names: unknown): void {
  if (Array.isArray(names)) { for (const name of names) if (typeof name === "string") to.add(name); }
}

function modelIn(entry: SessionEntry): string | undefined {
  if (entry.type === "model_change") {
    const { model, provider, modelId } = entry as { model?: unknown; provider?: unknown; modelId?: unknown };
    if (typeof model === "string") return model;
    if (typeof provider === "string" && typeof modelId === "string") return `${provider}/${modelId}`;
  } else if (entry.type === "message" && entry.message?.role === "assistant") {
    const { provider, model } = entry.message;
    if (provider !== undefined && model !== undefined) return `${provider}/${model}`;
  }
  return undefined;
}
