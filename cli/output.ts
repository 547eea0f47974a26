/**
 * All that the command line prints goes through here.
 *
 * @module
 */

import type { Theme } from "../src/api.ts";
import { settle } from "../src/session/wait.ts";
import { plainTheme } from "../src/ui/noop.ts";
import { colourTheme } from "../src/ui/theme.ts";
import { WriteQueue } from "./write_queue.ts";

interface Stream {
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

const encoder = new TextEncoder();
/** How long the end waits for whoever should read standard error, in ms. */
const NOTES_GRACE = 500;

/** Prints: what was asked for on standard output, what a person should know on standard error. */
export class Output {
  /** Colours for standard output, or none. */
  readonly theme: Theme;
  /** Colours for standard error, or none. */
  readonly noteTheme: Theme;
  /** Cells of a line. */
  readonly width: number;
  /** Aborted when nobody reads standard output any more. */
  readonly closed: AbortSignal;
  readonly #closing = new AbortController();
  // Bound now, so that what happens to them later does not matter.
  readonly #stdout: Stream = bind(Deno.stdout);
  readonly #stderr: Stream = bind(Deno.stderr);
  #queue: WriteQueue | undefined;
  #notes: WriteQueue | undefined;
  #openLine = false;
  #empty = true;
  #heldBack: (() => void)[] | undefined;

  /** Makes the output of this process. */
  constructor() {
    this.closed = this.#closing.signal;
    this.theme = usesColour(this.#stdout) ? colourTheme : plainTheme;
    this.noteTheme = usesColour(this.#stderr) ? colourTheme : plainTheme;
    // Some terminals do not know how wide they are, and say 0.
    this.width = (this.#stdout.isTerminal() ? Deno.consoleSize().columns : 0) || 80;
  }

  /** Prints text as it is. */
  write(text: string): void {
    if (text === "" || this.closed.aborted) return;
    this.#empty = false;
    if (this.#holdBack(() => this.write(text))) return;
    this.#openLine = !text.endsWith("\n");
    if (this.#queue !== undefined) return this.#queue.add(text);
    try {
      writeAll(this.#stdout, encoder.encode(text));
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      this.#closing.abort();
    }
  }

  /** Lets what is printed wait for whoever reads it, and the program go on meanwhile. Who is too far behind counts as gone. */
  queue(): void {
    this.#queue = new WriteQueue(this.#stdout, ATOMIC, () => this.#closing.abort());
    this.#notes = new WriteQueue(this.#stderr, ATOMIC, () => {});
  }

  /** Resolves when whoever reads what is queued is not far behind any more; `undefined` when nobody is. */
  caughtUp(): Promise<void> | undefined {
    return this.#queue?.caughtUp();
  }

  /** Resolves when all that waited is written, or nobody reads it any more. Notes that nobody reads are not waited for. */
  async written(): Promise<void> {
    await this.#queue?.written();
    await settle(this.#notes?.written() ?? Promise.resolve(), AbortSignal.abort(), NOTES_GRACE).catch(() => {});
  }

  /** As {@linkcode Output.written}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.written();
  }

  /** Whether nothing has been printed yet. */
  get isEmpty(): boolean {
    return this.#empty;
  }

  /** The person has ended the line that had begun, by pressing Enter. */
  lineIsEnded(): void {
    this.#openLine = false;
  }

  /** Ends a line that has begun. */
  endLine(): void {
    if (this.#holdBack(() => this.endLine())) return;
    if (this.#openLine) this.write("\n");
  }

  /** Ends a line that has begun, and prints another one. */
  line(text: string = ""): void {
    this.endLine();
    this.write(`${text}\n`);
  }

  /** Prints a record as a line of JSON, which is one line for every reader and moves no cursor. */
  record(record: object): void {
    this.line(JSON.stringify(record).replaceAll(NOT_PLAIN, escape));
  }

  /** Prints a line for a person, on standard error. */
  note(text: string): void {
    if (this.#holdBack(() => this.note(text))) return;
    if (this.#openLine && this.#stdout.isTerminal()) this.line();
    this.writeError(`${text}\n`);
  }

  /** Prints text as it is on standard error, also while everything else is held back. */
  writeError(text: string): void {
    if (this.#notes !== undefined) return this.#notes.add(text);
    try {
      writeAll(this.#stderr, encoder.encode(text));
    } catch {
      // Nobody to tell.
    }
  }

  /** Keeps back all that is printed from now on, so that nothing comes between a question and its answer. */
  hold(): void {
    if (this.#stdout.isTerminal()) this.endLine();
    this.#heldBack = [];
  }

  /** Prints what was held back, and holds back no more. */
  release(): void {
    const steps = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const step of steps) step();
  }

  #holdBack(step: () => void): boolean {
    this.#heldBack?.push(step);
    return this.#heldBack !== undefined;
  }
}

function bind(stream: typeof Deno.stdout | typeof Deno.stderr): Stream {
  return {
    write: stream.write.bind(stream),
    writeSync: stream.writeSync.bind(stream),
    isTerminal: stream.isTerminal.bind(stream),
  };
}

/** What JSON leaves as it is, and some readers take for the end of a line, and some terminals for a control sequence. */
const NOT_PLAIN = /[\x7f-\x9f\u2028\u2029]/g;

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** What a pipe takes whole or not at all. */
const ATOMIC = Deno.build.os === "linux" ? 4096 : 512;

function writeAll(stream: Stream, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length; from += ATOMIC) {
    const piece = bytes.subarray(from, from + ATOMIC);
    for (let written = 0; written < piece.length;) {
      try {
        written += stream.writeSync(piece.subarray(written));
      } catch (error) {
        // Another program has set the pipe to refuse what does not fit. How much of a larger piece it took is not told.
        if (!(error instanceof Deno.errors.WouldBlock)) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
  }
}

function usesColour(stream: Stream): boolean {
  return stream.isTerminal() && !Deno.noColor && Deno.env.get("TERM") !== "dumb";
}
