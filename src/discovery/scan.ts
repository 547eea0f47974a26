/**
 * Reads folders and small files for providers; each is read once until {@linkcode Scanner.invalidate}.
 *
 * @module
 */

import { dirname, join, SEPARATOR } from "@std/path";
import { errorText } from "../values.ts";
import { readRegularText } from "./regular_file.ts";

/** One name in a folder. */
export interface FolderEntry {
  /** The name, as the file system has it. */
  readonly name: string;
  /** What it is, after links have been followed; `dangling` for a link that leads nowhere. */
  readonly kind: "file" | "directory" | "dangling" | "other";
  /** The absolute path without links, or the path itself where there is none. */
  readonly realPath: string;
}

/** What a folder holds, or why that cannot be said. A folder that does not exist is empty. */
export interface FolderListing {
  /** What it holds, in name order. */
  readonly entries: readonly FolderEntry[];
  /** Why it could not be read, in one sentence. */
  readonly fault?: string;
}

/** How often the cache was asked, and how often it knew. */
export interface CacheStats {
  /** Folders and files in the cache. */
  size: number;
  /** Questions that it answered. */
  hits: number;
  /** Questions that went to the disk. */
  misses: number;
}

/** Reads folders and files, and remembers them. */
export class Scanner {
  readonly #folders = new Map<string, FolderListing>();
  readonly #files = new Map<string, string | undefined>();
  #hits = 0;
  #misses = 0;

  /**
   * Lists a folder.
   *
   * @param path The folder.
   * @param realPath Its path without links, from the listing of the folder that it is in; then it is known to exist.
   * @returns What it holds; nothing when it does not exist.
   */
  folder(path: string, realPath?: string): FolderListing {
    return this.#remember(this.#folders, path, () => {
      const known = realPath ?? this.#known(path);
      return known === MISSING ? NOTHING : listFolder(path, known);
    });
  }

  /**
   * Reads a text file.
   *
   * @param path The file.
   * @returns Its text; `undefined` when there is no such file.
   * @throws {Error} When it is there and cannot be read.
   */
  text(path: string): string | undefined {
    return this.#remember(this.#files, path, () => {
      if (this.#known(path) === MISSING) return undefined;
      try {
        return readRegularText(path, MAX_TEXT);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw new Error(`${path} ${unreadable(error, path)}`);
      }
    });
  }

  /** Forgets everything, so that the next question goes to the disk. */
  invalidate(): void {
    this.#folders.clear();
    this.#files.clear();
  }

  /** How much the cache has saved. */
  stats(): CacheStats {
    return { size: this.#folders.size + this.#files.size, hits: this.#hits, misses: this.#misses };
  }

  /**
   * What the folder that a path is in says of it: its real path, {@linkcode MISSING}, or nothing. A tool keeps all that is its
   * own in one folder whose name begins with a dot, so that one listing answers for much that is not there.
   */
  #known(path: string): string | typeof MISSING | undefined {
    const parent = dirname(path);
    if (!/[/\\]\.[^/\\]+(?:[/\\][^/\\]+)?$/.test(parent)) return undefined;
    const { entries, fault } = this.folder(parent);
    if (fault !== undefined) return undefined;
    const name = path.slice(parent.length + 1);
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry === undefined) return MISSING;
    return entry.kind === "directory" ? entry.realPath : undefined;
  }

  #remember<T>(cache: Map<string, T>, key: string, read: () => T): T {
    if (cache.has(key)) {
      this.#hits++;
      return cache.get(key)!;
    }
    this.#misses++;
    const value = read();
    cache.set(key, value);
    return value;
  }
}

/** Most bytes of a settings file or a list. */
const MAX_TEXT = 4 * 1024 * 1024;
const MISSING = Symbol("missing");
const NOTHING: FolderListing = { entries: [] };

/** Asked first, since most folders of most providers are missing, and to fail at reading takes longer than to look. */
function isMissingEntry(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return false;
  } catch (error) {
    // Of any other fault, reading itself says more.
    return isMissing(error);
  }
}

function listFolder(path: string, realPath?: string): FolderListing {
  const found: Deno.DirEntry[] = [];
  if (realPath === undefined && isMissingEntry(path)) return NOTHING;
  try {
    for (const entry of Deno.readDirSync(path)) found.push(entry);
  } catch (error) {
    if (!isMissing(error)) return { entries: [], fault: `${path} ${unreadable(error, path)}` };
    const target = linkTarget(path);
    if (target === undefined) return NOTHING;
    return {
      entries: [],
      fault: `${path} is a link to ${target}, which does not exist, so no hook in it can be found`,
    };
  }
  if (found.length === 0) return NOTHING;
  const folder = realPath ?? realPathOf(path);
  found.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  return { entries: found.map((entry) => classify(entry, path, folder)) };
}

function classify(entry: Deno.DirEntry, path: string, folder: string): FolderEntry {
  const { name } = entry;
  // Most entries are no links: then the folder's real path is all that is needed.
  if (!entry.isSymlink) {
    const kind = entry.isFile ? "file" : entry.isDirectory ? "directory" : "other";
    return { name, kind, realPath: folder + SEPARATOR + name };
  }
  const own = join(path, name);
  try {
    const info = Deno.statSync(own);
    const kind = info.isFile ? "file" : info.isDirectory ? "directory" : "other";
    return { name, kind, realPath: realPathOf(own) };
  } catch {
    return { name, kind: "dangling", realPath: own };
  }
}

/**
 * The path without links.
 *
 * @param path A path.
 * @returns Its real path; for what does not exist, the real path of the nearest folder that does, and the rest.
 */
export function realPathOf(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), path.slice(parent.length));
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound;
}

function unreadable(error: unknown, path: string): string {
  if (error instanceof Deno.errors.NotADirectory) return "is not a folder, so no hook in it can be found";
  if (error instanceof Deno.errors.IsADirectory) return "is a folder, not a file";
  if (error instanceof Deno.errors.NotCapable) return `may not be read; grant it with --allow-read=${path}`;
  if (error instanceof Deno.errors.PermissionDenied) return "may not be read by this user; correct its mode or owner";
  return `cannot be read (${errorText(error)})`;
}
