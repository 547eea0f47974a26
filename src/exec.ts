/**
 * Runs programs: no shell, no standard input, a bound on time and output, and nothing left running afterwards.
 *
 * @module
 */

import type { ExecOptions, ExecResult } from "./api.ts";
import { exitCodeOfSignal, ProcessTree } from "./process_tree.ts";
import { errorText, kindOf, LONGEST_DELAY } from "./values.ts";

export { handleSignalsInHost } from "./process_tree.ts";

const DEFAULT_MAX_OUTPUT = 50 * 1024 * 1024;
/** How long a pipe may bring nothing after the program has ended, before a grandchild is taken to hold it open, in ms. */
const IDLE_AFTER_EXIT = 50;
/** How long such a pipe is read at most, in ms. */
const DRAIN_AFTER_EXIT = 1_000;

/** A program that could not be started. */
export class ExecError extends Error {
  /** Tells it from other errors. */
  override name = "ExecError";
}

/**
 * Runs a program and waits for its end. A non-zero exit code is a result like any other.
 *
 * When time is up, the signal aborts or the output is too long, the program and all that it started get SIGTERM, and
 * SIGKILL a second later. What it printed until then is kept. Ending the whole tree needs an unscoped `--allow-run`;
 * with `--allow-run=name` only the program itself is ended.
 *
 * @param command Name or path of the program.
 * @param args Its arguments, passed on as they are.
 * @param cwd The folder it runs in.
 * @param options `timeout` (ms), `signal`, `env`, `maxOutputBytes`.
 * @returns Output, exit code and whether it was ended by us; then `code` is never 0.
 * @throws {TypeError} When `args` is no array of strings.
 * @throws {ExecError} When the program or the folder is missing, or running it is not permitted.
 *
 * @example
 * ```ts
 * import { execCommand } from "@xcsh/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * const { stdout, code } = await execCommand("echo", ["$HOME"], ".");
 * assertEquals([stdout, code], ["$HOME\n", 0]);
 * ```
 */
export function execCommand(
  command: string,
  args: readonly string[],
  cwd: string,
  options: ExecOptions = {},
): Promise<ExecResult> {
  return runProgram(command, args, { ...options, cwd });
}

/** What {@linkcode runProgram} takes beyond {@linkcode ExecOptions}. */
export interface ProgramOptions extends ExecOptions {
  /** The folder it runs in. */
  cwd: string;
  /** Whether `env` is all that it sees of an environment. */
  clearEnv?: boolean;
  /** What it reads from its standard input, which is empty otherwise. */
  input?: string;
  /** Whether it may leave the process group of this process; default true. */
  detached?: boolean;
  /** What it shares with other programs, beyond its own bound on output. */
  budget?: OutputBudget;
}

/** How much output several programs may hold together. */
export class OutputBudget {
  #left: number;

  /** @param bytes How much. */
  constructor(readonly bytes: number) {
    this.#left = bytes;
  }

  /** Takes as much as there is of what is wanted. */
  take(wanted: number): number {
    const taken = Math.min(wanted, this.#left);
    this.#left -= taken;
    return taken;
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.#left += bytes;
  }
}

/** As {@linkcode execCommand}, for callers inside. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ExecResult> {
  requireCall(command, args);
  const { timeout = 0, signal, maxOutputBytes = DEFAULT_MAX_OUTPUT } = options;
  const tree = start(command, args, options);
  const { child } = tree;
  const end = () => tree.end();
  const timer = timeout > 0 ? setTimeout(end, Math.min(timeout, LONGEST_DELAY)) : undefined;
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  const stdout = new Capture(child.stdout, maxOutputBytes, end, options.budget);
  const stderr = new Capture(child.stderr, maxOutputBytes, end, options.budget);
  const feed = options.input === undefined ? undefined : new Feed(child.stdin, options.input);
  try {
    const status = await child.status;
    // What comes after the end of the program no longer ends it.
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    await tree.ended();
    await drain(stdout, stderr);
    // Too much may have come only now.
    await tree.ended();
    const { killed } = tree;
    const code = status.signal === null ? status.code : exitCodeOfSignal(status.signal);
    return { stdout: stdout.text(), stderr: stderr.text(), code: killed && code === 0 ? 143 : code, killed };
  } finally {
    tree.forget();
    options.budget?.give(stdout.size + stderr.size);
    await feed?.stop();
  }
}

function requireCall(command: unknown, args: unknown): void {
  if (typeof command !== "string" || command === "") {
    throw new TypeError(`exec needs the name of a program, not ${kindOf(command)}; call exec("git", ["status"])`);
  }
  if (!Array.isArray(args)) {
    const [program = command, ...rest] = command.trim().split(/\s+/);
    const call = `exec(${JSON.stringify(program)}, [${rest.map((arg) => JSON.stringify(arg)).join(", ")}])`;
    throw new TypeError(
      `The arguments of exec must be an array, not ${
        kindOf(args)
      }: call ${call}; for a shell line call exec("sh", ["-c", ${JSON.stringify(command)}])`,
    );
  }
  const wrong = args.findIndex((arg) => typeof arg !== "string");
  if (wrong !== -1) {
    throw new TypeError(
      `Argument ${wrong} of exec(${JSON.stringify(command)}) is ${kindOf(args[wrong])}, not a string`,
    );
  }
}

function start(command: string, args: readonly string[], options: ProgramOptions): ProcessTree {
  const { cwd, env, clearEnv = false, detached = true } = options;
  try {
    return new ProcessTree((tree) =>
      new Deno.Command(command, {
        args: [...args],
        cwd,
        clearEnv,
        env: { ...env, ...tree.env },
        stdin: options.input === undefined ? "null" : "piped",
        stdout: "piped",
        stderr: "piped",
        detached: tree.detached,
      }).spawn(), detached);
  } catch (error) {
    throw new ExecError(`Cannot run ${JSON.stringify(command)}: ${startFailure(error, command, cwd)}`, {
      cause: error,
    });
  }
}

function startFailure(error: unknown, command: string, cwd: string): string {
  const flag = `--allow-run=${command}`;
  if (error instanceof Deno.errors.NotCapable) return `it is not permitted; grant it with ${flag}`;
  const fault = cwdFault(cwd);
  if (fault !== undefined) return `its working directory ${cwd} ${fault} (the program itself needs ${flag})`;
  if (error instanceof Deno.errors.NotFound) {
    return `there is no such program on the PATH; install it, and grant it with ${flag}`;
  }
  return `${errorText(error)} (running it needs ${flag})`;
}

function cwdFault(cwd: string): string | undefined {
  // Asking first, since at a terminal a denied access would ask the person.
  if (Deno.permissions.querySync({ name: "read", path: cwd }).state !== "granted") return undefined;
  try {
    return Deno.statSync(cwd).isDirectory ? undefined : "is not a directory";
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "does not exist" : undefined;
  }
}

/** Writes to a program, whether or not it reads. */
class Feed {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(stream: WritableStream<Uint8Array>, input: string) {
    this.#writer = stream.getWriter();
    // It may end, or close its standard input, before it has read all of this.
    this.#writer.write(new TextEncoder().encode(input)).then(() => this.#writer.close()).catch(() => {});
    this.#writer.closed.catch(() => {});
  }

  async stop(): Promise<void> {
    await this.#writer.abort().catch(() => {});
  }
}

/** Keeps what a stream brings, up to a limit. */
class Capture {
  readonly done: Promise<void>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  // Chunks are copied together, since each of them, however small, holds a buffer of 64 KiB.
  #bytes = new Uint8Array(0);
  #size = 0;
  #cut = false;
  #notice = "";

  constructor(
    stream: ReadableStream<Uint8Array>,
    readonly limit: number,
    readonly onCut: () => void,
    readonly budget?: OutputBudget,
  ) {
    this.#reader = stream.getReader();
    this.done = this.#read();
  }

  get size(): number {
    return this.#size;
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#reader.read();
        if (done) return;
        const wanted = Math.min(value.length, this.limit - this.#size);
        const room = this.budget?.take(wanted) ?? wanted;
        this.#keep(value.subarray(0, room));
        if (value.length <= room) continue;
        this.#cut = true;
        this.#notice = room < wanted
          ? `the programs that run at once hold more than ${this.budget!.bytes} bytes together`
          : `more than ${this.limit} bytes`;
        this.onCut();
        return await this.stop();
      }
    } catch {
      // The pipe broke: what came before it did is what there is.
    }
  }

  #keep(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(size, Math.min(2 * this.#bytes.length, this.limit)));
      grown.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.#size);
    this.#size = size;
  }

  stop(): Promise<void> {
    return this.#reader.cancel().catch(() => {});
  }

  text(): string {
    // As a stream that goes on, so that a character that the cut goes through is left out.
    const text = new TextDecoder("utf-8", { ignoreBOM: true })
      .decode(this.#bytes.subarray(0, this.#size), { stream: this.#cut });
    return this.#cut ? `${text}\n[output cut: ${this.#notice}]\n` : text;
  }
}

/** Waits for the rest of the output, but not for a grandchild that keeps a pipe open. */
async function drain(...captures: Capture[]): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = (async () => {
    const size = () => captures.reduce((sum, capture) => sum + capture.size, 0);
    const until = performance.now() + DRAIN_AFTER_EXIT;
    // Idle twice, since after a pause of this process itself the timer comes before what the pipe has brought.
    for (let idle = 0, before = size(); idle < 2 && performance.now() < until; before = size()) {
      await new Promise<void>((resolve) => timer = setTimeout(resolve, IDLE_AFTER_EXIT));
      idle = size() === before ? idle + 1 : 0;
    }
  })();
  await Promise.race([Promise.all(captures.map((capture) => capture.done)), late]);
  clearTimeout(timer);
  await Promise.all(captures.map((capture) => capture.stop()));
}
