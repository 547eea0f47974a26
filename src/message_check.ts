/**
 * What a message must be like to go into a session: checked where it enters, and again where it is read.
 *
 * @module
 */

import type { AgentMessage, UserContent } from "./messages.ts";
import { errorText, isRecord } from "./values.ts";

/** Fields of the known parts that must be strings. */
const PART_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  thinking: ["thinking"],
  toolCall: ["id", "name"],
};

/** Fields of the known messages that must be strings. */
const MESSAGE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  toolResult: ["toolCallId", "toolName"],
  custom: ["customType"],
  bashExecution: ["command", "output"],
  branchSummary: ["summary"],
  compactionSummary: ["summary"],
};

const WITH_TEXT: ReadonlySet<string> = new Set(["user", "developer", "custom"]);
const WITH_CONTENT: ReadonlySet<string> = new Set([...WITH_TEXT, "assistant", "toolResult"]);

/**
 * What is wrong with a message. Roles and parts that are not known here may come from another program, and are no fault.
 *
 * @param message The message.
 * @param name What errors call it.
 * @returns The field and what it should be, or `undefined`.
 */
export function messageFault(message: unknown, name = "message"): string | undefined {
  if (!isRecord(message)) return `${name} should be an object, not ${sortOf(message)}`;
  const { role } = message;
  if (typeof role !== "string") return textFault(role, `${name}.role`);
  for (const field of Object.hasOwn(MESSAGE_FIELDS, role) ? MESSAGE_FIELDS[role]! : []) {
    const fault = textFault(message[field], `${name}.${field}`);
    if (fault !== undefined) return fault;
  }
  if (!WITH_CONTENT.has(role)) return undefined;
  return contentFault(message.content, `${name}.content`, WITH_TEXT.has(role));
}

/**
 * What is wrong with the content of a message.
 *
 * @param content The content.
 * @param name What errors call it.
 * @param mayBeText Whether a string will do.
 * @returns The field and what it should be, or `undefined`.
 */
export function contentFault(content: unknown, name = "content", mayBeText = true): string | undefined {
  if (mayBeText && typeof content === "string") return undefined;
  if (!Array.isArray(content)) {
    return `${name} should be ${mayBeText ? "a string or " : ""}an array of parts, not ${sortOf(content)}`;
  }
  for (let i = 0; i < content.length; i++) {
    const fault = partFault(content[i], `${name}[${i}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function partFault(part: unknown, name: string): string | undefined {
  if (!isRecord(part)) return `${name} should be a part like { type: "text", text }, not ${sortOf(part)}`;
  const { type } = part;
  if (typeof type !== "string") return textFault(type, `${name}.type`);
  for (const field of Object.hasOwn(PART_FIELDS, type) ? PART_FIELDS[type]! : []) {
    const fault = textFault(part[field], `${name}.${field}`);
    if (fault !== undefined) return fault;
  }
  if (type === "toolCall" && !isRecord(part.arguments)) {
    return `${name}.arguments should be an object, not ${sortOf(part.arguments)}`;
  }
  return undefined;
}

/**
 * What is wrong with what should be a string.
 *
 * @param value The value.
 * @param name What errors call it.
 */
export function textFault(value: unknown, name: string): string | undefined {
  return typeof value === "string" ? undefined : `${name} should be a string, not ${sortOf(value)}`;
}

/** What a value is, and nothing of what is in it: it may be what a hook has redacted elsewhere. */
function sortOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * Takes what is sound of a message that may be malformed.
 *
 * @param message The message.
 * @returns The message itself when nothing is wrong with it, else one without the malformed parts; `undefined` when it is none at all.
 */
export function soundMessage(message: unknown): AgentMessage | undefined {
  if (messageFault(message) === undefined) return message as AgentMessage;
  if (!isRecord(message)) return undefined;
  if (message.role === "toolResult" && typeof message.content === "string") {
    return soundMessage({ ...message, content: [{ type: "text", text: message.content }] });
  }
  if (!Array.isArray(message.content)) return undefined;
  const sound = { ...message, content: message.content.filter((part) => partFault(part, "") === undefined) };
  return messageFault(sound) === undefined ? sound as unknown as AgentMessage : undefined;
}

/**
 * Takes what the model can read of a tool's answer. Parts that are malformed, or that no model reads, are left out; of a part that cannot be
 * written as JSON only what every part of its type has is kept.
 *
 * @param content The content.
 * @returns Sound parts, and the first fault.
 */
export function readParts(content: readonly unknown[]): { parts: UserContent[]; fault?: string } {
  const parts: UserContent[] = [];
  let fault: string | undefined;
  for (let i = 0; i < content.length; i++) {
    const part = content[i];
    const name = `content[${i}]`;
    const wrong = partFault(part, name);
    if (wrong !== undefined) {
      fault ??= wrong;
      continue;
    }
    const sound = part as UserContent;
    if (sound.type !== "text" && sound.type !== "image") continue;
    const unwritable = contentJsonFault([sound])?.replace("content[0]", name);
    fault ??= unwritable;
    if (unwritable === undefined) parts.push(sound);
    else if (sound.type === "text") parts.push({ type: "text", text: sound.text });
    else parts.push({ type: "image", data: sound.data, mimeType: sound.mimeType });
  }
  return { parts, ...fault !== undefined && { fault } };
}

/**
 * Why sound content cannot be written as JSON.
 *
 * @param content The content.
 * @param name What errors call it.
 * @returns The field and what it is, or `undefined` when it can be written.
 */
export function contentJsonFault(content: unknown, name = "content"): string | undefined {
  if (!Array.isArray(content)) return jsonFault(content, name);
  // Strings are most of it, and need no look.
  for (let i = 0; i < content.length; i++) {
    if (!isRecord(content[i])) continue;
    for (const key of Object.keys(content[i])) {
      const value: unknown = content[i][key];
      const fault = typeof value === "string" ? undefined : jsonFault(value, `${name}[${i}].${key}`);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/**
 * Why a value cannot be written as JSON.
 *
 * @param value The value.
 * @param name What errors call it.
 * @returns The field and what it is, or `undefined` when it can be written.
 */
export function jsonFault(value: unknown, name: string): string | undefined {
  if (typeof value === "bigint") return `${name} is a BigInt, which is no JSON`;
  if (typeof value !== "object" || value === null) return undefined;
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return findUnwritable(value, name) ?? `${name} cannot be written as JSON (${errorText(error)})`;
  }
}

/** The first field that is a BigInt or leads back to what it is in; only looked for when there is one. */
function findUnwritable(value: object, name: string): string | undefined {
  const open: { value: object; name: string; within: readonly object[] }[] = [{ value, name, within: [] }];
  for (let looked = 0, next = open.shift(); next !== undefined && looked < 10_000; looked++, next = open.shift()) {
    let fields: [string, unknown][];
    try {
      fields = Object.entries(next.value);
    } catch {
      return `${next.name} cannot be read`;
    }
    const within = [...next.within, next.value];
    for (const [key, field] of fields) {
      const path = Array.isArray(next.value) ? `${next.name}[${key}]` : `${next.name}.${key}`;
      if (typeof field === "bigint") return `${path} is a BigInt, which is no JSON`;
      if (typeof field !== "object" || field === null) continue;
      if (within.includes(field)) return `${path} leads back to what it is in, which is no JSON`;
      if (within.length < 100) open.push({ value: field, name: path, within });
    }
  }
  return undefined;
}
