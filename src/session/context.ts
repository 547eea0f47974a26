/**
 * What the model reads of a session.
 *
 * @module
 */

import type { SessionEntry } from "../entries.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  textOf,
  type ToolResultMessage,
  type UserContent,
  type UserMessage,
} from "../messages.ts";
import { isRecord } from "../values.ts";

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
 * @param branch The entries, root first.
 * @returns The messages, and the settings in force at the end of the branch.
 */
export function buildSessionContext(branch: readonly SessionEntry[]): SessionContext {
  const context: SessionContext = { messages: [], injectedRules: new Set() };
  let compactedAt = -1;
  for (let i = 0; i < branch.length; i++) {
    const entry = branch[i]!;
    if (entry.type === "compaction") compactedAt = i;
    else if (entry.type === "ttsr_injection") addRules(context.injectedRules, entry.injectedRules);
    else noteModel(context, entry);
  }
  let from = 0;
  if (compactedAt !== -1) {
    const compaction = branch[compactedAt]!;
    if (compaction.type === "compaction") {
      context.messages.push({
        role: "compactionSummary",
        summary: compaction.summary,
        tokensBefore: compaction.tokensBefore,
        timestamp: Date.parse(compaction.timestamp),
      });
      const kept = branch.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
      from = kept === -1 || kept > compactedAt ? compactedAt + 1 : kept;
    }
  }
  for (let i = from; i < branch.length; i++) {
    const message = messageOf(branch[i]!);
    if (message !== undefined) context.messages.push(message);
  }
  return context;
}

/**
 * The message that an entry puts into the context.
 *
 * @param entry The entry.
 * @returns The message, or `undefined` for an entry that the model never reads, and for compactions.
 */
export function messageOf(entry: SessionEntry): AgentMessage | undefined {
  switch (entry.type) {
    case "message":
      return isRecord(entry.message) && typeof entry.message.role === "string" ? entry.message : undefined;
    case "custom_message":
      return {
        role: "custom",
        customType: entry.customType,
        content: entry.content,
        display: entry.display,
        ...entry.details !== undefined && { details: entry.details },
        attribution: entry.attribution ?? "agent",
        timestamp: Date.parse(entry.timestamp),
      };
    case "branch_summary":
      if (!entry.summary) return undefined;
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
 * @param messages The messages; they are not changed.
 * @returns Messages that a provider accepts.
 */
export function toModelMessages(messages: readonly AgentMessage[]): ModelMessage[] {
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

function noteModel(context: SessionContext, entry: SessionEntry): void {
  if (entry.type === "model_change") {
    const { model, provider, modelId } = entry as { model?: unknown; provider?: unknown; modelId?: unknown };
    if (typeof model === "string") context.model = model;
    else if (typeof provider === "string" && typeof modelId === "string") context.model = `${provider}/${modelId}`;
  } else if (entry.type === "message" && isRecord(entry.message) && entry.message.role === "assistant") {
    const { provider, model } = entry.message;
    if (provider !== undefined && model !== undefined) context.model = `${provider}/${model}`;
  }
}
