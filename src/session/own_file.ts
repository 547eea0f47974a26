/**
 * Opens files at and beside a session's path without being led elsewhere: a project may hold links that somebody else laid.
 *
 * @module
 */

import { resolve } from "@std/path";
import { errorText } from "../values.ts";
import { SessionFileError } from "./errors.ts";

/** How often a file that is removed and made again meanwhile is tried. */
const ATTEMPTS = 100;

/**
 * Opens a file of ours for reading and writing. What is there already is only opened when it is a plain file with one name, so neither
 * a link nor a pipe in its place is followed; it is not emptied.
 *
 * @param path The file.
 * @returns The open file, made when there was none.
 * @throws {SessionFileError} When something else is at that path.
 */
export function openOwnFile(path: string): Deno.FsFile {
  for (let attempt = 1;; attempt++) {
    try {
      return createOwnFile(path);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
    try {
      return reopenOwnFile(path, { mayHaveNames: false });
    } catch (error) {
      // Its owner removed it meanwhile.
      if (!(error instanceof Deno.errors.NotFound) || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * Makes a file of ours that only the user may read.
 *
 * @param path The file.
 * @returns The open file.
 * @throws {Deno.errors.AlreadyExists} When anything is at that path, also a link that leads nowhere.
 */
export function createOwnFile(path: string): Deno.FsFile {
  return Deno.openSync(path, { createNew: true, read: true, write: true, mode: 0o600 });
}

/**
 * Opens a plain file that is there for reading and writing.
 *
 * @param path The file.
 * @param options Whether other names of the file are no harm, by default they are not; whether writes go to its end, whoever else wrote
 *   there.
 * @returns The open file.
 * @throws {SessionFileError} When a link or anything else is there.
 */
export function reopenOwnFile(path: string, options: { mayHaveNames?: boolean; append?: boolean } = {}): Deno.FsFile {
  const there = Deno.lstatSync(path);
  if (there.isSymlink) throw new SessionFileError(path, "is a link, which is not written through; remove it");
  if (!there.isFile) throw new SessionFileError(path, "is no plain file; remove it");
  if (options.mayHaveNames === false && (there.nlink ?? 1) > 1) {
    throw new SessionFileError(path, "is another name of some other file; remove it");
  }
  const file = Deno.openSync(path, options.append ? { read: true, append: true } : { read: true, write: true });
  const here = file.statSync();
  if (here.ino === there.ino && here.dev === there.dev) return file;
  file.close();
  throw new Deno.errors.NotFound(`${path} was replaced while it was opened`);
}

/**
 * Whether an open file is still the one at its path, and no link is there instead.
 *
 * @param path The path.
 * @param file The open file.
 * @returns `false` when the file was removed or replaced.
 */
export function isSameFile(path: string, file: Deno.FsFile): boolean {
  try {
    const there = Deno.lstatSync(path);
    const here = file.statSync();
    return !there.isSymlink && there.ino === here.ino && there.dev === here.dev;
  } catch {
    return false;
  }
}

/** Where a session file is. */
export interface SessionPath {
  /** The file itself, so that all who open it by whatever name share one lock. */
  path: string;
  /** Whether there is a file. */
  exists: boolean;
  /** The link that led to it. */
  link?: string;
}

/**
 * Finds a session file. A link to a file is followed, since people link their sessions; nothing is made through a link that leads nowhere.
 *
 * @param file Its path.
 * @returns Where it is.
 * @throws {SessionFileError} For a link that leads nowhere, for a folder, and for what is no plain file.
 */
export function findSessionFile(file: string): SessionPath {
  const named = resolve(file);
  try {
    const there = Deno.lstatSync(named);
    const path = there.isSymlink ? followLink(named) : named;
    const { isFile, isDirectory } = there.isSymlink ? Deno.statSync(path) : there;
    if (isDirectory) throw new SessionFileError(path, "is a folder; name a .jsonl file");
    if (!isFile) throw new SessionFileError(path, "is no plain file; name a .jsonl file");
    return { path, exists: true, ...there.isSymlink && { link: named } };
  } catch (error) {
    if (error instanceof SessionFileError) throw error;
    // What stands in the way of a file that is to be made is told by whoever makes it.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return { path: named, exists: false };
    }
    throw new SessionFileError(named, `cannot be read: ${errorText(error)}`, { cause: error });
  }
}

function followLink(link: string): string {
  try {
    return Deno.realPathSync(link);
  } catch (error) {
    throw new SessionFileError(
      link,
      `is a link that leads to no file (${Deno.readLinkSync(link)}), and none is made through it; remove it`,
      { cause: error },
    );
  }
}
