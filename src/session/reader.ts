/**
 * Reads session files, whatever state they are in.
 *
 * @module
 */

import type { SessionHeader } from "../entries.ts";
import { errorText, isRecord } from "../values.ts";
import { SessionFileError } from "./errors.ts";

/** The newest version of the format that is read, and the one that is written. */
export const SESSION_VERSION = 3;

const BLOCK = 1 << 20;
const NEWLINE = 10;
const MAX_WARNINGS = 20;

/** A line that was cut off when it was written. */
export interface TornTail {
  /** Where it begins, in bytes. */
  offset: number;
  /** How long it is, in bytes. */
  length: number;
}

/** What a session file holds. */
export interface SessionFileContent {
  /** Its first line. */
  header: SessionHeader;
  /** Version of the format; 1 when the header has none. */
  version: number;
  /** All other lines that hold an object with a `type`, as they are. */
  lines: Record<string, unknown>[];
  /** What a person should know about it. */
  warnings: string[];
  /** Bytes up to the end of the last whole line. */
  size: number;
  /** Whether the last whole line lacks its newline. */
  needsNewline: boolean;
  /** What comes after the last whole line. */
  torn?: TornTail;
}

/**
 * Reads a session file line by line. Damaged lines are left out and named in the warnings; the file is not touched.
 *
 * @param path The file.
 * @returns What it holds.
 * @throws {SessionFileError} When it cannot be read, is empty, is no session, or has a newer version.
 */
export function readSessionFile(path: string): SessionFileContent {
  const lines: Record<string, unknown>[] = [];
  const warnings = new Warnings(path);
  let header: SessionHeader | undefined;
  let number = 0;
  const take = (text: string): void => {
    number++;
    if (header === undefined) {
      header = parseHeader(path, text);
      return;
    }
    if (text === "") return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      warnings.add(`line ${number} is damaged and left out (${errorText(error)})`);
      return;
    }
    if (isRecord(value) && typeof value.type === "string") lines.push(value);
    else warnings.add(`line ${number} is no entry and left out`);
  };
  const { size, rest } = readLines(path, take, () => warnings.add(`line ${number + 1} holds bytes that are no UTF-8`));
  const end = { size, needsNewline: false };
  let torn: TornTail | undefined;
  if (rest.length > 0) {
    if (header === undefined || isWhole(rest)) {
      take(new TextDecoder().decode(rest));
      end.size += rest.length;
      end.needsNewline = true;
    } else {
      torn = { offset: size, length: rest.length };
      warnings.add(`its last line (${rest.length} bytes) was cut off when it was written, and is kept aside`);
    }
  }
  if (header === undefined) {
    throw new SessionFileError(path, "is empty, so it is no session; remove it or name another one");
  }
  return { header, version: header.version ?? 1, lines, warnings: warnings.list(), ...end, ...torn && { torn } };
}

function parseHeader(path: string, text: string): SessionHeader {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SessionFileError(path, `is no session: its first line is not JSON, or was cut off (${errorText(error)})`);
  }
  if (!isRecord(value) || value.type !== "session") {
    throw new SessionFileError(path, 'is no session: its first line should be an object with "type": "session"');
  }
  if (typeof value.id !== "string" || value.id === "") {
    throw new SessionFileError(path, 'has a bad header: "id" should be a string');
  }
  const version = value.version ?? 1;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) {
    throw new SessionFileError(path, `has a bad header: "version" should be a number from 1 to ${SESSION_VERSION}`);
  }
  if (version > SESSION_VERSION) {
    throw new SessionFileError(
      path,
      `has version ${version} of the format, and this program reads up to ${SESSION_VERSION}; use a newer one`,
    );
  }
  return {
    ...value,
    type: "session",
    id: value.id,
    timestamp: typeof value.timestamp === "string" ? value.timestamp : new Date(0).toISOString(),
    cwd: typeof value.cwd === "string" ? value.cwd : "",
  };
}

function isWhole(bytes: Uint8Array): boolean {
  try {
    return isRecord(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    return false;
  }
}

class Warnings {
  readonly #path: string;
  readonly #texts: string[] = [];
  #more = 0;

  constructor(path: string) {
    this.#path = path;
  }

  add(text: string): void {
    if (this.#texts.length < MAX_WARNINGS) this.#texts.push(`${this.#path}: ${text}`);
    else this.#more++;
  }

  list(): string[] {
    return this.#more === 0 ? this.#texts : [...this.#texts, `${this.#path}: ${this.#more} more lines like that`];
  }
}

/** Hands out the lines of a file while holding little more than one block of it; `rest` comes after the last newline. */
function readLines(
  path: string,
  take: (text: string) => void,
  badBytes: () => void,
): { size: number; rest: Uint8Array } {
  using file = openForReading(path);
  let buffer = new Uint8Array(BLOCK);
  let filled = 0;
  let size = 0;
  const lines = new LineDecoder(take, badBytes);
  for (;;) {
    if (filled === buffer.length) {
      const larger = new Uint8Array(buffer.length * 2);
      larger.set(buffer);
      buffer = larger;
    }
    const count = readInto(file, buffer.subarray(filled), path);
    if (count === null) return { size, rest: buffer.subarray(0, filled) };
    const lastNewline = buffer.subarray(filled, filled + count).lastIndexOf(NEWLINE);
    const end = lastNewline === -1 ? 0 : filled + lastNewline + 1;
    filled += count;
    if (end === 0) continue;
    lines.decode(buffer.subarray(0, end));
    buffer.copyWithin(0, end, filled);
    filled -= end;
    size += end;
  }
}

class LineDecoder {
  readonly #take: (text: string) => void;
  readonly #badBytes: () => void;
  readonly #strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #lenient = new TextDecoder("utf-8", { ignoreBOM: true });
  #first = true;

  constructor(take: (text: string) => void, badBytes: () => void) {
    this.#take = take;
    this.#badBytes = badBytes;
  }

  /** Takes bytes that end with a newline. */
  decode(bytes: Uint8Array): void {
    let text: string;
    try {
      text = this.#strict.decode(bytes);
    } catch {
      this.#decodeOneByOne(bytes);
      return;
    }
    for (let from = 0, end = text.indexOf("\n"); end !== -1; from = end + 1, end = text.indexOf("\n", from)) {
      this.#line(text.slice(from, end));
    }
  }

  #decodeOneByOne(bytes: Uint8Array): void {
    for (let from = 0, end = bytes.indexOf(NEWLINE); end !== -1; from = end + 1, end = bytes.indexOf(NEWLINE, from)) {
      const line = bytes.subarray(from, end);
      try {
        this.#line(this.#strict.decode(line));
      } catch (error) {
        if (error instanceof SessionFileError) throw error;
        this.#badBytes();
        this.#line(this.#lenient.decode(line));
      }
    }
  }

  #line(text: string): void {
    if (this.#first && text.startsWith("\uFEFF")) text = text.slice(1);
    this.#first = false;
    this.#take(text);
  }
}

function openForReading(path: string): Deno.FsFile {
  try {
    return Deno.openSync(path, { read: true });
  } catch (error) {
    throw unreadable(path, error);
  }
}

function readInto(file: Deno.FsFile, buffer: Uint8Array, path: string): number | null {
  try {
    return file.readSync(buffer);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): SessionFileError {
  if (cause instanceof Deno.errors.NotFound) return new SessionFileError(path, "does not exist", { cause });
  if (cause instanceof Deno.errors.IsADirectory) {
    return new SessionFileError(path, "is a folder; name a .jsonl file", { cause });
  }
  return new SessionFileError(path, `cannot be read: ${errorText(cause)}`, { cause });
}
