/**
 * Programs that the host runs for an isolated hook: only what its grants name, where it cannot set a trap, and with an environment
 * and git settings that start nothing else.
 *
 * @module
 */

import { DELIMITER, isAbsolute, normalize, resolve, SEPARATOR } from "@std/path";
import type { ExecOptions, ExecResult } from "../api.ts";
import { type OutputBudget, runProgram } from "../exec.ts";
import { isRecord, kindOf } from "../values.ts";
import { type EffectiveGrants, type Grant, GrantError, matchExec } from "./grants.ts";
import { GIT_SETTINGS, hardened } from "./git_rules.ts";

const KEPT_VARIABLES = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
  "SystemRoot",
  "TEMP",
  "TMP",
  "USERPROFILE",
];

/** Most bytes of each stream of a program that the host keeps for a hook. */
const MAX_OUTPUT = 50 * 1024 * 1024;

/**
 * The environment of such a program.
 *
 * @param closed Folders in which it looks for no program: the project, and what the hook may write.
 */
export function execEnvironment(closed: readonly string[] = []): Record<string, string> {
  const env: Record<string, string> = {
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
  };
  GIT_SETTINGS.forEach(([key, value], i) => {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  });
  for (const name of KEPT_VARIABLES) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  const within = (folder: string) => closed.some((root) => folder === root || folder.startsWith(root + SEPARATOR));
  env.PATH = (env.PATH ?? "").split(DELIMITER).filter((folder) =>
    isAbsolute(folder) && !within(normalize(folder).replace(/[/\\]$/, "")) && !within(realOf(folder))
  ).join(DELIMITER);
  return env;
}

function realOf(folder: string): string {
  try {
    return Deno.realPathSync(folder);
  } catch {
    return folder;
  }
}

/**
 * Runs a program for an isolated hook.
 *
 * @param grants What the hook was granted.
 * @param project The project's folder.
 * @param call The program, its arguments and the options, as the hook sent them: not to be trusted.
 * @param signal Ends the program.
 * @param budget What the output of all programs of the hook shares.
 * @returns How it ended.
 * @throws {GrantError} When no grant names it; the text says which flag would.
 */
export async function runGranted(
  grants: EffectiveGrants,
  project: string,
  call: readonly unknown[],
  signal: AbortSignal,
  budget?: OutputBudget,
): Promise<ExecResult> {
  const [command, args, given] = call;
  const options = readOptions(given);
  if (typeof command !== "string" || !Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
    // Says what is wrong with the call, as it does where nothing is isolated.
    return await runProgram(command as string, args as string[], { ...options, cwd: project });
  }
  const granted = matchExec(grants.exec, command, args);
  if (granted === undefined) {
    const line = [command, ...args].map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)).join(
      " ",
    );
    throw new GrantError(
      `${command} was not granted to this hook with these arguments; grant it with --allow-exec=${
        JSON.stringify(line)
      }`,
    );
  }
  if (options.env !== undefined) {
    throw new GrantError(`A program run by an exec grant gets no environment of the hook's; leave out env`);
  }
  const { write } = grants.allow;
  const cwd = await requireFolder(options.cwd, project, write);
  return await runProgram(granted.program, hardened(granted.program, args), {
    ...options,
    maxOutputBytes: Math.min(options.maxOutputBytes ?? MAX_OUTPUT, MAX_OUTPUT),
    cwd,
    signal,
    env: execEnvironment([project, await Deno.realPath(project), ...(Array.isArray(write) ? write : [])]),
    clearEnv: true,
    ...(budget === undefined ? {} : { budget }),
  });
}

function readOptions(given: unknown): Omit<ExecOptions, "signal"> {
  if (given === undefined) return {};
  if (!isRecord(given)) throw new TypeError(`The options of exec must be an object, not ${kindOf(given)}`);
  const { timeout, cwd, env, maxOutputBytes } = given;
  return {
    ...(typeof timeout === "number" ? { timeout } : {}),
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(isRecord(env) ? { env: env as Record<string, string> } : {}),
    ...(typeof maxOutputBytes === "number" ? { maxOutputBytes } : {}),
  };
}

/** Where the hook can write, it could leave settings that make a harmless program start another. */
async function requireFolder(cwd: string | undefined, project: string, writable: Grant | undefined): Promise<string> {
  if (cwd === undefined) return project;
  const folder = await Deno.realPath(isAbsolute(cwd) ? cwd : resolve(project, cwd)).catch(() => cwd);
  const root = await Deno.realPath(project);
  if (folder === root) return folder;
  if (!folder.startsWith(root + SEPARATOR)) {
    throw new GrantError(`An exec grant runs programs in the project, not in ${cwd}`);
  }
  if (writable === true || (writable ?? []).some((path) => folder === path || folder.startsWith(path + SEPARATOR))) {
    throw new GrantError(
      `An exec grant runs no program in ${cwd}, which this hook may write; run it in the project's folder`,
    );
  }
  return folder;
}
