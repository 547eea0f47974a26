/**
 * What hooks may do, as flags and the person's settings say it.
 *
 * @module
 */

import type { Command } from "@cliffy/command";
import { type HookPermissions, parseGrants, PERMISSION_KINDS } from "../src/isolation/grants.ts";
import type { IsolationLimits } from "../src/isolation/host.ts";
import { errorText } from "../src/values.ts";
import { UsageError } from "./errors.ts";

/** Options of every command that loads hooks. */
export interface GrantOptions {
  /** Load hooks into this process, with all of its rights. */
  inProcess?: boolean | undefined;
  /** One of `--allow-…` and `--deny-…`. */
  [flag: string]: unknown;
}

const SHORT: Readonly<Record<string, string>> = {
  read: "-R",
  write: "-W",
  net: "-N",
  env: "-E",
  sys: "-S",
  import: "-I",
};
const WHAT: Readonly<Record<string, string>> = {
  read: "read files and folders",
  write: "write files and folders",
  net: "connect to hosts",
  env: "see environment variables",
  run: "start programs by itself",
  sys: "ask for facts about the machine",
  ffi: "load libraries",
  import: "import code from hosts",
};

/** Adds the flags to a program, for all of its commands. */
export function addGrantFlags<T extends Pick<Command, "globalOption">>(program: T): T {
  for (const kind of PERMISSION_KINDS) {
    const flags = [SHORT[kind], `--allow-${kind}`].filter((flag) => flag !== undefined).join(", ");
    program.globalOption(`${flags} [list:string]`, `Let each hook ${WHAT[kind]}; all without a list.`, {
      collect: true,
      equalsSign: true,
    });
  }
  program.globalOption("--allow-exec <line:string>", "Run this command line for hooks: * is any word, ... any more.", {
    collect: true,
    equalsSign: true,
  });
  program.globalOption("--allow-links", "Grant folders although links lead out of them.");
  for (const kind of PERMISSION_KINDS) {
    program.globalOption(`--deny-${kind} [list:string]`, `Never let a hook ${WHAT[kind]}.`, {
      collect: true,
      equalsSign: true,
      hidden: true,
    });
  }
  program.globalOption("--budget <ms:integer>", "Time that a hook may take for one event; 10000 when absent.");
  program.globalOption("--in-process", "Load hooks into this process, with all of its rights.");
  return program;
}

/**
 * Reads the flags.
 *
 * @param options The options of a command.
 * @returns What each hook of the run may do; `undefined` with `--in-process`.
 */
export function grantsOf(options: GrantOptions): HookPermissions | undefined {
  const granted: Record<string, unknown> = {};
  const denied: Record<string, unknown> = {};
  for (const kind of PERMISSION_KINDS) {
    const name = kind[0]!.toUpperCase() + kind.slice(1);
    const allow = listOf(options[`allow${name}`]);
    const deny = listOf(options[`deny${name}`]);
    if (allow !== undefined) granted[kind] = allow;
    if (deny !== undefined) denied[kind] = deny;
  }
  if (options.allowExec !== undefined) granted.exec = options.allowExec;
  if (options.allowLinks !== undefined) granted.links = options.allowLinks;
  if (Object.keys(denied).length > 0) granted.deny = denied;
  if (options.inProcess) {
    const [flag] = Object.keys(granted);
    if (flag === undefined) return undefined;
    throw new UsageError(
      `--in-process gives hooks all rights of this process, so grants bound nothing; leave one of the two out`,
    );
  }
  try {
    return parseGrants(granted, "--allow");
  } catch (error) {
    throw new UsageError(errorText(error));
  }
}

/**
 * A list that is empty, perhaps because a variable was not set, must not be taken for a bare flag, which grants everything.
 *
 * @param args The arguments, as they were typed.
 */
export function refuseEmptyGrants(args: readonly string[]): void {
  const end = args.indexOf("--");
  const empty = (end === -1 ? args : args.slice(0, end)).find((arg) =>
    /^(?:--(?:allow|deny)-[a-z]+|-[A-Z])=\s*$/.test(arg)
  );
  if (empty === undefined) return;
  const flag = empty.slice(0, empty.indexOf("="));
  throw new UsageError(`${empty} names nothing; leave it out to grant nothing, or write ${flag} alone for everything`);
}

/** The limits that the flags set. */
export function limitsOf({ budget }: GrantOptions): Partial<IsolationLimits> {
  if (budget === undefined) return {};
  if (typeof budget !== "number" || budget < 1) {
    throw new UsageError(`--budget ${budget}: give a time in ms, such as 10000`);
  }
  return { budget, emissionBudget: Math.max(30_000, 3 * budget) };
}

/** `true` for a bare flag; else its lists, put together. */
function listOf(value: unknown): true | string[] | undefined {
  if (value === undefined) return undefined;
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.includes(true)) return true;
  return values.flatMap((list) => String(list).split(","));
}
