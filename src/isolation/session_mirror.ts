/**
 * The session, as the child of an isolated hook sees it: each question fetches what has come since the one before.
 *
 * @module
 */

import type { ReadonlySessionManager } from "../api.ts";
import type { SessionEntry, SessionHeader, SessionTreeNode } from "../entries.ts";

/** What the host tells of the session: all but the entries that the child has. */
export interface SessionNews {
  /** The folder it works in. */
  cwd: string;
  /** Folder of the session files. */
  dir: string;
  /** Identifies the session. */
  id: string;
  /** Its file. */
  file: string | undefined;
  /** Its name. */
  name: string | undefined;
  /** Its header. */
  header: SessionHeader | null;
  /** Where the next entry is appended. */
  leafId: string | null;
  /** Number of entries before `entries` that the child keeps; 0 when it must forget all. */
  keep: number;
  /** The next entries. */
  entries: SessionEntry[];
  /** Whether there are more. */
  more: boolean;
}

/** Asks the host: how many entries there are here, the last one's id, and the session's. */
export type FetchNews = (have: number, last: string | null, session: string | null) => unknown;

/** A {@linkcode ReadonlySessionManager} that keeps a copy of the entries. */
export class SessionMirror implements ReadonlySessionManager {
  readonly #fetch: FetchNews;
  #entries: SessionEntry[] = [];
  readonly #byId = new Map<string, SessionEntry>();
  #session: string | null = null;

  /** @param fetch Asks the host. */
  constructor(fetch: FetchNews) {
    this.#fetch = fetch;
  }

  #update(): SessionNews {
    for (;;) {
      const news = this.#fetch(this.#entries.length, this.#entries.at(-1)?.id ?? null, this.#session) as SessionNews;
      if (news.keep < this.#entries.length) {
        this.#entries = this.#entries.slice(0, news.keep);
        this.#byId.clear();
        for (const entry of this.#entries) this.#byId.set(entry.id, entry);
      }
      for (const entry of news.entries) {
        this.#entries.push(entry);
        this.#byId.set(entry.id, entry);
      }
      this.#session = news.id;
      if (!news.more) return news;
    }
  }

  /** The folder it works in. */
  getCwd(): string {
    return this.#update().cwd;
  }

  /** Folder of the session files. */
  getSessionDir(): string {
    return this.#update().dir;
  }

  /** Identifies the session. */
  getSessionId(): string {
    return this.#update().id;
  }

  /** Its file. */
  getSessionFile(): string | undefined {
    return this.#update().file;
  }

  /** Its name. */
  getSessionName(): string | undefined {
    return this.#update().name;
  }

  /** Its header. */
  getHeader(): SessionHeader | null {
    return this.#update().header;
  }

  /** Where the next entry is appended. */
  getLeafId(): string | null {
    return this.#update().leafId;
  }

  /** All entries in the order in which they were appended. */
  getEntries(): SessionEntry[] {
    this.#update();
    return [...this.#entries];
  }

  /** One entry. */
  getEntry(id: string): SessionEntry | undefined {
    this.#update();
    return this.#byId.get(id);
  }

  /** The entry at the leaf. */
  getLeafEntry(): SessionEntry | undefined {
    const { leafId } = this.#update();
    return leafId === null ? undefined : this.#byId.get(leafId);
  }

  /** The path from the root to an entry, or to the leaf. */
  getBranch(fromId?: string): SessionEntry[] {
    const { leafId } = this.#update();
    const branch: SessionEntry[] = [];
    const seen = new Set<string>();
    let id = fromId ?? leafId;
    while (id !== null && !seen.has(id)) {
      seen.add(id);
      const entry = this.#byId.get(id);
      if (entry === undefined) break;
      branch.push(entry);
      id = entry.parentId;
    }
    return branch.reverse();
  }

  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    this.#update();
    return this.#labels().get(id);
  }

  /** All roots with their children. */
  getTree(): SessionTreeNode[] {
    this.#update();
    const labels = this.#labels();
    const nodes = new Map<string, SessionTreeNode>();
    for (const entry of this.#entries) {
      const label = labels.get(entry.id);
      nodes.set(entry.id, { entry, children: [], ...(label === undefined ? {} : { label }) });
    }
    const roots: SessionTreeNode[] = [];
    for (const node of nodes.values()) {
      const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
      (parent?.children ?? roots).push(node);
    }
    return roots;
  }

  #labels(): Map<string, string> {
    const labels = new Map<string, string>();
    for (const entry of this.#entries) {
      if (entry.type !== "label") continue;
      if (entry.label) labels.set(entry.targetId, entry.label);
      else labels.delete(entry.targetId);
    }
    return labels;
  }
}
