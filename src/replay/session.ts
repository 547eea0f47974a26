/**
 * A recorded session as hooks see it while it is replayed.
 *
 * @module
 */

import type { ReadonlySessionManager } from "../api.ts";
import type { SessionEntry, SessionHeader, SessionTreeNode } from "../entries.ts";
import type { AgentMessage } from "../messages.ts";
import { buildSessionContext } from "../session/context.ts";

/** How much of a recorded session is kept. */
export interface ReplaySessionLimits {
  /** Entries. */
  entries: number;
  /** Bytes of the lines that they were recorded in. */
  bytes: number;
}

interface Kept {
  readonly entry: SessionEntry;
  readonly bytes: number;
}

/** The newest entries of a recorded session; older ones are forgotten, so that a long session takes no more memory. */
export class ReplaySession implements ReadonlySessionManager {
  readonly #limits: ReplaySessionLimits;
  readonly #file: string | undefined;
  readonly #byId = new Map<string, SessionEntry>();
  #kept: Kept[] = [];
  #first = 0;
  #bytes = 0;
  #leafId: string | null = null;
  #header: SessionHeader;

  /**
   * Begins without entries.
   *
   * @param cwd The folder that the session works in, until it tells itself.
   * @param file The file that it was recorded in.
   * @param limits How much is kept.
   */
  constructor(cwd: string, file: string | undefined, limits: ReplaySessionLimits) {
    this.#header = { type: "session", id: "", timestamp: new Date(0).toISOString(), cwd };
    this.#file = file;
    this.#limits = limits;
  }

  /** Takes what the session says of itself. */
  describe(header: Partial<SessionHeader>, cwd: string): void {
    this.#header = { ...this.#header, ...header, cwd };
  }

  /** Adds an entry, which becomes the leaf. */
  append(entry: SessionEntry, bytes: number): void {
    this.#kept.push({ entry, bytes });
    this.#byId.set(entry.id, entry);
    this.#bytes += bytes;
    this.#leafId = entry.id;
    while (
      this.#kept.length - this.#first > this.#limits.entries ||
      (this.#bytes > this.#limits.bytes && this.#first < this.#kept.length - 1)
    ) this.#forget();
    // Now and then, so that forgetting one entry does not move all others.
    if (this.#first > this.#limits.entries) {
      this.#kept = this.#kept.slice(this.#first);
      this.#first = 0;
    }
  }

  #forget(): void {
    const { entry, bytes } = this.#kept[this.#first]!;
    this.#kept[this.#first++] = GONE;
    this.#bytes -= bytes;
    if (this.#byId.get(entry.id) === entry) this.#byId.delete(entry.id);
  }

  /** What the model would read now. */
  contextMessages(): AgentMessage[] {
    return buildSessionContext(this.getBranch()).messages;
  }

  /** The folder it works in. */
  getCwd(): string {
    return this.#header.cwd;
  }

  /** Folder of its file; `""` when it was not read from a file. */
  getSessionDir(): string {
    return this.#file?.replace(/[\\/][^\\/]*$/, "") ?? "";
  }

  /** Identifies the session. */
  getSessionId(): string {
    return this.#header.id;
  }

  /** The file that it was recorded in. */
  getSessionFile(): string | undefined {
    return this.#file;
  }

  /** Its name, if it has one. */
  getSessionName(): string | undefined {
    return this.#header.title;
  }

  /** Its header. */
  getHeader(): SessionHeader {
    return this.#header;
  }

  /** The entries that are kept, in the order in which they were recorded. */
  getEntries(): SessionEntry[] {
    return this.#kept.slice(this.#first).map(({ entry }) => entry);
  }

  /** One of them. */
  getEntry(id: string): SessionEntry | undefined {
    return this.#byId.get(id);
  }

  /** The path to an entry, or to the leaf, from the oldest of its entries that is kept. */
  getBranch(fromId: string | null = this.#leafId): SessionEntry[] {
    const branch: SessionEntry[] = [];
    const seen = new Set<SessionEntry>();
    for (let id = fromId; id !== null;) {
      const entry = this.#byId.get(id);
      if (entry === undefined || seen.has(entry)) break;
      seen.add(entry);
      branch.push(entry);
      id = entry.parentId;
    }
    return branch.reverse();
  }

  /** The entry recorded last. */
  getLeafId(): string | null {
    return this.#leafId;
  }

  /** The entry recorded last. */
  getLeafEntry(): SessionEntry | undefined {
    return this.#leafId === null ? undefined : this.#byId.get(this.#leafId);
  }

  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    for (let i = this.#kept.length - 1; i >= this.#first; i--) {
      const { entry } = this.#kept[i]!;
      if (entry.type === "label" && entry.targetId === id) return entry.label || undefined;
    }
    return undefined;
  }

  /** All roots with their children; an entry whose parent is forgotten is a root. */
  getTree(): SessionTreeNode[] {
    const nodes = new Map<string, SessionTreeNode>();
    const labels = new Map<string, string | undefined>();
    for (const entry of this.getEntries()) {
      nodes.set(entry.id, { entry, children: [] });
      if (entry.type === "label") labels.set(entry.targetId, entry.label || undefined);
    }
    const roots: SessionTreeNode[] = [];
    for (const [id, node] of nodes) {
      const label = labels.get(id);
      if (label !== undefined) node.label = label;
      const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
      (parent === undefined || parent === node ? roots : parent.children).push(node);
    }
    return roots;
  }
}

const GONE = {} as Kept;
