/**
 * The tool that writes files.
 *
 * @module
 */

import { dirname } from "@std/path";
import type { Tool, ToolResult } from "../tool.ts";
import { errorText } from "../values.ts";
import { toolPath } from "./path.ts";

/** Arguments of {@linkcode createWriteTool}'s tool. */
export interface WriteInput extends Record<string, unknown> {
  /** The file. */
  path: string;
  /** All that it will hold. */
  content: string;
}

/**
 * Makes a tool that writes a file, with the folders that lead to it, and replaces what was there.
 *
 * @param cwd The folder that relative paths start from.
 * @returns The tool.
 */
export function createWriteTool(cwd: string): Tool<WriteInput, ToolResult> {
  return {
    name: "write",
    label: "write",
    description: "Writes a file, and the folders that lead to it. What was in the file is replaced.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "The file, absolute or relative to the working directory" },
        content: { type: "string", description: "All that the file will hold" },
      },
      required: ["path", "content"],
    },
    async execute(_id, { path, content }, signal) {
      signal?.throwIfAborted();
      const file = toolPath(path, cwd);
      try {
        await Deno.mkdir(dirname(file), { recursive: true });
        await Deno.writeTextFile(file, content);
      } catch (error) {
        throw new Error(`${file} cannot be written: ${errorText(error)}`, { cause: error });
      }
      return { content: [{ type: "text", text: `Wrote ${content.length} characters to ${file}` }] };
    },
  };
}
