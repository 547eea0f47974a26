/**
 * Runs programs: no shell, no standard input, a bound on time and output, and nothing left running afterwards.
 *
 * @module
 */

import process from "node:process";
import type { ExecOptions, ExecResult } from "./api.ts";
import { errorText, kindOf } from "./values.ts";

const DEFAULT_MAX_OUTPUT = 50 * 1024 * 1024;
/** How long a program may take to end after SIGTERM, in ms. */
const KILL_AFTER = 1_000;
/** How long a pipe that a grandchild holds open is read after the program has ended, in ms. */
const DRAIN_AFTER_EXIT = 100;
const SIGNAL_NUMBERS: Partial<Record<Deno.Signal, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

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
  /** Whether it gets a process group of its own, by which all that it starts can be ended; default true. */
  detached?: boolean;
}

/** As {@linkcode execCommand}, for callers inside. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ExecResult> {
  requireCall(command, args);
  const limit = options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT;
  const tree = new ProcessTree(start(command, args, options), options.detached ?? true);
  const { child } = tree;
  const end = () => tree.end();
  const timer = options.timeout !== undefined && options.timeout > 0 ? setTimeout(end, options.timeout) : undefined;
  options.signal?.addEventListener("abort", end, { once: true });
  if (options.signal?.aborted) end();
  const stdout = new Capture(child.stdout, limit, end);
  const stderr = new Capture(child.stderr, limit, end);
  try {
    const { code, signal } = await child.status;
    clearTimeout(timer);
    await Promise.all([tree.ended(), drain(stdout, stderr)]);
    const killed = tree.killed;
    const exitCode = signal === null ? code : 128 + (SIGNAL_NUMBERS[signal] ?? 0);
    return { stdout: stdout.text(), stderr: stderr.text(), code: killed && exitCode === 0 ? 143 : exitCode, killed };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", end);
    tree.forget();
  }
}

let signalsHandledByHost = false;

/**
 * Says that this program ends its runs by itself when it gets SIGINT, SIGTERM or SIGHUP. Otherwise {@linkcode execCommand}
 * does so while a program runs: programs are in process groups of their own, which a terminal's Ctrl-C does not reach, so the
 * signal is passed on to them and then ends this process as it would have.
 */
export function handleSignalsInHost(): void {
  signalsHandledByHost = true;
  updateSignalListeners();
}

function requireCall(command: unknown, args: unknown): void {
  if (typeof command !== "string" || command === "") {
    throw new TypeError(`exec needs the name of a program, not ${kindOf(command)}; call exec("git", ["status"])`);
  }
  if (!Array.isArray(args)) {
    const [program = command, ...rest] = command.trim().split(/\s+/);
    const call = `exec(${JSON.stringify(program)}, ${JSON.stringify(rest).replaceAll(",", ", ")})`;
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

function start(command: string, args: readonly string[], options: ProgramOptions): Deno.ChildProcess {
  const { cwd, env, clearEnv = false, detached = true } = options;
  try {
    return new Deno.Command(command, {
      args: [...args],
      cwd,
      clearEnv,
      ...(env === undefined ? {} : { env }),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      detached: detached && Deno.build.os !== "windows",
    }).spawn();
  } catch (error) {
    throw new ExecError(`Cannot run ${JSON.stringify(command)}: ${startFailure(error, command, cwd)}`, {
      cause: error,
    });
  }
}

function startFailure(error: unknown, command: string, cwd: string): string {
  const flag = `--allow-run=${command}`;
  if (error instanceof Deno.errors.NotCapable) return `it is not permitted; grant it with ${flag}`;
  let cwdFault = "";
  try {
    if (!Deno.statSync(cwd).isDirectory) cwdFault = "is not a directory";
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) cwdFault = "does not exist";
  }
  if (cwdFault !== "") return `its working directory ${cwd} ${cwdFault} (the program itself needs ${flag})`;
  if (error instanceof Deno.errors.NotFound) {
    return `there is no such program on the PATH; install it, and grant it with ${flag}`;
  }
  return `${errorText(error)} (running it needs ${flag})`;
}

/** A program and all that it starts. */
class ProcessTree {
  killed = false;
  #killAt = 0;
  #killTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly child: Deno.ChildProcess, readonly group: boolean) {
    running.add(this);
    updateSignalListeners();
  }

  /** Asks it to end; what is left after a second is killed. */
  end(signal: Deno.Signal = "SIGTERM"): void {
    if (this.killed) return;
    this.killed = true;
    this.#killAt = performance.now() + KILL_AFTER;
    this.#killTimer = setTimeout(() => this.signal("SIGKILL"), KILL_AFTER);
    this.signal(signal);
  }

  signal(signal: Deno.Signal): void {
    const { pid } = this.child;
    try {
      if (Deno.build.os === "windows") {
        new Deno.Command("taskkill", { args: ["/pid", String(pid), "/t", "/f"], stdout: "null", stderr: "null" })
          .outputSync();
      } else if (this.group) {
        Deno.kill(-pid, signal);
      } else {
        this.child.kill(signal);
      }
    } catch {
      // The group is gone, or only the program itself may be signalled.
      try {
        this.child.kill(signal);
      } catch {
        // It has ended.
      }
    }
  }

  /** Resolves when nothing of a tree that was told to end is left, at the latest when the rest is killed. */
  async ended(): Promise<void> {
    if (!this.killed) return;
    while (performance.now() < this.#killAt && this.#lives()) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.signal("SIGKILL");
  }

  #lives(): boolean {
    if (!this.group) return false;
    try {
      process.kill(-this.child.pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  forget(): void {
    clearTimeout(this.#killTimer);
    running.delete(this);
    updateSignalListeners();
  }
}

/** Keeps what a stream brings, up to a limit. */
class Capture {
  readonly done: Promise<void>;
  readonly #chunks: Uint8Array[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #size = 0;
  #cut = false;

  constructor(stream: ReadableStream<Uint8Array>, readonly limit: number, readonly onCut: () => void) {
    this.#reader = stream.getReader();
    this.done = this.#read();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#reader.read();
        if (done) return;
        const room = this.limit - this.#size;
        if (value.length > room) {
          this.#chunks.push(value.subarray(0, room));
          this.#cut = true;
          this.onCut();
          return await this.stop();
        }
        this.#chunks.push(value);
        this.#size += value.length;
      }
    } catch {
      // The pipe broke: what came before it did is what there is.
    }
  }

  stop(): Promise<void> {
    return this.#reader.cancel().catch(() => {});
  }

  text(): string {
    const bytes = new Uint8Array(this.#chunks.reduce((size, chunk) => size + chunk.length, 0));
    let offset = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, offset);
      offset += chunk.length;
    }
    const text = new TextDecoder().decode(bytes);
    return this.#cut ? `${text}\n[output cut: more than ${this.limit} bytes]\n` : text;
  }
}

/** Waits for the rest of the output, but not for a grandchild that keeps a pipe open. */
async function drain(...captures: Capture[]): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, DRAIN_AFTER_EXIT));
  await Promise.race([Promise.all(captures.map((capture) => capture.done)), late]);
  clearTimeout(timer);
  await Promise.all(captures.map((capture) => capture.stop()));
}

const running = new Set<ProcessTree>();
const FORWARDED: readonly Deno.Signal[] = Deno.build.os === "windows" ? [] : ["SIGINT", "SIGTERM", "SIGHUP"];
const listeners = FORWARDED.map((signal) => [signal, () => void passOn(signal)] as const);
let listening = false;

function updateSignalListeners(): void {
  const listen = running.size > 0 && !signalsHandledByHost;
  if (listen === listening) return;
  listening = listen;
  for (const [signal, listener] of listeners) {
    if (listen) Deno.addSignalListener(signal, listener);
    else Deno.removeSignalListener(signal, listener);
  }
}

async function passOn(signal: Deno.Signal): Promise<void> {
  const trees = [...running];
  for (const tree of trees) {
    tree.end(signal);
  }
  await Promise.all(trees.map((tree) => tree.ended()));
  signalsHandledByHost = true;
  updateSignalListeners();
  try {
    Deno.kill(Deno.pid, signal);
  } catch {
    // Signalling needs an unscoped --allow-run; a shell's way of saying the same does not.
    Deno.exit(128 + (SIGNAL_NUMBERS[signal] ?? 0));
  }
}

globalThis.addEventListener("unload", () => {
  for (const tree of running) tree.signal("SIGKILL");
});
