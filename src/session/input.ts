/**
 * What people, hooks and the session itself put into a conversation.
 *
 * @module
 */

import type { HookMessageInput } from "../api.ts";
import type { SessionEntry } from "../entries.ts";
import { type CustomMessage, type ImageContent, textOf, type UserMessage } from "../messages.ts";
import type { SessionTool } from "../tools/mod.ts";
import { isRecord, kindOf } from "../values.ts";

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
  const { customType, content, display, details, attribution } = message;
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw new TypeError(`The content of a ${customType} message must be a string or an array, not ${kindOf(content)}`);
  }
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

/** Where a move to an entry ends, and the text that can be said again there. */
export function landing(target: SessionEntry): { newLeafId: string | null; editorText?: string } {
  if (target.type === "message" && target.message.role === "user") {
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
