/**
 * What a host and the child that runs a hook say to each other: JSON, one frame a line.
 *
 * The child gets {@linkcode HostFrame}s on its standard input, answers with {@linkcode ChildFrame}s on descriptor 3, and gets the
 * answers to its synchronous calls on descriptor 4. Its standard output and error are the hook's own, and are logs.
 *
 * @module
 */

import { errorText, isRecord } from "../values.ts";

/** Descriptor on which the child writes frames. */
export const FRAMES_FD = 3;
/** Descriptor on which the child reads answers to synchronous calls. */
export const ANSWERS_FD = 4;

/** What a child is started with. */
export interface ChildConfig {
  /** The hook as a `file:` URL. */
  url: string;
  /** The hook's path, as it was given. */
  path: string;
  /** The hook's absolute path. */
  resolvedPath: string;
  /** Where the session works. */
  cwd: string;
  /** Whether the child may start programs by itself. */
  run: boolean;
}

/** What a handler, a command or a request came to, when it failed. */
export interface Fault {
  /** Its text. */
  message: string;
  /** Class of the error; absent when what was thrown is no error. */
  name?: string;
  /** Where it was thrown. */
  stack?: string;
}

/** A call of a tool that the child runs. */
export interface ToolCallParts {
  /** Identifies the call. */
  toolCallId: string;
  /** The arguments. */
  params: Record<string, unknown>;
  /** Aborted when the call should end. */
  signal: AbortSignal | undefined;
  /** Whether somebody wants to be told while it runs. */
  updates: boolean;
}

/** From the host. */
export type HostFrame =
  | { t: "event"; id: number; h: number; e: unknown }
  | { t: "command"; id: number; name: string; args: string }
  | { t: "tool"; id: number; name: string; p: ToolCallParts }
  | { t: "shortcut"; id: number; key: string }
  | { t: "bus"; channel: string; data?: unknown }
  | { t: "setup"; id: number; of: number }
  | { t: "render"; id: number; customType: string; message: unknown; expanded: boolean; width: number }
  | { t: "frame"; id: number; ui: number; width: number; rows: number }
  | { t: "input"; ui: number; data: string }
  | { t: "close"; ui: number }
  | { t: "abort"; id: number }
  | { t: "signal"; signal: number }
  | { t: "reply"; id: number; v?: unknown; error?: Fault };

/** From the child. */
export type ChildFrame =
  | { t: "ready" }
  | { t: "failed"; error: string; compat?: boolean }
  | { t: "warn"; warning: string }
  | { t: "on"; event: string }
  | { t: "command"; name: string; shown: string; description?: string }
  | { t: "renderer"; customType: string }
  | { t: "tool"; name: string; spec: unknown }
  | { t: "flag"; name: string; spec: unknown }
  | { t: "shortcut"; key: string; description?: string }
  | { t: "result"; id: number; v?: unknown; error?: Fault }
  | { t: "ask"; id: number; for: number | null; method: string; args: unknown[] }
  | { t: "cancel"; id: number }
  | { t: "tell"; method: string; args: unknown[] }
  | { t: "sync"; for: number | null; method: string; args: unknown[] }
  | { t: "log"; level: "debug" | "info" | "warn" | "error"; message: string; context?: unknown };

/** A child said something that no honest child says. */
export class ProtocolError extends Error {
  /** Tells it from other errors. */
  override name = "ProtocolError";
}

/** Gives a signal a number that stands for it on the other side. */
export type SignalToNumber = (signal: AbortSignal) => number;

/** Makes a signal of a number. */
export type NumberToSignal = (signal: number, aborted: boolean) => AbortSignal;

/**
 * Makes JSON of a value, also of what JSON has no word for: `undefined`, sets, maps, dates, big integers, bytes, errors, signals.
 * Functions and symbols are left out.
 *
 * @param value The value.
 * @param signals Numbers signals; without it they are left out.
 * @returns JSON, and whether it must be decoded by {@linkcode untag}.
 * @throws {TypeError} When the value refers to itself.
 */
export function encode(value: unknown, signals?: SignalToNumber): { json: string; tagged: boolean } {
  const tags = tag(value, signals, 0);
  return { json: JSON.stringify(tags), tagged: tags !== value };
}

/** Writes a frame; its last field may need tags, and then `x` says so. */
export function frame(
  fields: Record<string, unknown>,
  key?: string,
  value?: unknown,
  signals?: SignalToNumber,
): string {
  const head = JSON.stringify(fields);
  if (key === undefined) return `${head}\n`;
  const { json, tagged } = encode(value, signals);
  return `${head.slice(0, -1)}${tagged ? ',"x":1' : ""},"${key}":${json}}\n`;
}

/** Reads a frame. Fields that need it are untagged. */
export function readFrame(line: string, signals?: NumberToSignal): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ProtocolError(`it sent a frame that is no JSON: ${JSON.stringify(line.slice(0, 80))}`);
  }
  if (!isRecord(value) || typeof value.t !== "string") {
    throw new ProtocolError(`it sent a frame that is no frame: ${JSON.stringify(line.slice(0, 80))}`);
  }
  // What has signals comes from the host, which is trusted.
  if (signals === undefined) requireShallow(value, 0);
  if (value.x !== 1) return value;
  for (const key of Object.keys(value)) if (key !== "t") value[key] = untag(value[key], signals);
  return value;
}

const MAX_DEPTH = 1_000;
/** Room for the frame itself, and for tags, which nest what they stand for twice. */
const MAX_FRAME_DEPTH = 2 * MAX_DEPTH + 20;

/** What is deeper than {@linkcode encode} makes it would overflow the stack of whoever walks it. */
function requireShallow(value: object, depth: number): void {
  if (depth > MAX_FRAME_DEPTH) throw new ProtocolError("it sent a value that is nested too deep");
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === "object" && item !== null) requireShallow(item, depth + 1);
  }
}

/** Returns the value itself when nothing in it needs a tag: then it is sent as it is, which is what nearly all are. */
function tag(value: unknown, signals: SignalToNumber | undefined, depth: number): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { $: "number", v: Object.is(value, -0) ? "-0" : String(value) };
    case "bigint":
      return { $: "bigint", v: String(value) };
    case "object":
      return value === null ? value : tagObject(value, signals, depth);
    default:
      return { $: "undefined" };
  }
}

function tagObject(value: object, signals: SignalToNumber | undefined, depth: number): unknown {
  if (depth > MAX_DEPTH) {
    throw new TypeError(`it refers to itself or is nested more than ${MAX_DEPTH} deep, so it cannot be sent`);
  }
  if (Array.isArray(value)) return tagList(value, signals, depth + 1);
  const prototype = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null;
  if (!plain) {
    if (value instanceof Date) return { $: "date", v: value.getTime() };
    if (value instanceof Set) return { $: "set", v: tagList([...value], signals, depth + 1) };
    if (value instanceof Map) {
      return { $: "map", v: [...value].map((pair) => tagList(pair, signals, depth + 1)) };
    }
    if (value instanceof Uint8Array) return { $: "bytes", v: toBase64(value) };
    if (value instanceof Error) return { $: "error", v: [value.name, value.message] };
    if (value instanceof AbortSignal) {
      return signals ? { $: "signal", v: [signals(value), value.aborted] } : { $: "undefined" };
    }
    if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
      return tag((value as { toJSON: () => unknown }).toJSON(), signals, depth + 1);
    }
  }
  return tagProperties(value as Record<string, unknown>, !plain, signals, depth + 1);
}

function tagList(list: readonly unknown[], signals: SignalToNumber | undefined, depth: number): unknown {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const tagged = typeof item === "string" ? item : tag(item, signals, depth);
    if (tagged !== item && copy === undefined) copy = list.slice(0, i);
    copy?.push(tagged);
  }
  return copy ?? list;
}

/** Functions are left out, and with them a `toJSON` of the value's own, which is data here. */
function tagProperties(
  value: Record<string, unknown>,
  rewrite: boolean,
  signals: SignalToNumber | undefined,
  depth: number,
): unknown {
  const keys = Object.keys(value);
  let entries: [string, unknown][] | undefined = rewrite || Object.hasOwn(value, "$") ? [] : undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const item = value[key];
    const dropped = typeof item === "function" || typeof item === "symbol";
    const tagged = typeof item === "string" || dropped ? item : tag(item, signals, depth);
    if (entries === undefined) {
      if (tagged === item && !dropped) continue;
      entries = keys.slice(0, i).map((before) => [before, value[before]]);
    }
    if (!dropped) entries.push([key, tagged]);
  }
  if (entries === undefined) return value;
  if (Object.hasOwn(value, "$")) return { $: "object", v: entries };
  return Object.fromEntries(entries);
}

/** Undoes the tags of {@linkcode encode}. */
export function untag(value: unknown, signals?: NumberToSignal): unknown {
  if (Array.isArray(value)) return value.map((item) => untag(item, signals));
  if (!isRecord(value)) return value;
  if (Object.hasOwn(value, "$")) return untagOne(value, signals);
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setOwn(result, key, untag(item, signals));
  return result;
}

/** A plain assignment to `__proto__` would set the prototype. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}

function untagOne({ $: kind, v }: Record<string, unknown>, signals: NumberToSignal | undefined): unknown {
  const list = (): unknown[] => {
    if (!Array.isArray(v)) throw new ProtocolError(`it sent a tagged ${errorText(kind)} that is none`);
    return v;
  };
  switch (kind) {
    case "undefined":
      return undefined;
    case "number":
      return Number(errorText(v));
    case "bigint":
      if (typeof v !== "string" || !/^-?\d{1,10000}$/.test(v)) {
        throw new ProtocolError("it sent a big integer that is none");
      }
      return BigInt(v);
    case "date":
      return new Date(typeof v === "number" ? v : NaN);
    case "set":
      return new Set(list().map((item) => untag(item, signals)));
    case "map":
      return new Map(
        list().map((pair) => {
          if (!Array.isArray(pair)) throw new ProtocolError("it sent a map that is none");
          return untag(pair, signals) as [unknown, unknown];
        }),
      );
    case "bytes":
      return fromBase64(errorText(v));
    case "error": {
      const [name, message] = list();
      const error = new Error(errorText(message));
      error.name = errorText(name);
      return error;
    }
    case "signal": {
      const [number, aborted] = list();
      return signals?.(Number(number), aborted === true);
    }
    case "object": {
      const result: Record<string, unknown> = {};
      for (const pair of list()) {
        if (Array.isArray(pair)) setOwn(result, errorText(pair[0]), untag(pair[1], signals));
      }
      return result;
    }
    default:
      throw new ProtocolError(`it sent a value of the unknown kind ${JSON.stringify(kind)}`);
  }
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    throw new ProtocolError("it sent bytes that are none");
  }
}

/** Deno advises to grant everything of a kind; what was missing is enough. */
function withRemedy(message: string): string {
  return message.replace(
    /^(Requires ([a-z]+) access to "([^"]+)"), run again with the --allow-\2 flag$/,
    "$1; grant it with --allow-$2=$3",
  );
}

/** Describes what was thrown so that the other side can throw the like. */
export function toFault(thrown: unknown): Fault {
  if (!(thrown instanceof Error)) {
    try {
      return { message: String(thrown) };
    } catch {
      return { message: "a value that cannot be shown" };
    }
  }
  return {
    message: withRemedy(String(thrown.message)),
    name: String(thrown.name),
    ...(thrown.stack ? { stack: String(thrown.stack) } : {}),
  };
}

const ERRORS: Record<string, ErrorConstructor> = {
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
};

/** Makes what is thrown of a description; a text stands for what was no error. */
export function fromFault(fault: unknown): unknown {
  if (!isRecord(fault)) throw new ProtocolError("it sent a fault that is none");
  const message = errorText(fault.message);
  if (typeof fault.name !== "string") return message;
  const error = new (Object.hasOwn(ERRORS, fault.name) ? ERRORS[fault.name]! : Error)(message);
  if (error.name !== fault.name) error.name = fault.name;
  if (typeof fault.stack === "string") error.stack = fault.stack.slice(0, 10_000);
  return error;
}

/** Cuts bytes into lines, and refuses a line that is longer than `limit()` bytes. */
export class LineReader {
  readonly #decoder = new TextDecoder();
  // One buffer that grows, since many small pieces would take many times their size.
  #begun = new Uint8Array(0);
  #size = 0;

  constructor(readonly limit: () => number) {}

  /** Whether a line has begun. */
  get open(): boolean {
    return this.#size > 0;
  }

  /** Takes bytes and gives the lines that they end. */
  *push(bytes: Uint8Array): Generator<string> {
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      yield this.#take(bytes.subarray(start, end));
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  #take(last: Uint8Array): string {
    if (this.#size === 0) {
      this.#check(last.length);
      return this.#decoder.decode(last);
    }
    this.#keep(last);
    const line = this.#decoder.decode(this.#begun.subarray(0, this.#size));
    this.#begun = new Uint8Array(0);
    this.#size = 0;
    return line;
  }

  #keep(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    this.#check(size);
    if (size > this.#begun.length) {
      const grown = new Uint8Array(Math.max(size, 2 * this.#begun.length));
      grown.set(this.#begun.subarray(0, this.#size));
      this.#begun = grown;
    }
    this.#begun.set(piece, this.#size);
    this.#size = size;
  }

  #check(size: number): void {
    if (size > this.limit()) throw new ProtocolError(`it sent a frame of more than ${this.limit()} bytes`);
  }
}
