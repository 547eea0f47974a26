/**
 * What a hook may do: grants are read, checked, made absolute, and turned into Deno's flags. Nothing here touches the disk but
 * {@linkcode resolveGrants}, which must know where paths really lead.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join, normalize, SEPARATOR } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { errorText, isRecord, kindOf, nearest } from "../values.ts";
import { gitFault, gitFolders, isGit } from "./git_rules.ts";

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
];
/** Programs that run whatever they are told to. */
const OPEN_ENDED =
  /^(?:(?:ba|z|da|k|fi|c|tc)?sh|pwsh|powershell|cmd|env|xargs|find|awk|gawk|sed|perl|python[\d.]*|ruby|php|lua|node|deno|bun|tsx|npm|npx|pnpm|yarn|pip[\d.]*|uv|cargo|go|make|cmake|git|gh|hub|tig|hg|jj|svn|busybox|ssh|scp|rsync|tar|vim?|nvim|emacs|less|more|man|docker|podman|sudo|doas|su|nohup|setsid|timeout|nice|watch|curl|wget)(?:\.exe)?$/;
/** Programs that read the files they are told to, and those that write or delete them. */
const READERS =
  /^(?:cat|tac|head|tail|wc|ls|stat|e?grep|fgrep|rg|diff|cmp|file|du|tree|nl|od|xxd|hexdump|strings|jq|cut|base64|(?:md5|sha\d+|b2|ck)sum|readlink|realpath|test)$/;
const WRITERS =
  /^(?:tee|dd|cp|mv|rm|rmdir|ln|link|unlink|touch|mkdir|mkfifo|mknod|truncate|install|shred|split|csplit|ch(?:mod|own|grp)|patch)$/;

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
  if ((kind === "net" || kind === "import") && !isHost(entry)) return "is no host or host:port";
  return undefined;
}

/** Whether Deno takes it: a name, `*.name`, an address or a range of addresses, each with or without a port. */
function isHost(entry: string): boolean {
  const [, host = "", range, port] = /^(.*?)(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (port !== undefined && Number(port) > 65_535) return false;
  const v6 = /^\[[0-9a-fA-F:.]+\]$/.test(host) && URL.canParse(`http://${host}/`);
  const v4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(host);
  if (range !== undefined) return v4 && Number(range) <= 32;
  return v6 || v4 || (host.length < 254 && /^(?:\*\.)?\w(?:[\w-]{0,62})(?:\.\w[\w-]{0,62})*$/.test(host));
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

/** Folders from which programs take code or settings: a grant to write what holds them does not open them. */
const PROTECTED = [".git", ".xcsh", ".claude", ".codex", ".pi", ".omp", ".husky", ".vscode"];
/** The like in the user's home. */
const PROTECTED_AT_HOME = [...PROTECTED, ".gitconfig", ".config/git", ".ssh", ".gnupg", ".local/bin"];

/**
 * Makes grants absolute and finds out where they really lead.
 *
 * @param grants The grants.
 * @param scope Where they apply.
 * @returns What is enforced.
 * @throws {GrantError} When a path is missing, is a link or holds a link that leads out of what is granted; when a program is
 *   missing or could be changed by the hook; when what is denied could be moved to where it is not.
 */
export async function resolveGrants(grants: HookPermissions, scope: GrantScope): Promise<EffectiveGrants> {
  const project = await Deno.realPath(scope.project);
  const allow: Partial<Record<PermissionKind, Grant>> = {};
  const deny: Partial<Record<PermissionKind, Grant>> = {};
  const aliases: Alias[] = [{ real: project, alias: scope.project }];
  for (const kind of PERMISSION_KINDS) {
    const granted = grants[kind];
    // To grant nothing, or what is denied altogether, is to leave it out: Deno takes either for more.
    if (granted === undefined || grants.deny?.[kind] === true) continue;
    if (granted === true || granted.length > 0) allow[kind] = granted;
    if (granted === true || granted.length === 0 || !PATH_KINDS.has(kind)) continue;
    const found = await Promise.all(granted.map((path) => resolveGrantedPath(kind, path, project, scope.project)));
    aliases.push(...found);
    allow[kind] = [...new Set(found.flatMap(({ real, alias }) => alias.includes(",") ? [real] : [real, alias]))];
  }
  const spelled = async (
    paths: readonly string[],
  ) => [...new Set((await Promise.all(paths.map((path) => spellings(path, aliases)))).flat())];
  for (const kind of PERMISSION_KINDS) {
    const denied = grants.deny?.[kind];
    if (denied === undefined) continue;
    if (denied === true) deny[kind] = true;
    else deny[kind] = PATH_KINDS.has(kind) ? await spelled(denied.map((path) => absolute(path, project))) : denied;
  }
  if (!grants.links) {
    refuseMovable(deny.read, allow.write);
    refuseMovable(deny.write, allow.write);
  }

  const own = await spelled(scope.hookFiles);
  const comma = own.find((path) => path.includes(","));
  if (comma !== undefined) {
    throw new GrantError(
      `${comma} holds a comma, which Deno's flags cannot carry, so it cannot be let read itself; rename it`,
    );
  }
  const closed = await spelled(scope.closed ?? []);
  const protect = keptFrom(allow.write, await spelled(await protectedPaths(project)));
  const unwritable = [...protect, ...own, ...await spelled(scope.unwritable ?? []), ...closed];
  close(deny, "read", closed, allow.read);
  close(deny, "write", withFolders(unwritable, allow.write), allow.write);
  if (!grants.links) await refuseLinks(allow, deny);
  if (allow.read !== true) allow.read = [...new Set([...allow.read ?? [], ...own])];
  const exec = await Promise.all(
    (grants.exec ?? []).map((line) => resolveExec(line, project, allow.write, scope.path)),
  );
  await refuseGit(exec, project, allow.write);
  return { allow, deny, exec };
}

/** Git runs what files tell it to, in the repository and in each one within it, and no setting switches all of that off. */
async function refuseGit(exec: readonly ExecGrant[], project: string, writable: Grant | undefined): Promise<void> {
  if (writable === undefined) return;
  for (const { line, words, program } of exec) {
    if (!isGit(words[0]!) && !isGit(program) && !isGit(await Deno.realPath(program))) continue;
    let fault: string | undefined;
    try {
      fault = await gitFault(words, program, project, writable);
    } catch (error) {
      fault = `what git takes its settings from cannot be found out (${errorText(error)})`;
    }
    if (fault === undefined) continue;
    throw new GrantError(
      `The exec grant ${JSON.stringify(line)} would let the hook run any program: ${fault}; ` +
        `leave out the write grant, let it write only a folder outside the repository beside a git that reads (such as ` +
        `git status), or grant run=git, by which it leaves the sandbox`,
    );
  }
}

/** Two paths to the same folder; both are granted, since hooks are told one and get the other from the system. */
interface Alias {
  readonly real: string;
  readonly alias: string;
}

/** Whether a path is a folder or lies below it. */
function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(SEPARATOR) ? folder : folder + SEPARATOR);
}

function listed(grant: Grant | undefined): readonly string[] {
  return grant === undefined || grant === true ? [] : grant;
}

/** All paths to what is denied: what is closed under one name must not be open under another. */
async function spellings(path: string, aliases: readonly Alias[]): Promise<string[]> {
  const found = await realPathOf(path);
  const others = aliases.flatMap(({ real, alias }) =>
    holds(real, found) ? [join(alias, found.slice(real.length))] : []
  );
  return [path, found, ...others];
}

/** Where a path leads, also when there is nothing there yet. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPathOf(parent), basename(path));
  }
}

/** What holds a denied file can be moved by whoever may write around it, and the file is then found under a name that is open. */
function refuseMovable(denied: Grant | undefined, writable: Grant | undefined): void {
  for (const path of listed(denied)) {
    for (const root of writable === true ? ["/"] : listed(writable)) {
      const folder = folderBelow(root, path);
      if (folder === undefined || listed(denied).some((other) => holds(other, folder))) continue;
      throw new GrantError(
        `${path} is denied, but the write grant ${root} lets the hook move ${folder}, and then it is open; deny ${folder}, or grant less`,
      );
    }
  }
}

/** The folder directly in `root` on the way to what lies deeper in it. */
function folderBelow(root: string, path: string): string | undefined {
  if (path === root || !holds(root, path)) return undefined;
  const [first = "", ...deeper] = path.slice(root.length).split(SEPARATOR).filter((name) => name !== "");
  return deeper.length === 0 ? undefined : join(root, first);
}

function withFolders(paths: readonly string[], writable: Grant | undefined): string[] {
  return [...paths, ...paths.flatMap((path) => listed(writable).flatMap((root) => folderBelow(root, path) ?? []))];
}

/** What in and around the project a grant to write does not open. */
async function protectedPaths(project: string): Promise<string[]> {
  const roots = [project];
  for (let folder = project; dirname(folder) !== folder;) roots.push(folder = dirname(folder));
  const home = homeDirectory();
  return [
    ...roots.flatMap((root) => PROTECTED.map((name) => join(root, name))),
    ...home === "" ? [] : PROTECTED_AT_HOME.map((name) => join(home, name)),
    ...(await Promise.all(roots.map((root) => gitFolders(join(root, ".git"))))).flat(),
  ];
}

/** Leaves out what a grant names by itself. */
function keptFrom(writable: Grant | undefined, protect: readonly string[]): string[] {
  return protect.filter((path) => {
    const named = listed(writable).filter((grant) => holds(path, grant));
    if (named.length === 0 || named.includes(path)) return named.length === 0;
    const wider = listed(writable).find((grant) => holds(grant, path));
    if (wider === undefined) return false;
    throw new GrantError(
      `The write grant ${
        named[0]
      } lies in ${path}, which the write grant ${wider} does not open; grant ${path} itself, or leave out ${wider}`,
    );
  });
}

/** Denies what a grant would open. */
function close(
  deny: Partial<Record<PermissionKind, Grant>>,
  kind: "read" | "write",
  paths: readonly string[],
  granted: Grant | undefined,
): void {
  const open = paths.filter((path) =>
    granted === true || listed(granted).some((grant) => holds(grant, path) || holds(path, grant))
  );
  const comma = open.find((path) => path.includes(","));
  if (comma !== undefined) {
    throw new GrantError(
      `${comma} must stay closed to hooks, but holds a comma, which Deno's flags cannot carry; grant less to ${kind}`,
    );
  }
  if (open.length > 0 && deny[kind] !== true) deny[kind] = [...new Set([...listed(deny[kind]), ...open])];
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
async function resolveGrantedPath(kind: string, path: string, project: string, seen: string): Promise<Alias> {
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
    throw new GrantError(`The ${kind} grant ${path}${path === wanted ? "" : ` (${wanted})`} ${cause}`);
  }
  // What lies in the project is the project's doing: a link there must not widen a grant that names a folder in it.
  if (real !== wanted && holds(project, wanted)) {
    throw new GrantError(`The ${kind} grant ${path} leads through a link to ${real}; grant ${real} itself`);
  }
  if (real.includes(",")) {
    throw new GrantError(`The ${kind} grant ${path} is ${real}, and a comma cannot be carried by Deno's flags`);
  }
  return { real, alias: absolute(path, seen) };
}

/**
 * Deno follows links, and asks only whether the link may be used: one in a granted folder opens what it points to, and one that
 * does not say where it leads from the root can be moved, by whoever may write the folder, to where it leads elsewhere.
 */
async function refuseLinks(
  allow: Partial<Record<PermissionKind, Grant>>,
  deny: Partial<Record<PermissionKind, Grant>>,
): Promise<void> {
  const readable = new Set(listed(allow.read));
  const writable = new Set(listed(allow.write));
  const roots = new Set([...readable, ...writable]);
  const inside = (path: string) => [...roots].some((root) => holds(root, path));
  for (const root of roots) {
    if (!(await Deno.stat(root)).isDirectory) continue;
    const moves = writable.has(root);
    const denied = [...listed(deny.read), ...moves ? listed(deny.write) : []];
    const names = new Set(
      denied.filter((path) => holds(root, path)).flatMap((path) => path.slice(root.length).split(SEPARATOR)),
    );
    for await (const link of linksBelow(root)) {
      const target = await Deno.readLink(link);
      const real = await realPathOf(isAbsolute(target) ? target : join(dirname(link), target));
      const words = isAbsolute(target) ? [] : target.split(/[/\\]/);
      const fault = !inside(real)
        ? `which leads out of it, to ${real}`
        : denied.some((path) => holds(path, real) || holds(real, path))
        ? `which leads to what is denied, by ${real}`
        : moves && words.includes("..")
        ? "which could be moved to where it leads out of it"
        : moves && words.some((word) => word !== "" && names.has(word))
        ? "which could be moved to where it leads to what is denied"
        : undefined;
      if (fault === undefined) continue;
      throw new GrantError(
        `The ${
          moves ? "write" : "read"
        } grant ${root} holds the link ${link}, ${fault}; grant less, or insist with --allow-links`,
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

async function resolveExec(
  line: string,
  project: string,
  writable: Grant | undefined,
  path: string | undefined,
): Promise<ExecGrant> {
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
      // Where it really is, and where the link to it is, which could be made to point to another one.
      const places = [real, join(await Deno.realPath(dirname(file)), basename(file))];
      for (const [place, where] of places.flatMap((at) => [project, ...listed(writable)].map((root) => [at, root]))) {
        if (!holds(where!, place!)) continue;
        const whose = where === project ? "in the project and can be changed there" : "where this hook may write";
        throw new GrantError(`The exec grant ${JSON.stringify(line)} would run ${place}, which lies ${whose}`);
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
      // What is denied altogether is not granted, and a bare flag would deny the hook its own file.
      if (grant === true && prefix === "deny") continue;
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
  if (grants.net === true) exits.push({ grant: "net", why: "it may send what it knows to any host" });
  if (grants.env === true) exits.push({ grant: "env", why: "it may see every variable, also those with secrets" });
  if (grants.import === true) {
    exits.push({ grant: "import", why: "it may load code from any host, and tell that host something by the address" });
  }
  for (const kind of ["net", "import"] as const) {
    for (const host of listed(grants[kind])) {
      const why = wideHost(host);
      if (why !== undefined) exits.push({ grant: `${kind}=${host}`, why });
    }
  }
  for (const line of grants.exec ?? []) {
    const why = execExit(line, grants.write !== undefined);
    if (why !== undefined) exits.push({ grant: `exec=${line}`, why });
  }
  return exits;
}

/** Why a grant of hosts is as good as all of them. */
function wideHost(entry: string): string | undefined {
  const range = /^[\d.]+\/(\d+)(?::\d+)?$/.exec(entry)?.[1];
  if (range !== undefined) {
    return Number(range) < 8 ? "it may send what it knows to a large part of all hosts" : undefined;
  }
  const top = /^\*\.([^.:]+)(?::\d+)?$/.exec(entry)?.[1];
  return top === undefined || /^(?:localhost|local|internal|test)$/i.test(top)
    ? undefined
    : `it may send what it knows to any host below ${top}, and anybody can have one`;
}

/** Why a command line lets a hook run more than it names, or read or write what other grants do not open. */
function execExit(line: string, writes: boolean): string | undefined {
  const [path = "", ...words] = execWords(line) ?? [];
  const program = basename(path).toLowerCase().replace(/\.exe$/, "");
  const open = OPEN_ENDED.test(program);
  if (words.at(-1) === "...") {
    return open
      ? "further arguments can write files or start programs"
      : `further arguments can make ${program} read or write any file, or start programs`;
  }
  if (words.includes("*")) {
    if (open) return `${program} may run what stands in place of *`;
    if (READERS.test(program)) return `${program} reads whatever file * names, also one that no grant opens`;
    if (WRITERS.test(program)) {
      return `${program} writes or deletes whatever file * names, also one that no grant opens`;
    }
    return `${program} may read or write whatever file * names, also one that no grant opens`;
  }
  // Git is refused where it would.
  return open && writes && program !== "git" ? `${program} may run what the hook may write` : undefined;
}
