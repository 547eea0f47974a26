/**
 * The tool that reads files.
 *
 * @module
 */

import { encodeBase64 } from "./base64.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { errorText } from "../values.ts";
import { MAX_CHARS, MAX_LINES } from "./output.ts";
import { toolPath } from "./path.ts";

/** Arguments of {@linkcode createReadTool}'s tool. */
export interface ReadInput extends Record<string, unknown> {
  /** The file. */
  path: string;
  /** First line, counted from 1. */
  offset?: number;
  /** How many lines. */
  limit?: number;
}

/** What programs read of a file that was read. */
export interface ReadDetails {
  /** The file, absolute. */
  path: string;
  /** First line that was read, counted from 1; absent for a picture. */
  firstLine?: number;
  /** Last line that was read. */
  lastLine?: number;
  /** Whether the file goes on after it. */
  truncated: boolean;
}

const MAX_IMAGE = 5 * 1024 * 1024;
const BLOCK = 1 << 16;

/**
 * Makes a tool that reads text files and pictures (PNG, JPEG, GIF, WebP, at most 5 MiB).
 *
 * @param cwd The folder that relative paths start from.
 * @returns The tool.
 */
export function createReadTool(cwd: string): Tool<ReadInput, ToolResult> {
  return {
    name: "read",
    label: "read",
    description: `Reads a file: text, at most ${MAX_LINES} lines or ${MAX_CHARS} characters at a time, or a picture. ` +
      "Use offset (the first line, counted from 1) and limit for long files.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, absolute or relative to the working directory" },
        offset: { type: "integer", minimum: 1, description: "First line, counted from 1" },
        limit: { type: "integer", minimum: 1, description: "How many lines" },
      },
      required: ["path"],
    },
    async execute(_id, { path, offset = 1, limit = MAX_LINES }, signal) {
      signal?.throwIfAborted();
      const file = toolPath(path, cwd);
      using handle = await open(file);
      const info = await handle.stat();
      if (info.isDirectory) throw new Error(`${file} is a folder; use find or bash to list it`);
      const start = new Uint8Array(Math.min(info.size || BLOCK, BLOCK));
      const head = start.subarray(0, await handle.read(start) ?? 0);
      const mimeType = pictureType(head);
      if (mimeType !== undefined) return await readPicture(handle, head, info.size, file, mimeType);
      if (head.includes(0)) throw new Error(`${file} is a binary file (${info.size} bytes), not text`);
      return await readText(handle, head, file, offset, Math.min(limit, MAX_LINES), signal);
    },
  };
}

async function open(file: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(file, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`There is no file ${file}`, { cause: error });
    throw new Error(`${file} cannot be read: ${errorText(error)}`, { cause: error });
  }
}

async function readPicture(
  handle: Deno.FsFile,
  head: Uint8Array,
  size: number,
  path: string,
  mimeType: string,
): Promise<ToolResult> {
  if (size > MAX_IMAGE) throw new Error(`${path} is a picture of ${size} bytes; at most ${MAX_IMAGE} can be read`);
  const bytes = new Uint8Array(size);
  bytes.set(head.subarray(0, size));
  for (let filled = head.length; filled < size;) {
    const count = await handle.read(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  const details: ReadDetails = { path, truncated: false };
  return {
    content: [
      { type: "text", text: `Picture ${path} (${mimeType}, ${size} bytes)` },
      { type: "image", data: encodeBase64(bytes), mimeType },
    ],
    details,
  };
}

/** Reads no further into the file than it must. */
async function readText(
  handle: Deno.FsFile,
  head: Uint8Array,
  path: string,
  offset: number,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<ToolResult> {
  const decoder = new TextDecoder();
  const lines: string[] = [];
  const buffer = new Uint8Array(BLOCK);
  let chars = 0;
  let number = 1;
  let line = "";
  let full = false;
  const take = (text: string) => {
    for (let from = 0; !full;) {
      const end = text.indexOf("\n", from);
      if (number >= offset && line.length <= MAX_CHARS) line += text.slice(from, end === -1 ? undefined : end);
      if (end === -1) return;
      endLine();
      from = end + 1;
    }
  };
  const endLine = () => {
    if (number >= offset) {
      if (lines.length >= limit || chars + line.length > MAX_CHARS && lines.length > 0) {
        full = true;
        return;
      }
      lines.push(line);
      chars += line.length + 1;
    }
    line = "";
    number++;
  };
  take(decoder.decode(head, { stream: true }));
  while (!full) {
    signal?.throwIfAborted();
    const count = await handle.read(buffer);
    if (count === null) break;
    take(decoder.decode(buffer.subarray(0, count), { stream: true }));
  }
  if (!full) {
    take(decoder.decode());
    if (line !== "" && !full) endLine();
  }
  if (lines.length === 0 && offset > 1) throw new Error(`${path} has ${number - 1} lines, so none at offset ${offset}`);
  const lastLine = offset + lines.length - 1;
  const cut = lines.length === 1 && lines[0]!.length > MAX_CHARS;
  const text = cut ? lines[0]!.slice(0, MAX_CHARS) : lines.join("\n");
  const notice = cut
    ? `\n\n[Line ${offset} is longer than ${MAX_CHARS} characters and was cut]`
    : full
    ? `\n\n[Lines ${offset} to ${lastLine}; the file goes on: use offset ${lastLine + 1}]`
    : "";
  const details: ReadDetails = { path, firstLine: offset, lastLine, truncated: full || cut };
  return { content: [{ type: "text", text: text + notice }], details };
}

function pictureType(head: Uint8Array): string | undefined {
  const starts = (bytes: number[], at = 0) => bytes.every((byte, i) => head[at + i] === byte);
  if (starts([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (starts([0xff, 0xd8, 0xff])) return "image/jpeg";
  if (starts([0x47, 0x49, 0x46, 0x38])) return "image/gif";
  if (starts([0x52, 0x49, 0x46, 0x46]) && starts([0x57, 0x45, 0x42, 0x50], 8)) return "image/webp";
  return undefined;
}
