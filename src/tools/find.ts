/**
 * The tool that searches for files.
 *
 * @module
 */

import { globToRegExp, relative, SEPARATOR } from "@std/path";
import type { Tool, ToolResult } from "../tool.ts";
import { errorText } from "../values.ts";
import { toolPath } from "./path.ts";
import { walkFiles } from "./walk.ts";

/** Arguments of {@linkcode createFindTool}'s tool. */
export interface FindInput extends Record<string, unknown> {
  /** A glob. */
  pattern: string;
  /** Folder. */
  path?: string;
}

/** What programs read of a search for files. */
export interface FindDetails {
  /** How many files are listed. */
  count: number;
  /** Whether there may be more. */
  truncated: boolean;
}

const MAX_FILES = 1_000;

/**
 * Makes a tool that lists the files whose path matches a glob.
 *
 * @param cwd The folder that relative paths start from.
 * @returns The tool.
 */
export function createFindTool(cwd: string): Tool<FindInput, ToolResult> {
  return {
    name: "find",
    label: "find",
    description: "Lists the files whose path matches a glob, such as *.ts (in any folder) or src/**/*.ts. " +
      `Leaves out .git, node_modules and what .gitignore names. At most ${MAX_FILES} files.`,
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", description: "A glob" },
        path: { type: "string", description: "Folder to search; the working directory when absent" },
      },
      required: ["pattern"],
    },
    async execute(_id, { pattern, path = "." }, signal) {
      signal?.throwIfAborted();
      const folder = toolPath(path, cwd);
      await requireFolder(folder);
      const glob = globToRegExp(pattern.includes("/") ? pattern.replace(/^\.\//, "") : `**/${pattern}`);
      const found: string[] = [];
      let truncated = false;
      for await (const file of walkFiles(folder, signal)) {
        const name = relative(folder, file).replaceAll(SEPARATOR, "/");
        if (!glob.test(name)) continue;
        truncated = found.length === MAX_FILES;
        if (truncated) break;
        found.push(name);
      }
      const notice = truncated ? `\n\n[Only the first ${MAX_FILES} files; use a narrower glob]` : "";
      const details: FindDetails = { count: found.length, truncated };
      const text = found.length === 0 ? `No file in ${folder} matches ${pattern}` : found.join("\n") + notice;
      return { content: [{ type: "text", text }], details };
    },
  };
}

async function requireFolder(folder: string): Promise<void> {
  let info: Deno.FileInfo;
  try {
    info = await Deno.stat(folder);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`There is no folder ${folder}`, { cause: error });
    throw new Error(`${folder} cannot be read: ${errorText(error)}`, { cause: error });
  }
  if (!info.isDirectory) throw new Error(`${folder} is no folder`);
}
