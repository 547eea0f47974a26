/**
 * How a command ends when it does not end well.
 *
 * @module
 */

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  /** Tells it from other errors. */
  override name = "UsageError";
}

/** The command ends with an exit code; what there is to say has been said. */
export class ExitError extends Error {
  /** Tells it from other errors. */
  override name = "ExitError";
  /** The exit code. */
  readonly code: number;

  /** @param code The exit code. */
  constructor(code: number) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

/** A hook failed to load, a gate broke, or the work could not be done. */
export const EXIT_FAILED = 1;
/** The command was called wrongly. */
export const EXIT_USAGE = 2;
/** Who read the output has gone, as a program says that SIGPIPE ends. */
export const EXIT_PIPE = 141;
