/**
 * Starts the program of a shell hook: one process a call, ended with all that it started when its time is up.
 *
 * @module
 */

import { relative } from "@std/path";
import type { ExecResult } from "../api.ts";
import type { Approved } from "../discovery/discover.ts";
import { ExecError, runProgram } from "../exec.ts";
import { errorText } from "../values.ts";
import { scriptFault } from "./script_fault.ts";

/** What is to be started. */
export type ShellProgram =
  | { kind: "script"; path: string }
  | { kind: "command"; command: string; args?: readonly string[] };

/** How it is to be started. */
export interface StartOptions {
  /** The folder it runs in, which is the project. */
  cwd: string;
  /** Variables on top of the environment. */
  env: Record<string, string>;
  /** Time limit in seconds. */
  timeout: number;
  /** What it reads. */
  input: string;
  /** The approval that lets it run; absent for a hook of the person. */
  approval?: Approved;
}

/** A program that could not be asked; the message says why. */
export class NotRunError extends Error {
  /** Tells it from other errors. */
  override name = "NotRunError";
}

/** More than any answer needs. */
const MAX_OUTPUT = 4 * 1024 * 1024;

/**
 * Starts a program and waits for its end.
 *
 * @param program What.
 * @param options How.
 * @returns How it ended.
 * @throws {NotRunError} When it cannot be started, does not end in time, or is not what was approved.
 */
export async function runShellProgram(program: ShellProgram, options: StartOptions): Promise<ExecResult> {
  const { approval, timeout } = options;
  const fault = program.kind === "script" ? scriptFault(program.path) : undefined;
  if (fault !== undefined) throw new NotRunError(fault);
  await requireUnchanged(approval);
  const began = performance.now();
  let result: ExecResult;
  try {
    result = await start(program, options);
  } catch (error) {
    throw new NotRunError(`it could not be started: ${errorText(error)}`);
  }
  if (result.killed) {
    const late = performance.now() - began >= timeout * 1_000;
    throw new NotRunError(late ? `it did not end within ${timeout} s` : `it printed more than ${MAX_OUTPUT} bytes`);
  }
  // Where it had to run in its own place, what ran is only known to be what was approved if nothing has changed since.
  await requireUnchanged(approval);
  return result;
}

async function requireUnchanged(approval: Approved | undefined): Promise<void> {
  const change = await approval?.verify?.();
  if (change !== undefined) throw new NotRunError(`${change}; look at it and approve it anew with: xcsh-hooks trust`);
}

async function start(program: ShellProgram, options: StartOptions): Promise<ExecResult> {
  const { approval, cwd, env, timeout, input } = options;
  const run = (name: string, args: readonly string[]) =>
    runProgram(name, args, { cwd, env, input, timeout: timeout * 1_000, maxOutputBytes: MAX_OUTPUT });
  if (program.kind === "script") return await run(approvedPath(program.path, approval), []);
  const line = (text: string) => approval === undefined ? text : withApprovedPaths(text, approval, options);
  if (program.args !== undefined) return await run(line(program.command), program.args.map(line));
  try {
    return await run("bash", ["-c", line(program.command)]);
  } catch (error) {
    if (!(error instanceof ExecError && error.cause instanceof Deno.errors.NotFound)) throw error;
    return await run("sh", ["-c", line(program.command)]);
  }
}

/** What a program asks when it wants to know where it lies. One that does not ask can be started from anywhere. */
const ASKS_WHERE_IT_IS =
  /\$0|\$\{0|BASH_SOURCE|%x|__file__|__dirname|__filename|__dir__|import\.meta|argv|PROGRAM_NAME|FindBin|readlink|realpath/;
const asking = new Map<string, boolean>();

/** Where a program is started: where its approved bytes are, unless it must find itself in its own place. */
function approvedPath(path: string, approval: Approved | undefined): string {
  const copy = approval?.copies?.get(path) ?? (approval?.loadFrom);
  if (copy === undefined) return path;
  let asks = asking.get(copy);
  if (asks === undefined) {
    asks = ASKS_WHERE_IT_IS.test(new TextDecoder().decode(Deno.readFileSync(copy)));
    asking.set(copy, asks);
  }
  return asks ? path : copy;
}

/** Puts the approved files into a line in the place of those of the project. */
function withApprovedPaths(text: string, { copies }: Approved, { cwd, env }: StartOptions): string {
  const paths = [...copies ?? []].sort(([a], [b]) => b.length - a.length);
  for (const [path] of paths) {
    const copy = approvedPath(path, { trusted: true, copies: new Map(paths) });
    // In quotes or not, such a path is one word.
    if (copy === path || !/^[\w@%+=:,./-]+$/.test(copy)) continue;
    for (const [variable, folder] of [["CLAUDE_PROJECT_DIR", cwd], ["CLAUDE_PLUGIN_ROOT", env.CLAUDE_PLUGIN_ROOT]]) {
      if (folder === undefined) continue;
      const below = relative(folder, path);
      if (below.startsWith("..")) continue;
      const start = `"\\$\\{?${variable}\\}?"/|\\$\\{?${variable}\\}?/|${RegExp.escape(folder)}/|\\./|`;
      text = text.replaceAll(
        new RegExp(`(?<![\\w./@\\\\-])(?:${start})${RegExp.escape(below)}(?![\\w./-])`, "g"),
        copy,
      );
    }
  }
  return text;
}
