/**
 * Makes room in a context: what is old becomes a summary, what is recent stays whole.
 *
 * @module
 */

import type { CompactionEntry, SessionEntry } from "../entries.ts";
import type { CompactionPreparation, CompactionResult, SessionCompactingResult } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import type { LanguageModel } from "../models/model.ts";
import { isRecord } from "../values.ts";
import { buildSessionContext, messageOf } from "./context.ts";
import { askForText, fileLists, type FileOperations, fileOperations, serialize } from "./summary.ts";
import { contextTokens, estimateTokens, usedTokens } from "./tokens.ts";

/** When and how a context is compacted. */
export interface CompactionSettings {
  /** Whether it happens by itself; default true. */
  enabled: boolean;
  /** Tokens kept free for the answer; default 16 384. */
  reserveTokens: number;
  /** Tokens of recent messages that stay whole; default 20 000. */
  keepRecentTokens: number;
  /** Part of the window in percent at which it happens; by `reserveTokens` when absent. */
  thresholdPercent?: number;
  /** Tokens at which it happens; goes before `thresholdPercent`. */
  thresholdTokens?: number;
}

/** What holds when nothing is set. */
export const DEFAULT_COMPACTION: CompactionSettings = {
  enabled: true,
  reserveTokens: 16_384,
  keepRecentTokens: 20_000,
};

/**
 * Whether a context is so full that it should be compacted.
 *
 * @param tokens Tokens in it.
 * @param contextWindow Tokens that the model takes.
 * @param settings The settings.
 * @returns `true` above the threshold.
 */
export function shouldCompact(tokens: number, contextWindow: number, settings: CompactionSettings): boolean {
  return tokens > threshold(contextWindow, settings);
}

function threshold(window: number, { thresholdTokens, thresholdPercent, reserveTokens }: CompactionSettings): number {
  if (thresholdTokens !== undefined && thresholdTokens > 0) return Math.min(Math.max(1, thresholdTokens), window - 1);
  if (thresholdPercent !== undefined && thresholdPercent > 0) {
    return Math.floor(window * Math.min(99, Math.max(1, thresholdPercent)) / 100);
  }
  return Math.max(1, window - Math.max(Math.floor(0.15 * window), reserveTokens));
}

/** Why there is nothing to compact. */
export class NothingToCompactError extends Error {
  /** Tells it from other errors. */
  override name = "NothingToCompactError";
}

/**
 * Works out what a compaction of a branch would do.
 *
 * @param branch The entries, root first.
 * @param settings The settings.
 * @returns The preparation.
 * @throws {NothingToCompactError} When the last entry is a compaction, or there is too little.
 */
export function prepareCompaction(
  branch: readonly SessionEntry[],
  settings: CompactionSettings,
): CompactionPreparation {
  if (branch.at(-1)?.type === "compaction") throw new NothingToCompactError("Already compacted");
  const previous = branch.findLast((entry) => entry.type === "compaction");
  const start = startOfUnsummarised(branch, previous);
  const { messages } = buildSessionContext(branch);
  const keep = settings.keepRecentTokens / Math.max(1, realPerEstimated(messages));
  const cut = findCut(branch, start, keep);
  const turnStart = isTurnStart(branch[cut]) ? cut : findTurnStart(branch, start, cut);
  const historyEnd = turnStart === -1 ? cut : turnStart;
  const messagesToSummarize = messagesIn(branch, start, historyEnd);
  const turnPrefixMessages = messagesIn(branch, historyEnd, cut);
  if (messagesToSummarize.length + turnPrefixMessages.length === 0) {
    throw new NothingToCompactError("Nothing to compact (session too small)");
  }
  return {
    firstKeptEntryId: branch[firstKept(branch, start, cut)]!.id,
    messagesToSummarize,
    turnPrefixMessages,
    recentMessages: messagesIn(branch, cut, branch.length),
    isSplitTurn: turnPrefixMessages.length > 0,
    tokensBefore: contextTokens(messages),
    ...previous?.summary !== undefined && { previousSummary: previous.summary },
    ...previous?.preserveData !== undefined && { previousPreserveData: previous.preserveData },
    fileOps: fileOperations([...messagesToSummarize, ...turnPrefixMessages], previousFiles(previous)),
    settings: {
      enabled: settings.enabled,
      reserveTokens: settings.reserveTokens,
      keepRecentTokens: settings.keepRecentTokens,
    },
  };
}

/** Index of the first entry that no summary stands in for yet. */
function startOfUnsummarised(branch: readonly SessionEntry[], previous: CompactionEntry | undefined): number {
  if (previous === undefined) return 0;
  const kept = branch.findIndex((entry) => entry.id === previous.firstKeptEntryId);
  const at = branch.indexOf(previous);
  return kept === -1 || kept > at ? at + 1 : kept;
}

/** How many real tokens one estimated token is. */
function realPerEstimated(messages: readonly AgentMessage[]): number {
  const at = messages.findLastIndex((message) => message.role === "assistant" && usedTokens(message) !== undefined);
  const last = messages[at];
  if (last?.role !== "assistant") return 1;
  const { input, cacheRead, cacheWrite } = last.usage!;
  let estimated = 0;
  for (let i = 0; i < at; i++) estimated += estimateTokens(messages[i]!);
  return estimated === 0 ? 1 : (input + cacheRead + cacheWrite) / estimated;
}

/** Index of the first entry that stays whole. */
function findCut(branch: readonly SessionEntry[], start: number, keep: number): number {
  let tokens = 0;
  for (let i = branch.length - 1; i >= start; i--) {
    const message = messageOf(branch[i]!);
    if (message === undefined) continue;
    tokens += estimateTokens(message);
    if (tokens < keep) continue;
    for (let at = i; at < branch.length; at++) if (isCut(branch[at]!)) return at;
    // All from here on answers one message of the model: that message must stay with its answers.
    for (let at = i; at >= start; at--) if (isCut(branch[at]!)) return at;
    break;
  }
  const first = branch.findIndex((entry, i) => i >= start && isCut(entry));
  return first === -1 ? branch.length : first;
}

function isCut(entry: SessionEntry): boolean {
  const message = messageOf(entry);
  return message !== undefined && message.role !== "toolResult";
}

function isTurnStart(entry: SessionEntry | undefined): boolean {
  if (entry === undefined) return true;
  if (entry.type === "custom_message" || entry.type === "branch_summary") return true;
  return entry.type === "message" && ["user", "bashExecution"].includes(entry.message?.role);
}

function findTurnStart(branch: readonly SessionEntry[], start: number, cut: number): number {
  for (let i = cut - 1; i >= start; i--) if (isTurnStart(branch[i])) return i;
  return -1;
}

/** Settings, labels and the like that stand right before the cut stay with it. */
function firstKept(branch: readonly SessionEntry[], start: number, cut: number): number {
  let at = cut;
  while (at > start && messageOf(branch[at - 1]!) === undefined && branch[at - 1]!.type !== "compaction") at--;
  return Math.min(at, branch.length - 1);
}

function messagesIn(branch: readonly SessionEntry[], from: number, to: number): AgentMessage[] {
  return branch.slice(from, to).map(messageOf).filter((message) => message !== undefined);
}

function previousFiles(previous: CompactionEntry | undefined): FileOperations {
  const files: FileOperations = { read: new Set(), written: new Set(), edited: new Set() };
  // What a hook keeps in `details` is its own.
  if (previous === undefined || previous.fromExtension || !isRecord(previous.details)) return files;
  const { readFiles, modifiedFiles } = previous.details;
  if (Array.isArray(readFiles)) readFiles.forEach((file) => files.read.add(String(file)));
  if (Array.isArray(modifiedFiles)) modifiedFiles.forEach((file) => files.edited.add(String(file)));
  return files;
}

const SYSTEM =
  "You summarise conversations between a person and a coding agent. Do not continue the conversation and do not " +
  "answer questions in it. Write only the summary.";
const INITIAL =
  "Summarise the conversation above so that another agent can go on with the work. Use these headings: Goal, " +
  "Constraints, Done, In progress, Decisions, Next steps. Keep exact paths, names and error texts. Be brief.";
const UPDATE =
  "Update the summary in <previous-summary> with the conversation above. Keep what still holds, drop what does not, " +
  "and use the same headings: Goal, Constraints, Done, In progress, Decisions, Next steps. Be brief.";
const PREFIX =
  "The conversation above is the beginning of one long turn whose end stays as it is. Summarise what was asked and what was " +
  "found so far, so that the end can be understood. Be brief.";

/**
 * Asks the model for the summary of a prepared compaction.
 *
 * @param preparation What is to be done.
 * @param model The model.
 * @param options What hooks and the person want of it; `signal` ends it.
 * @returns The compaction.
 * @throws {Error} When the model fails or gives nothing; the signal's reason when it aborts.
 */
export async function generateCompaction(
  preparation: CompactionPreparation,
  model: LanguageModel,
  options: { customInstructions?: string; hooks?: SessionCompactingResult; signal: AbortSignal },
): Promise<CompactionResult> {
  const { messagesToSummarize, turnPrefixMessages, settings, previousSummary } = preparation;
  // When one of the two requests fails, nobody waits for the other one.
  const sibling = new AbortController();
  const signal = AbortSignal.any([options.signal, sibling.signal]);
  const ask = async (prompt: string, share: number) => {
    try {
      return await askForText(model, SYSTEM, prompt, Math.floor(settings.reserveTokens * share), signal);
    } catch (error) {
      sibling.abort();
      throw error;
    }
  };
  const [history, prefix] = await Promise.all([
    messagesToSummarize.length === 0
      ? previousSummary ?? "No prior history."
      : ask(historyPrompt(preparation, options.customInstructions, options.hooks), 0.8),
    turnPrefixMessages.length === 0
      ? undefined
      : ask(`<conversation>\n${serialize(turnPrefixMessages)}\n</conversation>\n\n${PREFIX}`, 0.5),
  ]);
  const text = prefix === undefined ? history : `${history}\n\n---\n\n## Turn Context (split turn)\n\n${prefix}`;
  const { readFiles, modifiedFiles, text: lists } = fileLists(preparation.fileOps);
  const preserveData = options.hooks?.preserveData;
  return {
    summary: withoutLists(text) + lists,
    shortSummary: firstLine(text),
    firstKeptEntryId: preparation.firstKeptEntryId,
    tokensBefore: preparation.tokensBefore,
    details: { readFiles, modifiedFiles },
    ...preserveData !== undefined && { preserveData },
  };
}

function historyPrompt(
  { messagesToSummarize, previousSummary }: CompactionPreparation,
  customInstructions: string | undefined,
  hooks: SessionCompactingResult | undefined,
): string {
  const parts = [`<conversation>\n${serialize(messagesToSummarize)}\n</conversation>`];
  if (previousSummary !== undefined) parts.push(`<previous-summary>\n${previousSummary}\n</previous-summary>`);
  if (hooks?.context?.length) {
    parts.push(`<additional-context>\n${hooks.context.map((line) => `- ${line}`).join("\n")}\n</additional-context>`);
  }
  parts.push(hooks?.prompt ?? (previousSummary === undefined ? INITIAL : UPDATE));
  if (customInstructions) parts.push(`Mind above all: ${customInstructions}`);
  return parts.join("\n\n");
}

/** The lists are made anew, so those that came with an earlier summary go. */
function withoutLists(text: string): string {
  return text.replaceAll(/\n*<(read|modified)-files>[\s\S]*?<\/\1-files>/g, "").trim();
}

function firstLine(text: string): string {
  const line = text.split("\n").map((part) => part.replace(/^[#*\-\s]+/, "").trim()).find((part) => part !== "") ?? "";
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
