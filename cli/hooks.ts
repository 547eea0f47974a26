/**
 * How commands get their hooks.
 *
 * @module
 */

import { isAbsolute, resolve, toFileUrl } from "@std/path";
import type { HookLogger } from "../src/api.ts";
import type { LoadedHook } from "../src/hook.ts";
import { type HookPermissions, mergeGrants } from "../src/isolation/grants.ts";
import { discoverAndLoadHooks, type HookCandidate } from "../src/discovery/discover.ts";
import { type HookSource, loadHooks, type LoadHooksOptions, type LoadHooksResult } from "../src/loader.ts";
import { resolveHookPath } from "../src/paths.ts";
import { readUserSettings } from "../src/user_settings.ts";
import { errorText } from "../src/values.ts";
import { askForTrust, discoveryOf } from "./discovery.ts";
import type { DiscoveryOptions } from "./discovery_flags.ts";
import { EXIT_FAILED, ExitError, UsageError } from "./errors.ts";
import { type GrantOptions, grantsOf, limitsOf } from "./grants.ts";
import type { Output } from "./output.ts";
import type { Reporter } from "./report.ts";

/** What the options of a command say about hooks. */
export interface HookOptions extends GrantOptions, DiscoveryOptions {
  /** Paths of hooks, as they were typed: relative to the folder of the shell. */
  hook?: string[] | undefined;
  /** Whether standard input is for another program, and not for questions to the person. */
  rpc?: boolean | undefined;
}

/** What came of loading, and of looking for hooks. */
export interface FoundHooksResult extends LoadHooksResult {
  /** Everything that was found or named, and what became of it. */
  candidates: HookCandidate[];
}

const loaded: LoadedHook[] = [];

/**
 * Loads the hooks that the options name.
 *
 * @param options The options.
 * @param cwd The folder that the session works in.
 * @param logger Where `pi.logger` writes.
 * @param more What else the loader should know.
 */
export async function loadHooksOf(
  options: HookOptions,
  cwd: string,
  logger: HookLogger,
  more: LoadHooksOptions = {},
): Promise<LoadHooksResult> {
  const { paths, given } = pathsOf(options, cwd);
  const run = grantsOf(options);
  const sources = run === undefined ? paths : await withGrants(paths, cwd, run);
  const result = await loadHooks(sources, cwd, {
    ...more,
    logger,
    isolation: { ...limitsOf(options), ...more?.isolation },
  });
  // People know a hook by what they typed.
  for (const item of [...result.hooks, ...result.errors, ...result.warnings]) {
    item.path = given.get(item.path) ?? item.path;
  }
  loaded.push(...result.hooks);
  return result;
}

/**
 * Loads the hooks that the options name, and those that are found in the folders of the project and of the person. One of the
 * project that was not approved is asked about at a terminal, and left out otherwise.
 *
 * @param options The options.
 * @param cwd The folder that the session works in.
 * @param logger Where `pi.logger` writes.
 * @param output Where a person is asked.
 */
export async function findAndLoadHooksOf(
  options: HookOptions,
  cwd: string,
  logger: HookLogger,
  output: Output,
): Promise<FoundHooksResult> {
  if (options.discovery === false) return { ...await loadHooksOf(options, cwd, logger), candidates: [] };
  const discovery = await discoveryOf(options, cwd, grantsOf(options));
  if (!options.rpc) await askForTrust(cwd, discovery, output);
  const { paths, given } = pathsOf(options, cwd);
  const { discoveryWarnings, ...result } = await discoverAndLoadHooks(paths, cwd, {
    ...discovery,
    logger,
    isolation: limitsOf(options),
  });
  loaded.push(...result.hooks);
  result.warnings.push(...discoveryWarnings.map((warning) => ({ path: "discovery", warning })));
  for (const { path, state, reason = "" } of result.candidates) {
    if (state !== "untrusted") continue;
    if (options.requireTrust) result.errors.push({ path, error: `not trusted: ${reason}` });
    else result.warnings.push({ path, warning: `not trusted, so it was left out: ${reason}` });
  }
  for (const item of [...result.hooks, ...result.errors, ...result.warnings, ...result.candidates]) {
    item.path = given.get(item.path) ?? item.path;
  }
  return result;
}

/**
 * Ends the command when a hook was not loaded.
 *
 * @param errors What came of loading.
 * @param report Told of each, and of the end.
 * @throws {ExitError} When there are errors.
 */
export function refuseLoadErrors(errors: LoadHooksResult["errors"], report: Reporter): void {
  for (const { path, error } of errors) report.loadError(path, error);
  if (errors.length === 0) return;
  report.failure("Nothing was run, since a gate may be missing; mend the hook, or leave it out");
  throw new ExitError(EXIT_FAILED);
}

/** The paths as the loader needs them, and as they were typed. */
function pathsOf(options: HookOptions, cwd: string): { paths: string[]; given: Map<string, string> } {
  const here = Deno.cwd();
  const given = new Map<string, string>();
  const paths = (options.hook ?? []).map((path) => {
    if (here === cwd || !isRelative(path)) return path;
    const full = resolve(here, path);
    given.set(full, path);
    return full;
  });
  return { paths, given };
}

/** Each path with what its hook may do; a path that cannot be read is for the loader to name. */
async function withGrants(paths: string[], cwd: string, run: HookPermissions): Promise<HookSource[]> {
  const { permissions } = await readUserSettings().catch((error) => {
    throw new UsageError(errorText(error));
  });
  return paths.map((path) => {
    let own: HookPermissions | undefined;
    try {
      own = permissions.get(resolveHookPath(path, cwd));
    } catch {
      // The loader says what is wrong with it.
    }
    return { path, permissions: mergeGrants(run, own) };
  });
}

/** A hook that a command runs in a process of its own. */
export interface IsolatedSource {
  /** Its path, as it was typed. */
  given: string;
  /** Its path, as it is to be loaded. */
  path: string;
  /** What it may do. */
  permissions: HookPermissions;
}

/**
 * Tells the hooks that the options name, for a command that runs each in a process of its own.
 *
 * @param command The command, for errors.
 * @param options The options.
 * @param cwd The folder that the session works in.
 */
export async function isolatedSourcesOf(
  command: string,
  options: HookOptions,
  cwd: string,
): Promise<IsolatedSource[]> {
  const run = grantsOf(options);
  if (run === undefined) {
    throw new UsageError(`${command} runs each hook in a process of its own; leave --in-process out`);
  }
  const given = options.hook ?? [];
  const paths = given.map((path) => isRelative(path) ? resolve(Deno.cwd(), path) : path);
  const sources = await withGrants(paths, cwd, run);
  return sources.map((source, i) => {
    const { path, permissions } = source as { path: string; permissions: HookPermissions };
    return { given: given[i]!, path, permissions };
  });
}

/**
 * Watches for errors that nobody waits for, such as those of a hook's timer, which would end the process with no word about
 * the session or the hook.
 *
 * @param report Told of each, with the path of the hook when the error tells it.
 */
export function onLostError(report: (error: string, hookPath?: string) => void): void {
  const lost = (thrown: unknown) => {
    const stack = thrown instanceof Error ? thrown.stack ?? "" : "";
    report(errorText(thrown), loaded.find(({ resolvedPath }) => stack.includes(toFileUrl(resolvedPath).href))?.path);
  };
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    lost(event.reason);
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    lost(event.error);
  });
}

/** Whether a path begins at the folder of the shell: not absolute, not at home, and no URL. */
function isRelative(path: string): boolean {
  return path.trim() !== "" && !path.includes("\0") && !isAbsolute(path) && !/^(?:~|@|[a-z]+:)/i.test(path);
}
