/**
 * A path becomes a {@linkcode LoadedHook}.
 *
 * @module
 */

import { extname, toFileUrl } from "@std/path";
import type { HookAPI, HookFactory, HookLogger } from "./api.ts";
import { execCommand } from "./exec.ts";
import { createHook, type LoadedHook, silentLogger } from "./hook.ts";
import { resolveHookPath } from "./paths.ts";
import { errorText } from "./values.ts";

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
    () =>
      withoutExit(resolvedPath, async () => {
        const factory = await importFactory(resolvedPath);
        await factory(api);
      }),
  );
  return hook;
}

class NoFactoryError extends Error {
  override name = "NoFactoryError";
}

async function importFactory(path: string): Promise<HookFactory> {
  let module: { default?: unknown };
  try {
    module = await import(toFileUrl(path).href);
  } catch (error) {
    throw new Error(importFailure(error, path), { cause: error });
  }
  if (typeof module.default !== "function") throw new NoFactoryError("Hook must export a default function");
  return module.default as HookFactory;
}

function loadFailure(error: unknown): string {
  return error instanceof NoFactoryError ? error.message : `Failed to load hook: ${errorText(error)}`;
}

/** Makes one line of what Deno says, which may be coloured and hold an excerpt of the code. */
function importFailure(error: unknown, path: string): string {
  const text = errorText(error)
    // deno-lint-ignore no-control-regex
    .replaceAll(/\x1b\[[0-9;]*m/g, "")
    .split("\n")
    .filter((line) => !/^\s*\d*\s*\|/.test(line) && !/^\s*hint:/.test(line))
    .map((line) => line.trim())
    .join(" ");
  if (/\bRequires (?:read|import|net) access\b/.test(text)) {
    return `${text.replace(/, run again with.*$/, "")}: grant it, for example --allow-read=${path}`;
  }
  return text;
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
    timer = setTimeout(() => reject(new Error(message)), ms);
  });
  try {
    await Promise.race([run(), expired]);
  } finally {
    clearTimeout(timer);
  }
}

const loading = new Map<string, number>();
let realExit: typeof Deno.exit | undefined;

/**
 * Runs the loading of a hook; an attempt of its code to end the process throws in that code instead. Only calls with the
 * hook's file on the stack are kept back, so that the host's own way out stays open.
 */
async function withoutExit(path: string, run: () => Promise<void>): Promise<void> {
  const href = toFileUrl(path).href;
  loading.set(href, (loading.get(href) ?? 0) + 1);
  if (realExit === undefined) {
    realExit = Deno.exit;
    Deno.exit = exitUnlessLoading;
  }
  try {
    await run();
  } finally {
    const left = loading.get(href)! - 1;
    if (left === 0) loading.delete(href);
    else loading.set(href, left);
    if (loading.size === 0) {
      Deno.exit = realExit;
      realExit = undefined;
    }
  }
}

function exitUnlessLoading(code?: number): never {
  const exit = realExit ?? Deno.exit;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = limit;
  for (const href of loading.keys()) {
    if (stack.includes(`${href}:`)) {
      // `process.exit` has set it by now.
      Deno.exitCode = 0;
      throw new Error(`it called exit(${code ?? ""}) while loading; a hook must not end the session`);
    }
  }
  return exit(code);
}
