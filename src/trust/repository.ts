/**
 * Which repository a folder belongs to, told without running git.
 *
 * An approval must not carry over to another repository, so its identity is not anything that a repository could bring
 * along: it is the place and the birth of its common `.git` folder. A clone, a copy and an unpacked archive have another one.
 * A worktree has that of its repository, if the repository lists it: what a `.git` file says of itself does not count.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { dirname, join, resolve, SEPARATOR } from "@std/path";
import { readRegularText } from "../discovery/regular_file.ts";
import { errorText } from "../values.ts";

/** Most bytes of a file that says where a repository is. */
const MAX_BYTES = 64 * 1024;

/** The repository, or the plain folder, that a project is. */
export interface Repository {
  /** Tells it from every other one on this machine. */
  readonly id: string;
  /** Its top folder, without links. */
  readonly root: string;
  /** Whether it is a repository of git and not just a folder. */
  readonly versioned: boolean;
}

/**
 * Tells the repository of a folder. A folder without one is a repository of its own.
 *
 * @param cwd A folder.
 * @returns Its identity and its top folder.
 * @throws {Error} When the folder cannot be looked at.
 */
export function repositoryOf(cwd: string): Repository {
  let start: string;
  try {
    start = Deno.realPathSync(cwd);
  } catch (error) {
    throw new Error(`the folder ${cwd} cannot be identified (${errorText(error)})`);
  }
  for (let root = start;; root = dirname(root)) {
    const git = join(root, ".git");
    const info = lstat(git);
    if (info !== undefined) return { id: digest(identityOf(git, info, root)), root, versioned: true };
    if (dirname(root) === root) break;
  }
  return { id: digest(["folder", ...birthOf(start)]), root: start, versioned: false };
}

/** Whether a path is a folder or lies in it; both without links. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(SEPARATOR) ? folder : folder + SEPARATOR);
}

function identityOf(git: string, info: Deno.FileInfo, root: string): unknown[] {
  if (info.isDirectory) return ["git", ...birthOf(git)];
  // From here on it is the project that says where its repository is, and it may name one that it has nothing to do with.
  const unproven = (target: string) => ["elsewhere", ...birthOf(target), ...birthOf(root)];
  if (!info.isFile) return unproven(Deno.realPathSync(git));
  const named = /^gitdir: (.+?)\s*$/.exec(readRegularText(git, MAX_BYTES))?.[1];
  if (named === undefined) throw new Error(`${git} does not say where its repository is`);
  const admin = Deno.realPathSync(resolve(root, named));
  const common = commonFolder(admin);
  return common !== undefined && listsWorktree(common, admin, git) ? ["git", ...birthOf(common)] : unproven(admin);
}

function commonFolder(admin: string): string | undefined {
  try {
    return Deno.realPathSync(resolve(admin, readRegularText(join(admin, "commondir"), MAX_BYTES).trim()));
  } catch {
    return undefined;
  }
}

/** Whether a repository itself says that a worktree is its own. */
function listsWorktree(common: string, admin: string, git: string): boolean {
  if (dirname(admin) !== join(common, "worktrees")) return false;
  try {
    const back = readRegularText(join(admin, "gitdir"), MAX_BYTES).trim();
    return Deno.realPathSync(resolve(admin, back)) === Deno.realPathSync(git);
  } catch {
    return false;
  }
}

/** Where a folder is and when it came to be: another folder put in its place differs. */
function birthOf(folder: string): unknown[] {
  const real = Deno.realPathSync(folder);
  const { ino, birthtime } = Deno.statSync(real);
  return [real, ino, birthtime?.getTime() ?? null];
}

function lstat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw new Error(`${path} cannot be looked at (${errorText(error)})`);
  }
}

function digest(parts: unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
