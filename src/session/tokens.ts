/**
 * How full a context is.
 *
 * @module
 */

import type { AgentMessage, AssistantMessage } from "../messages.ts";
import { isRecord } from "../values.ts";

const CHARS_PER_TOKEN = 4;
const CHARS_PER_IMAGE = 4_800;

/**
 * Estimates how many tokens a message takes: a quarter of its characters, and 1200 for a picture. Messages of hooks count like
 * all others.
 *
 * @param message The message.
 * @returns Tokens.
 */
export function estimateTokens(message: AgentMessage): number {
  let tokens = estimates.get(message);
  if (tokens === undefined) estimates.set(message, tokens = Math.ceil(charactersOf(message) / CHARS_PER_TOKEN));
  return tokens;
}

/** Messages of a session do not change, and are counted at each turn. */
const estimates = new WeakMap<AgentMessage, number>();

function charactersOf(message: AgentMessage): number {
  switch (message.role) {
    case "bashExecution":
      return message.excludeFromContext ? 0 : message.command.length + message.output.length;
    case "branchSummary":
    case "compactionSummary":
      return message.summary.length;
    default:
      return contentLength(message.content);
  }
}

function contentLength(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  let length = 0;
  for (const part of content) {
    // A message of a role that is not known here may hold anything.
    if (!isRecord(part)) continue;
    if (part.type === "text") length += String(part.text).length;
    else if (part.type === "thinking") length += String(part.thinking).length;
    else if (part.type === "image") length += CHARS_PER_IMAGE;
    else if (part.type === "toolCall") {
      length += String(part.name).length + String(JSON.stringify(part.arguments)).length;
    }
  }
  return length;
}

/**
 * The tokens that a provider counted for an answer and all before it.
 *
 * @param message An answer.
 * @returns Tokens; `undefined` when the provider did not tell, or the answer failed.
 */
export function usedTokens(message: AssistantMessage): number | undefined {
  const { usage, stopReason } = message;
  if (!isRecord(usage) || stopReason === "error" || stopReason === "aborted") return undefined;
  const total = usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return total > 0 ? total : undefined;
}

/**
 * How many tokens the context takes: what the provider counted last, and an estimate of what came after.
 *
 * @param messages The agent's messages.
 * @returns Tokens.
 */
export function contextTokens(messages: readonly AgentMessage[]): number {
  let tokens = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role === "assistant") {
      const used = usedTokens(message);
      if (used !== undefined && !isBeforeSummary(messages, message)) return tokens + used;
    }
    tokens += estimateTokens(message);
  }
  return tokens;
}

/** Whether an answer was counted before the compaction: then its count is of a context that is no more. */
function isBeforeSummary(messages: readonly AgentMessage[], message: AssistantMessage): boolean {
  const first = messages[0];
  return first?.role === "compactionSummary" && message.timestamp <= first.timestamp;
}
