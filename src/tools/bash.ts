/**
 * The tool that runs command lines.
 *
 * @module
 */

import type { ExecOptions, ExecResult } from "../api.ts";
import { execCommand } from "../exec.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { keepEnd } from "./output.ts";

/** Arguments of {@linkcode createBashTool}'s tool. */
export interface BashInput extends Record<string, unknown> {
  /** The command line. */
  command: string;
  /** Time limit in seconds. */
  timeout?: number;
}

/** What programs read of a command that ran. */
export interface BashDetails {
  /** Its exit code. */
  exitCode: number;
  /** Whether the output was cut. */
  truncated: boolean;
}

/** Options of {@linkcode createBashTool}. */
export interface BashToolOptions {
  /** Shell that runs the command line; `bash` when absent, `sh` where there is none. */
  shell?: string;
  /** Variables that are set on top of the environment. */
  env?: Record<string, string>;
}

/** Output beyond this is never held; the command is ended there. */
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Makes a tool that runs command lines in a shell. The model reads both streams as they came, and the end of them when there
 * is much. A command that fails, takes too long or is aborted makes the call fail with its output; the command and all
 * that it started are ended then.
 *
 * @param cwd The folder that commands start in.
 * @param options See {@linkcode BashToolOptions}.
 * @returns The tool.
 */
export function createBashTool(cwd: string, options: BashToolOptions = {}): Tool<BashInput, ToolResult> {
  return {
    name: "bash",
    label: "bash",
    description: "Runs a command line in a shell, in the working directory, and gives back what it printed. " +
      "The end of long output is kept. Give a timeout (in seconds) to commands that may not end.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", description: "The command line" },
        timeout: { type: "number", minimum: 0, description: "Time limit in seconds" },
      },
      required: ["command"],
    },
    async execute(_id, { command, timeout }, signal) {
      signal?.throwIfAborted();
      const result = await run(command, cwd, {
        maxOutputBytes: MAX_BYTES,
        ...timeout && { timeout: timeout * 1_000 },
        ...signal && { signal },
        ...options.env && { env: options.env },
      }, options.shell);
      const { text, truncated } = keepEnd(result.stdout + result.stderr);
      const output = text.trimEnd();
      if (result.code !== 0 || result.killed) throw new Error(failure(output, result, timeout, signal));
      const details: BashDetails = { exitCode: result.code, truncated };
      return { content: [{ type: "text", text: output === "" ? "(no output)" : output }], details };
    },
  };
}

async function run(command: string, cwd: string, options: ExecOptions, shell: string | undefined): Promise<ExecResult> {
  // One pipe for both streams keeps their order.
  const args = ["-c", 'eval "$1" 2>&1', "bash", command];
  if (shell !== undefined) return await execCommand(shell, args, cwd, options);
  try {
    return await execCommand("bash", args, cwd, options);
  } catch (error) {
    if (error instanceof Error && error.cause instanceof Deno.errors.NotFound) {
      return await execCommand("sh", args, cwd, options);
    }
    throw error;
  }
}

function failure(
  output: string,
  result: ExecResult,
  timeout: number | undefined,
  signal: AbortSignal | undefined,
): string {
  const end = !result.killed
    ? `The command ended with code ${result.code}`
    : signal?.aborted
    ? "The command was aborted"
    : result.stdout.length + result.stderr.length >= MAX_BYTES / 4 && !timeout
    ? `The command was ended because it printed more than ${MAX_BYTES} bytes`
    : timeout
    ? `The command was ended after ${timeout} s`
    : "The command was ended";
  return output === "" ? end : `${output}\n\n${end}`;
}
