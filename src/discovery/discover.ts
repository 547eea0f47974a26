/**
 * From folders to hooks: what there is, what of it runs, and why the rest does not.
 *
 * @module
 */

import { resolve, toFileUrl } from "@std/path";
import { loadHooks, type LoadHooksOptions, type LoadHooksResult } from "../loader.ts";
import { resolveHookPath } from "../paths.ts";
import type { CapabilityRegistry } from "./capability.ts";
import { type HookItem, HOOKS_CAPABILITY, hooksCapability } from "./hook_item.ts";
import { capabilities } from "./providers.ts";
import { realPathOf } from "./scan.ts";

/** What became of a file that may be a hook. */
export type HookState = "loaded" | "shadowed" | "duplicate" | "disabled" | "untrusted" | "failed";

/** A file that may be a hook, and what became of it. */
export interface HookCandidate {
  /** Name of the provider that found it; `named` for a path that was given. */
  source: string;
  /** Whose it is; a path that was given is the person's. */
  level: "user" | "project";
  /** What it was filed under. */
  type?: "pre" | "post";
  /** The tool it was filed under; `*` for any. */
  tool?: string;
  /** How it runs. */
  kind: HookItem["kind"];
  /** The name by which it can be disabled. */
  extensionId?: string;
  /** Its path, as it was found or given. */
  path: string;
  /** What became of it. */
  state: HookState;
  /** Why, for every state but `loaded`. */
  reason?: string;
}

/** Decides whether a hook of the project may run. */
export interface TrustGate {
  /**
   * Looks at a hook without running any of it.
   *
   * @param hook The hook.
   * @param found All hooks that were found, to tell which of the person's it would take the place of.
   * @returns Where the approved bytes are to be loaded from, or why there is no approval.
   */
  check(
    hook: HookItem,
    found: readonly HookItem[],
  ): TrustVerdict | Promise<TrustVerdict>;
}

/** What a {@linkcode TrustGate} says. */
export type TrustVerdict =
  | { trusted: true; loadFrom?: string }
  | { trusted: false; reason: string };

/** Options of {@linkcode discoverHooks}. */
export interface DiscoverHooksOptions {
  /** Who is asked; the default registry when absent. */
  registry?: CapabilityRegistry;
  /** The person's home; the environment's when absent. */
  home?: string;
  /** Says which hooks of the project may run; none when absent. */
  trust?: TrustGate;
  /** Folders of plugins that the person named. */
  pluginDirs?: readonly string[];
  /** Extension ids of hooks to leave out. */
  disabledExtensions?: readonly string[];
}

/** A hook to load. */
export interface FoundHook {
  /** What the report says of it. */
  candidate: HookCandidate;
  /** What a provider found; absent for a path that was given. */
  item?: HookItem;
  /** Its absolute path; absent when the path that was given cannot be read. */
  resolvedPath?: string;
  /** The file that holds its approved bytes, where that is not the path itself. */
  loadFrom?: string;
}

/** What was found, before anything was loaded. */
export interface DiscoveredHooks {
  /** The hooks to load, in order, each real path once. */
  hooks: FoundHook[];
  /** Everything that was found or given; the hooks to load count as loaded here. */
  candidates: HookCandidate[];
  /** What the providers had to say. */
  warnings: string[];
}

/** What came of {@linkcode discoverAndLoadHooks}. */
export interface DiscoverAndLoadResult extends LoadHooksResult {
  /** Everything that was found or given, and what became of it. */
  candidates: HookCandidate[];
  /** What the providers had to say. */
  discoveryWarnings: string[];
}

/**
 * Finds hooks without running any of them.
 *
 * @param configuredPaths Paths that the person named, as {@linkcode resolveHookPath} reads them. They need no approval.
 * @param cwd The project's folder.
 * @param options See {@linkcode DiscoverHooksOptions}.
 * @returns What there is to load, and what became of the rest.
 */
export async function discoverHooks(
  configuredPaths: readonly string[],
  cwd: string,
  options: DiscoverHooksOptions = {},
): Promise<DiscoveredHooks> {
  const registry = options.registry ?? capabilities;
  const loadFrom = new Map<HookItem, string>();
  registry.invalidate();
  const found = await registry.load<HookItem>(HOOKS_CAPABILITY, {
    cwd,
    explain: true,
    ...(options.home === undefined ? {} : { home: options.home }),
    ...(options.pluginDirs === undefined ? {} : { pluginDirs: options.pluginDirs }),
    ...(options.disabledExtensions === undefined ? {} : { disabledExtensions: options.disabledExtensions }),
    async refuse(item, all) {
      if (item.level === "user") return undefined;
      const verdict = await (options.trust?.check(item, all) ?? NO_TRUST);
      if (!verdict.trusted) return verdict.reason;
      if (verdict.loadFrom !== undefined) loadFrom.set(item, verdict.loadFrom);
      return undefined;
    },
  });

  const result: DiscoveredHooks = { hooks: [], candidates: [], warnings: found.warnings };
  const seen = new Map<string, string>();
  const add = (hook: FoundHook, realPath?: string) => {
    const { candidate } = hook;
    const first = realPath === undefined ? undefined : seen.get(realPath);
    result.candidates.push(candidate);
    if (first !== undefined) {
      candidate.state = "duplicate";
      candidate.reason = `the same file as ${first}`;
      return;
    }
    if (realPath !== undefined) seen.set(realPath, candidate.path);
    result.hooks.push(hook);
  };
  for (const item of found.items) {
    const from = loadFrom.get(item);
    const hook = { candidate: candidateOf(item, "loaded"), item, resolvedPath: item.path };
    add(from === undefined ? hook : { ...hook, loadFrom: from }, item.realPath);
  }
  for (const { item, cause, reason } of found.excluded) {
    result.candidates.push(candidateOf(item, STATES[cause], reason));
  }
  for (const path of configuredPaths) {
    const candidate: HookCandidate = { source: "named", level: "user", kind: "module", path, state: "loaded" };
    try {
      const resolvedPath = resolveHookPath(path, resolve(cwd));
      add({ candidate, resolvedPath }, realPathOf(resolvedPath));
    } catch {
      // The loader says what is wrong with it.
      add({ candidate });
    }
  }
  return result;
}

/**
 * Finds hooks and loads them: first those that the registry's providers find, then the paths that the person named. Each file
 * is loaded once, whatever links lead to it.
 *
 * A hook of the project runs no code before the person has approved its content; without an approval it is left out, and
 * `candidates` says so.
 *
 * @param configuredPaths Paths that the person named, as {@linkcode resolveHookPath} reads them. They need no approval, so do
 *   not take them from a file of the project.
 * @param cwd The project's folder.
 * @param options Those of discovery and those of loading.
 * @returns The hooks, what became of everything that was found, and every warning.
 *
 * @example
 * ```ts
 * import { discoverAndLoadHooks } from "@xcsh/hooks";
 *
 * const { hooks, candidates } = await discoverAndLoadHooks(["./examples/hooks/no_such_gate.ts"], Deno.cwd());
 * console.log(`${hooks.length} hooks run`);
 * for (const { path, state, reason } of candidates) if (state !== "loaded") console.log(`${path}: ${state}, ${reason}`);
 * ```
 */
export async function discoverAndLoadHooks(
  configuredPaths: readonly string[],
  cwd: string,
  options: DiscoverHooksOptions & LoadHooksOptions = {},
): Promise<DiscoverAndLoadResult> {
  const { hooks, candidates, warnings } = await discoverHooks(configuredPaths, cwd, options);
  const result: DiscoverAndLoadResult = {
    hooks: [],
    errors: [],
    warnings: [],
    candidates,
    discoveryWarnings: warnings,
  };
  for (const hook of hooks) {
    if (hook.item?.kind === "command") {
      Object.assign(hook.candidate, { state: "disabled", reason: "shell hooks are off; --shell-hooks runs them" });
      continue;
    }
    const loaded = await loadFound(hook, cwd, options);
    result.hooks.push(...loaded.hooks);
    result.errors.push(...loaded.errors);
    result.warnings.push(...loaded.warnings);
    for (const { error } of loaded.errors) Object.assign(hook.candidate, { state: "failed", reason: error });
  }
  return result;
}

/** Loads one hook. What it is called stays what the person knows it by, wherever its bytes come from. */
async function loadFound(hook: FoundHook, cwd: string, options: LoadHooksOptions): Promise<LoadHooksResult> {
  const { path } = hook.candidate;
  const file = hook.loadFrom ?? hook.resolvedPath;
  // A URL says every path as it is; a plain path would have its Unicode spaces changed.
  const loaded = await loadHooks([file === undefined ? path : toFileUrl(file).href], cwd, options);
  const renamed = (text: string) => hook.loadFrom === undefined ? text : text.replaceAll(hook.loadFrom, path);
  return {
    hooks: loaded.hooks.map((loadedHook) =>
      Object.assign(loadedHook, { path, resolvedPath: hook.resolvedPath ?? loadedHook.resolvedPath })
    ),
    errors: loaded.errors.map(({ error }) => ({ path, error: renamed(error) })),
    warnings: loaded.warnings.map(({ warning }) => ({ path, warning: renamed(warning) })),
  };
}

const NO_TRUST: TrustVerdict = { trusted: false, reason: "it comes with the project and has not been approved" };

const STATES = { disabled: "disabled", invalid: "failed", refused: "untrusted", shadowed: "shadowed" } as const;

function candidateOf(item: HookItem, state: HookState, reason?: string): HookCandidate {
  const { kind, level, path, tool, type } = item;
  const extensionId = hooksCapability.toExtensionId?.(item);
  return {
    source: item._source.providerName ?? item._source.provider,
    level,
    type,
    tool,
    kind,
    path,
    state,
    ...(extensionId === undefined ? {} : { extensionId }),
    ...(reason === undefined ? {} : { reason }),
  };
}
