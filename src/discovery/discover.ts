/**
 * From folders to hooks: what there is, what of it runs, and why the rest does not.
 *
 * @module
 */

import { basename, dirname, extname, resolve } from "@std/path";
import type { HookLogger } from "../api.ts";
import { silentLogger } from "../hook.ts";
import { type HookPermissions, mergeGrants } from "../isolation/grants.ts";
import { type HookSource, loadHooks, type LoadHooksOptions, type LoadHooksResult } from "../loader.ts";
import { homeDirectory, resolveHookPath } from "../paths.ts";
import { createShellHook, type ShellHookOptions } from "../shell/adapter.ts";
import { oddMatcher } from "../shell/matcher.ts";
import { scriptFault } from "../shell/script_fault.ts";
import type { Approval, Json } from "../trust/approval.ts";
import { isWithin } from "../trust/repository.ts";
import { IN_PROCESS } from "../trust/rights.ts";
import { trustFolder, TrustStore } from "../trust/store.ts";
import { Trust, type TrustRequest } from "../trust/trust.ts";
import { isThenable } from "../values.ts";
import { type CapabilityRegistry, repoRootOf } from "./capability.ts";
import { MODULE_EXTENSIONS } from "./folder.ts";
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
  verify?: () => Promise<string | undefined>;
}

/** Options of {@linkcode discoverHooks}. */
export interface DiscoverHooksOptions {
  /** Who is asked; the default registry when absent. */
  registry?: CapabilityRegistry;
  /** The person's home; the environment's when absent. */
  home?: string;
  /** What each hook may do, in a process of its own; all that this process may when absent. */
  permissions?: HookPermissions;
  /** What single hooks may do instead, by absolute path: the person's settings, never the project's. */
  hookPermissions?: ReadonlyMap<string, HookPermissions>;
  /** Whether scripts and commands of settings files run as hooks; default false. */
  shellHooks?: boolean;
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
  const project = projectScope(cwd, home);
  const approved = new Map<HookItem, Approved>();
  registry.invalidate();
  const found = await registry.load<HookItem>(HOOKS_CAPABILITY, {
    cwd,
    explain: true,
    commandsRun: options.shellHooks ?? false,
    ...(project.repoRoot === undefined ? {} : { repoRoot: project.repoRoot }),
    home,
    ...(options.pluginDirs === undefined ? {} : { pluginDirs: options.pluginDirs }),
    ...(options.disabledExtensions === undefined ? {} : { disabledExtensions: options.disabledExtensions }),
    refuse(item, all) {
      if (!project.comesAlong(item)) return undefined;
      // A command that does not run in any case needs no approval, and keeps no other hook from running.
      if (item.kind === "command" && !options.shellHooks) return undefined;
      const take = (verdict: TrustVerdict) => {
        if (!verdict.trusted) return verdict.reason;
        approved.set(item, verdict);
        return undefined;
      };
      const verdict = trust.check(item, all);
      return isThenable(verdict) ? verdict.then(take) as Promise<string | undefined> : take(verdict as TrustVerdict);
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
    const hook: FoundHook = { candidate: candidateOf(item, "loaded"), item, resolvedPath: item.path };
    if (approval !== undefined) hook.approval = approval;
    add(hook, item.realPath);
  }
  for (const { item, cause, reason } of found.excluded) {
    result.candidates.push(candidateOf(item, STATES[cause], reason));
  }
  for (const path of configuredPaths) {
    const candidate: HookCandidate = { source: "named", level: "user", kind: "module", path, state: "loaded" };
    try {
      const resolvedPath = resolveHookPath(path, resolve(cwd));
      Object.assign(candidate, filedUnder(resolvedPath));
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
  const logger = options.logger ?? silentLogger;
  const modules = hooks.filter((hook) => !isShell(hook, options));
  const loaded = await loadHooks(modules.map((hook) => sourceOf(hook, options)), cwd, options);
  const byPath = new Map(loaded.hooks.map((hook) => [hook.path, hook]));
  const failed = new Map(loaded.errors.map(({ path, error }) => [path, error]));
  for (const hook of hooks) {
    const { candidate } = hook;
    const { path } = candidate;
    if (modules.includes(hook)) {
      const own = byPath.get(path);
      if (own !== undefined) result.hooks.push(own);
    } else if (options.shellHooks) {
      const shell = shellHookOf(hook, cwd, logger);
      result.hooks.push(createShellHook(shell));
      for (const warning of shellWarnings(shell)) result.warnings.push({ path, warning });
    } else Object.assign(candidate, { state: "disabled", reason: "shell hooks are off; --shell-hooks runs them" });
    // What a copy is called says nothing to the person.
    const from = hook.approval?.loadFrom;
    const named = (text: string) => from === undefined ? text : text.replaceAll(from, path);
    const error = failed.get(path);
    if (error !== undefined) {
      Object.assign(candidate, { state: "failed", reason: named(error) });
      result.errors.push({ path, error: named(error) });
    }
    for (const { path: about, warning } of loaded.warnings) {
      if (about === path) result.warnings.push({ path, warning: named(warning) });
    }
  }
  return result;
}

/** Whether a hook is started as a program. Without the adapter, a script is for the loader to refuse. */
function isShell({ candidate: { kind } }: FoundHook, { shellHooks = false }: DiscoverHooksOptions): boolean {
  return kind === "command" || (kind === "script" && shellHooks);
}

function sourceOf(
  { candidate: { path }, approval, resolvedPath }: FoundHook,
  options: DiscoverHooksOptions,
): HookSource {
  const permissions = resolvedPath === undefined ? undefined : options.hookPermissions?.get(resolvedPath);
  const entry = approval?.loadFrom;
  return {
    path,
    ...(resolvedPath === undefined ? {} : { resolvedPath }),
    // Without rights for the run there is no isolation that rights of a hook could widen or narrow.
    ...(permissions === undefined || options.permissions === undefined ? {} : { permissions }),
    ...(entry === undefined ? {} : { approved: { entry, files: [...approval?.copies?.values() ?? [entry]] } }),
  };
}

function shellHookOf(hook: FoundHook, cwd: string, logger: HookLogger): ShellHookOptions {
  const { candidate: { path, type, tool = "*" }, item, resolvedPath = path, approval } = hook;
  const common = {
    path,
    cwd,
    logger,
    ...(approval === undefined ? {} : { approval }),
    ...(item?.pluginRoot === undefined ? {} : { pluginRoot: item.pluginRoot }),
  };
  if (item?.command !== undefined) {
    const { event, matcher, command, args, timeout } = item.command;
    return {
      ...common,
      resolvedPath: item._source.path,
      event,
      matcher,
      program: { kind: "command", command, ...(args === undefined ? {} : { args }) },
      ...(timeout === undefined ? {} : { timeout }),
    };
  }
  return {
    ...common,
    resolvedPath,
    event: type === "post" ? "PostToolUse" : "PreToolUse",
    // The name of a file is the name of a tool, not a pattern.
    matcher: /^[\w *-]+$/.test(tool) ? tool : `^${RegExp.escape(tool)}$`,
    seesErrors: true,
    program: { kind: "script", path: resolvedPath },
  };
}

function shellWarnings({ program, matcher }: ShellHookOptions): string[] {
  if (program.kind === "command") return [];
  const fault = scriptFault(program.path);
  const odd = oddMatcher(matcher);
  return [
    ...(fault === undefined ? [] : [`${fault}; until then each tool that it is for is blocked`]),
    ...(odd === undefined ? [] : [odd]),
  ];
}

/**
 * The approvals that hooks of a project are checked against, with the rights that they would get.
 *
 * @param cwd The project's folder.
 * @param options Those of discovery.
 * @param pins Approvals by content alone, from a pin file that the person named.
 */
export function createTrust(
  cwd: string,
  options: Pick<DiscoverHooksOptions, "home" | "permissions" | "hookPermissions">,
  pins: readonly Approval[] = [],
): Trust {
  const { home = homeDirectory(), permissions, hookPermissions } = options;
  return new Trust({
    cwd,
    pins,
    ...(home === "" ? {} : { store: new TrustStore(trustFolder(home)) }),
    grants: ({ path }) =>
      permissions === undefined ? IN_PROCESS : mergeGrants(permissions, hookPermissions?.get(path)) as unknown as Json,
  });
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
  const project = projectScope(cwd, home);
  const wanted = path === undefined ? undefined : resolveHookPath(path, resolve(cwd));
  const requests: TrustRequest[] = [];
  for (const item of all) {
    if (item.fault !== undefined || !project.comesAlong(item)) continue;
    if (wanted !== undefined && !isWithin(wanted, item._source.path) && item.path !== wanted) continue;
    requests.push(await options.trust.examine(item, all));
  }
  return requests;
}

/** How a path that was given runs, and what for: a script in `pre` or `post` is for the tool that it is called after. */
function filedUnder(path: string): Pick<HookCandidate, "kind" | "type" | "tool"> {
  const extension = extname(path);
  if (MODULE_EXTENSIONS.has(extension.toLowerCase()) || realKind(path) !== "file") return { kind: "module" };
  const folder = basename(dirname(path));
  if (folder !== "pre" && folder !== "post") return { kind: "script", type: "pre", tool: "*" };
  return { kind: "script", type: folder, tool: basename(path, extension) };
}

function realKind(path: string): "file" | "other" {
  try {
    return Deno.statSync(path).isFile ? "file" : "other";
  } catch {
    return "other";
  }
}

/** What comes with the project: hooks in its folders, and all of a home that lies in its repository. */
interface ProjectScope {
  /** The folder that holds `.git`, as far as it says something about `cwd` as it was given. */
  repoRoot?: string | null;
  comesAlong(item: HookItem): boolean;
}

function projectScope(cwd: string, home: string): ProjectScope {
  const real = realPathOf(resolve(cwd));
  const repoRoot = repoRootOf(real);
  const homeComesAlong = repoRoot !== null && home !== "" && isWithin(repoRoot, realPathOf(home));
  return {
    ...(real === resolve(cwd) ? { repoRoot } : {}),
    comesAlong: ({ level, path }) => level === "project" || (homeComesAlong && isWithin(home, path)),
  };
}

const STATES = { disabled: "disabled", invalid: "failed", refused: "untrusted", shadowed: "shadowed" } as const;

function candidateOf(item: HookItem, state: HookState, reason?: string): HookCandidate {
  const { kind, level, path, tool, type, _source: { providerName, provider } } = item;
  const extensionId = hooksCapability.toExtensionId!(item)!;
  const candidate: HookCandidate = {
    source: providerName ?? provider,
    level,
    type,
    tool,
    kind,
    path,
    state,
    extensionId,
  };
  if (reason !== undefined) candidate.reason = reason;
  return candidate;
}
