/**
 * The tools that come with a session.
 *
 * @module
 */

import type { Tool, ToolResult } from "../tool.ts";
import { createBashTool } from "./bash.ts";
import { createEditTool } from "./edit.ts";
import { createFindTool } from "./find.ts";
import { createGrepTool } from "./grep.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

export * from "./bash.ts";
export * from "./edit.ts";
export * from "./find.ts";
export * from "./grep.ts";
export * from "./read.ts";
export * from "./write.ts";
export * from "./arguments.ts";

/** A tool whose arguments are checked before it runs. */
export type SessionTool = Tool<Record<string, unknown>, ToolResult>;

/**
 * Makes all tools that come with a session: bash, read, write, edit, grep and find.
 *
 * @param cwd The folder that they work in.
 * @returns The tools.
 *
 * @example
 * ```ts
 * import { createTools } from "@xcsh/hooks/session";
 * import { assertEquals } from "@std/assert";
 *
 * const names = createTools(".").map((tool) => tool.name);
 * assertEquals(names, ["bash", "read", "write", "edit", "grep", "find"]);
 * ```
 */
export function createTools(cwd: string): SessionTool[] {
  return [
    createBashTool(cwd),
    createReadTool(cwd),
    createWriteTool(cwd),
    createEditTool(cwd),
    createGrepTool(cwd),
    createFindTool(cwd),
  ] as SessionTool[];
}
