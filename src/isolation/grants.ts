/**
 * What a hook may do: grants are read, checked, made absolute, and turned into Deno's flags. Nothing here touches the disk but
 * {@linkcode resolveGrants}, which must know where paths really lead.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join, normalize, SEPARATOR } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { errorText, isRecord, kindOf, nearest } from "../values.ts";

/** A list of what is permitted, or `true` for all of it. */
export type Grant = readonly string[] | true;

/**
 * What a hook may do; what is not named it may not. The kinds are those of a permission set in `deno.json`, and `exec`.
 *
 * @example
 * ```ts
 * import type { HookPermissions } from "@xcsh/hooks";
 *
 * const permissions: HookPermissions = { read: ["."], exec: ["git status --porcelain"], deny: { read: ["./secrets"] } };
 * ```
 */
export interface HookPermissions {
  /** Files and folders it may read; `.` is the project. */
  read?: Grant;
  /** Files and folders it may write. */
  write?: Grant;
  /** Hosts it may connect to, with or without port. */
  net?: Grant;
  /** Environment variables it may see. */
  env?: Grant;
  /** Programs it may start by itself. Most can do anything: prefer `exec`. */
  run?: Grant;
  /** Facts about the machine it may ask for. */
  sys?: Grant;
  /** Libraries it may load. They can do anything. */
  ffi?: Grant;
  /** Hosts it may import code from. */
  import?: Grant;
  /**
   * Command lines that the host runs for its `pi.exec`. Each must match whole; the word `*` stands for any one argument that
   * does not begin with `-`, and `...` at the end for any further arguments.
   */
  exec?: readonly string[];
  /** What it may not do in any case. */
  deny?: {
    /** Files and folders it may not read. */
    read?: Grant;
    /** Files and folders it may not write. */
    write?: Grant;
    /** Hosts it may not connect to. */
    net?: Grant;
    /** Environment variables it may not see. */
    env?: Grant;
    /** Programs it may not start. */
    run?: Grant;
    /** Facts about the machine it may not ask for. */
    sys?: Grant;
    /** Libraries it may not load. */
    ffi?: Grant;
    /** Hosts it may not import code from. */
    import?: Grant;
  };
  /** Grant folders although they hold links that lead, or could be moved to lead, out of them. */
  links?: boolean;
}

/** A kind of permission that Deno knows. */
export type PermissionKind = "read" | "write" | "net" | "env" | "run" | "sys" | "ffi" | "import";

/** The kinds, in the order in which they are shown. */
export const PERMISSION_KINDS: readonly PermissionKind[] = [
  "read",
  "write",
  "net",
  "env",
  "run",
  "sys",
  "ffi",
  "import",
];

const PATH_KINDS: ReadonlySet<string> = new Set(["read", "write", "ffi"]);
const SYS_NAMES = [
  "hostname",
  "osRelease",
  "osUptime",
  "loadavg",
  "networkInterfaces",
  "systemMemoryInfo",
  "uid",
  "gid",
  "cpus",
  "homedir",
  "getegid",
  "getgid",
  "geteuid",
  "getuid",
  "username",
  "statfs",
  "getPriority",
  "setPriority",
  "userInfo",
  "inspector",
];
/** Programs that run whatever they are told to. */
const OPEN_ENDED =
  /^(?:(?:ba|z|da|k|fi|c|tc)?sh|pwsh|powershell|cmd|env|xargs|find|awk|gawk|sed|perl|python[\d.]*|ruby|php|lua|node|deno|bun|tsx|npm|npx|pnpm|yarn|pip[\d.]*|uv|cargo|go|make|cmake|git|ssh|scp|rsync|tar|vim?|nvim|emacs|less|more|man|docker|podman|sudo|doas|su|nohup|setsid|timeout|nice|watch|curl|wget)(?:\.exe)?$/;

/** Grants that cannot be used. */
export class GrantError extends Error {
  /** Tells it from other errors. */
  override name = "GrantError";
}

/**
 * Checks grants that come from outside, strictly: what cannot be passed on unchanged is refused.
 *
 * @param value What should be {@linkcode HookPermissions}.
 * @param where Names it in errors, for example a file or a flag.
 * @returns The same as grants.
 * @throws {GrantError} Names the key and says what is wrong with it.
 */
export function parseGrants(value: unknown, where = "permissions"): HookPermissions {
  if (!isRecord(value)) throw new GrantError(`${where} must be an object of grants, not ${kindOf(value)}`);
  const grants: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) {
    const at = `${where}.${key}`;
    if (entry === undefined) continue;
    if (key === "exec") grants.exec = parseExec(entry, at);
    else if (key === "deny") grants.deny = parseDeny(entry, at);
    else if (key === "links") grants.links = parseFlag(entry, at);
    else grants[requireKind(key, where)] = parseGrant(key, entry, at);
  }
  return grants;
}

function requireKind(key: string, where: string): PermissionKind {
  if ((PERMISSION_KINDS as readonly string[]).includes(key)) return key as PermissionKind;
  const keys = [...PERMISSION_KINDS, "exec", "deny", "links"];
  const near = nearest(key, keys);
  const hint = near === undefined ? `the kinds are ${keys.join(", ")}` : `did you mean ${near}?`;
  throw new GrantError(`${where} has a key ${JSON.stringify(key)}, which is no kind of permission; ${hint}`);
}

function parseDeny(value: unknown, where: string): Record<string, Grant> {
  if (!isRecord(value)) throw new GrantError(`${where} must be an object, not ${kindOf(value)}`);
  const denied: Record<string, Grant> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (entry !== undefined) denied[requireKind(key, where)] = parseGrant(key, entry, `${where}.${key}`);
  }
  return denied;
}

function parseFlag(value: unknown, where: string): boolean {
  if (typeof value !== "boolean") throw new GrantError(`${where} must be true or false, not ${kindOf(value)}`);
  return value;
}

function parseList(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw new GrantError(`${where} must be a list of strings, not ${kindOf(value)}`);
  value.forEach((entry, i) => {
    if (typeof entry !== "string") throw new GrantError(`${where}[${i}] must be a string, not ${kindOf(entry)}`);
    if (entry.trim() === "") throw new GrantError(`${where}[${i}] is empty; leave it out to grant nothing`);
    // deno-lint-ignore no-control-regex
    if (/[\x00-\x1f\x7f]/.test(entry)) {
      throw new GrantError(`${where}[${i}] holds a control character: ${JSON.stringify(entry)}`);
    }
  });
  return [...new Set(value as string[])];
}

function parseGrant(kind: string, value: unknown, where: string): Grant {
  if (value === true) return true;
  if (!Array.isArray(value)) throw new GrantError(`${where} must be a list of strings or true, not ${kindOf(value)}`);
  const list = parseList(value, where);
  list.forEach((entry, i) => {
    const fault = entryFault(kind, entry);
    if (fault !== undefined) throw new GrantError(`${where}[${i}] ${fault}: ${JSON.stringify(entry)}`);
  });
  return list;
}

function entryFault(kind: string, entry: string): string | undefined {
  if (entry.includes(",")) return "holds a comma, which Deno's flags cannot carry";
  if (PATH_KINDS.has(kind)) return undefined;
  if (entry.startsWith("-")) return "begins with a dash, as if it were a flag";
  if (/\s/.test(entry)) return "holds a space";
  if (kind === "env" && (entry.includes("=") || /\*./.test(entry))) return "is no name of a variable";
  if (kind === "sys" && !SYS_NAMES.includes(entry)) return `is none of ${SYS_NAMES.join(", ")}`;
  if (
    (kind === "net" || kind === "import") &&
    !/^(?:\*\.)?(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?:\/\d{1,3})?(?::\d{1,5})?$/.test(entry)
  ) {
    return "is no host or host:port";
  }
  return undefined;
}

function parseExec(value: unknown, where: string): readonly string[] {
  const list = parseList(value, where);
  list.forEach((entry, i) => {
    const words = execWords(entry);
    if (words === undefined) {
      throw new GrantError(`${where}[${i}] has a quote that does not close: ${JSON.stringify(entry)}`);
    }
    const [program = ""] = words;
    if (program === "*" || program === "...") {
      throw new GrantError(`${where}[${i}] must begin with a program: ${JSON.stringify(entry)}`);
    }
    if (program.startsWith("-")) {
      throw new GrantError(`${where}[${i}] begins with a dash, as if it were a flag: ${JSON.stringify(entry)}`);
    }
    if (/[/\\]/.test(program) && !isAbsolute(program)) {
      throw new GrantError(
        `${where}[${i}] must name its program alone or by an absolute path: ${JSON.stringify(entry)}`,
      );
    }
    const rest = words.indexOf("...");
    if (rest !== -1 && rest !== words.length - 1) {
      throw new GrantError(`${where}[${i}] may have ... only as its last word: ${JSON.stringify(entry)}`);
    }
  });
  return list;
}

/** Splits a command line into words as a shell would, quotes alone; `undefined` when a quote does not close. */
export function execWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word = "";
  let open = false;
  let quote = "";
  for (const char of line) {
    if (quote !== "") {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      open = true;
    } else if (/\s/.test(char)) {
      if (open) words.push(word);
      [word, open] = ["", false];
    } else {
      word += char;
      open = true;
    }
  }
  if (quote !== "") return undefined;
  if (open) words.push(word);
  return words;
}

/**
 * Makes one set of grants of the grants for every hook of a run and those for one hook: the latter take the place of the
 * former, and what either denies is denied.
 *
 * @param run Grants for every hook of the run.
 * @param hook Grants for this hook, if there are any.
 * @returns What the hook gets.
 */
export function mergeGrants(run: HookPermissions, hook: HookPermissions | undefined): HookPermissions {
  const granted = hook ?? run;
  const deny: Record<string, Grant> = {};
  for (const kind of PERMISSION_KINDS) {
    const a = run.deny?.[kind];
    const b = hook?.deny?.[kind];
    if (a === true || b === true) deny[kind] = true;
    else if (a !== undefined || b !== undefined) deny[kind] = [...new Set([...a ?? [], ...b ?? []])];
  }
  return Object.keys(deny).length === 0 ? granted : { ...granted, deny };
}

/** One command line that the host may run for a hook. */
export interface ExecGrant {
  /** As it was written. */
  line: string;
  /** Its words; the first is the program as hooks call it. */
  words: readonly string[];
  /** Where the program is. */
  program: string;
}

/** Grants as they are enforced: paths absolute and real, programs found. */
export interface EffectiveGrants {
  /** What Deno permits. */
  readonly allow: Readonly<Partial<Record<PermissionKind, Grant>>>;
  /** What Deno denies. */
  readonly deny: Readonly<Partial<Record<PermissionKind, Grant>>>;
  /** What the host runs. */
  readonly exec: readonly ExecGrant[];
}

/** Where grants apply. */
export interface GrantScope {
  /** The project: what `.` means. */
  project: string;
  /** Files of the hook itself, which it may read so that it can be loaded. */
  hookFiles: readonly string[];
  /** Files and folders that no grant opens, for reading or writing. */
  closed?: readonly string[];
  /** Files and folders that no grant opens for writing. */
  unwritable?: readonly string[];
  /** The `PATH` in which programs are looked for; the environment's when absent. */
  path?: string;
}

/** Folders of a project from which programs take code or settings: a grant to write the project does not open them. */
const PROTECTED = [".git", ".xcsh", ".claude", ".codex", ".pi", ".omp", ".husky", ".vscode"];

/**
 * Makes grants absolute and finds out where they really lead.
 *
 * @param grants The grants.
 * @param scope Where they apply.
 * @returns What is enforced.
 * @throws {GrantError} When a path is missing, is a link or holds a link that leads out of what is granted; when a program is
 *   missing or lies in the project.
 */
export async function resolveGrants(grants: HookPermissions, scope: GrantScope): Promise<EffectiveGrants> {
  const project = await Deno.realPath(scope.project);
  const allow: Partial<Record<PermissionKind, Grant>> = {};
  const deny: Partial<Record<PermissionKind, Grant>> = {};
  for (const kind of PERMISSION_KINDS) {
    const granted = grants[kind];
    const denied = grants.deny?.[kind];
    if (granted !== undefined) {
      allow[kind] = granted !== true && PATH_KINDS.has(kind)
        ? (await Promise.all(granted.map((path) => resolveGrantedPath(kind, path, project, scope.project)))).flat()
        : granted;
    }
    if (denied !== undefined) {
      deny[kind] = denied !== true && PATH_KINDS.has(kind) ? denied.map((path) => absolute(path, project)) : denied;
    }
  }
  if (!grants.links) await refuseLinks(allow);
  if (allow.read !== true) allow.read = [...new Set([...allow.read ?? [], ...scope.hookFiles])];
  const home = homeDirectory();
  const homes = home === "" ? [] : [...new Set([home, await Deno.realPath(home).catch(() => home)])];
  const protect = [project, scope.project, ...homes]
    .flatMap((root) => PROTECTED.map((name) => join(root, name)))
    .filter((path) => !namesExactly(allow.write, path));
  // What lies below a folder that is moved away is no longer where it is denied, so the whole of the person's own is.
  const own = homes.map((root) => join(root, ".xcsh")).filter((path) => covers(allow.write, path));
  const unwritable = [...protect, ...own, ...scope.hookFiles, ...scope.unwritable ?? [], ...scope.closed ?? []];
  add(deny, "write", unwritable.filter((path) => opens(allow.write, path)));
  add(deny, "read", (scope.closed ?? []).filter((path) => opens(allow.read, path)));
  const exec = await Promise.all((grants.exec ?? []).map((line) => resolveExec(line, project, scope.path)));
  return { allow, deny, exec };
}

function namesExactly(grant: Grant | undefined, path: string): boolean {
  return grant !== undefined && grant !== true &&
    grant.some((granted) => granted === path || granted.startsWith(path + SEPARATOR));
}

/** Whether a grant reaches all of a folder. */
function covers(grant: Grant | undefined, path: string): boolean {
  if (grant === undefined || grant === true) return grant === true;
  return grant.some((granted) => path === granted || path.startsWith(granted + SEPARATOR));
}

/** Whether a grant reaches a path, or something below it. */
function opens(grant: Grant | undefined, path: string): boolean {
  if (grant === undefined || grant === true) return grant === true;
  return grant.some((granted) =>
    path === granted || path.startsWith(granted + SEPARATOR) || granted.startsWith(path + SEPARATOR)
  );
}

function add(target: Partial<Record<PermissionKind, Grant>>, kind: PermissionKind, entries: readonly string[]): void {
  const known = target[kind];
  if (known === true || entries.length === 0) return;
  // A path with a comma cannot be denied by flag; nor can it be granted, but by `true`.
  target[kind] = [...new Set([...known ?? [], ...entries.filter((entry) => !entry.includes(","))])];
}

function absolute(path: string, project: string): string {
  if (path === "~" || /^~[/\\]/.test(path)) {
    const home = homeDirectory();
    if (home === "") throw new GrantError(`The grant ${path} needs a home directory, but HOME is not set`);
    return normalize(join(home, path.slice(2)));
  }
  if (path.startsWith("~")) {
    throw new GrantError(`The grant ${path} names another user's home, which is not looked up; write it out`);
  }
  return stripEnd(isAbsolute(path) ? normalize(path) : join(project, path));
}

function stripEnd(path: string): string {
  return path.length > 1 && path.endsWith(SEPARATOR) ? path.slice(0, -1) : path;
}

/** Where a grant leads; also as seen from a project that is reached through a link, since hooks are told that path. */
async function resolveGrantedPath(kind: string, path: string, project: string, seen: string): Promise<string[]> {
  const wanted = absolute(path, project);
  let real: string;
  try {
    real = await Deno.realPath(wanted);
    if ((await Deno.lstat(wanted)).isSymlink) {
      throw new GrantError(`The ${kind} grant ${path} is a link to ${real}; grant ${real} itself`);
    }
  } catch (error) {
    if (error instanceof GrantError) throw error;
    const cause = error instanceof Deno.errors.NotFound
      ? "does not exist, and a path that comes to be later could be a link to anywhere; create it first"
      : `cannot be looked at: ${errorText(error)}`;
    throw new GrantError(`The ${kind} grant ${path} (${wanted}) ${cause}`);
  }
  // What lies in the project is the project's doing: a link there must not widen a grant that names a folder in it.
  if (real !== wanted && (wanted === project || wanted.startsWith(project + SEPARATOR))) {
    throw new GrantError(`The ${kind} grant ${path} leads through a link to ${real}; grant ${real} itself`);
  }
  if (real.includes(",")) {
    throw new GrantError(`The ${kind} grant ${path} is ${real}, and a comma cannot be carried by Deno's flags`);
  }
  const alias = absolute(path, seen);
  return alias === real || alias.includes(",") ? [real] : [real, alias];
}

/**
 * Deno follows links: one in a readable folder makes readable what it points to, and one that climbs (`../x`) can be moved, by
 * whoever may write the folder, to where it points out of it.
 */
async function refuseLinks(allow: Partial<Record<PermissionKind, Grant>>): Promise<void> {
  const roots = new Map<string, "read" | "write">();
  for (const kind of ["read", "write"] as const) {
    const grant = allow[kind];
    if (grant !== undefined && grant !== true) { for (const root of grant) roots.set(root, kind); }
  }
  const inside = (path: string) => [...roots.keys()].some((root) => path === root || path.startsWith(root + SEPARATOR));
  for (const [root, kind] of roots) {
    if (!(await Deno.stat(root)).isDirectory) continue;
    for await (const link of linksBelow(root)) {
      const target = await Deno.readLink(link);
      const real = await Deno.realPath(link).catch(() =>
        normalize(isAbsolute(target) ? target : join(dirname(link), target))
      );
      const climbs = kind === "write" && target.split(/[/\\]/).includes("..");
      if (inside(real) && !climbs) continue;
      const fault = inside(real)
        ? `which could be moved to where it leads out of it`
        : `which leads out of it, to ${real}`;
      throw new GrantError(
        `The ${kind} grant ${root} holds the link ${link}, ${fault}; grant less, or insist with --allow-links`,
      );
    }
  }
}

async function* linksBelow(root: string): AsyncGenerator<string> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let entries: Iterable<Deno.DirEntry>;
    try {
      entries = Deno.readDirSync(folder);
    } catch {
      continue; // What the host cannot list, the hook cannot either.
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isSymlink) yield path;
      else if (entry.isDirectory) folders.push(path);
    }
  }
}

async function resolveExec(line: string, project: string, path: string | undefined): Promise<ExecGrant> {
  const words = execWords(line) ?? [];
  const [name = ""] = words;
  const candidates = isAbsolute(name)
    ? [name]
    : (path ?? Deno.env.get("PATH") ?? "").split(Deno.build.os === "windows" ? ";" : ":").filter(isAbsolute).map((
      folder,
    ) => join(folder, name));
  for (const candidate of candidates) {
    for (
      const file of Deno.build.os === "windows" ? [candidate, `${candidate}.exe`, `${candidate}.cmd`] : [candidate]
    ) {
      let real: string;
      try {
        real = await Deno.realPath(file);
        const info = await Deno.stat(real);
        if (!info.isFile || (info.mode !== null && (info.mode & 0o111) === 0)) continue;
      } catch {
        continue;
      }
      if (real.startsWith(project + SEPARATOR)) {
        throw new GrantError(
          `The exec grant ${
            JSON.stringify(line)
          } would run ${real}, which lies in the project and can be changed there`,
        );
      }
      // Called by its own name, not by what a link points to: programs such as busybox look at it.
      return { line, words, program: file };
    }
  }
  throw new GrantError(`The exec grant ${JSON.stringify(line)} names the program ${name}, which is not on the PATH`);
}

/**
 * Finds the grant that permits a call.
 *
 * @param grants What the host may run.
 * @param command The program, as the hook called it.
 * @param args Its arguments.
 * @returns The grant, or `undefined` when none matches whole.
 */
export function matchExec(
  grants: readonly ExecGrant[],
  command: string,
  args: readonly string[],
): ExecGrant | undefined {
  return grants.find(({ words, program }) => {
    const [name, ...rest] = words;
    if (command !== name && command !== program) return false;
    const open = rest.at(-1) === "...";
    const fixed = open ? rest.slice(0, -1) : rest;
    if (open ? args.length < fixed.length : args.length !== fixed.length) return false;
    return fixed.every((word, i) => word === "*" ? !args[i]!.startsWith("-") : word === args[i]);
  });
}

/**
 * Turns grants into Deno's flags. An empty list leaves its flag out, since Deno takes a bare flag for everything.
 *
 * @param grants The grants.
 * @returns Flags for `deno run`.
 */
export function denoFlags({ allow, deny }: EffectiveGrants): string[] {
  const flags: string[] = [];
  for (const [prefix, set] of [["allow", allow], ["deny", deny]] as const) {
    for (const kind of PERMISSION_KINDS) {
      const grant = set[kind];
      if (grant === true) flags.push(`--${prefix}-${kind}`);
      else if (grant !== undefined && grant.length > 0) flags.push(`--${prefix}-${kind}=${grant.join(",")}`);
    }
  }
  return flags;
}

/** A grant by which a hook can leave its sandbox, and why. */
export interface SandboxExit {
  /** The grant, as people would write it. */
  grant: string;
  /** Why it is no bound. */
  why: string;
}

/**
 * Finds the grants that do not bound a hook.
 *
 * @param grants The grants.
 * @returns One record each.
 */
export function sandboxExits(grants: HookPermissions): SandboxExit[] {
  const exits: SandboxExit[] = [];
  if (grants.run === true) exits.push({ grant: "run", why: "it may start any program" });
  else {
    for (const program of grants.run ?? []) {
      const open = OPEN_ENDED.test(basename(program).toLowerCase());
      exits.push({
        grant: `run=${program}`,
        why: open ? `${basename(program)} runs whatever it is told to` : "a program has all rights of the user",
      });
    }
  }
  if (grants.ffi !== undefined) exits.push({ grant: "ffi", why: "native code has all rights of the user" });
  if (grants.read === true) exits.push({ grant: "read", why: "it may read every file of the user" });
  if (grants.write === true) exits.push({ grant: "write", why: "it may write files that other programs run" });
  if (grants.links) exits.push({ grant: "links", why: "links in its folders may lead anywhere" });
  for (const line of grants.exec ?? []) {
    const [program = "", ...words] = execWords(line) ?? [];
    const open = OPEN_ENDED.test(basename(program).toLowerCase());
    if (words.at(-1) === "...") {
      exits.push({ grant: `exec=${line}`, why: "further arguments can write files or start programs" });
    } else if (open && words.includes("*")) {
      exits.push({ grant: `exec=${line}`, why: `${program} may run what stands in place of *` });
    }
  }
  return exits;
}
