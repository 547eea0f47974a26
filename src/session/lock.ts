/**
 * One writer for each session file.
 *
 * @module
 */

import { SessionLockedError } from "./errors.ts";

/**
 * The right to write to a session file: a lock of the operating system on a file beside it. It ends with the process,
 * whatever happens to it, so a lock file that a crash left behind is never taken for a living owner. The lock file holds
 * the owner's process id, for the error that a second one gets.
 */
export class SessionLock {
  readonly #path: string;
  readonly #file: Deno.FsFile;

  private constructor(path: string, file: Deno.FsFile) {
    this.#path = path;
    this.#file = file;
  }

  /**
   * Takes the lock.
   *
   * @param sessionFile The session file.
   * @returns The lock, to be released.
   * @throws {SessionLockedError} When another owner lives.
   */
  static acquire(sessionFile: string): SessionLock {
    const path = `${sessionFile}.lock`;
    for (;;) {
      const file = Deno.openSync(path, { create: true, read: true, write: true });
      if (!file.tryLockSync(true)) {
        file.close();
        throw new SessionLockedError(sessionFile, readPid(path));
      }
      // The owner before may have removed the file between our opening and our locking it: then it locks nobody out.
      if (!isSameFile(path, file)) {
        file.close();
        continue;
      }
      file.truncateSync();
      file.writeSync(new TextEncoder().encode(`${Deno.pid}\n`));
      return new SessionLock(path, file);
    }
  }

  /** Gives the lock back. */
  release(): void {
    try {
      Deno.removeSync(this.#path);
    } catch {
      // Removed by somebody else, or not removable: without the lock in it, it does no harm.
    }
    this.#file.close();
  }
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number.parseInt(Deno.readTextFileSync(path), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}

/**
 * Whether an open file is still the one that its path leads to.
 *
 * @param path The path.
 * @param file The open file.
 * @returns `false` when the file was removed or replaced.
 */
export function isSameFile(path: string, file: Deno.FsFile): boolean {
  try {
    const there = Deno.statSync(path);
    const here = file.statSync();
    return there.ino === here.ino && there.dev === here.dev;
  } catch {
    return false;
  }
}
