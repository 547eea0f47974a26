/**
 * The bytes that were approved, laid out so that relative imports lead to each other and to nothing else.
 *
 * A hook of the project is loaded from here. Between the check and the import nothing can then be exchanged in the project,
 * and a file that the approval overlooked is missing instead of unapproved.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { dirname, join, resolve } from "@std/path";
import { makePrivateFolder } from "./store.ts";

/** Bytes by path from the top of the repository. */
export type CopiedFiles = ReadonlyMap<string, Uint8Array>;

/**
 * Where a file lies in a copy. Files above the top of the repository stay above it, and within the copy.
 *
 * @param folder Folder of the copy.
 * @param paths All paths of the copy.
 * @returns The place of each path.
 */
export function copyPaths(folder: string, paths: Iterable<string>): Map<string, string> {
  const all = [...paths];
  const up = Math.max(0, ...all.map((path) => path.split("/").lastIndexOf("..") + 1));
  const top = join(folder, ...Array<string>(up).fill("up"), "root");
  // The top itself may be climbed out of as often as a path does.
  return new Map(all.map((path) => [path, resolve(top, path)]));
}

/**
 * Sees to it that a folder holds exactly these files.
 *
 * @param folder Folder of the copy.
 * @param files What it shall hold, already checked.
 * @returns The place of each file.
 */
export function ensureCopy(folder: string, files: CopiedFiles): Map<string, string> {
  const places = copyPaths(folder, files.keys());
  if (holdsExactly(folder, places, files)) return places;
  makePrivateFolder(dirname(folder));
  const temporary = `${folder}.${crypto.randomUUID()}`;
  try {
    for (const [path, place] of copyPaths(temporary, files.keys())) {
      makePrivateFolder(dirname(place));
      // Programs are started from here as well.
      Deno.writeFileSync(place, files.get(path)!, { createNew: true, mode: 0o500 });
    }
    try {
      Deno.removeSync(folder, { recursive: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    Deno.renameSync(temporary, folder);
  } catch (error) {
    try {
      Deno.removeSync(temporary, { recursive: true });
    } catch {
      // It was never made.
    }
    // Another process may have made the same copy just now.
    if (!holdsExactly(folder, places, files)) throw error;
  }
  return places;
}

function holdsExactly(folder: string, places: ReadonlyMap<string, string>, files: CopiedFiles): boolean {
  try {
    if (countFiles(folder) !== places.size) return false;
    for (const [path, place] of places) {
      if (Buffer.compare(Deno.readFileSync(place), files.get(path)!) !== 0) return false;
    }
    return true;
  } catch {
    return false;
  }
}

function countFiles(folder: string): number {
  let count = 0;
  for (const { name, isDirectory, isFile } of Deno.readDirSync(folder)) {
    if (isDirectory) count += countFiles(join(folder, name));
    // A link counts as too many.
    else count += isFile ? 1 : Infinity;
  }
  return count;
}
