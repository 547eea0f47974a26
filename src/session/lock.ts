/**
 * One writer for each session file.
 *
 * @module
 */

import { SessionFileError, SessionLockedError } from "./errors.ts";
import { isSameFile, openOwnFile } from "./own_file.ts";

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
   * @throws {SessionFileError} When a link or a file that is no lock is where the lock belongs. It has been left as it is.
   */
  static acquire(sessionFile: string): SessionLock {
    const path = `${sessionFile}.lock`;
    for (;;) {
      const file = openOwnFile(path);
      if (!file.tryLockSync(true)) {
        file.close();
        throw new SessionLockedError(sessionFile, readPid(path));
      }
      // The owner before may have removed the file between our opening and our locking it: then it locks nobody out.
      if (!isSameFile(path, file)) {
        file.close();
        continue;
      }
      if (!isLock(file)) {
        file.close();
        throw new SessionFileError(path, "is no lock of a session, and its name is needed for one; move it away");
      }
      file.truncateSync();
      file.seekSync(0, Deno.SeekMode.Start);
      file.writeSync(new TextEncoder().encode(`${Deno.pid}\n`));
      return new SessionLock(path, file);
    }
  }

  /** Gives the lock back. */
  release(): void {
    try {
      if (isSameFile(this.#path, this.#file)) Deno.removeSync(this.#path);
    } catch {
      // Removed by somebody else, or not removable: without the lock in it, it does no harm.
    }
    this.#file.close();
  }
}

/** Whether a file holds what locks hold: a process id, or nothing. */
function isLock(file: Deno.FsFile): boolean {
  const bytes = new Uint8Array(32);
  const count = file.readSync(bytes) ?? 0;
  return /^\d{0,20}\r?\n?$/.test(new TextDecoder().decode(bytes.subarray(0, count)));
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number.parseInt(Deno.readTextFileSync(path), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}
