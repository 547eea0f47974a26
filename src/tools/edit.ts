/**
 * The tool that replaces text in files.
 *
 * @module
 */

import type { Tool, ToolResult } from "../tool.ts";
import { errorText } from "../values.ts";
import { toolPath } from "./path.ts";

/** Arguments of {@linkcode createEditTool}'s tool. */
export interface EditInput extends Record<string, unknown> {
  /** The file. */
  path: string;
  /** Text that stands there once. */
  oldText: string;
  /** Text that takes its place. */
  newText: string;
}

/** What programs read of an edit. */
export interface EditDetails {
  /** The file, absolute. */
  path: string;
  /** Line at which the text was replaced, counted from 1. */
  line: number;
}

/**
 * Makes a tool that replaces a text that stands exactly once in a file. A file with CRLF line ends keeps them.
 *
 * @param cwd The folder that relative paths start from.
 * @returns The tool.
 */
export function createEditTool(cwd: string): Tool<EditInput, ToolResult> {
  return {
    name: "edit",
    label: "edit",
    description:
      "Replaces a text in a file. oldText must be exactly as it stands there, spaces included, and must stand " +
      "there once; give some lines around it when it does not.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, absolute or relative to the working directory" },
        oldText: { type: "string", description: "Text that stands there once" },
        newText: { type: "string", description: "Text that takes its place" },
      },
      required: ["path", "oldText", "newText"],
    },
    async execute(_id, { path, oldText, newText }, signal) {
      signal?.throwIfAborted();
      const file = toolPath(path, cwd);
      const text = await read(file);
      const { at, from, to } = locate(text, oldText, newText, file);
      try {
        await Deno.writeTextFile(file, text.slice(0, at) + to + text.slice(at + from.length));
      } catch (error) {
        throw new Error(`${file} cannot be written: ${errorText(error)}`, { cause: error });
      }
      const details: EditDetails = { path: file, line: text.slice(0, at).split("\n").length };
      return { content: [{ type: "text", text: `Replaced the text at line ${details.line} of ${file}` }], details };
    },
  };
}

async function read(file: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await Deno.readFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`There is no file ${file}`, { cause: error });
    throw new Error(`${file} cannot be read: ${errorText(error)}`, { cause: error });
  }
  try {
    // Bytes that are no text would be lost when the file is written again.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Error(`${file} is not UTF-8 text, so it cannot be edited`, { cause: error });
  }
}

function locate(
  text: string,
  oldText: string,
  newText: string,
  file: string,
): { at: number; from: string; to: string } {
  if (oldText === "") throw new Error("oldText is empty; use write to make a file");
  let [from, to] = [oldText, newText];
  let at = text.indexOf(from);
  if (at === -1 && text.includes("\r\n") && !oldText.includes("\r")) {
    [from, to] = [oldText.replaceAll("\n", "\r\n"), newText.replaceAll(/\r?\n/g, "\r\n")];
    at = text.indexOf(from);
  }
  if (at === -1) throw new Error(`oldText does not stand in ${file}; read the file and copy it exactly`);
  if (from === to) throw new Error("oldText and newText are the same");
  let count = 1;
  for (let next = text.indexOf(from, at + 1); next !== -1; next = text.indexOf(from, next + 1)) count++;
  if (count > 1) throw new Error(`oldText stands ${count} times in ${file}; give more of the lines around it`);
  return { at, from, to };
}
