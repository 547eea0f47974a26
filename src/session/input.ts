/**
 * What people, hooks and the session itself put into a conversation.
 *
 * @module
 */

import type { HookMessageInput } from "../api.ts";
import type { SessionEntry } from "../entries.ts";
import { type CustomMessage, type ImageContent, textOf, type UserMessage } from "../messages.ts";
import type { SessionTool } from "../tools/mod.ts";
import { contentFault, jsonFault } from "../message_check.ts";
import { isRecord } from "../values.ts";

/** What a person said. */
export function userMessage(text: string, images: ImageContent[] | undefined): UserMessage {
  const content = images?.length ? [{ type: "text" as const, text }, ...images] : text;
  return { role: "user", content, timestamp: Date.now() };
}

/**
 * What a hook says.
 *
 * @throws {TypeError} When it is no message.
 */
export function customMessage(message: HookMessageInput): CustomMessage {
  if (!isRecord(message) || typeof message.customType !== "string") {
    throw new TypeError("A message of a hook needs a customType, which is a string");
  }
  const { customType, display, attribution } = message;
  // Copied the way it will be written, since the hook may change what it handed in while the message waits.
  const content = plain(message.content, customType, "content");
  const details = plain(message.details, customType, "details");
  const fault = contentFault(content);
  if (fault !== undefined) throw new TypeError(`A ${customType} message is malformed: ${fault}`);
  return {
    role: "custom",
    customType,
    content,
    display: Boolean(display ?? true),
    ...details !== undefined && { details },
    attribution: attribution ?? "agent",
    timestamp: Date.now(),
  };
}

function plain<T>(value: T, customType: string, field: string): T {
  const fault = jsonFault(value, field);
  if (fault !== undefined) throw new TypeError(`A ${customType} message is malformed: ${fault}`);
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined as T : JSON.parse(text);
}

/** Where a move to an entry ends, and the text that can be said again there. */
export function landing(target: SessionEntry): { newLeafId: string | null; editorText?: string } {
  if (target.type === "message" && target.message?.role === "user") {
    return { newLeafId: target.parentId, editorText: textOf(target.message.content) };
  }
  if (target.type === "custom_message") return { newLeafId: target.parentId, editorText: textOf(target.content) };
  return { newLeafId: target.id };
}

/** What the model is told when nobody says what. */
export function defaultSystemPrompt(cwd: string, tools: readonly SessionTool[]): string {
  const names = tools.map((tool) => tool.name).join(", ");
  return `You are a coding agent. You work in the folder ${cwd} with the tools ${names}. ` +
    "Look before you change something, and say in the end what you did.";
}
