import type { ExecOptions, ExecResult } from "../api.ts";

/** How a program answers in a test: its standard output, a result whose missing fields are those of a success, or a failure to start. */
export type ExecAnswer = string | Partial<ExecResult> | Error;

/**
 * The programs that a test has. Either answers by command line, as `{ "git status --porcelain": " M a.ts\n" }`, or a
 * function; one that gives `undefined` does not know the program.
 */
export type ExecAnswers =
  | Readonly<Record<string, ExecAnswer>>
  | ((
    command: string,
    args: string[],
    options: ExecOptions,
  ) => ExecAnswer | undefined | Promise<ExecAnswer | undefined>);

/** A program that a hook ran. */
export interface RecordedExec {
  /** The program. */
  command: string;
  /** Its arguments. */
  args: string[];
  /** The options of the call. */
  options: ExecOptions;
}

/**
 * Makes a `pi.exec` that runs nothing.
 *
 * @param answers The programs that there are.
 * @param calls Gets each call.
 * @param fault Told of calls that have no answer; makes the error.
 */
export function recordedExec(
  answers: ExecAnswers,
  calls: RecordedExec[],
  fault: (message: string) => Error,
): (command: string, args: string[], options?: ExecOptions) => Promise<ExecResult> {
  return async (command, args, options = {}) => {
    if (!Array.isArray(args)) throw fault(`exec(${JSON.stringify(command)}, …) needs its arguments as an array`);
    calls.push({ command, args: [...args], options });
    const line = [command, ...args].join(" ");
    const answer = typeof answers === "function"
      ? await answers(command, args, options)
      : Object.hasOwn(answers, line)
      ? answers[line]
      : undefined;
    if (answer === undefined) {
      throw fault(
        `The hook ran ${JSON.stringify(line)}, and the test has no answer: give exec: { ${JSON.stringify(line)}: "…" }`,
      );
    }
    if (answer instanceof Error) throw answer;
    const result = typeof answer === "string" ? { stdout: answer } : answer;
    return { stdout: "", stderr: "", code: 0, killed: false, ...result };
  };
}
