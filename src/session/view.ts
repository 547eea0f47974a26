/**
 * The session as hooks see it.
 *
 * @module
 */

import type { ReadonlySessionManager } from "../api.ts";
import type { SessionEntry, SessionHeader, SessionTreeNode } from "../entries.ts";

/** Reads whichever session is the current one, and cannot write to it. */
export class SessionView implements ReadonlySessionManager {
  readonly #current: () => ReadonlySessionManager;

  /** @param current Gives the session that is the current one now. */
  constructor(current: () => ReadonlySessionManager) {
    this.#current = current;
  }

  /** The folder it works in. */
  getCwd(): string {
    return this.#current().getCwd();
  }

  /** Folder of the session files; `""` for a session in memory. */
  getSessionDir(): string {
    return this.#current().getSessionDir();
  }

  /** Identifies the session. */
  getSessionId(): string {
    return this.#current().getSessionId();
  }

  /** Its file. */
  getSessionFile(): string | undefined {
    return this.#current().getSessionFile();
  }

  /** Its name. */
  getSessionName(): string | undefined {
    return this.#current().getSessionName();
  }

  /** Its header. */
  getHeader(): SessionHeader | null {
    return this.#current().getHeader();
  }

  /** All entries in the order in which they were appended. */
  getEntries(): SessionEntry[] {
    return this.#current().getEntries();
  }

  /** As `getEntries().slice(index)`, without a copy of what comes before. */
  getEntriesFrom(index: number): SessionEntry[] {
    const session = this.#current();
    return session.getEntriesFrom?.(index) ?? session.getEntries().slice(index);
  }

  /** One entry. */
  getEntry(id: string): SessionEntry | undefined {
    return this.#current().getEntry(id);
  }

  /** The path from the root to an entry, or to the leaf. */
  getBranch(fromId?: string): SessionEntry[] {
    return this.#current().getBranch(fromId);
  }

  /** Where the next entry is appended. */
  getLeafId(): string | null {
    return this.#current().getLeafId();
  }

  /** The entry there. */
  getLeafEntry(): SessionEntry | undefined {
    return this.#current().getLeafEntry();
  }

  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    return this.#current().getLabel(id);
  }

  /** All roots with their children. */
  getTree(): SessionTreeNode[] {
    return this.#current().getTree();
  }
}
