/**
 * A path becomes a {@linkcode LoadedHook}.
 *
 * @module
 */

import { extname, toFileUrl } from "@std/path";
import type { HookAPI, HookLogger } from "./api.ts";
import { execCommand } from "./exec.ts";
import { createHook, type CreateHookOptions, type LoadedHook, silentLogger } from "./hook.ts";
import { hookModules } from "./compat/modules.ts";
import { importHook, loadFailure, NO_FACTORY, type Reload } from "./import_hook.ts";
import { type HookPermissions, mergeGrants } from "./isolation/grants.ts";
import type { IsolationOptions } from "./isolation/load.ts";
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

/** A hook to load: its path, or its path and more about it. */
export type HookSource = string | {
  /** Its path, as {@linkcode resolveHookPath} reads it. */
  path: string;
  /** Its absolute path, when that has been found out already. */
  resolvedPath?: string;
  /** What it may do, in a process of its own. */
  permissions?: HookPermissions;
  /** Where its code is loaded from instead of its path. */
  approved?: ApprovedFiles;
};

/** A copy of a hook's files that nobody can have changed since they were approved. */
export interface ApprovedFiles {
  /** The hook's own file in it. */
  entry: string;
  /** All files of it, the hook's own among them. */
  files: readonly string[];
}

/** Options of {@linkcode loadHooks}. */
export interface LoadHooksOptions {
  /** How long importing a hook and running its factory may take together, in ms; default 10 000. */
  timeout?: number;
  /** Where `pi.logger` writes; nowhere when absent. */
  logger?: HookLogger;
  /**
   * What `pi.exec` of a hook does, given the hook's path, instead of running the program; what was granted does not count for
   * it.
   */
  exec?: (hookPath: string) => HookAPI["exec"];
  /**
   * What each hook may do, in a process of its own; `{}` permits nothing. Without it hooks are loaded into this process and may
   * do what it may do.
   */
  permissions?: HookPermissions;
  /** How isolated hooks are run. */
  isolation?: IsolationOptions;
}

const FACTORY_HINT = 'write: export default function (pi) { pi.on("tool_call", (event) => { … }); }';
const DEFAULT_TIMEOUT = 10_000;
/** Isolated hooks that start at the same time. */
const AT_ONCE = 8;
const MODULE_EXTENSIONS = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);

/**
 * Loads hooks. With {@linkcode LoadHooksOptions.permissions}, or permissions of its own, a hook runs in a process of its own that
 * has exactly those rights; several start at once. Otherwise it is loaded into this process, one after the other, and what it may
 * do is what this process may do: bound it with Deno's permission flags. A hook that cannot be loaded is reported and the others
 * go on.
 *
 * @param sources Paths as {@linkcode resolveHookPath} reads them, with permissions where a hook has its own.
 * @param cwd The folder that relative paths start from, and that `pi.exec` works in.
 * @param options See {@linkcode LoadHooksOptions}.
 * @returns The hooks, the errors and the warnings. Never rejects for a bad hook. Isolated hooks must be disposed of, by
 *   {@linkcode LoadedHook.dispose} or `HookRunner.dispose`.
 *
 * @example
 * ```ts
 * import { loadHooks } from "@xcsh/hooks";
 *
 * const { hooks, errors } = await loadHooks(["./examples/hooks/no_such_gate.ts"], Deno.cwd());
 * for (const { path, error } of errors) console.error(`${path}: ${error}`);
 * ```
 *
 * @example Each in a process of its own
 * ```ts
 * import { loadHooks } from "@xcsh/hooks";
 *
 * const { hooks } = await loadHooks(
 *   ["./examples/hooks/block_unsafe_bash.ts", {
 *     path: "./examples/hooks/git_checkpoint.ts",
 *     permissions: { exec: ["git stash create"] },
 *   }],
 *   Deno.cwd(),
 *   { permissions: {} },
 * );
 * for (const hook of hooks) await hook.dispose?.();
 * ```
 */
export async function loadHooks(
  sources: readonly HookSource[],
  cwd: string,
  options: LoadHooksOptions = {},
): Promise<LoadHooksResult> {
  const lanes: Promise<unknown>[] = new Array(AT_ONCE).fill(undefined);
  let started = 0;
  // Isolated hooks start side by side, and while those of this process load one after the other.
  const isolated = sources.map((source) => {
    if (permissionsOf(source, options) === undefined) return undefined;
    const lane = started++ % AT_ONCE;
    const outcome = Promise.resolve(lanes[lane]).then(() => attempt(source, cwd, options));
    lanes[lane] = outcome;
    return outcome;
  });
  const outcomes: Outcome[] = [];
  for (const [i, source] of sources.entries()) outcomes.push(await (isolated[i] ?? attempt(source, cwd, options)));
  return {
    hooks: outcomes.flatMap(({ hook }) => hook ?? []),
    errors: outcomes.flatMap(({ path, error }) => error === undefined ? [] : { path, error }),
    warnings: outcomes.flatMap(({ path, warnings }) => warnings.map((warning) => ({ path, warning }))),
  };
}
interface Outcome {
  readonly path: string;
  readonly hook?: LoadedHook;
  readonly error?: string;
  readonly warnings: string[];
}

function permissionsOf(source: HookSource, options: LoadHooksOptions): HookPermissions | undefined {
  if (typeof source === "string" || source.permissions === undefined) return options.permissions;
  return mergeGrants(options.permissions ?? {}, source.permissions);
}

async function attempt(source: HookSource, cwd: string, options: LoadHooksOptions): Promise<Outcome> {
  const { path, approved, ...known } = typeof source === "string" ? { path: source } : source;
  const warnings: string[] = [];
  let done = false;
  try {
    const resolvedPath = known.resolvedPath ?? resolveHookPath(path, cwd);
    const entry = approved?.entry ?? resolvedPath;
    await requireModuleFile(entry);
    const common = {
      path,
      resolvedPath,
      entry,
      cwd,
      timeout: options.timeout ?? DEFAULT_TIMEOUT,
      logger: options.logger ?? silentLogger,
      warn: (warning: string) => {
        // Nobody looks at the result any more for what a hook does later.
        if (done) (options.logger ?? silentLogger).warn(`${path}: ${warning}`);
        else warnings.push(warning);
      },
      ...(options.exec === undefined ? {} : { exec: options.exec(path) }),
    };
    const permissions = permissionsOf(source, options);
    if (permissions === undefined) return { path, hook: await loadInProcess(common), warnings };
    // Whoever isolates nothing need not load what isolation takes.
    const { loadIsolatedHook } = await import("./isolation/load.ts");
    return {
      path,
      hook: await loadIsolatedHook({
        ...options.isolation,
        ...common,
        permissions,
        ...(approved === undefined ? {} : { hookFiles: approved.files }),
      }),
      warnings,
    };
  } catch (error) {
    const failure = loadFailure(error);
    // The error is a fixed text, so what to write is told beside it.
    if (failure === NO_FACTORY) options.logger?.warn(`${path}: ${FACTORY_HINT}`);
    return { path, error: failure, warnings: [] };
  } finally {
    done = true;
  }
}

async function loadInProcess(
  { cwd, timeout, exec, entry, ...options }: Omit<CreateHookOptions, "exec"> & {
    cwd: string;
    timeout: number;
    exec?: HookAPI["exec"];
    entry: string;
  },
): Promise<LoadedHook> {
  const { resolvedPath } = options;
  const run: HookAPI["exec"] = (command, args, execOptions) =>
    execCommand(command, args, execOptions?.cwd ?? cwd, execOptions);
  const { hook, api } = createHook({ ...options, exec: exec ?? run });
  const { files, needsCompat, namesPackages, fault } = hookModules(entry);
  if (fault !== undefined) throw new Error(fault);
  let url = toFileUrl(entry).href;
  const load = () =>
    withTimeout(
      timeout,
      `${resolvedPath} did not finish loading within ${timeout} ms`,
      () => importHook(url, api, learnCompat),
    );
  const reload = needsCompat ? await learnCompat() : undefined;
  if (reload === undefined || !namesPackages) {
    await load();
    return hook;
  }
  const { givePackages } = await import("./compat/npm.ts");
  if (await givePackages(files)) url = reload(url);
  try {
    await load();
  } catch (error) {
    // Its text did not show what it needs, its import did; until that is there, nothing of it runs.
    if (await givePackages(files, error) === undefined) throw error;
    url = reload(url);
    await load();
  }
  return hook;
}

/** Teaches this process to import the way other hosts do; loaded when needed, since it makes a program start later. */
async function learnCompat(): Promise<Reload> {
  const { registerCompat, reloadUrl } = await import("./compat/register.ts");
  registerCompat();
  return reloadUrl;
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
