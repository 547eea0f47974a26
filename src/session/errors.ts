/**
 * What can go wrong with the file of a session.
 *
 * @module
 */

/** A file that cannot be opened as a session. It has been left as it is. */
export class SessionFileError extends Error {
  /** Tells it from other errors. */
  override name = "SessionFileError";
  /** The file. */
  readonly path: string;

  /**
   * Says what is wrong with a file.
   *
   * @param path The file.
   * @param problem What is wrong with it and what to do, as the rest of a sentence that begins with the path.
   * @param options The cause, when another error is behind it.
   */
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`Session file ${path} ${problem}`, options);
    this.path = path;
  }
}

/** Another process, or another session of this one, has the file open for writing. */
export class SessionLockedError extends SessionFileError {
  /** Tells it from other errors. */
  override name = "SessionLockedError";
  /** The owner's process id, when it could be read. */
  readonly pid: number | undefined;

  /**
   * Says who has the file.
   *
   * @param path The file.
   * @param pid The owner's process id.
   */
  constructor(path: string, pid: number | undefined) {
    const owner = pid === undefined ? "another process" : pid === Deno.pid ? `this process (${pid})` : `process ${pid}`;
    super(path, `is in use by ${owner}; end that one first, or open the file read-only`);
    this.pid = pid;
  }
}

/** Entries that could not be written. They are in memory, and every later append tries again to write them. */
export class SessionSaveError extends Error {
  /** Tells it from other errors. */
  override name = "SessionSaveError";
  /** The file. */
  readonly path: string;

  /**
   * Says why entries could not be written.
   *
   * @param path The file.
   * @param problem What went wrong.
   * @param options The cause.
   */
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`The session is not saved: ${path}: ${problem}`, options);
    this.path = path;
  }
}
