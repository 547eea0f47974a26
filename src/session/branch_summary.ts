/**
 * Summarises a branch that is left.
 *
 * @module
 */

import type { SessionEntry } from "../entries.ts";
import type { AgentMessage } from "../messages.ts";
import type { LanguageModel } from "../models/model.ts";
import { isRecord } from "../values.ts";
import { messageOf } from "./context.ts";
import { askForText, fileLists, type FileOperations, fileOperations, serialize } from "./summary.ts";
import { estimateTokens } from "./tokens.ts";

const DEFAULT_WINDOW = 128_000;
const MAX_TOKENS = 2_048;
const SYSTEM =
  "You summarise a branch of a conversation between a person and a coding agent that is about to be left. Do not " +
  "continue it. Write only the summary.";
const PROMPT =
  "Summarise the branch above for somebody who goes on from another point: what was tried, what was found, what was " +
  "decided, and what is left. Keep exact paths, names and error texts. Be brief.";

/** A summary of a branch. */
export interface BranchSummary {
  /** The summary. */
  summary: string;
  /** Files that the branch touched. */
  details: { readFiles: string[]; modifiedFiles: string[] };
}

/**
 * Asks the model to summarise a branch.
 *
 * @param entries What is left, oldest first.
 * @param model The model.
 * @param reserveTokens Tokens kept free for the answer.
 * @param signal Ends it.
 * @returns The summary.
 * @throws {Error} When the model fails; the signal's reason when it aborts.
 */
export async function summarizeBranch(
  entries: readonly SessionEntry[],
  model: LanguageModel,
  reserveTokens: number,
  signal: AbortSignal,
): Promise<BranchSummary> {
  const messages = fitting(entries, (model.contextWindow ?? DEFAULT_WINDOW) - reserveTokens);
  const files: FileOperations = { read: new Set(), written: new Set(), edited: new Set() };
  for (const entry of entries) {
    if (entry.type === "branch_summary" && !entry.fromExtension) addFiles(files, entry.details);
  }
  const { text: lists, ...details } = fileLists(fileOperations(messages, files));
  if (messages.length === 0) return { summary: "No content to summarize", details };
  const prompt = `<conversation>\n${serialize(messages)}\n</conversation>\n\n${PROMPT}`;
  const text = await askForText(model, SYSTEM, prompt, MAX_TOKENS, signal);
  return { summary: text + lists, details };
}

/** The newest messages that fit, without the results of tools. */
function fitting(entries: readonly SessionEntry[], budget: number): AgentMessage[] {
  const messages: AgentMessage[] = [];
  let tokens = 0;
  for (const entry of entries.toReversed()) {
    const message = entry.type === "compaction" ? summaryOf(entry) : messageOf(entry);
    if (message === undefined || message.role === "toolResult") continue;
    const size = estimateTokens(message);
    const isSummary = message.role === "branchSummary" || message.role === "compactionSummary";
    if (tokens + size > budget && !(isSummary && tokens < 0.9 * budget)) break;
    tokens += size;
    messages.push(message);
  }
  return messages.reverse();
}

function summaryOf(entry: Extract<SessionEntry, { type: "compaction" }>): AgentMessage {
  const { summary, tokensBefore, timestamp } = entry;
  return { role: "compactionSummary", summary, tokensBefore, timestamp: Date.parse(timestamp) };
}

function addFiles(files: FileOperations, details: unknown): void {
  if (!isRecord(details)) return;
  if (Array.isArray(details.readFiles)) details.readFiles.forEach((file) => files.read.add(String(file)));
  if (Array.isArray(details.modifiedFiles)) details.modifiedFiles.forEach((file) => files.edited.add(String(file)));
}
