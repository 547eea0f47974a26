/**
 * Keeps approvals, and the bytes that were approved, in the person's folder.
 *
 * @module
 */

import { dirname, join } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { errorText, isRecord } from "../values.ts";
import { type Approval, parseApproval } from "./approval.ts";

/** What the store holds. */
export interface StoredApprovals {
  /** The approvals, oldest first. */
  approvals: Approval[];
  /** Why the store cannot be believed, in one sentence; then there are no approvals. */
  fault?: string;
}

/**
 * The folder that holds approvals. Nothing that a hook is granted may reach it.
 *
 * @param home The person's home; the environment's when absent.
 * @throws {Error} When no home is known.
 */
export function trustFolder(home: string = homeDirectory()): string {
  if (home === "") {
    throw new Error("HOME is not set or not granted (--allow-env=HOME), so no approval can be looked up");
  }
  return join(home, ".xcsh", "trust");
}

/**
 * The folder with the approved bytes of hooks, beside that of the approvals. Hooks may read what is theirs in it, and no grant
 * lets them write there.
 *
 * @param trust The folder of the approvals.
 */
export function approvedFolder(trust: string = trustFolder()): string {
  return join(dirname(trust), "approved");
}

/**
 * Approvals on disk: one file, replaced as a whole, and a folder with the approved bytes of each approval.
 */
export class TrustStore {
  /** The folder. */
  readonly folder: string;
  readonly #file: string;

  /**
   * Opens a store; nothing is read or written yet.
   *
   * @param folder Its folder; see {@linkcode trustFolder}.
   */
  constructor(folder: string = trustFolder()) {
    this.folder = folder;
    this.#file = join(folder, "approvals.json");
  }

  /** Folder with the approved bytes of an approval. Hooks read their own there, so it is not in {@linkcode folder}. */
  copyFolder(id: string): string {
    return join(approvedFolder(this.folder), id);
  }

  /** Reads the approvals. A store that cannot be read, or that others could have written, approves nothing. */
  read(): StoredApprovals {
    let text: string;
    try {
      const fault = this.#ownershipFault();
      if (fault !== undefined) return { approvals: [], fault };
      text = Deno.readTextFileSync(this.#file);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return { approvals: [] };
      return { approvals: [], fault: `${this.#file} cannot be read (${errorText(error)}), so nothing is approved` };
    }
    try {
      return { approvals: parse(text) };
    } catch (error) {
      return { approvals: [], fault: `${this.#file} is damaged (${errorText(error)}), so nothing is approved` };
    }
  }

  /**
   * Changes the approvals, while no other process does. A damaged file is set aside, not overwritten.
   *
   * @param change Gets what there is, returns what there shall be.
   */
  async update(change: (approvals: Approval[]) => Approval[]): Promise<void> {
    makePrivateFolder(this.folder);
    if (Deno.build.os !== "windows") Deno.chmodSync(this.folder, 0o700);
    using lock = await Deno.open(join(this.folder, "lock"), { create: true, write: true, mode: 0o600 });
    await lock.lock(true);
    try {
      const { approvals, fault } = this.read();
      if (fault !== undefined) Deno.renameSync(this.#file, `${this.#file}.damaged-${Date.now()}`);
      const after = change(approvals);
      writeAtomically(this.#file, JSON.stringify({ version: 1, approvals: after }, undefined, 1) + "\n");
      this.#sweep(new Set(after.map(({ id }) => id)));
    } finally {
      await lock.unlock();
    }
  }

  #ownershipFault(): string | undefined {
    if (Deno.build.os === "windows") return undefined;
    for (const path of [this.folder, this.#file]) {
      const { mode, uid, isSymlink } = Deno.lstatSync(path);
      if (isSymlink) return `${path} is a link, so nothing is approved`;
      if (((mode ?? 0) & 0o022) !== 0) {
        return `${path} can be written by others (mode ${
          ((mode ?? 0) & 0o777).toString(8)
        }), so nothing is approved; correct it and approve anew`;
      }
      const own = ownUid();
      if (own !== undefined && uid !== own) return `${path} belongs to another user, so nothing is approved`;
    }
    return undefined;
  }

  /** Removes the bytes of approvals that are gone. */
  #sweep(kept: ReadonlySet<string>): void {
    try {
      for (const { name } of Deno.readDirSync(approvedFolder(this.folder))) {
        if (!kept.has(name)) Deno.removeSync(this.copyFolder(name), { recursive: true });
      }
    } catch {
      // What is left over does no harm: nothing loads what no approval names.
    }
  }
}

function parse(text: string): Approval[] {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || value.version !== 1 || !Array.isArray(value.approvals)) {
    throw new Error("it is no list of approvals of version 1");
  }
  return value.approvals.map((entry: unknown, i) => {
    const approval = parseApproval(entry);
    if (approval === undefined) throw new Error(`entry ${i + 1} is no approval, or has been changed`);
    return approval;
  });
}

function ownUid(): number | undefined {
  // Asking first, since at a terminal a denied access would ask the person. The mode has been checked in any case.
  if (Deno.permissions.querySync({ name: "sys", kind: "uid" }).state !== "granted") return undefined;
  return Deno.uid() ?? undefined;
}

/** Makes a folder that only this user can look into. */
export function makePrivateFolder(path: string): void {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Replaces a file as a whole, so that whoever reads it sees the old or the new one. */
export function writeAtomically(path: string, text: string): void {
  const temporary = join(dirname(path), `.${crypto.randomUUID()}.tmp`);
  try {
    const file = Deno.openSync(temporary, { createNew: true, write: true, mode: 0o600 });
    try {
      const bytes = new TextEncoder().encode(text);
      for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
      file.syncSync();
    } finally {
      file.close();
    }
    Deno.renameSync(temporary, path);
  } catch (error) {
    try {
      Deno.removeSync(temporary);
    } catch {
      // It was never made.
    }
    throw error;
  }
}
