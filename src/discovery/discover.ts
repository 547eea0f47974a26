/**
 * From folders to hooks: what there is, what of it runs, and why the rest does not.
 *
 * @module
 */

import { resolve, toFileUrl } from "@std/path";
import { loadHooks, type LoadHooksOptions, type LoadHooksResult } from "../loader.ts";
import { homeDirectory, resolveHookPath } from "../paths.ts";
import { isWithin, repositoryOf } from "../trust/repository.ts";
import { trustFolder, TrustStore } from "../trust/store.ts";
import { Trust, type TrustRequest } from "../trust/trust.ts";
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
export type TrustVerdict = Approved | { trusted: false; reason: string };

/** A hook of the project that may run. */
export interface Approved {
  /** Discriminator. */
  trusted: true;
  /** The file that holds its approved bytes, where that is not its own. */
  loadFrom?: string;
  /** Approved bytes of all files, by the path of each in the project. */
  copies?: ReadonlyMap<string, string>;
  /** Says what has changed in the project since the check, before a program is started. */
  verify?: () => string | undefined;
}

/** Options of {@linkcode discoverHooks}. */
export interface DiscoverHooksOptions {
  /** Who is asked; the default registry when absent. */
  registry?: CapabilityRegistry;
  /** The person's home; the environment's when absent. */
  home?: string;
  /** Says which hooks of the project may run; the approvals in the person's folder when absent. */
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
  /** The approval that lets it run; absent for a hook of the person. */
  approval?: Approved;
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
  const home = options.home ?? homeDirectory();
  const trust = options.trust ??
    new Trust({ cwd, ...(home === "" ? {} : { store: new TrustStore(trustFolder(home)) }) });
  const fromProject = projectTest(cwd, home);
  const approved = new Map<HookItem, Approved>();
  registry.invalidate();
  const found = await registry.load<HookItem>(HOOKS_CAPABILITY, {
    cwd,
    explain: true,
    home,
    ...(options.pluginDirs === undefined ? {} : { pluginDirs: options.pluginDirs }),
    ...(options.disabledExtensions === undefined ? {} : { disabledExtensions: options.disabledExtensions }),
    async refuse(item, all) {
      if (!fromProject(item)) return undefined;
      const verdict = await trust.check(item, all);
      if (!verdict.trusted) return verdict.reason;
      approved.set(item, verdict);
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
    const approval = approved.get(item);
    const hook = { candidate: candidateOf(item, "loaded"), item, resolvedPath: item.path };
    add(approval === undefined ? hook : { ...hook, approval }, item.realPath);
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

/**
 * Collects what a person must see before approving hooks of the project. Runs nothing of them.
 *
 * @param cwd The project's folder.
 * @param options Those of discovery; `trust` is the one that will check.
 * @param path A hook, or a folder or settings file for all hooks in it; all of the project when absent.
 * @returns One request a hook, also for those that are approved already.
 */
export async function trustRequests(
  cwd: string,
  options: DiscoverHooksOptions & { trust: Trust },
  path?: string,
): Promise<TrustRequest[]> {
  const registry = options.registry ?? capabilities;
  registry.invalidate();
  const home = options.home ?? homeDirectory();
  const { all } = await registry.load<HookItem>(HOOKS_CAPABILITY, {
    cwd,
    home,
    ...(options.pluginDirs === undefined ? {} : { pluginDirs: options.pluginDirs }),
  });
  const fromProject = projectTest(cwd, home);
  const wanted = path === undefined ? undefined : resolveHookPath(path, resolve(cwd));
  const requests: TrustRequest[] = [];
  for (const item of all) {
    if (item.fault !== undefined || !fromProject(item)) continue;
    if (wanted !== undefined && !isWithin(wanted, item._source.path) && item.path !== wanted) continue;
    requests.push(await options.trust.examine(item, all));
  }
  return requests;
}

/** Loads one hook. What it is called stays what the person knows it by, wherever its bytes come from. */
async function loadFound(hook: FoundHook, cwd: string, options: LoadHooksOptions): Promise<LoadHooksResult> {
  const { path } = hook.candidate;
  const from = hook.approval?.loadFrom;
  const file = from ?? hook.resolvedPath;
  // A URL says every path as it is; a plain path would have its Unicode spaces changed.
  const loaded = await loadHooks([file === undefined ? path : toFileUrl(file).href], cwd, options);
  const renamed = (text: string) => from === undefined ? text : text.replaceAll(from, path);
  return {
    hooks: loaded.hooks.map((loadedHook) =>
      Object.assign(loadedHook, { path, resolvedPath: hook.resolvedPath ?? loadedHook.resolvedPath })
    ),
    errors: loaded.errors.map(({ error }) => ({ path, error: renamed(error) })),
    warnings: loaded.warnings.map(({ warning }) => ({ path, warning: renamed(warning) })),
  };
}

/** Tells hooks that come with the project: those in its folders, and all of a home that lies in the repository. */
function projectTest(cwd: string, home: string): (item: HookItem) => boolean {
  let homeComesAlong = false;
  try {
    const { root, versioned } = repositoryOf(cwd);
    homeComesAlong = versioned && home !== "" && isWithin(root, realPathOf(home));
  } catch {
    // A project that cannot be looked at has no hooks.
  }
  return ({ level, path }) => level === "project" || (homeComesAlong && isWithin(home, path));
}

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
