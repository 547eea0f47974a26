/**
 * What a session and the program that is its UI say to each other over a pipe: JSON, one object a line. One table for each
 * direction, from which the types, the checks and the tables of README.md derive.
 *
 * @module
 */

import type { ImageContent } from "../messages.ts";
import { isRecord, kindOf, nearest } from "../values.ts";

/** Grows when a client that was written before would no longer work. */
export const RPC_VERSION = 1;
/** Most bytes of a line from the client. */
export const MAX_LINE: number = 32 * 1024 * 1024;
/** Most characters of an id. */
const MAX_ID = 200;
/** Most cells that a line has. */
const MAX_CELLS = 1_000;

/** What a field of the client may be. */
interface FieldTypes {
  text: string;
  yes: true;
  flag: boolean;
  cells: number;
  answer: string | number | boolean;
  images: ImageContent[];
  delivery: "steer" | "followUp";
}

const isText = (value: unknown): value is string => typeof value === "string";

const FIELDS: { readonly [K in keyof FieldTypes]: { is(value: unknown): boolean; needs: string } } = {
  text: { is: isText, needs: "a string" },
  yes: { is: (value) => value === true, needs: "true" },
  flag: { is: (value) => typeof value === "boolean", needs: "true or false" },
  cells: {
    is: (value) => Number.isInteger(value) && value as number > 0 && value as number <= MAX_CELLS,
    needs: `a whole number from 1 to ${MAX_CELLS}`,
  },
  answer: {
    is: (value) => isText(value) || typeof value === "number" || typeof value === "boolean",
    needs: "a string, a number, true or false",
  },
  images: {
    is: (value) =>
      Array.isArray(value) &&
      value.every((each) => isRecord(each) && each.type === "image" && isText(each.data) && isText(each.mimeType)),
    needs: 'a list of { "type": "image", "data": base64, "mimeType": … }',
  },
  delivery: { is: (value) => value === "steer" || value === "followUp", needs: '"steer" or "followUp"' },
};

/** What is known of a message of the client. */
interface MessageRule {
  /** Whose `id` it has: its own, since a response tells it; that of a question; or none. */
  readonly id: "request" | "question" | "none";
  /** Its fields; those with a `?` may be absent. */
  readonly fields: Readonly<Record<string, keyof FieldTypes | `${keyof FieldTypes}?`>>;
  /** What it does. */
  readonly does: string;
}

/** What the client may say. */
export const CLIENT_MESSAGES = {
  prompt: {
    id: "request",
    fields: { text: "text", images: "images?", deliverAs: "delivery?" },
    does:
      "Says it to the agent, or runs the slash command that it is, of a hook or of the session (`/new`, `/resume`, " +
      "`/tree` …). The response comes when the agent has nothing left to do, and tells `handledAs`: `run`, `command`, " +
      "`session`, `hook` or `queued`. While the agent works, `deliverAs` is needed: `steer` or `followUp`",
  },
  bash: {
    id: "request",
    fields: { command: "text", excludeFromContext: "flag?" },
    does: "Runs a command line by hand. The response has its `output` and `exitCode`",
  },
  abort: {
    id: "request",
    fields: {},
    does: "Stops what the agent does, and closes all questions. The response comes when it has stopped",
  },
  state: {
    id: "request",
    fields: {},
    does: "The response has the session, its folder, file and name, the model, `isIdle`, the hooks, slash commands, " +
      "tools, texts of the status line, and the questions that are open",
  },
  entries: {
    id: "request",
    fields: {},
    does: "The response has all `entries` of the session, each with its `id` and `parentId`, and the `leafId`",
  },
  sessions: {
    id: "request",
    fields: {},
    does: "The response has the `sessions` of this folder, which `/resume` takes by their `id`",
  },
  shutdown: {
    id: "request",
    fields: {},
    does: "Stops the agent and ends the session. The response is the last record",
  },
  ui_response: {
    id: "question",
    fields: { value: "answer?", cancelled: "yes?" },
    does:
      "Answers a question. `value` is, for `select`, the text or the place (from 0) of an option; for `confirm`, true " +
      "or false; for `input` and `editor`, a string. `cancelled` closes it unanswered, as `custom` always is",
  },
  ui_input: {
    id: "question",
    fields: { data: "text" },
    does: "Hands a `custom` component what was typed, as a terminal would",
  },
  ui_screen: {
    id: "none",
    fields: { width: "cells", height: "cells?", colours: "flag?" },
    does:
      "Says what the client can show, at the beginning and when it changes: 80 cells without colours if it never does",
  },
  editor_text: {
    id: "none",
    fields: { text: "text" },
    does: "Says what stands in the client's prompt editor, for hooks that read it",
  },
} as const satisfies Readonly<Record<string, MessageRule>>;

type Messages = typeof CLIENT_MESSAGES;
type Value<K> = K extends keyof FieldTypes ? FieldTypes[K]
  : K extends `${infer O extends keyof FieldTypes}?` ? FieldTypes[O]
  : never;
type FieldsOf<F> =
  & { readonly [N in keyof F as F[N] extends `${string}?` ? never : N]: Value<F[N]> }
  & { readonly [N in keyof F as F[N] extends `${string}?` ? N : never]?: Value<F[N]> };
type IdOf<K> = K extends "request" ? { readonly id: RequestId }
  : K extends "question" ? { readonly id: string }
  : unknown;

/** What a client calls its request. */
export type RequestId = string | number;

/** The name of a message of the client. */
export type ClientMessageType = keyof Messages;

/** A message of the client. */
export type ClientMessage<T extends ClientMessageType = ClientMessageType> = {
  [N in T]: { readonly type: N } & FieldsOf<Messages[N]["fields"]> & IdOf<Messages[N]["id"]>;
}[T];

/** The messages that get a response. */
export type ClientRequest = {
  [N in ClientMessageType]: Messages[N]["id"] extends "request" ? ClientMessage<N> : never;
}[ClientMessageType];

/** What only changes what the client shows, or answers a question: a response comes only when it is refused. */
export type ClientNote = Exclude<ClientMessage, ClientRequest>;

/** Whether a message gets a response. */
export function isRequest(message: ClientMessage): message is ClientRequest {
  return CLIENT_MESSAGES[message.type].id === "request";
}

/** Why a message of the client was refused. */
export type RpcErrorCode =
  | "malformed"
  | "too_long"
  | "unknown_type"
  | "invalid_id"
  | "duplicate_id"
  | "invalid_field"
  | "invalid_answer"
  | "unknown_question"
  | "unknown_command"
  | "busy"
  | "closing"
  | "failed";

/** Why a question is closed without an answer of the client. */
export type CloseReason = "timeout" | "aborted" | "done" | "failed" | "end_of_input" | "shutdown";

/** What the session says, beside the records of `--json`, by its type. */
export interface ServerRecords {
  /** The first record. */
  rpc: { version: number; program: string; maxLine: number };
  /** What became of a message. */
  response: {
    id: RequestId | null;
    to: ClientMessageType | null;
    ok: boolean;
    result?: object;
    error?: { code: RpcErrorCode; message: string };
  };
  /** Text of a slash command of the session. */
  output: { id: RequestId; text: string };
  /** A question. */
  ui_request: {
    id: string;
    method: "select" | "confirm" | "input" | "editor" | "custom";
    hook: string | null;
    title?: string;
    options?: readonly string[];
    message?: string;
    placeholder?: string;
    prefill?: string;
    timeout?: number;
  };
  /** A question is closed. */
  ui_cancel: { id: string; reason: CloseReason };
  /** How a component looks now. */
  ui_frame: { id: string; width: number; lines: readonly string[] };
  /** A note. */
  notify: { level: "info" | "warning" | "error"; message: string; hook?: string };
  /** A text of the status line. */
  status: { key: string; text: string | null };
  /** Lines beside the editor. */
  widget: { key: string; lines: readonly string[] | null; placement: "aboveEditor" | "belowEditor" };
  /** The text of the prompt editor. */
  editor_text: { text: string };
  /** The end. */
  closing: { reason: "end_of_input" | "shutdown" };
}

/** Says something to the client. */
export type Send = <T extends keyof ServerRecords>(type: T, fields: ServerRecords[T]) => void;

/** When each record is sent, and its fields. */
export const SERVER_RECORDS: {
  readonly [T in keyof ServerRecords]: { readonly fields: readonly (keyof ServerRecords[T])[]; readonly when: string };
} = {
  rpc: { fields: ["version", "program", "maxLine"], when: "The first record" },
  response: {
    fields: ["id", "to", "ok", "result", "error"],
    when:
      "A request is done, or a line was refused: `to` is its type, `error` has a `code` and a `message`. `ui_response` " +
      "and what follows it in the table above get one only when refused",
  },
  output: { fields: ["id", "text"], when: "A slash command of the session prints; `id` is that of the prompt" },
  ui_request: {
    fields: ["id", "method", "hook", "title", "options", "message", "placeholder", "prefill", "timeout"],
    when:
      "A hook asks: `select` (`title`, `options`), `confirm` (`title`, `message`), `input` (`title`, `placeholder`), " +
      "`editor` (`title`, `prefill`) or `custom`. `timeout` is in ms. Answer what you do not know with `cancelled`",
  },
  ui_cancel: {
    fields: ["id", "reason"],
    when:
      "A question is closed and needs no answer any more: `timeout`, `aborted`, `end_of_input`, `shutdown`; `done` or " +
      "`failed` for `custom`",
  },
  ui_frame: {
    fields: ["id", "width", "lines"],
    when: "How a `custom` component looks now. Lines hold SGR colours only if the client said that it shows them",
  },
  notify: { fields: ["level", "message", "hook"], when: "A note" },
  status: { fields: ["key", "text"], when: "A text of the status line; `null` takes it away" },
  widget: { fields: ["key", "lines", "placement"], when: "Lines beside the editor; `null` takes them away" },
  editor_text: { fields: ["text"], when: "A hook puts a text into the prompt editor" },
  closing: { fields: ["reason"], when: "The session is about to end" },
};

/** A message of the client that is refused. */
export class RpcError extends Error {
  /** Tells it from other errors. */
  override name = "RpcError";
  /** For programs. */
  readonly code: RpcErrorCode;

  /**
   * @param code For programs.
   * @param message For people.
   */
  constructor(code: RpcErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A line of the client: its message, or why it is refused. */
export type Reading =
  | { readonly message: ClientMessage }
  | { readonly error: RpcError; readonly id: RequestId | null; readonly to: ClientMessageType | null };

/**
 * Reads a line of the client.
 *
 * @param line The line.
 * @returns Its message; or the error, with as much as can be told of what it is about.
 */
export function readMessage(line: string): Reading {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch {
    return refused("malformed", `The line is no JSON: ${quoted(line)}`);
  }
  if (!isRecord(given)) return refused("malformed", `A line should hold an object, not ${kindOf(given)}`);
  const id = isRequestId(given.id) ? given.id : null;
  const type = given.type;
  if (!isText(type)) {
    return refused("unknown_type", `A message needs a type, which is a string, not ${kindOf(type)}`, id);
  }
  if (!Object.hasOwn(CLIENT_MESSAGES, type)) {
    const types = Object.keys(CLIENT_MESSAGES);
    const near = type.length < MAX_ID ? nearest(type, types) : undefined;
    const hint = near === undefined ? `there are ${types.join(", ")}` : `did you mean ${near}?`;
    return refused("unknown_type", `There is no type ${quoted(type)}; ${hint}`, id);
  }
  const to = type as ClientMessageType;
  const rule: MessageRule = CLIENT_MESSAGES[to];
  if (rule.id === "request" && id === null) {
    return refused("invalid_id", `${to} needs an id: a number, or a string of at most ${MAX_ID} characters`, null, to);
  }
  if (rule.id === "question" && !isText(id)) {
    return refused("invalid_id", `${to} needs the id of its question: a string`, id, to);
  }
  for (const name of Object.keys(given)) {
    if (name === "type" || name === "id" && rule.id !== "none" || Object.hasOwn(rule.fields, name)) continue;
    return refused("invalid_field", `${to} has no field ${quoted(name)}`, id, to);
  }
  for (const [name, kind] of Object.entries(rule.fields)) {
    const field = FIELDS[kind.replace("?", "") as keyof FieldTypes];
    if (given[name] === undefined ? kind.endsWith("?") : field.is(given[name])) continue;
    return refused("invalid_field", `${name} of ${to} should be ${field.needs}, not ${kindOf(given[name])}`, id, to);
  }
  return { message: given as unknown as ClientMessage };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

function isRequestId(id: unknown): id is RequestId {
  return isText(id) ? id.length <= MAX_ID : typeof id === "number" && Number.isFinite(id);
}

function refused(
  code: RpcErrorCode,
  message: string,
  id: RequestId | null = null,
  to: ClientMessageType | null = null,
): Reading {
  return { error: new RpcError(code, message), id, to };
}
