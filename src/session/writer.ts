/**
 * Appends lines to a session file so that a line that was written stays written.
 *
 * @module
 */

import { dirname } from "@std/path";
import { errorText } from "../values.ts";
import { SessionFileError, SessionSaveError } from "./errors.ts";
import { SessionLock } from "./lock.ts";
import { createOwnFile, isSameFile, openOwnFile, reopenOwnFile } from "./own_file.ts";
import type { TornTail } from "./reader.ts";

/** What {@linkcode SessionWriter} must know of a file that is there already. */
export interface ExistingFile {
  /** Bytes up to the end of the last whole line. */
  size: number;
  /** Whether that line lacks its newline. */
  needsNewline: boolean;
  /** What comes after it. */
  torn?: TornTail;
}

/**
 * The only thing that writes to a session file. Each batch of lines goes out in one write; what a failed write left behind is cut
 * off again, and nothing that was there before is ever changed.
 */
export class SessionWriter {
  /** The file. */
  readonly path: string;
  #existing: ExistingFile | undefined;
  #refusal: string | undefined;
  readonly #encoder = new TextEncoder();
  #lock: SessionLock | undefined;
  #file: Deno.FsFile | undefined;
  #size = 0;

  /**
   * @param path The file; it is made by the first append.
   */
  constructor(path: string) {
    this.path = path;
  }

  /** Goes on in a file that is there already. */
  continueAt(existing: ExistingFile): void {
    this.#existing = existing;
  }

  /** Whether this writer has the file open. */
  get hasFile(): boolean {
    return this.#file !== undefined;
  }

  /** Makes every append fail, and locks nobody out. */
  refuse(why: string): void {
    this.#refusal = why;
  }

  /**
   * Keeps others from writing.
   *
   * @throws {SessionLockedError} When another writer has the file.
   * @throws {SessionSaveError} When the folder cannot be written to.
   */
  lock(): void {
    if (this.#refusal !== undefined) throw new SessionSaveError(this.path, this.#refusal);
    if (this.#lock !== undefined) return;
    try {
      Deno.mkdirSync(dirname(this.path), { recursive: true });
      this.#lock = SessionLock.acquire(this.path);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /**
   * Writes lines, all or none.
   *
   * @param lines What to write, without the newlines.
   * @throws {SessionSaveError} When it was not written.
   */
  append(lines: readonly string[]): void {
    this.lock();
    const bytes = this.#encoder.encode(lines.join("\n") + "\n");
    try {
      if (this.#file === undefined && this.#existing === undefined) {
        this.#file = create(this.path, bytes);
      } else {
        this.#file ??= this.#reopen(this.#existing!);
        writeAll(this.#file, bytes);
      }
    } catch (error) {
      this.#undo();
      throw this.#failed(error);
    }
    this.#size += bytes.length;
  }

  /**
   * Makes sure that what was written outlasts a power failure.
   *
   * @returns `false` when the file is no longer where it was: then what was written to it is gone for others.
   * @throws {SessionSaveError} When the disk says no.
   */
  flush(): boolean {
    if (this.#file === undefined) return true;
    try {
      this.#file.syncDataSync();
    } catch (error) {
      throw this.#failed(error);
    }
    return isSameFile(this.path, this.#file);
  }

  /** As {@linkcode SessionWriter.flush}, without waiting on the thread of the program. */
  async flushSoon(): Promise<boolean> {
    const file = this.#file;
    if (file === undefined) return true;
    try {
      await file.syncData();
    } catch (error) {
      // Closed meanwhile, which flushes too.
      if (this.#file !== file) return true;
      throw this.#failed(error);
    }
    return this.#file !== file || isSameFile(this.path, file);
  }

  /** Gives file and lock back. May be called again. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#lock?.release();
    this.#lock = undefined;
  }

  #reopen(existing: ExistingFile): Deno.FsFile {
    const file = reopenOwnFile(this.path, { append: true });
    try {
      const found = file.statSync().size;
      if (found !== existing.size + (existing.torn?.length ?? 0)) {
        throw new Error(`it has changed since it was opened (${found} bytes now); open it again`);
      }
      if (existing.torn !== undefined) setAside(this.path, existing.torn);
      if (existing.needsNewline) writeAll(file, new Uint8Array([10]));
    } catch (error) {
      file.close();
      throw error;
    }
    this.#size = existing.size + (existing.needsNewline ? 1 : 0);
    return file;
  }

  #undo(): void {
    try {
      this.#file?.truncateSync(this.#size);
      this.#file?.seekSync(0, Deno.SeekMode.End);
    } catch {
      // The torn line is recognised when the file is opened again.
    }
  }

  #failed(cause: unknown): Error {
    if (cause instanceof SessionSaveError || cause instanceof SessionFileError) return cause;
    if (cause instanceof Deno.errors.AlreadyExists) {
      return new SessionSaveError(this.path, "the file has been made by somebody else meanwhile; name another one", {
        cause,
      });
    }
    return new SessionSaveError(this.path, errorText(cause), { cause });
  }
}

/** Makes a file that has either all of its first content or no name, and that never takes another one's place. */
function create(path: string, bytes: Uint8Array): Deno.FsFile {
  const part = `${path}.${crypto.randomUUID()}.part`;
  const file = createOwnFile(part);
  try {
    writeAll(file, bytes);
    file.syncSync();
    publish(part, path);
    syncFolder(dirname(path));
    return file;
  } catch (error) {
    file.close();
    remove(part);
    throw error;
  }
}

function publish(part: string, path: string): void {
  try {
    Deno.linkSync(part, path);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists || exists(path)) throw error;
    // A file system without hard links.
    Deno.renameSync(part, path);
    return;
  }
  remove(part);
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // What is left over is never read.
  }
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
}

/** Copies a torn line to a file of its own before it is cut off. */
function setAside(path: string, torn: TornTail): void {
  using source = reopenOwnFile(path);
  const bytes = new Uint8Array(torn.length);
  source.seekSync(torn.offset, Deno.SeekMode.Start);
  for (let done = 0; done < bytes.length;) {
    const count = source.readSync(bytes.subarray(done));
    if (count === null) break;
    done += count;
  }
  using aside = openOwnFile(`${path}.torn`);
  aside.seekSync(0, Deno.SeekMode.End);
  writeAll(aside, bytes);
  writeAll(aside, new Uint8Array([10]));
  aside.syncSync();
  source.truncateSync(torn.offset);
}

/** Makes the name of a new file outlast a power failure, where the platform can. */
function syncFolder(folder: string): void {
  try {
    using handle = Deno.openSync(folder, { read: true });
    handle.syncSync();
  } catch {
    // Windows cannot, and without it the file's content is as safe.
  }
}
