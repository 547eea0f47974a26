/**
 * One session: a tree of entries in memory, and in a file that is only ever appended to.
 *
 * @module
 */

import { dirname, join, resolve } from "@std/path";
import type { WritableSessionManager } from "../api.ts";
import type {
  BranchSummaryEntry,
  CompactionEntry,
  EntryBase,
  LabelEntry,
  SessionEntry,
  SessionHeader,
  SessionTreeNode,
} from "../entries.ts";
import type { AgentMessage, UserContent } from "../messages.ts";
import { jsonFault } from "../message_check.ts";
import { errorText, isRecord } from "../values.ts";
import { collectContext, entryFault, type EntryKind, kindOfEntry, messageOf, type SessionContext } from "./context.ts";
import { SessionFileError, SessionSaveError } from "./errors.ts";
import { findSessionFile } from "./own_file.ts";
import { listSessions, sessionDirectory, type SessionInfo } from "./list.ts";
import { migrateEntries } from "./migrate.ts";
import { readSessionFile, SESSION_VERSION } from "./reader.ts";
import { type ExistingFile, SessionWriter } from "./writer.ts";

/** Options of {@linkcode SessionManager.open}. */
export interface OpenSessionOptions {
  /** Folder of a session that has to be made; the current one when absent. */
  cwd?: string;
  /** Read the file without taking it from others; what is appended then stays in memory. Default false. */
  readOnly?: boolean;
}

/** Options of the sessions that come from another one. */
export interface NewSessionFileOptions {
  /** Path of the session file that it comes from. */
  parentSession?: string;
}

/** Told when saving begins to fail, with the error, and when it works again, with `undefined`. */
export type SaveListener = (error: SessionSaveError | undefined) => void;

/** Sums over all entries of a session, those of abandoned branches too. */
export interface UsageStatistics {
  /** Prompt tokens that were not cached. */
  input: number;
  /** Tokens of answers. */
  output: number;
  /** Prompt tokens read from caches. */
  cacheRead: number;
  /** Prompt tokens written to caches. */
  cacheWrite: number;
  /** Cost in USD. */
  cost: number;
}

type Draft = { type: string } & Record<string, unknown>;

/** Where a session was left when that is not the newest entry; readers of the format that do not know it find the same place. */
const LEAF = "leaf";

/**
 * A session: reads it, appends to it, and moves about in its tree.
 *
 * Every append is in the file before its id is returned, so that neither a crash nor `kill -9` loses it; call
 * {@linkcode SessionManager.flush} to make it outlast a power failure as well. The file is made by the first append. A file that is not
 * understood is refused and never written to.
 *
 * @example A session in memory
 * ```ts
 * import { SessionManager } from "@xcsh/hooks/session";
 * import { assertEquals } from "@std/assert";
 *
 * const session = SessionManager.inMemory("/project");
 * const id = session.appendMessage({ role: "user", content: "hello", timestamp: Date.now() });
 * session.appendCustomEntry("my-hook", { seen: 1 });
 * assertEquals(session.getBranch().map((entry) => entry.type), ["message", "custom"]);
 * session.branch(id);
 * assertEquals(session.getLeafId(), id);
 * ```
 */
export class SessionManager implements WritableSessionManager {
  /** What a person should know about the file that was opened: damaged lines, torn ends, a migration. */
  readonly warnings: readonly string[];
  #header: SessionHeader;
  readonly #entries: SessionEntry[] = [];
  /** Index of each entry. */
  readonly #byId: Map<string, number> = new Map();
  /** Of each entry the index of its parent, or -1, its message and its kind: all that a walk to the root looks at. */
  readonly #parents: number[] = [];
  readonly #messages: (AgentMessage | undefined)[] = [];
  readonly #kinds: EntryKind[] = [];
  readonly #labels: Map<string, string> = new Map();
  /** Ids of leaf markers, and the entries that they stand for. */
  readonly #markers: Map<string, string | null> = new Map();
  #leafId: string | null = null;
  #name: string | undefined;
  #writer: SessionWriter | undefined;
  readonly #dir: string;
  #pending: string[] = [];
  #saveError: SessionSaveError | undefined;
  #saveListener: SaveListener | undefined;
  #closed = false;

  private constructor(init: {
    header: SessionHeader;
    dir: string;
    lines?: Record<string, unknown>[];
    writer?: SessionWriter;
    /** The lines are not in the file yet. */
    unsaved?: boolean;
    warnings?: string[];
    saveError?: SessionSaveError;
  }) {
    this.#header = init.header;
    this.#dir = init.dir;
    this.#writer = init.writer;
    this.#saveError = init.saveError;
    const warnings = [...init.warnings ?? []];
    if (init.lines !== undefined) this.#load(init.lines, warnings);
    if (init.unsaved && init.writer !== undefined) this.#pending = this.#allLines();
    this.warnings = warnings;
  }

  /**
   * Makes a session that is kept nowhere.
   *
   * @param cwd The folder it works in; the current one when absent.
   * @param options Where it comes from.
   */
  static inMemory(cwd: string = Deno.cwd(), options: NewSessionFileOptions = {}): SessionManager {
    return new SessionManager({ header: newHeader(cwd, options), dir: "" });
  }

  /**
   * Makes a session with a file of its own, which appears with the first entry.
   *
   * @param cwd The folder it works in.
   * @param dir Folder of the file; the one of all sessions in `cwd` when absent.
   * @param options Where it comes from.
   */
  static create(cwd: string, dir: string = sessionDirectory(cwd), options: NewSessionFileOptions = {}): SessionManager {
    const header = newHeader(cwd, options);
    return new SessionManager({ header, dir, writer: new SessionWriter(newFile(dir, header)), unsaved: true });
  }

  /**
   * Opens a session file, or makes one when there is none at that path. A file of version 1 or 2 is left as it is: the session goes on
   * in a copy beside it, named `….v3.jsonl`. A link to a session opens that session; through any other link nothing is written.
   *
   * @param file Path of the file.
   * @param options See {@linkcode OpenSessionOptions}.
   * @returns The session; look at its `warnings`.
   * @throws {SessionFileError} When it cannot be read, is empty, is no session, or has a newer version.
   * @throws {SessionLockedError} When another process writes to it.
   */
  static open(file: string, options: OpenSessionOptions = {}): SessionManager {
    const { path, link } = findSessionFile(file);
    // Not even a lock is laid beside what somebody's link leads to before it is known to be a session.
    if (link !== undefined) readSessionFile(path);
    const writer = new SessionWriter(path);
    const saveError = lockOrSay(writer, options.readOnly ?? false);
    try {
      return openLocked(path, writer, saveError, options, link);
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  /**
   * Opens the session that was written to last, or makes one.
   *
   * @param cwd The folder it works in.
   * @param dir Folder of the files; the one of all sessions in `cwd` when absent.
   */
  static continueRecent(cwd: string, dir: string = sessionDirectory(cwd)): SessionManager {
    const recent = SessionManager.list(cwd, dir)[0];
    return recent === undefined ? SessionManager.create(cwd, dir) : SessionManager.open(recent.path);
  }

  /**
   * Lists the sessions of a folder, the one that was written to last first. Files that are no sessions are left out.
   *
   * @param cwd The folder they work in.
   * @param dir Folder of the files; the one of all sessions in `cwd` when absent.
   */
  static list(cwd: string, dir: string = sessionDirectory(cwd)): SessionInfo[] {
    return listSessions(dir);
  }

  /** @internal Makes a session from what a file holds. */
  static fromLines(init: {
    header: SessionHeader;
    dir: string;
    lines: Record<string, unknown>[];
    writer?: SessionWriter;
    unsaved?: boolean;
    warnings: string[];
    saveError?: SessionSaveError;
  }): SessionManager {
    return new SessionManager(init);
  }

  /** The folder it works in. */
  getCwd(): string {
    return this.#header.cwd;
  }

  /** Folder of the session files; `""` for a session in memory. */
  getSessionDir(): string {
    return this.#dir;
  }

  /** Identifies the session. */
  getSessionId(): string {
    return this.#header.id;
  }

  /** Its file, which may not be there before the first entry; `undefined` for a session in memory. */
  getSessionFile(): string | undefined {
    return this.#writer?.path;
  }

  /** Its name, if it has one. */
  getSessionName(): string | undefined {
    return this.#name ?? this.#header.title;
  }

  /** Its header. */
  getHeader(): SessionHeader {
    return this.#header;
  }

  /** All entries in the order in which they were appended. */
  getEntries(): SessionEntry[] {
    return this.#entries.slice();
  }

  /** As `getEntries().slice(index)`, without a copy of what comes before. */
  getEntriesFrom(index: number): SessionEntry[] {
    return this.#entries.slice(index);
  }

  /** One entry. */
  getEntry(id: string): SessionEntry | undefined {
    return this.#entries[this.#byId.get(id) ?? -1];
  }

  /** The path from the root to an entry, or to the leaf; empty when there is no such entry. */
  getBranch(fromId?: string | null): SessionEntry[] {
    const branch: SessionEntry[] = [];
    for (let at = this.#indexOf(fromId); at !== -1; at = this.#parents[at]!) branch.push(this.#entries[at]!);
    return branch.reverse();
  }

  /** Where the next entry is appended; `null` at the root. */
  getLeafId(): string | null {
    return this.#leafId;
  }

  /** The entry there. */
  getLeafEntry(): SessionEntry | undefined {
    return this.#leafId === null ? undefined : this.getEntry(this.#leafId);
  }

  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    return this.#labels.get(id);
  }

  /** All roots with their children, oldest first. Entries whose parent is missing are roots too. */
  getTree(): SessionTreeNode[] {
    const nodes = new Map<string, SessionTreeNode>();
    for (const entry of this.#entries) {
      const label = this.#labels.get(entry.id);
      nodes.set(entry.id, { entry, children: [], ...label !== undefined && { label } });
    }
    const roots: SessionTreeNode[] = [];
    for (const node of nodes.values()) {
      const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
      (parent?.children ?? roots).push(node);
    }
    return roots;
  }

  /** Sums tokens and cost over all entries. */
  getUsageStatistics(): UsageStatistics {
    const sum: UsageStatistics = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
    for (const entry of this.#entries) {
      if (entry.type !== "message" || entry.message?.role !== "assistant") continue;
      const { usage } = entry.message;
      if (!isRecord(usage)) continue;
      for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) sum[key] += usage[key] ?? 0;
      sum.cost += usage.cost?.total ?? 0;
    }
    return sum;
  }

  /** What the model would read of a branch, and the settings in force there. */
  buildContext(leafId?: string | null): SessionContext {
    let next = this.#indexOf(leafId);
    let length = 0;
    for (let at = next; at !== -1; at = this.#parents[at]!) length++;
    return collectContext({
      length,
      previous: () => {
        const at = next;
        if (at !== -1) next = this.#parents[at]!;
        return at;
      },
      kind: (index) => this.#kinds[index]!,
      message: (index) => this.#messages[index],
      entry: (index) => this.#entries[index]!,
      indexOf: (id) => this.#byId.get(id) ?? -1,
    });
  }

  /** Why what was appended last is in memory only; `undefined` when all is saved, or when there is no file to save to. */
  getSaveError(): SessionSaveError | undefined {
    return this.#saveError;
  }

  /**
   * Lets appends go on in memory when the file cannot be written. Without a listener such an append throws and changes nothing.
   *
   * @param listener Told when saving begins to fail and when it works again.
   */
  onSaveError(listener: SaveListener | undefined): void {
    this.#saveListener = listener;
  }

  /**
   * Appends a message.
   *
   * @param message The message; it is copied.
   * @returns The id of the entry.
   * @throws {TypeError} When it is malformed or cannot be written as JSON; the text names the field.
   * @throws {SessionSaveError} When it cannot be saved, unless {@linkcode SessionManager.onSaveError} was called.
   */
  appendMessage(message: AgentMessage): string {
    return this.#append({ type: "message", message });
  }

  /** Appends data that the model never reads; it must be possible to write it as JSON. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#append({ type: "custom", customType, ...data !== undefined && { data } });
  }

  /** Appends a message of a hook. */
  appendCustomMessageEntry(
    customType: string,
    content: string | UserContent[],
    display: boolean,
    details?: unknown,
    attribution: "user" | "agent" = "agent",
  ): string {
    return this.#append({
      type: "custom_message",
      customType,
      content,
      display,
      ...details !== undefined && { details },
      attribution,
    });
  }

  /**
   * Names an entry, or takes its name away.
   *
   * @param targetId The entry.
   * @param label The name; none when absent or empty.
   * @returns The id of the new entry.
   * @throws {Error} When there is no such entry.
   */
  appendLabelChange(targetId: string, label: string | undefined): string {
    this.#require(targetId);
    return this.#append({ type: "label", targetId, ...label && { label } });
  }

  /** Appends a change of model, as `provider/id`. */
  appendModelChange(model: string): string {
    return this.#append({ type: "model_change", model });
  }

  /** Appends a name for the session; control characters are removed. */
  appendSessionName(name: string): string {
    // deno-lint-ignore no-control-regex -- they are what is removed
    return this.#append({ type: "session_info", name: name.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim() });
  }

  /** Appends the names of stream rules that the model has been shown. */
  appendTtsrInjection(injectedRules: string[]): string {
    return this.#append({ type: "ttsr_injection", injectedRules });
  }

  /** Appends a compaction. */
  appendCompaction(compaction: Omit<CompactionEntry, keyof EntryBase | "type">): string {
    return this.#append({ type: "compaction", ...compaction });
  }

  /**
   * Moves the leaf, so that the next entry begins a branch there. The move outlasts closing the file.
   *
   * @param id The entry to go on after.
   * @throws {Error} When there is no such entry.
   */
  branch(id: string): void {
    this.#require(id);
    this.#move(id);
  }

  /** Moves the leaf before all entries, so that the next one becomes another root. */
  resetLeaf(): void {
    this.#move(null);
  }

  /**
   * Moves the leaf and leaves a summary of what was abandoned there.
   *
   * @param id The entry to go on after; `null` for the root.
   * @param summary The summary.
   * @param details Data of whoever summarised.
   * @param fromExtension Whether a hook made it.
   * @returns The id of the summary's entry, whose `fromId` is the leaf that was abandoned.
   */
  branchWithSummary(id: string | null, summary: string, details?: unknown, fromExtension?: boolean): string {
    if (id !== null) this.#require(id);
    const left = this.#leafId;
    this.#leafId = id;
    try {
      return this.#append({
        type: "branch_summary",
        fromId: left ?? "root",
        summary,
        ...details !== undefined && { details },
        ...fromExtension && { fromExtension },
      });
    } catch (error) {
      this.#leafId = left;
      throw error;
    }
  }

  /**
   * Makes a session of its own out of one branch. Labels go along.
   *
   * @param leafId Last entry of the branch; `null` for a session without entries.
   * @returns The new session; its file is written at once. This one stays as it is.
   * @throws {Error} When there is no such entry.
   */
  createBranchedSession(leafId: string | null): SessionManager {
    if (leafId !== null) this.#require(leafId);
    return this.#derive(this.#extract(leafId));
  }

  /** Makes a session of its own out of all entries; its file is written at once. This one stays as it is. */
  fork(): SessionManager {
    return this.#derive(this.#allLines().slice(1).map((line) => JSON.parse(line)));
  }

  /** Makes the session that comes after this one: without entries, in the same folder, in memory if this one is. */
  createNewSession(options: NewSessionFileOptions = {}): SessionManager {
    return this.#writer === undefined
      ? SessionManager.inMemory(this.getCwd(), options)
      : SessionManager.create(this.getCwd(), this.#dir, options);
  }

  /**
   * Writes the file even when there is no entry yet.
   *
   * @throws {SessionSaveError} When it cannot be written.
   */
  ensureOnDisk(): void {
    this.#save();
  }

  /**
   * Makes what was appended outlast a power failure. A file that was removed meanwhile is made again.
   *
   * @throws {SessionSaveError} When something is not saved.
   */
  flush(): void {
    if (this.#writer === undefined || this.#closed) return;
    if (this.#entries.length > 0) this.#save();
    if (this.#writer.flush()) return;
    const path = this.#writer.path;
    this.#writer.close();
    this.#writer = new SessionWriter(path);
    this.#pending = this.#allLines();
    this.#save();
  }

  /** As {@linkcode SessionManager.flush}, without holding up the program while the disk works. */
  async flushSoon(): Promise<void> {
    if (this.#writer === undefined || this.#closed) return;
    if (this.#entries.length > 0) this.#save();
    if (!await this.#writer.flushSoon() && !this.#closed) this.flush();
  }

  /** Gives the file back to others. May be called again; appending afterwards throws. */
  close(): void {
    if (this.#closed) return;
    try {
      this.flush();
    } finally {
      this.#closed = true;
      this.#writer?.close();
    }
  }

  /** Closes a session that has just been made and is not to be, and removes its file. */
  discard(): void {
    const path = this.#writer?.hasFile && this.#pending.length === 0 ? this.#writer.path : undefined;
    this.close();
    if (path !== undefined) Deno.removeSync(path);
  }

  /** As {@linkcode SessionManager.close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  #indexOf(id: string | null = this.#leafId): number {
    return id === null ? -1 : this.#byId.get(id) ?? -1;
  }

  #append(draft: Draft): string {
    if (this.#closed) {
      throw new Error(`The session ${this.getSessionFile() ?? this.getSessionId()} is closed; open it again`);
    }
    const { type, ...fields } = draft;
    const id = this.#newId();
    let line: string;
    try {
      line = JSON.stringify({ type, id, parentId: this.#leafId, timestamp: new Date().toISOString(), ...fields });
    } catch (error) {
      const why = Object.keys(fields).map((field) => jsonFault(fields[field], field)).find((fault) =>
        fault !== undefined
      );
      throw new TypeError(`An entry of type ${type} cannot be written as JSON: ${why ?? errorText(error)}`, {
        cause: error,
      });
    }
    // Reading back what is written keeps memory and file equal, whatever the caller handed in and does with it later.
    const entry = JSON.parse(line) as SessionEntry;
    const fault = entryFault(entry);
    if (fault !== undefined) throw new TypeError(`An entry of type ${type} is malformed: ${fault}`);
    this.#write(line);
    this.#add(entry);
    return id;
  }

  #move(id: string | null): void {
    if (id === this.#leafId) return;
    const marker = this.#newId();
    this.#write(JSON.stringify({ type: LEAF, id: marker, parentId: id, timestamp: new Date().toISOString() }));
    this.#markers.set(marker, id);
    this.#leafId = id;
  }

  #add(entry: SessionEntry): void {
    this.#parents.push(this.#indexOf(entry.parentId));
    this.#messages.push(messageOf(entry));
    this.#kinds.push(kindOfEntry(entry));
    this.#byId.set(entry.id, this.#entries.push(entry) - 1);
    this.#leafId = entry.id;
    if (entry.type === "label") this.#setLabel(entry);
    else if (entry.type === "session_info" && typeof entry.name === "string") this.#name = entry.name || undefined;
  }

  #setLabel(entry: LabelEntry): void {
    if (entry.label) this.#labels.set(entry.targetId, entry.label);
    else this.#labels.delete(entry.targetId);
  }

  /** Writes a line, and all that could not be written before it. */
  #write(line: string): void {
    if (this.#writer === undefined) return;
    this.#pending.push(line);
    try {
      this.#save();
    } catch (error) {
      if (this.#saveListener !== undefined) return;
      this.#pending.pop();
      throw error;
    }
  }

  #save(): void {
    if (this.#writer === undefined || this.#pending.length === 0) return;
    try {
      this.#writer.append(this.#pending);
    } catch (error) {
      const failure = error instanceof SessionSaveError
        ? error
        : new SessionSaveError(this.#writer.path, errorText(error));
      const first = this.#saveError === undefined;
      this.#saveError = failure;
      if (first) this.#saveListener?.(failure);
      throw failure;
    }
    this.#pending = [];
    if (this.#saveError === undefined) return;
    this.#saveError = undefined;
    this.#saveListener?.(undefined);
  }

  #allLines(): string[] {
    const lines = [JSON.stringify(this.#header), ...this.#entries.map((entry) => JSON.stringify(entry))];
    if (this.#leafId !== (this.#entries.at(-1)?.id ?? null)) {
      const marker = { type: LEAF, id: this.#newId(), parentId: this.#leafId, timestamp: new Date().toISOString() };
      lines.push(JSON.stringify(marker));
    }
    return lines;
  }

  /** The entries of a branch as a tree of their own: label entries go from between, and come again at the end. */
  #extract(leafId: string | null): Record<string, unknown>[] {
    const lines: Record<string, unknown>[] = [];
    let parentId: string | null = null;
    const append = (entry: Record<string, unknown>) => {
      lines.push({ ...entry, parentId });
      parentId = entry.id as string;
    };
    const branch = this.getBranch(leafId);
    for (const entry of branch) {
      if (entry.type !== "label") append(entry as unknown as Record<string, unknown>);
    }
    const ids = new Set(lines.map((line) => line.id));
    for (const [targetId, label] of this.#labels) {
      if (!ids.has(targetId)) continue;
      append({ type: "label", id: this.#newId(), timestamp: new Date().toISOString(), targetId, label });
    }
    return lines;
  }

  #derive(lines: Record<string, unknown>[]): SessionManager {
    const parentSession = this.getSessionFile();
    const header = newHeader(this.getCwd(), { ...parentSession !== undefined && { parentSession } });
    const title = this.getSessionName();
    if (title !== undefined) header.title = title;
    if (this.#writer === undefined) return new SessionManager({ header, dir: "", lines });
    const writer = new SessionWriter(newFile(this.#dir, header));
    const session = new SessionManager({ header, dir: this.#dir, lines, writer, unsaved: true });
    try {
      session.ensureOnDisk();
    } catch (error) {
      writer.close();
      throw error;
    }
    return session;
  }

  #require(id: string): void {
    if (!this.#byId.has(id)) throw new Error(`Entry ${id} not found`);
  }

  #newId(): string {
    for (;;) {
      const id = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0");
      if (!this.#byId.has(id) && !this.#markers.has(id)) return id;
    }
  }

  #load(lines: Record<string, unknown>[], warnings: string[]): void {
    const unresolved: SessionEntry[] = [];
    for (const line of lines) {
      if (typeof line.id !== "string" || !isParent(line.parentId)) {
        warnings.push(`An entry of type ${String(line.type)} has no usable "id" and "parentId", and is left out`);
        continue;
      }
      if (this.#byId.has(line.id) || this.#markers.has(line.id)) {
        warnings.push(`Two entries have the id ${line.id}; the second is left out`);
        continue;
      }
      let parentId = line.parentId ?? null;
      if (parentId !== null && this.#markers.has(parentId)) parentId = this.#markers.get(parentId)!;
      if (line.type === LEAF) {
        this.#markers.set(line.id, parentId);
        this.#leafId = parentId !== null && this.#byId.has(parentId) ? parentId : null;
        continue;
      }
      if (line.parentId !== parentId) line.parentId = parentId;
      const entry = line as unknown as SessionEntry;
      const fault = entryFault(entry);
      if (fault !== undefined) {
        warnings.push(`Entry ${entry.id} is malformed, and the model reads it without that: ${fault}`);
      }
      if (parentId !== null && !this.#byId.has(parentId)) unresolved.push(entry);
      this.#add(entry);
    }
    for (const entry of unresolved) {
      if (!this.#byId.has(entry.parentId!)) {
        warnings.push(`Entry ${entry.id} comes after ${entry.parentId}, which is missing; it begins a tree of its own`);
      } else if (this.#isInCycle(entry)) {
        warnings.push(`Entry ${entry.id} comes after itself; it begins a tree of its own`);
        entry.parentId = null;
      } else this.#parents[this.#indexOf(entry.id)] = this.#indexOf(entry.parentId);
    }
  }

  #isInCycle(start: SessionEntry): boolean {
    const seen = new Set<string>();
    for (let entry: SessionEntry | undefined = start; entry !== undefined;) {
      if (seen.has(entry.id)) return true;
      seen.add(entry.id);
      entry = entry.parentId === null ? undefined : this.getEntry(entry.parentId);
    }
    return false;
  }
}

/** Whether an entry is a summary of a branch that was left. */
export function isBranchSummary(entry: SessionEntry | undefined): entry is BranchSummaryEntry {
  return entry?.type === "branch_summary";
}

function openLocked(
  path: string,
  writer: SessionWriter,
  saveError: SessionSaveError | undefined,
  options: OpenSessionOptions,
  link?: string,
): SessionManager {
  const dir = dirname(path);
  if (!findSessionFile(path).exists) {
    if (options.readOnly) throw new SessionFileError(path, "does not exist");
    const header = newHeader(options.cwd ?? Deno.cwd(), {});
    return SessionManager.fromLines({
      header,
      dir,
      lines: [],
      writer,
      unsaved: true,
      warnings: [],
      ...saveError && { saveError },
    });
  }
  const content = readSessionFile(path);
  if (content.version < SESSION_VERSION) {
    writer.close();
    return openMigrated(path, content, options);
  }
  const existing: ExistingFile = content;
  writer.continueAt(existing);
  return SessionManager.fromLines({
    header: content.header,
    dir,
    lines: content.lines,
    writer,
    warnings: link === undefined
      ? content.warnings
      : [`${link} is a link; the session is ${path}`, ...content.warnings],
    ...saveError && { saveError },
  });
}

function openMigrated(
  path: string,
  content: ReturnType<typeof readSessionFile>,
  options: OpenSessionOptions,
): SessionManager {
  const copy = `${path.replace(/\.jsonl$/, "")}.v${SESSION_VERSION}.jsonl`;
  if (findSessionFile(copy).exists) {
    const session = SessionManager.open(copy, options);
    if (session.getHeader().id === content.header.id) {
      return session;
    }
    session.close();
    throw new SessionFileError(
      path,
      `is of version ${content.version}, and ${copy}, where its copy belongs, is another session`,
    );
  }
  const writer = new SessionWriter(copy);
  const saveError = lockOrSay(writer, options.readOnly ?? false);
  const used = new Set<string>();
  migrateEntries(content.lines, content.version, () => {
    let id: string;
    do id = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0"); while (used.has(id));
    used.add(id);
    return id;
  });
  return SessionManager.fromLines({
    header: { ...content.header, version: SESSION_VERSION, migratedFrom: path },
    dir: dirname(path),
    lines: content.lines,
    writer,
    unsaved: true,
    warnings: [
      ...content.warnings,
      `${path} has version ${content.version} of the format and is left as it is; the session goes on in ${copy}`,
    ],
    ...saveError && { saveError },
  });
}

/** Locks a file for writing; when that cannot be, says why the session will not be saved. */
function lockOrSay(writer: SessionWriter, readOnly: boolean): SessionSaveError | undefined {
  if (readOnly) {
    writer.refuse("it was opened read-only");
    return new SessionSaveError(writer.path, "it was opened read-only");
  }
  try {
    writer.lock();
  } catch (error) {
    if (error instanceof SessionFileError) throw error;
    return error instanceof SessionSaveError ? error : new SessionSaveError(writer.path, errorText(error));
  }
}

function newHeader(cwd: string, options: NewSessionFileOptions): SessionHeader {
  return {
    type: "session",
    version: SESSION_VERSION,
    id: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    cwd,
    ...options.parentSession !== undefined && { parentSession: options.parentSession },
  };
}

function newFile(dir: string, header: SessionHeader): string {
  return join(resolve(dir), `${header.timestamp.replaceAll(/[:.]/g, "-")}_${header.id}.jsonl`);
}

function isParent(value: unknown): value is string | null | undefined {
  return value === null || value === undefined || typeof value === "string";
}
