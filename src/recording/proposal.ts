/**
 * What a hook asked for becomes the least grants that would give it that.
 *
 * @module
 */

import { dirname } from "@std/path";
import { quote } from "../check/needs.ts";
import { grantPath, isBelow, shellWord } from "../check/paths.ts";
import {
  type HookPermissions,
  parseGrants,
  PERMISSION_KINDS,
  type PermissionKind,
  resolveGrants,
} from "../isolation/grants.ts";
import { homeDirectory } from "../paths.ts";
import { errorText } from "../values.ts";
import { realOf, type RecordedRequest, temporaryFolder } from "./policy.ts";

/** Grants that would give a hook what it asked for. */
export interface Proposal {
  /** The grants; valid where grants are read. */
  permissions: HookPermissions;
  /** What it asked for that no grant should or can give, and why. */
  leftOut: { request: string; why: string }[];
  /** What could be granted only together with more: a file that does not exist, by its folder. */
  widened: { request: string; grant: string; why: string }[];
}

/** What {@linkcode propose} needs. */
export interface ProposalOptions {
  /** The project's folder. */
  project: string;
  /** Files that the hook may read anyway: its own. */
  hookFiles: readonly string[];
  /** Files and folders that no grant opens. */
  closed: readonly string[];
}

/** Files of one folder that are granted one by one; when there are more, the folder is. */
const MAX_FILES = 10;

/**
 * Makes grants of what was asked for.
 *
 * @param requests What was asked for.
 * @param options See {@linkcode ProposalOptions}.
 * @returns The least grants.
 */
export async function propose(requests: readonly RecordedRequest[], options: ProposalOptions): Promise<Proposal> {
  const leftOut: Proposal["leftOut"] = [];
  const widened: Proposal["widened"] = [];
  const granted: Record<string, readonly string[]> = {};
  for (const kind of [...PERMISSION_KINDS, "exec"] as const) {
    const entries = new Set<string>();
    for (const request of requests) {
      if (request.kind !== kind) continue;
      const entry = request.value === null ? undefined : entryOf(kind, request.value, options);
      const why = entry === undefined ? whyNotAll(kind) : entry === "" ? undefined : entry.why ??
        await whyNot(kind, entry.path, options, granted.write);
      if (why !== undefined) leftOut.push({ request: `${kind}=${request.value ?? "(all)"}`, why });
      else if (entry !== undefined && entry !== "") {
        entries.add(entry.path);
        if (entry.widened) {
          widened.push({
            request: `${kind}=${request.value}`,
            grant: `${kind}=${grantPath(entry.path, options.project)}`,
            why: "it does not exist, and a grant must name what does",
          });
        }
      }
    }
    if (entries.size > 0) granted[kind] = listOf(kind, entries, options);
  }
  return { permissions: parseGrants(granted), leftOut, widened };
}

/** What a grant would name; `""` when none is needed. */
function entryOf(
  kind: RecordedRequest["kind"],
  value: string,
  { project, hookFiles, closed }: ProposalOptions,
): { path: string; why?: string; widened?: boolean } | "" {
  if (kind !== "read" && kind !== "write" && kind !== "ffi") return { path: value };
  if (kind === "read" && hookFiles.includes(value)) return "";
  const real = realOf(value);
  if (closed.some((path) => isBelow(real, path))) return { path: real, why: "no grant opens it" };
  if (kind === "write" && hookFiles.includes(real)) return { path: real, why: "a hook may not change itself" };
  if (exists(real)) return { path: real };
  // A path that comes to be later could be a link to anywhere: the folder that it would be in is granted.
  let folder = dirname(real);
  while (!exists(folder)) folder = dirname(folder);
  if (mayWiden(kind, folder, project)) return { path: folder, widened: true };
  return {
    path: real,
    why: `it does not exist, and a grant of its folder would open all of that; create it, and record again`,
  };
}

/** Whether a folder may stand for a file in it that does not exist yet. */
function mayWiden(kind: string, folder: string, project: string): boolean {
  if (isBelow(folder, realOf(project))) return true;
  if (kind !== "write") return false;
  const home = homeDirectory();
  return isBelow(folder, realOf(temporaryFolder())) || (home !== "" && folder !== home && isBelow(folder, home));
}

function whyNotAll(kind: string): string {
  switch (kind) {
    case "env":
      return "it asked for all variables at once, secrets among them; let it ask by name, or grant --allow-env";
    case "run":
      return "it asked for all programs, for example by setting LD_… variables for one";
    case "read":
    case "write":
      return "it asked for all files, as links between them need";
    default:
      return `it asked for all of ${kind}`;
  }
}

/** Whether grants would refuse an entry, and why. */
async function whyNot(
  kind: PermissionKind | "exec",
  entry: string,
  options: ProposalOptions,
  write: readonly string[] | undefined,
): Promise<string | undefined> {
  if (kind === "net" && entry.startsWith("unix:")) return "a socket in the file system cannot be granted";
  if (kind === "exec" && / (?:\*|\.\.\.)(?: |$)/.test(entry)) {
    return "it has a word that a grant would read as a placeholder; write the grant by hand";
  }
  try {
    // Git is refused beside what it might take programs from.
    const beside = kind === "exec" && write !== undefined ? { write } : {};
    await resolveGrants(parseGrants({ ...beside, [kind]: [entry], links: true }), { ...options, hookFiles: [] });
    return undefined;
  } catch (error) {
    return errorText(error).replace(/^permissions\.\w+\[0\] /, "");
  }
}

function listOf(
  kind: PermissionKind | "exec",
  entries: ReadonlySet<string>,
  { project }: ProposalOptions,
): readonly string[] {
  const sorted = [...entries].sort();
  if (kind !== "read" && kind !== "write" && kind !== "ffi") return kind === "exec" ? [...entries] : sorted;
  const byFolder = Map.groupBy(sorted, (path) => dirname(path));
  const wide = new Set(sorted);
  for (const [folder, files] of byFolder) {
    if (files.length > MAX_FILES && folder !== "/") wide.add(folder);
  }
  const least = [...wide].filter((path) => ![...wide].some((other) => other !== path && isBelow(path, other))).sort();
  const top = realOf(project);
  return least.map((path) => grantPath(path, isBelow(path, top) ? top : project));
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A command line as a grant names it. */
export function execLine(command: string, args: readonly string[]): string {
  return [command, ...args].map(quote).join(" ");
}

/**
 * Writes grants as flags.
 *
 * @param permissions The grants.
 * @returns Words for a shell.
 */
export function flagsOf(permissions: HookPermissions): string[] {
  const flags: string[] = [];
  for (const kind of PERMISSION_KINDS) {
    const grant = permissions[kind];
    if (grant === true) flags.push(`--allow-${kind}`);
    else if (grant !== undefined && grant.length > 0) flags.push(`--allow-${kind}=${shellWord(grant.join(","))}`);
  }
  for (const line of permissions.exec ?? []) flags.push(`--allow-exec=${shellWord(line)}`);
  return flags;
}
