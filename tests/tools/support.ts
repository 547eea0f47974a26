import { textOf } from "../../src/messages.ts";
import { createTools } from "../../src/tools/mod.ts";
import type { ToolResult } from "../../src/tool.ts";

/** Runs one of the session's tools. */
export async function runTool(
  cwd: string,
  name: string,
  args: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<{ text: string; result: ToolResult }> {
  const tool = createTools(cwd).find((candidate) => candidate.name === name)!;
  const result = await tool.execute("call", args, signal);
  return { text: textOf(result.content), result };
}
