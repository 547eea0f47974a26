/**
 * What a person types at a terminal.
 *
 * @module
 */

import fs from "node:fs";
import { ReadStream } from "node:tty";

/** Someone who waits for a line; `undefined` is the end of the input. */
type Waiting = (line: string | undefined) => void;

/**
 * The only reader of a terminal: hands each line to the question that is open, and else to the prompts. Nothing is read while
 * nobody waits, so that another program can have the terminal.
 */
export class TerminalInput {
  /** Lines that were typed before somebody wanted them; for prompts alone. */
  readonly #ahead: string[] = [];
  #stream: ReadStream | undefined;
  #unfinished = "";
  #asking = false;
  /** Lines that were typed for the open question before it wanted them. */
  #answers: string[] = [];
  /** Whether the open question reads lines. An editor has the terminal for itself. */
  #reads = false;
  #answer: Waiting | undefined;
  #prompt: Waiting | undefined;
  #showPrompt: (() => void) | undefined;

  /** Whether it can be told what was typed before a question was shown. Where it cannot, nobody is to be asked. */
  static canAsk(): boolean {
    if (Deno.build.os === "windows" || !Deno.stdin.isTerminal()) return false;
    try {
      fs.closeSync(openTerminal());
      return true;
    } catch {
      return false;
    }
  }

  /**
   * The next line for a prompt.
   *
   * @param show Shows that one may be typed; called again when a question has come in between.
   * @param typed Told when one has been typed after that.
   * @returns The line; `undefined` at the end of the input.
   */
  async nextPrompt(show: () => void, typed: () => void): Promise<string | undefined> {
    const ahead = this.#ahead.shift();
    if (ahead !== undefined) return ahead;
    if (!this.#asking) show();
    this.#showPrompt = show;
    const line = await new Promise<string | undefined>((resolve) => {
      this.#prompt = resolve;
      this.#listen();
    });
    if (line !== undefined) typed();
    return line;
  }

  /**
   * Begins a question. Lines that were typed until now are for prompts; one that was begun is dropped.
   *
   * @returns Whether one was.
   */
  beginQuestion(): boolean {
    this.#asking = true;
    this.#listen();
    const lines = (this.#unfinished + typedSoFar()).split("\n");
    this.#unfinished = "";
    const begun = lines.pop() !== "";
    for (const line of lines) this.#give(line, "prompt");
    return begun;
  }

  /** The next line for the question; `undefined` at the end of the input, and when the signal aborts. */
  async nextAnswer(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    const line = this.#answers.shift();
    if (line !== undefined) return line;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const abort = () => resolve(undefined);
    signal.addEventListener("abort", abort, { once: true });
    this.#answer = resolve;
    this.#reads = true;
    this.#listen();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#answer = undefined;
    }
  }

  /**
   * Ends the question.
   *
   * @param closed Whether it was closed without an answer; then what was typed meanwhile was meant for it, and is dropped.
   */
  endQuestion(closed: boolean): void {
    this.#asking = this.#reads = false;
    this.#listen();
    const left = this.#answers.splice(0);
    if (closed) {
      typedSoFar();
      this.#unfinished = "";
    } else for (const line of left) this.#give(line, "prompt");
    if (this.#prompt !== undefined) this.#showPrompt?.();
    this.#listen();
  }

  /** Reads when somebody waits, and only then. */
  #listen(): void {
    const wanted = this.#asking ? this.#reads : this.#prompt !== undefined;
    if (wanted === (this.#stream !== undefined)) return;
    if (!wanted) {
      this.#stream!.destroy();
      this.#stream = undefined;
      return;
    }
    const stream = this.#stream = new ReadStream(0);
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => this.#take(text));
    const end = () => this.#stream === stream && this.#end();
    stream.on("end", end);
    stream.on("error", end);
  }

  #take(text: string): void {
    const lines = (this.#unfinished + text).split("\n");
    this.#unfinished = lines.pop()!;
    for (const line of lines) this.#give(line.replace(/\r$/, ""), this.#asking ? "answer" : "prompt");
  }

  /** The person has ended the input, which can go on after that. */
  #end(): void {
    const rest = this.#unfinished;
    this.#unfinished = "";
    this.#stream!.destroy();
    this.#stream = undefined;
    if (this.#asking) this.#give(undefined, "answer");
    else this.#give(rest === "" ? undefined : rest, "prompt");
  }

  #give(line: string | undefined, to: "answer" | "prompt"): void {
    const isAnswer = to === "answer";
    const waiting = isAnswer ? this.#answer : this.#prompt;
    if (isAnswer) this.#answer = undefined;
    else this.#prompt = undefined;
    if (waiting !== undefined) waiting(line);
    else if (line !== undefined) (isAnswer ? this.#answers : this.#ahead).push(line);
    this.#listen();
  }
}

/** Opens the terminal on standard input once more, in such a way that reading it never waits. */
function openTerminal(): number {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
  const flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  try {
    // The terminal itself, where the system has a name for it.
    return fs.openSync(Deno.build.os === "linux" ? "/proc/self/fd/0" : "/dev/tty", flags);
  } catch {
    return fs.openSync("/dev/tty", flags);
  }
}

/** Takes what has been typed and not been read yet, also a line that has only begun. */
function typedSoFar(): string {
  if (Deno.build.os === "windows") return "";
  const terminal = openTerminal();
  const bytes: number[] = [];
  const piece = new Uint8Array(4096);
  // A line that has only begun can be read in this mode alone.
  Deno.stdin.setRaw(true, { cbreak: true });
  try {
    for (;;) {
      const count = fs.readSync(terminal, piece);
      if (count === 0) break;
      bytes.push(...piece.subarray(0, count));
    }
  } catch (error) {
    if ((error as { code?: string }).code !== "EAGAIN") throw error;
  } finally {
    Deno.stdin.setRaw(false);
    fs.closeSync(terminal);
  }
  return new TextDecoder().decode(new Uint8Array(bytes)).replaceAll("\0", "");
}
