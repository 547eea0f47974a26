/**
 * Loads a hook into a process of its own, with exactly the rights that it was granted.
 *
 * @module
 */

import { basename } from "@std/path";
import type { HookAPI, HookLogger } from "../api.ts";
import { hookModules } from "../compat/modules.ts";
import type { LoadedHook } from "../hook.ts";
import { plainText } from "../ui/text.ts";
import { userFilesClosedToHooks } from "../user_settings.ts";
import { cacheFolder, importsFolder } from "./boot_folder.ts";
import {
  type EffectiveGrants,
  GrantError,
  type HookPermissions,
  parseGrants,
  PERMISSION_KINDS,
  resolveGrants,
} from "./grants.ts";
import { IsolatedHook, type IsolationLimits } from "./host.ts";

/** How isolated hooks are run. */
export interface IsolationOptions extends Partial<IsolationLimits> {
  /** Gets each line that a hook prints; standard error, behind the hook's name, when absent. */
  print?: (hookPath: string, line: string) => void;
  /** Files and folders that no grant opens for reading or writing, beside the person's own settings and approvals. */
  closed?: readonly string[];
  /** What `ctx.cwd` names, when that is not where the session works, as in a replay; grants never follow it. */
  contextCwd?: string;
  /** Variables that a hook's process gets beside those that it was granted; for who records what a hook needs. */
  environment?: Readonly<Record<string, string>>;
}

/** What {@linkcode loadIsolatedHook} needs. */
export interface LoadIsolatedOptions extends IsolationOptions {
  /** Path, as it was given. */
  path: string;
  /** Absolute path. */
  resolvedPath: string;
  /** The file that is imported. */
  entry: string;
  /** Its own files, which it may read; those that it imports from below its folder when absent. */
  hookFiles?: readonly string[];
  /** Where the session works. */
  cwd: string;
  /** What the hook may do; not yet checked. */
  permissions: HookPermissions;
  /** How long loading may take, in ms. */
  timeout: number;
  /** Where `pi.logger` writes. */
  logger: HookLogger;
  /** Gets what the author should know. */
  warn: (warning: string) => void;
  /** What `pi.exec` does, instead of running what was granted. */
  exec?: HookAPI["exec"];
}

const DEFAULT_LIMITS: IsolationLimits = {
  budget: 10_000,
  emissionBudget: 30_000,
  heapLimit: 256,
  frameLimit: 8 * 1024 * 1024,
};
/** Lines of a hook's output that are shown in a second. */
const LINES_PER_SECOND = 100;
const LINE_LENGTH = 2_000;

/**
 * Loads a hook into a process of its own.
 *
 * @param options See {@linkcode LoadIsolatedOptions}.
 * @returns The hook, which must be disposed of.
 * @throws {GrantError} When the grants cannot be enforced.
 * @throws {Error} When this program may not start processes, or the hook cannot be loaded.
 */
export async function loadIsolatedHook(options: LoadIsolatedOptions): Promise<LoadedHook> {
  const {
    path,
    resolvedPath,
    entry,
    cwd,
    timeout,
    logger,
    warn,
    exec,
    print,
    closed,
    contextCwd,
    environment,
    ...limits
  } = options;
  const permissions = parseGrants(options.permissions);
  if (Deno.build.standalone) {
    throw new Error(
      "a compiled program cannot isolate hooks, since it reads modules without asking; run it by deno run",
    );
  }
  try {
    // What is in them runs with more rights than the hook has.
    const caches = [cacheFolder(), importsFolder()].filter((folder) => folder !== undefined);
    const { files, needsCompat, namesPackages, bareBuiltIns, fault } = hookModules(entry);
    if (fault !== undefined) throw new Error(fault);
    const hookFiles = options.hookFiles ?? files;
    for (const file of hookFiles) requireMapInside(file);
    const resolveNow = async () => {
      const grants = await resolveGrants(permissions, {
        project: cwd,
        hookFiles,
        closed: [...userFilesClosedToHooks(), ...closed ?? []],
        unwritable: caches,
      });
      requireHeld(grants);
      return grants;
    };
    const grants = await resolveNow();
    const unchanged = await watchOver(hookFiles);
    const given = Object.fromEntries(
      Object.entries(limits).filter(([key, value]) => key in DEFAULT_LIMITS && value !== undefined),
    );
    const load = (packages: Readonly<Record<string, string>> | undefined) =>
      IsolatedHook.load({
        path,
        resolvedPath,
        entry,
        cwd,
        permissions,
        grants,
        needsCompat: needsCompat || bareBuiltIns,
        ...(packages === undefined ? {} : { packages }),
        limits: { ...DEFAULT_LIMITS, ...given },
        timeout,
        logger,
        warn,
        ...(exec === undefined ? {} : { exec }),
        ...(contextCwd === undefined ? {} : { contextCwd }),
        ...(environment === undefined ? {} : { environment }),
        print: printer(path, print ?? printToStderr),
        async recheck() {
          if (!await unchanged()) {
            throw new Error("its code has changed since it was loaded; start the session again to use the new code");
          }
          // A link may have come since.
          await resolveNow();
        },
      });
    if (!namesPackages) return await load(undefined);
    const packages = await packagesOf(files);
    try {
      return await load(packages);
    } catch (error) {
      // Its text did not show what it needs, its import did.
      const more = await packagesOf(files, error);
      if (more === undefined) throw error;
      return await load(more);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    const flag = /--allow-\w+/.exec(error.message)?.[0] ?? "--allow-run";
    throw new Error(
      `isolating a hook starts a process for it, for which this program lacks ${flag}; grant --allow-run, --allow-read, ` +
        `--allow-write and --allow-env. It was not loaded, since in this process it would have all of its rights`,
    );
  }
}

/** The packages from npm that a hook needs, as text; `undefined` when it needs none. */
async function packagesOf(
  files: readonly string[],
  error?: unknown,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { packagesFor } = await import("../compat/npm.ts");
  const names = await packagesFor(files, error);
  if (names === undefined || names.size === 0) return undefined;
  const { packageFiles } = await import("./package_files.ts");
  return await packageFiles(names, files);
}

/** A child could be given more than its host has: Deno does not look. */
function requireHeld({ allow }: EffectiveGrants): void {
  for (const kind of PERMISSION_KINDS) {
    const grant = allow[kind];
    if (grant === undefined) continue;
    for (const entry of grant === true ? [undefined] : grant) {
      if (Deno.permissions.querySync(descriptor(kind, entry)).state !== "granted") {
        throw new GrantError(
          `The grant ${kind}${
            entry === undefined ? "" : `=${entry}`
          } is more than this program itself may do; start it with --allow-${kind}`,
        );
      }
    }
  }
}

function descriptor(kind: string, entry: string | undefined): Deno.PermissionDescriptor {
  const field = {
    read: "path",
    write: "path",
    ffi: "path",
    net: "host",
    import: "host",
    env: "variable",
    run: "command",
    sys: "kind",
  }[kind]!;
  return { name: kind, ...(entry === undefined ? {} : { [field]: entry }) } as Deno.PermissionDescriptor;
}

/** The runtime reads the source map that a module names without asking for permission, be it a device or somebody's secret. */
function requireMapInside(file: string): void {
  let source: string;
  try {
    source = Deno.readTextFileSync(file);
  } catch {
    return; // The import will say what is wrong.
  }
  for (const [, url = ""] of source.matchAll(/[#@]\s*sourceMappingURL\s*=\s*([^\s'"`]+)/g)) {
    if (/^data:/i.test(url) || /^[\w-][\w.-]*$/.test(url)) continue;
    throw new Error(
      `${file} names a source map outside of its folder, ${url}, which is read without permission; leave it out`,
    );
  }
}

/** Makes a test of whether files are still what they are now. */
async function watchOver(files: readonly string[]): Promise<() => Promise<boolean>> {
  const digest = async () => {
    const texts = await Promise.all(files.map((file) => Deno.readTextFile(file).catch(() => "")));
    const bytes = new TextEncoder().encode(JSON.stringify(texts));
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  };
  const before = await digest();
  return async () => await digest() === before;
}

/** Makes lines of what a hook prints, and shows no more of them than a person could read. */
function printer(path: string, print: (hookPath: string, line: string) => void): (text: string) => void {
  let rest = "";
  let shown = 0;
  let left = 0;
  let second = 0;
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!.slice(-LINE_LENGTH);
    for (const line of lines) {
      const now = Math.floor(performance.now() / 1000);
      if (now !== second) {
        if (left > 0) print(path, `… ${left} more lines`);
        [second, shown, left] = [now, 0, 0];
      }
      if (shown++ < LINES_PER_SECOND) print(path, plainText(line.slice(0, LINE_LENGTH)));
      else left++;
    }
  };
}

function printToStderr(hookPath: string, line: string): void {
  try {
    const name = plainText(basename(hookPath)).replaceAll("\n", " ");
    Deno.stderr.writeSync(new TextEncoder().encode(`[${name}] ${line}\n`));
  } catch {
    // Nobody reads it.
  }
}
