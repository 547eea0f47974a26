/**
 * A path becomes a {@linkcode LoadedHook}.
 *
 * @module
 */

import { extname, toFileUrl } from "@std/path";
import type { HookAPI, HookLogger } from "./api.ts";
import { execCommand } from "./exec.ts";
import { createHook, type LoadedHook, silentLogger } from "./hook.ts";
import { importHook, loadFailure } from "./import_hook.ts";
import { resolveHookPath } from "./paths.ts";
import { errorText, LONGEST_DELAY } from "./values.ts";

/** A hook that could not be loaded. */
export interface HookLoadError {
  /** The path, as it was given. */
  path: string;
  /** Why. */
  error: string;
}

/** Something about a hook that its author should know. */
export interface HookLoadWarning {
  /** The path, as it was given. */
  path: string;
  /** What. */
  warning: string;
}

/** What came of loading: each list in the order of the paths. */
export interface LoadHooksResult {
  /** The hooks that can be used. */
  hooks: LoadedHook[];
  /** The hooks that cannot. */
  errors: HookLoadError[];
  /** What is odd about hooks that can be used. */
  warnings: HookLoadWarning[];
}

/** Options of {@linkcode loadHooks}. */
export interface LoadHooksOptions {
  /** How long importing a hook and running its factory may take together, in ms; default 10 000. */
  timeout?: number;
  /** Where `pi.logger` writes; nowhere when absent. */
  logger?: HookLogger;
}

const DEFAULT_TIMEOUT = 10_000;
const MODULE_EXTENSIONS = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);

/**
 * Loads hooks into this process, one after the other. What they may do is what this process may do: bound it with Deno's
 * permission flags. A hook that cannot be loaded is reported and the others go on.
 *
 * @param paths Paths as {@linkcode resolveHookPath} reads them.
 * @param cwd The folder that relative paths start from, and that `pi.exec` works in.
 * @param options See {@linkcode LoadHooksOptions}.
 * @returns The hooks, the errors and the warnings. Never rejects for a bad hook.
 *
 * @example
 * ```ts
 * import { loadHooks } from "@xcsh/hooks";
 *
 * const { hooks, errors } = await loadHooks(["./examples/hooks/no_such_gate.ts"], Deno.cwd());
 * for (const { path, error } of errors) console.error(`${path}: ${error}`);
 * ```
 */
export async function loadHooks(
  paths: readonly string[],
  cwd: string,
  options: LoadHooksOptions = {},
): Promise<LoadHooksResult> {
  const result: LoadHooksResult = { hooks: [], errors: [], warnings: [] };
  for (const path of paths) {
    const warn = (warning: string) => void result.warnings.push({ path, warning });
    try {
      result.hooks.push(await loadHook(path, cwd, options, warn));
    } catch (error) {
      result.errors.push({ path, error: loadFailure(error) });
    }
  }
  return result;
}

async function loadHook(
  path: string,
  cwd: string,
  options: LoadHooksOptions,
  warn: (warning: string) => void,
): Promise<LoadedHook> {
  const resolvedPath = resolveHookPath(path, cwd);
  await requireModuleFile(resolvedPath);
  const exec: HookAPI["exec"] = (command, args, execOptions) =>
    execCommand(command, args, execOptions?.cwd ?? cwd, execOptions);
  const { hook, api } = createHook({ path, resolvedPath, exec, warn, logger: options.logger ?? silentLogger });
  const limit = options.timeout ?? DEFAULT_TIMEOUT;
  await withTimeout(
    limit,
    `${resolvedPath} did not finish loading within ${limit} ms`,
    () => importHook(toFileUrl(resolvedPath).href, resolvedPath, api),
  );
  return hook;
}

/** Says early, and in our words, what an import would say late or not at all. */
async function requireModuleFile(path: string): Promise<void> {
  let info: Deno.FileInfo;
  try {
    info = await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`${path} does not exist`);
    // Without read access a module of the program's own graph can still be imported, so let the import decide.
    if (error instanceof Deno.errors.NotCapable) return;
    throw new Error(`${path} cannot be read: ${errorText(error)}`);
  }
  if (info.isDirectory) throw new Error(`${path} is a directory; name the hook file in it`);
  const extension = extname(path).toLowerCase();
  if (!MODULE_EXTENSIONS.has(extension)) {
    throw new Error(
      `${path} is not a JavaScript or TypeScript module; shell hooks run only through the legacy shell adapter (--shell-hooks)`,
    );
  }
  if (!info.isFile) throw new Error(`${path} is not a regular file`);
}

async function withTimeout(ms: number, message: string, run: () => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(message)), Math.min(ms, LONGEST_DELAY));
  });
  try {
    await Promise.race([run(), expired]);
  } finally {
    clearTimeout(timer);
  }
}
