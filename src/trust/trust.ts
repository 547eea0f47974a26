/**
 * Decides which hooks of the project may run, and takes the person's approvals.
 *
 * @module
 */

import { join, relative, resolve, toFileUrl } from "@std/path";
import { type HookItem, hookKey } from "../discovery/hook_item.ts";
import { readRegularFile } from "../discovery/regular_file.ts";
import type { TrustGate, TrustVerdict } from "../discovery/discover.ts";
import { errorText } from "../values.ts";
import { type Approval, canonicalJson, digestOf, type Json, sha256, type Subject } from "./approval.ts";
import { copyPaths, ensureCopy } from "./copy.ts";
import { type HookFiles, MAX_BYTES, moduleFiles, programFiles } from "./graph.ts";
import { ANY_REPOSITORY } from "./pins.ts";
import { isWithin, type Repository, repositoryOf } from "./repository.ts";
import { covers, IN_PROCESS } from "./rights.ts";
import { TrustStore } from "./store.ts";

/** Options of {@linkcode Trust}. */
export interface TrustOptions {
  /** The project's folder. */
  cwd: string;
  /** Where approvals are kept; the person's folder when absent. */
  store?: TrustStore;
  /** What a hook of the project may do; all that the host may when absent. */
  grants?: (hook: HookItem) => Json;
  /** Approvals by content alone, from a pin file that the person named. */
  pins?: readonly Approval[];
}

/** How a file differs from what was approved. */
export interface FileChange {
  /** Path from the top of the repository. */
  path: string;
  /** What was approved; absent for a file that is new. */
  before?: Uint8Array;
  /** What is there now; absent for a file that is no longer reached. */
  after?: Uint8Array;
}

/** What a person is asked to approve. */
export interface TrustRequest {
  /** The hook. */
  hook: HookItem;
  /** All that the approval would cover. */
  subject: Subject;
  /** Why it cannot be approved; empty when it can. */
  faults: string[];
  /** Whether exactly this has been approved already. */
  approved: boolean;
  /** The approval before, when there is one. */
  previous?: Approval;
  /** What differs from it; every file of the hook when there is none. */
  code: FileChange[];
  /** What differs in rights, in sentences. */
  rights: string[];
  /** Takes the approval down. */
  approve(): Promise<void>;
}

/** What a shell hook gets, whatever is granted to modules. */
const UNRESTRICTED: Json = "unrestricted program";

/**
 * The approvals of one project.
 *
 * @example
 * ```ts
 * import { discoverAndLoadHooks, Trust } from "@xcsh/hooks";
 *
 * const cwd = Deno.cwd();
 * const { candidates } = await discoverAndLoadHooks([], cwd, { trust: new Trust({ cwd }) });
 * for (const { path, state, reason } of candidates) if (state === "untrusted") console.error(`${path}: ${reason}`);
 * ```
 */
export class Trust implements TrustGate {
  readonly #options: TrustOptions;
  readonly #cwd: string;
  #known: Known | undefined;

  /**
   * Looks at a project. The store is read when it is first needed, once.
   *
   * @param options See {@linkcode TrustOptions}.
   */
  constructor(options: TrustOptions) {
    this.#options = options;
    this.#cwd = resolve(options.cwd);
  }

  /** Says whether a hook of the project may run, and where its approved bytes are. Runs nothing of it. */
  async check(hook: HookItem, found: readonly HookItem[]): Promise<TrustVerdict> {
    try {
      return await this.#check(hook, found);
    } catch (error) {
      return { trusted: false, reason: errorText(error) };
    }
  }

  /**
   * Collects what a person must see before approving a hook. Runs nothing of it.
   *
   * @param hook The hook.
   * @param found All hooks that were found.
   * @returns The request, with the means to approve it.
   */
  async examine(hook: HookItem, found: readonly HookItem[]): Promise<TrustRequest> {
    const { repository, store, approvals, fault } = this.#know();
    const root = repository.root;
    const entry = this.#entry(hook);
    const reached = await this.#files(hook, entry, root);
    const files = new Map([...reached.files].map(([path, bytes]) => [relativeTo(root, path), bytes]));
    const subject: Subject = {
      path: relativeTo(root, entry),
      kind: hook.kind,
      ...(hook.command === undefined ? {} : { command: hook.command }),
      files: Object.fromEntries([...files].map(([path, bytes]) => [path, sha256(bytes)])),
      externals: reached.externals,
      uncovered: [...new Set(reached.uncovered)],
      grants: this.#grants(hook),
      replaces: replacedBy(hook, found),
    };
    const digest = digestOf(subject, repository.id);
    const own = approvals.filter((approval) => isFor(approval, subject));
    const previous = own.findLast(({ command }) => canonicalJson(command) === canonicalJson(subject.command)) ??
      own.at(-1);
    return {
      hook,
      subject,
      faults: fault !== undefined && store === undefined ? [...reached.faults, fault] : reached.faults,
      approved: own.some((approval) => approval.digest === digest),
      ...(previous === undefined ? {} : { previous }),
      code: changesSince(previous, files, store),
      rights: rightsSince(previous, subject),
      approve: async () => {
        if (store === undefined) throw new Error(fault);
        if (reached.faults.length > 0) throw new Error(`${hook.path} cannot be approved: ${reached.faults.join("; ")}`);
        const id = crypto.randomUUID();
        const approval: Approval = {
          id,
          repository: repository.id,
          approvedAt: new Date().toISOString(),
          digest,
          ...subject,
        };
        ensureCopy(store.copyFolder(id), files);
        await store.update((all) => [...all.filter((other) => other.digest !== digest), approval]);
        this.#known = undefined;
      },
    };
  }

  /** Approvals of this repository. */
  list(): Approval[] {
    return this.#know().approvals.filter(({ repository }) => repository !== ANY_REPOSITORY);
  }

  /**
   * Takes approvals back.
   *
   * @param path A hook, or a folder for all hooks in it.
   * @returns What was taken back.
   */
  async revoke(path: string): Promise<Approval[]> {
    const { repository, store, fault } = this.#know();
    if (store === undefined) throw new Error(fault);
    const full = resolve(this.#cwd, path);
    const revoked: Approval[] = [];
    await store.update((all) =>
      all.filter((approval) => {
        if (approval.repository !== repository.id) return true;
        const own = resolve(repository.root, approval.path);
        if (!isWithin(full, own) && !isWithin(this.#real(full), own)) return true;
        revoked.push(approval);
        return false;
      })
    );
    this.#known = undefined;
    return revoked;
  }

  #know(): Known {
    return this.#known ??= know(this.#cwd, this.#options);
  }

  async #check(hook: HookItem, found: readonly HookItem[]): Promise<TrustVerdict> {
    const { repository, store, approvals, fault } = this.#know();
    const root = repository.root;
    const entry = this.#entry(hook);
    const path = relativeTo(root, entry);
    const command = canonicalJson(hook.command);
    const own = approvals.filter((approval) =>
      isFor(approval, { path, kind: hook.kind }) && canonicalJson(approval.command) === command
    );
    if (own.length === 0) {
      const why = fault ?? "it comes with the project and has not been approved";
      return {
        trusted: false,
        reason: `${why}; look at it and approve it with: xcsh-hooks trust ${quoted(path, root, this.#cwd)}`,
      };
    }
    const reader = new Reader(root);
    const current = {
      grants: this.#grants(hook),
      replaces: replacedBy(hook, found),
    };
    let reason = "";
    for (const approval of own.toReversed()) {
      // What an approval does not hold would be loaded unapproved.
      const whole = hook.kind === "command" || Object.hasOwn(approval.files, path);
      const change = whole
        ? firstChange(approval, current, reader) ?? await this.#newName(hook, entry, approval, root)
        : "its own file is not covered";
      if (change === undefined) return this.#trusted(approval, hook, entry, reader, root, store);
      // Of several approvals the newest says best what has changed since.
      reason ||= `${change} since it was approved on ${approval.approvedAt.slice(0, 10)}`;
    }
    return {
      trusted: false,
      reason: `${reason}; look at it and approve it anew with: xcsh-hooks trust ${quoted(path, root, this.#cwd)}`,
    };
  }

  #trusted(
    approval: Approval,
    hook: HookItem,
    entry: string,
    reader: Reader,
    root: string,
    store: TrustStore | undefined,
  ): TrustVerdict {
    const files = new Map(Object.keys(approval.files).map((path) => [path, reader.bytes(path)!]));
    const folder = approval.repository === ANY_REPOSITORY || store === undefined
      ? join(temporaryFolder(), approval.id)
      : store.copyFolder(approval.id);
    let places: Map<string, string>;
    try {
      places = ensureCopy(folder, files);
    } catch (error) {
      return { trusted: false, reason: `its approved bytes cannot be kept in ${folder} (${errorText(error)})` };
    }
    const copies = new Map([...places].map(([path, place]) => [resolve(root, path), place]));
    if (hook.kind === "module") {
      const redirected = [...places.values()].find(isRedirected);
      if (redirected !== undefined) {
        return {
          trusted: false,
          reason: `an import map redirects ${redirected}, so its approved bytes would not be what runs`,
        };
      }
      const mapped = approval.externals.find((specifier) => leadsInto(specifier, root));
      if (mapped !== undefined) {
        return {
          trusted: false,
          reason: `an import map leads ${
            JSON.stringify(mapped)
          } to a file of the project; import it by a relative path`,
        };
      }
      return { trusted: true, loadFrom: copies.get(entry)!, copies };
    }
    const verify = async () => {
      const now = new Reader(root);
      const [changed] = Object.entries(approval.files).find(([path, hash]) => now.hash(path) !== hash) ?? [];
      if (changed !== undefined) return `${changed} has changed since it was approved`;
      return await this.#newName(hook, entry, approval, root);
    };
    const loadFrom = copies.get(entry);
    return { trusted: true, copies, verify, ...(loadFrom === undefined ? {} : { loadFrom }) };
  }

  /** A script or a command may name a file that was not there when it was approved. */
  async #newName(hook: HookItem, entry: string, approval: Approval, root: string): Promise<string | undefined> {
    if (hook.kind === "module") return undefined;
    const { files } = await this.#files(hook, entry, root, true);
    const path = [...files.keys()].map((file) => relativeTo(root, file)).find((file) => !(file in approval.files));
    return path === undefined ? undefined : `it names ${path}, which is new`;
  }

  #files(hook: HookItem, entry: string, root: string, shallow = false): Promise<HookFiles> {
    if (hook.kind === "module") return moduleFiles(entry);
    const plugin = hook.pluginRoot === undefined ? [] : [hook.pluginRoot];
    const bases = [this.#real(this.#cwd), root, ...plugin];
    const within = [root, ...plugin];
    if (hook.kind === "script") return programFiles({ script: entry, bases, within, shallow });
    const { command = "", args = [] } = hook.command ?? {};
    return programFiles({ command: [command, ...args].join("\n"), bases, within, shallow });
  }

  #grants(hook: HookItem): Json {
    return hook.kind === "module" ? this.#options.grants?.(hook) ?? IN_PROCESS : UNRESTRICTED;
  }

  /** The hook's file by the real path of the project, since links above the project are none of the hook's. */
  #entry(hook: HookItem): string {
    return this.#real(hook._source.path);
  }

  #real(path: string): string {
    if (!isWithin(this.#cwd, path)) return path;
    return resolve(Deno.realPathSync(this.#cwd), relative(this.#cwd, path));
  }
}

interface Known {
  repository: Repository;
  /** Absent when it must not be used. */
  store?: TrustStore;
  approvals: Approval[];
  fault?: string;
}

function know(cwd: string, { pins = [], store: given }: TrustOptions): Known {
  const repository = repositoryOf(cwd);
  const pinned: Known = { repository, approvals: [...pins] };
  let store: TrustStore;
  try {
    store = given ?? new TrustStore();
  } catch (error) {
    return { ...pinned, fault: errorText(error) };
  }
  const folder = realOrSelf(store.folder);
  // Whoever works in a plain folder above their home, or in it, has not got their home from a repository.
  if (repository.versioned && isWithin(repository.root, folder)) {
    return {
      ...pinned,
      fault: `the approvals in ${store.folder} lie inside the project ${repository.root}, so they prove nothing`,
    };
  }
  const { approvals, fault } = store.read();
  const own = approvals.filter((approval) => approval.repository === repository.id);
  return { repository, store, approvals: [...pins, ...own], ...(fault === undefined ? {} : { fault }) };
}

/** Reads files of the project, each once, so that what is checked is what is copied. */
class Reader {
  readonly #files = new Map<string, { bytes: Uint8Array; hash: string } | undefined>();

  constructor(readonly root: string) {}

  bytes(path: string): Uint8Array | undefined {
    return this.#read(path)?.bytes;
  }

  hash(path: string): string | undefined {
    return this.#read(path)?.hash;
  }

  #read(path: string): { bytes: Uint8Array; hash: string } | undefined {
    if (this.#files.has(path)) return this.#files.get(path);
    let file: { bytes: Uint8Array; hash: string } | undefined;
    try {
      const bytes = readRegularFile(resolve(this.root, path), MAX_BYTES);
      file = { bytes, hash: sha256(bytes) };
    } catch {
      // What cannot be read is not what was approved.
    }
    this.#files.set(path, file);
    return file;
  }
}

function firstChange(
  approval: Approval,
  current: { grants: Json; replaces: string[] },
  reader: Reader,
): string | undefined {
  for (const [path, hash] of Object.entries(approval.files)) {
    const now = reader.hash(path);
    if (now !== hash) return now === undefined ? `${path} can no longer be read` : `${path} has changed`;
  }
  if (!covers(approval.grants, current.grants)) return "what it may do has changed";
  const more = current.replaces.find((path) => !approval.replaces.includes(path));
  return more === undefined ? undefined : `it would now take the place of your ${more}`;
}

function changesSince(
  previous: Approval | undefined,
  files: ReadonlyMap<string, Uint8Array>,
  store: TrustStore | undefined,
): FileChange[] {
  const changes: FileChange[] = [];
  const before = previous === undefined || store === undefined
    ? new Map<string, Uint8Array>()
    : approvedBytes(previous, store.copyFolder(previous.id));
  for (const [path, after] of files) {
    if (previous?.files[path] === sha256(after)) continue;
    const old = before.get(path);
    changes.push(old === undefined ? { path, after } : { path, before: old, after });
  }
  for (const [path, bytes] of before) if (!files.has(path)) changes.push({ path, before: bytes });
  return changes;
}

/** The bytes of an approval, as far as they are still what was approved. */
function approvedBytes(approval: Approval, folder: string): Map<string, Uint8Array> {
  const bytes = new Map<string, Uint8Array>();
  for (const [path, place] of copyPaths(folder, Object.keys(approval.files))) {
    try {
      const content = Deno.readFileSync(place);
      if (sha256(content) === approval.files[path]) bytes.set(path, content);
    } catch {
      // Gone: then all of the file is shown.
    }
  }
  return bytes;
}

function rightsSince(previous: Approval | undefined, subject: Subject): string[] {
  if (previous === undefined) return [];
  const rights: string[] = [];
  const compare = (what: string, before: unknown, after: unknown) => {
    if (canonicalJson(before) !== canonicalJson(after)) {
      rights.push(`${what}: was ${canonicalJson(before ?? null)}, is ${canonicalJson(after ?? null)}`);
    }
  };
  compare("what it may do", previous.grants, subject.grants);
  compare("the command", previous.command, subject.command);
  compare("what it takes from elsewhere", previous.externals, subject.externals);
  compare("hooks of yours that it takes the place of", previous.replaces, subject.replaces);
  return rights;
}

/** Hooks of the person that would be shadowed. */
function replacedBy(hook: HookItem, found: readonly HookItem[]): string[] {
  const key = hookKey(hook);
  return found
    .filter((other) => other.level === "user" && other.fault === undefined && hookKey(other) === key)
    .map(({ path }) => path).sort();
}

function isFor(approval: Approval, subject: Pick<Subject, "path" | "kind">): boolean {
  return approval.path === subject.path && approval.kind === subject.kind;
}

function isRedirected(path: string): boolean {
  const { href } = toFileUrl(path);
  return import.meta.resolve(href) !== href;
}

/** Whether the host would take a bare specifier from the project. */
function leadsInto(specifier: string, root: string): boolean {
  try {
    const url = import.meta.resolve(specifier);
    return url.startsWith("file:") && url.startsWith(`${toFileUrl(root).href}/`);
  } catch {
    return false;
  }
}

function relativeTo(root: string, path: string): string {
  return relative(root, path).replaceAll("\\", "/");
}

function quoted(path: string, root: string, cwd: string): string {
  const shown = relative(realOrSelf(cwd), resolve(root, path));
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

function realOrSelf(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

let temporary: string | undefined;

/** A private folder of this process, gone with it. */
function temporaryFolder(): string {
  if (temporary === undefined) {
    const folder = Deno.makeTempDirSync({ prefix: "xcsh-hooks-" });
    temporary = folder;
    globalThis.addEventListener("unload", () => {
      try {
        Deno.removeSync(folder, { recursive: true });
      } catch {
        // The system clears it some day.
      }
    });
  }
  return temporary;
}
