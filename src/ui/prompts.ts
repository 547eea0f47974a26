/**
 * Questions as plain lines: printed, and answered by a line that is typed.
 *
 * @module
 */

import type { Theme } from "../api.ts";
import { editInEditor, editorCommand } from "./external_editor.ts";
import type { Answers, Asking, Question } from "./surface.ts";
import { cellsOf, plainText, truncateToCells, wrapToCells } from "./text.ts";

/** A terminal that prints lines and reads them. */
export interface LineTerminal {
  /** The colours in use. */
  readonly theme: Theme;
  /** Cells of a line. */
  readonly width: number;
  /** Keeps all else from being printed until {@linkcode LineTerminal.end}. */
  begin(): void;
  /** Prints text as it is. */
  print(text: string): void;
  /**
   * Makes what has been typed until now no answer. To be called when the question can be read.
   *
   * @returns Whether something that was typed is lost by that.
   */
  setAside(): boolean;
  /** The next line that is typed; `undefined` when the person ends the input, or the signal aborts. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /** Gives the terminal back. What was typed for a question that is closed now is for nobody. */
  end(closed: boolean): void;
}

/** Why a question was closed. */
class Closed {
  constructor(readonly why: string) {}
}

type Kind = Question["kind"];
type Outcome<K extends Kind> = Answers[K] | Closed;

/** Asks one question at a time. Text of hooks stands behind a bar, so that none looks like a question of another hook. */
export class Prompts {
  readonly #terminal: LineTerminal;
  readonly #closing = new AbortController();
  #open: Promise<unknown> | undefined;

  /** @param terminal Where the person is. */
  constructor(terminal: LineTerminal) {
    this.#terminal = terminal;
  }

  /** Asks; `undefined` when the question was closed. Not to be called while another question is open. */
  async ask<K extends Kind>(question: Extract<Question, { kind: K }>, asking: Asking): Promise<Answers[K] | undefined> {
    const signal = AbortSignal.any([asking.signal, this.#closing.signal]);
    // A time that is no number is over, too.
    if (signal.aborted || asking.deadline !== undefined && !(asking.deadline > Date.now())) {
      // A hook that asks until it is answered must not keep the process from ending.
      await new Promise((resolve) => setTimeout(resolve));
      return undefined;
    }
    const open = this.#ask(question, asking, signal);
    this.#open = open.catch(() => {});
    return await open;
  }

  /** Closes the question that is open and all that come; resolves when the terminal is as it was. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#open;
  }

  async #ask<K extends Kind>(
    question: Extract<Question, { kind: K }>,
    asking: Asking,
    signal: AbortSignal,
  ): Promise<Answers[K] | undefined> {
    const terminal = this.#terminal;
    let outcome: Outcome<K> = new Closed("it could not be asked");
    terminal.begin();
    try {
      this.#printQuestion(question, asking);
      if (terminal.setAside()) this.#say("What you had typed before is not taken.");
      outcome = await this.#answer(question, nameOf(asking), signal) as Outcome<K>;
    } finally {
      if (outcome instanceof Closed) {
        const why = !signal.aborted ? outcome.why : isTimeout(signal) ? "the time is over" : "nobody waits for it now";
        if (signal.aborted) terminal.print("\n");
        this.#say(`Closed: ${why}.`);
      }
      terminal.end(outcome instanceof Closed);
    }
    return outcome instanceof Closed ? undefined : outcome;
  }

  #printQuestion(question: Question, asking: Asking): void {
    const { theme } = this.#terminal;
    const limit = asking.deadline === undefined || asking.deadline === Infinity
      ? ""
      : `, ${Math.ceil((asking.deadline - Date.now()) / 1000)} s left`;
    const [first = "", ...more] = this.#wrap(`${nameOf(asking)} asks${limit}`);
    this.#terminal.print(`\n${theme.fg("accent", "?")} ${theme.bold(first)}\n`);
    this.#quote(more);
    this.#quote(this.#wrap(question.title), theme.bold);
    if (question.kind === "confirm" && question.message !== "") this.#quote(this.#wrap(question.message));
    if (question.kind === "select") {
      for (const [i, option] of question.options.entries()) {
        this.#quote(this.#wrap(`${i + 1}) ${oneLine(option)}`, "   "));
      }
    }
    if (question.kind === "input" && question.placeholder !== "") {
      this.#quote(this.#wrap(`(${question.placeholder})`), (line) => theme.fg("muted", line));
    }
  }

  #answer(question: Question, name: string, signal: AbortSignal): Promise<Outcome<Kind>> {
    switch (question.kind) {
      case "select":
        return this.#select(question.options, name, signal);
      case "confirm":
        return this.#confirm(name, signal);
      case "input":
        return this.#input(name, signal);
      case "editor":
        return this.#edit(question.prefill, signal);
    }
  }

  async #select(options: readonly string[], name: string, signal: AbortSignal): Promise<number | Closed> {
    if (options.length === 0) return new Closed("there is nothing to choose from");
    for (;;) {
      const line = await this.#read(name, ` [1-${options.length}]`, signal);
      if (line instanceof Closed) return line;
      const typed = oneLine(line);
      if (typed === "") return new Closed("nothing was chosen");
      const chosen = chosenOption(typed, options.map(oneLine));
      if (typeof chosen === "number") return chosen;
      this.#say(chosen);
    }
  }

  async #confirm(name: string, signal: AbortSignal): Promise<boolean | Closed> {
    const line = await this.#read(name, " [y/N]", signal);
    return line instanceof Closed ? line : isYes(line);
  }

  #input(name: string, signal: AbortSignal): Promise<string | Closed> {
    return this.#read(name, "", signal);
  }

  async #edit(prefill: string, signal: AbortSignal): Promise<string | Closed> {
    const command = editorCommand();
    if (command === undefined) return await this.#editLines(prefill, signal);
    const edited = await editInEditor(prefill, { signal, command });
    return "failed" in edited ? new Closed(`the editor failed, ${plainText(edited.failed)}`) : edited.text;
  }

  async #editLines(prefill: string, signal: AbortSignal): Promise<string | Closed> {
    if (prefill !== "") this.#quote(this.#wrap(prefill));
    const kept = prefill === "" ? "" : "; it alone keeps the text above";
    this.#say(`Type lines, and a line with a single dot at the end${kept}.`);
    const lines: string[] = [];
    for (;;) {
      const line = await this.#terminal.readLine(signal);
      if (line === undefined) return this.#ended(signal);
      if (line === ".") return lines.length === 0 ? prefill : lines.join("\n");
      lines.push(line);
    }
  }

  /** Reads an answer. Who gets it stands beside it, since the beginning of a long question may have scrolled away. */
  async #read(name: string, choices: string, signal: AbortSignal): Promise<string | Closed> {
    const shown = truncateToCells(name, Math.max(10, this.#terminal.width - 30));
    this.#terminal.print(`Answer ${shown}${choices}: `);
    return await this.#terminal.readLine(signal) ?? this.#ended(signal);
  }

  #ended(signal: AbortSignal): Closed {
    if (!signal.aborted) this.#terminal.print("\n");
    return new Closed("there is no answer");
  }

  /** Breaks text into lines, and indents all but the first. */
  #wrap(text: string, indent = ""): string[] {
    const width = Math.max(10, this.#terminal.width - cellsOf(`│ ${indent}`) - 1);
    return wrapToCells(text, width).map((line, i) => i === 0 ? line : indent + line);
  }

  #quote(lines: readonly string[], style: (line: string) => string = (line) => line): void {
    const { theme } = this.#terminal;
    for (const line of lines) this.#terminal.print(`${theme.fg("accent", "│")} ${style(line)}`.trimEnd() + "\n");
  }

  #say(text: string): void {
    this.#terminal.print(`${this.#terminal.theme.fg("muted", text)}\n`);
  }
}

/** Whether a line says yes. */
export function isYes(line: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(line);
}

/** The place of the option that was typed, or what is wrong with that. A number is a place, unless it may mean a text. */
function chosenOption(typed: string, options: readonly string[]): number | string {
  const [, digits, bracket] = /^(\d+)(\)?)$/.exec(typed) ?? [];
  const place = Number(digits ?? 0) - 1;
  const byNumber = options[place] !== undefined;
  const same = options.flatMap((option, i) => option === typed ? [i] : []);
  if (byNumber && (bracket !== "" || same.every((i) => i === place))) return place;
  if (byNumber) return `${typed} is the number of one option and the text of another; type ${typed}) for the number.`;
  if (same.length > 1) return "Several options read like that; type the number.";
  return same[0] ?? `Type a number from 1 to ${options.length} or the text of an option, or nothing to close this.`;
}

function nameOf({ hookPath }: Asking): string {
  return hookPath === undefined ? "A hook" : oneLine(plainText(hookPath));
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}
