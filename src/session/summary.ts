/**
 * What compactions and summaries of branches have in common.
 *
 * @module
 */

import { type AgentMessage, textOf } from "../messages.ts";
import type { LanguageModel } from "../models/model.ts";
import { untilAborted } from "./wait.ts";

/** Files that messages touched. */
export interface FileOperations {
  /** Files read. */
  read: Set<string>;
  /** Files written. */
  written: Set<string>;
  /** Files edited. */
  edited: Set<string>;
}

const MAX_RESULT = 2_000;
const MAX_FILES = 20;

/**
 * Collects the files that tool calls name.
 *
 * @param messages The messages.
 * @param files What is known already; it is added to.
 * @returns `files`.
 */
export function fileOperations(messages: readonly AgentMessage[], files: FileOperations): FileOperations {
  const sets: Record<string, Set<string>> = { read: files.read, write: files.written, edit: files.edited };
  for (const message of messages) {
    if (message.role !== "assistant" || !Array.isArray(message.content)) continue;
    for (const part of message.content) {
      if (part.type === "toolCall" && typeof part.arguments?.path === "string") {
        sets[part.name]?.add(part.arguments.path);
      }
    }
  }
  return files;
}

/**
 * Writes down files for the end of a summary.
 *
 * @param files The files.
 * @returns Those only read, those changed, and the text.
 */
export function fileLists(files: FileOperations): { readFiles: string[]; modifiedFiles: string[]; text: string } {
  const modified = new Set([...files.written, ...files.edited]);
  const modifiedFiles = [...modified].sort();
  const readFiles = [...files.read].filter((file) => !modified.has(file)).sort();
  return { readFiles, modifiedFiles, text: list("read-files", readFiles) + list("modified-files", modifiedFiles) };
}

function list(tag: string, files: readonly string[]): string {
  if (files.length === 0) return "";
  const more = files.length > MAX_FILES ? `\n(${files.length - MAX_FILES} more omitted)` : "";
  return `\n\n<${tag}>\n${files.slice(0, MAX_FILES).join("\n")}${more}\n</${tag}>`;
}

/**
 * Writes messages as text, so that a model reads them without going on with them. Long results of tools are cut.
 *
 * @param messages The messages.
 * @returns Blocks with labels.
 */
export function serialize(messages: readonly AgentMessage[]): string {
  return messages.flatMap(blocks).join("\n\n");
}

function blocks(message: AgentMessage): string[] {
  switch (message.role) {
    case "user":
    case "custom":
      return block("User", textOf(message.content));
    case "assistant": {
      const thinking = message.content.flatMap((part) => part.type === "thinking" ? [part.thinking] : []);
      const calls = message.content.flatMap((part) =>
        part.type === "toolCall" ? [`${part.name}(${JSON.stringify(part.arguments)})`] : []
      );
      return [
        ...block("Assistant thinking", thinking.join("\n")),
        ...block("Assistant", textOf(message.content)),
        ...block("Assistant tool calls", calls.join("\n")),
      ];
    }
    case "toolResult": {
      const text = textOf(message.content);
      const more = text.length - MAX_RESULT;
      return block("Tool result", more > 0 ? `${text.slice(0, MAX_RESULT)}\n[${more} characters omitted]` : text);
    }
    case "bashExecution":
      return message.excludeFromContext
        ? []
        : block("User", `$ ${message.command}\n${message.output.slice(0, MAX_RESULT)}`);
    case "branchSummary":
    case "compactionSummary":
      return block("Summary", message.summary);
    default:
      return [];
  }
}

function block(label: string, text: string): string[] {
  return text.trim() === "" ? [] : [`[${label}]: ${text}`];
}

/**
 * Asks a model for one text.
 *
 * @param model The model.
 * @param systemPrompt What it is to be.
 * @param prompt What it is asked.
 * @param maxTokens Most tokens of the answer.
 * @param signal Ends it.
 * @returns The text.
 * @throws {Error} When the model fails or says nothing; the signal's reason when it aborts.
 */
export async function askForText(
  model: LanguageModel,
  systemPrompt: string,
  prompt: string,
  maxTokens: number,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  let text = "";
  const messages = [{ role: "user" as const, content: prompt, timestamp: Date.now() }];
  for await (
    const event of untilAborted(model.stream({ systemPrompt, messages, tools: [], maxTokens, signal }), signal)
  ) {
    if (event.type === "text") text += event.delta;
    else if (event.type === "error") throw Object.assign(new Error(event.message), { failure: event });
    else if (event.type === "done") break;
  }
  signal.throwIfAborted();
  if (text.trim() === "") throw new Error("The model gave no summary");
  return text.trim();
}
