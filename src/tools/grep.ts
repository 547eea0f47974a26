/**
 * The tool that searches in files.
 *
 * @module
 */

import { dirname, relative } from "@std/path";
import { type Compile, isQuick, loadLinearEngine, type TextTest } from "../linear_regexp.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { errorText } from "../values.ts";
import { toolPath } from "./path.ts";
import { walkFiles } from "./walk.ts";

/** Arguments of {@linkcode createGrepTool}'s tool. */
export interface GrepInput extends Record<string, unknown> {
  /** A regular expression. */
  pattern: string;
  /** File or folder. */
  path?: string;
}

/** What programs read of a search in files. */
export interface GrepDetails {
  /** How many lines are listed. */
  count: number;
  /** Whether there may be more. */
  truncated: boolean;
}

const MAX_MATCHES = 200;
const MAX_LINE = 400;
const MAX_FILE = 10 * 1024 * 1024;
/** Characters of a line in which the platform's engine searches. */
const MAX_SEARCHED = 10_000;

/**
 * Makes a tool that lists the lines that match a regular expression of JavaScript. Binary files and files over 10 MiB are left out.
 *
 * @param cwd The folder that relative paths start from.
 * @returns The tool.
 */
export function createGrepTool(cwd: string): Tool<GrepInput, ToolResult> {
  return {
    name: "grep",
    label: "grep",
    description: "Lists the lines that match a regular expression, as file:line: text. " +
      `Leaves out .git, node_modules, binary files and what .gitignore names. At most ${MAX_MATCHES} lines.`,
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string", description: "A regular expression" },
        path: { type: "string", description: "File or folder to search; the working directory when absent" },
      },
      required: ["pattern"],
    },
    async execute(_id, { pattern, path = "." }, signal) {
      signal?.throwIfAborted();
      const matches = await compile(pattern);
      const start = toolPath(path, cwd);
      const isFolder = (await stat(start)).isDirectory;
      const base = isFolder ? start : dirname(start);
      const found: string[] = [];
      let truncated = false;
      for await (const file of isFolder ? walkFiles(start, signal) : [start]) {
        truncated = await searchFile(file, relative(base, file), matches, found, signal);
        if (truncated) break;
      }
      const notice = truncated ? `\n\n[Only the first ${MAX_MATCHES} lines; use a narrower expression or path]` : "";
      const details: GrepDetails = { count: found.length, truncated };
      const text = found.length === 0 ? `No line in ${start} matches ${pattern}` : found.join("\n") + notice;
      return { content: [{ type: "text", text }], details };
    },
  };
}

/** A pattern comes from a model, and must not hang the session: what the platform's engine may be slow at runs on a linear one. */
async function compile(pattern: string): Promise<TextTest> {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern);
  } catch (error) {
    throw new Error(`The pattern is no regular expression: ${errorText(error)}`, { cause: error });
  }
  if (isQuick(pattern)) return (line) => expression.test(line.slice(0, MAX_SEARCHED));
  let engine: Compile;
  try {
    engine = await (linearEngine ??= loadLinearEngine());
  } catch (error) {
    linearEngine = undefined;
    throw new Error(
      `The engine for patterns that repeat more than once cannot be fetched (${
        errorText(error)
      }); use a simpler pattern`,
      { cause: error },
    );
  }
  return engine(pattern);
}

let linearEngine: Promise<Compile> | undefined;

async function stat(path: string): Promise<Deno.FileInfo> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`There is no file or folder ${path}`, { cause: error });
    throw new Error(`${path} cannot be read: ${errorText(error)}`, { cause: error });
  }
}

/** Adds the matching lines of a file; tells whether there are too many. */
async function searchFile(
  file: string,
  name: string,
  matches: TextTest,
  found: string[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let text: string;
  try {
    if ((await Deno.stat(file)).size > MAX_FILE) return false;
    const bytes = await Deno.readFile(file);
    if (bytes.subarray(0, 8_000).includes(0)) return false;
    text = new TextDecoder().decode(bytes);
  } catch {
    // A broken link, or a file that may not be read.
    return false;
  }
  signal?.throwIfAborted();
  for (const [i, line] of text.split("\n").entries()) {
    if (!matches(line)) continue;
    if (found.length === MAX_MATCHES) return true;
    const shown = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
    found.push(`${name}:${i + 1}: ${shown.trimEnd()}`);
  }
  return false;
}
