/**
 * The person is behind a program at the other end of a pipe.
 *
 * @module
 */

import type { WidgetContent, WidgetOptions } from "../actions.ts";
import type { CustomFactory, Theme } from "../api.ts";
import { plainTheme } from "../ui/noop.ts";
import { colourTheme } from "../ui/theme.ts";
import type { Answers, Asking, Question, Surface } from "../ui/surface.ts";
import { keepColours, plainText } from "../ui/text.ts";
import { kindOf } from "../values.ts";
import { cleanLines, Drawing } from "../ui/drawing.ts";
import {
  type ClientMessage,
  type ClientNote,
  type CloseReason,
  RpcError,
  type Send,
  type ServerRecords,
} from "./protocol.ts";

type Ended = Extract<CloseReason, "end_of_input" | "shutdown">;

/** A question that the client has not answered. */
interface OpenQuestion {
  /** What the client was told of it. */
  readonly request: ServerRecords["ui_request"];
  /** Takes the client's answer; throws when it is none. */
  readonly answer: (value: string | number | boolean) => void;
  /** Closes it; the client is told, if it has not done so itself. */
  readonly close: (reason: CloseReason | "cancelled") => void;
  /** The component that it shows. */
  readonly drawing?: Drawing;
}

/** Asks and tells the person through the client. Several questions may be open; each has an id. */
export class RpcSurface implements Surface {
  /** As {@linkcode Surface.mode}. */
  readonly mode = "rpc";
  readonly #send: Send;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #widgets = new Map<string, Drawing>();
  readonly #statuses = new Map<string, string>();
  readonly #screen = { columns: 80, rows: 24 };
  #theme: Theme = plainTheme;
  #editorText = "";
  #asked = 0;
  #ended = false;

  /** @param send Says something to the client. */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Colours, if the client has said that it shows them. */
  get theme(): Theme {
    return this.#theme;
  }

  /** The texts of the status line by key. */
  get statuses(): Record<string, string> {
    return Object.fromEntries([...this.#statuses].map(([key, text]) => [key, this.#shown(text)]));
  }

  /** What the client was told of the questions that are open. */
  get questions(): readonly ServerRecords["ui_request"][] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /** As {@linkcode Surface.ask}. */
  ask<K extends Question["kind"]>(
    { kind, ...about }: Extract<Question, { kind: K }>,
    asking: Asking,
  ): Promise<Answers[K] | undefined> {
    const { promise, resolve } = Promise.withResolvers<Answers[K] | undefined>();
    this.#ask(kind, about, asking, {
      answer(value) {
        resolve(readAnswer({ kind, ...about } as Question, value) as Answers[K]);
      },
      closed: () => resolve(undefined),
    });
    return promise;
  }

  /** As {@linkcode Surface.custom}. */
  custom<T>(factory: CustomFactory<T>, asking: Asking): Promise<T | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    this.#ask("custom", {}, asking, {
      answer() {
        throw new RpcError(
          "invalid_answer",
          "A custom component answers for itself; send ui_input, or cancelled: true",
        );
      },
      closed: () => resolve(undefined),
      draw: (id, close) =>
        new Drawing({
          make: (tui) =>
            factory(tui, this.#theme, (result) => {
              resolve(result);
              close("done");
            }),
          screen: this.#screen,
          show: (width, lines) => this.#send("ui_frame", { id, width, lines: lines.map((line) => this.#shown(line)) }),
          failed: (error) => {
            reject(error);
            close("failed");
          },
        }),
    });
    return promise;
  }

  /** As {@linkcode Surface.notify}. */
  notify(message: string, level: "info" | "warning" | "error", hookPath?: string): void {
    this.#send("notify", { level, message, ...hookPath !== undefined && { hook: hookPath } });
  }

  /** As {@linkcode Surface.setStatus}. */
  setStatus(key: string, given: string | undefined): void {
    const text = given === undefined ? undefined : keepColours(given);
    if (text === undefined) this.#statuses.delete(key);
    else this.#statuses.set(key, text);
    this.#send("status", { key, text: text === undefined ? null : this.#shown(text) });
  }

  /** As {@linkcode Surface.setWidget}. */
  setWidget(key: string, content: WidgetContent, { placement = "aboveEditor" }: WidgetOptions = {}): void {
    const show = (lines: readonly string[] | null) =>
      this.#send("widget", { key, lines: lines?.map((line) => this.#shown(line)) ?? null, placement });
    this.#widgets.get(key)?.dispose();
    this.#widgets.delete(key);
    if (typeof content !== "function") return show(content === undefined ? null : cleanLines(content));
    this.#widgets.set(
      key,
      new Drawing({
        make: (tui) => content(tui, this.#theme),
        screen: this.#screen,
        show: (_width, lines) => show(lines),
        failed: (error) => this.notify(`The widget ${plainText(key)} failed: ${plainText(error.message)}`, "error"),
      }),
    );
  }

  /** As {@linkcode Surface.setEditorText}. */
  setEditorText(text: string): void {
    this.#editorText = text;
    this.#send("editor_text", { text });
  }

  /** As {@linkcode Surface.getEditorText}. */
  getEditorText(): string {
    return this.#editorText;
  }

  /**
   * Takes what the client says to the UI.
   *
   * @param message What it says.
   * @throws {RpcError} When it is refused; nothing has changed then.
   */
  take(message: ClientNote): void {
    switch (message.type) {
      case "ui_response":
        return this.#answered(message);
      case "ui_input": {
        const { drawing } = this.#required(message.id);
        if (drawing === undefined) throw new RpcError("invalid_answer", `${message.id} is no custom component`);
        return void drawing.input(message.data);
      }
      case "ui_screen":
        this.#screen.columns = message.width;
        this.#screen.rows = message.height ?? this.#screen.rows;
        this.#theme = message.colours ?? this.#theme !== plainTheme ? colourTheme : plainTheme;
        for (const { drawing } of this.#open.values()) drawing?.redraw();
        for (const drawing of this.#widgets.values()) drawing.redraw();
        return;
      case "editor_text":
        this.#editorText = plainText(message.text);
    }
  }

  /**
   * Closes what is open and what will be asked from now on: nobody answers any more.
   *
   * @param reason Why.
   */
  end(reason: Ended): void {
    this.#ended = true;
    for (const { close } of [...this.#open.values()]) close(reason);
    for (const drawing of this.#widgets.values()) drawing.dispose();
    this.#widgets.clear();
  }

  /** Hooks write colours of their own, also to a client that shows none. */
  #shown(line: string): string {
    return this.#theme === plainTheme ? plainText(line) : line;
  }

  #ask(
    method: ServerRecords["ui_request"]["method"],
    about: Partial<ServerRecords["ui_request"]>,
    { signal, deadline, hookPath }: Asking,
    { answer, closed, draw }: {
      answer: OpenQuestion["answer"];
      closed: () => void;
      draw?: (id: string, close: OpenQuestion["close"]) => Drawing;
    },
  ): void {
    if (this.#ended || signal.aborted) return closed();
    const id = `q${++this.#asked}`;
    const close: OpenQuestion["close"] = (reason) => {
      const question = this.#open.get(id);
      if (question === undefined) return;
      this.#open.delete(id);
      signal.removeEventListener("abort", abort);
      question.drawing?.dispose();
      if (reason !== "cancelled") this.#send("ui_cancel", { id, reason });
      closed();
    };
    const abort = () => close(signal.reason?.name === "TimeoutError" ? "timeout" : "aborted");
    const timeout = Math.max(0, (deadline ?? Infinity) - Date.now());
    const request = { id, method, hook: hookPath ?? null, ...about, ...timeout < Infinity && { timeout } };
    const answered: OpenQuestion["answer"] = (value) => {
      answer(value);
      this.#open.delete(id);
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#open.set(id, { request, answer: answered, close, ...draw && { drawing: draw(id, close) } });
    this.#send("ui_request", request);
  }

  #answered({ id, value, cancelled }: ClientMessage<"ui_response">): void {
    const question = this.#required(id);
    if ((value === undefined) === (cancelled === undefined)) {
      throw new RpcError("invalid_answer", "An answer has a value, or cancelled: true");
    }
    if (value === undefined) question.close("cancelled");
    else question.answer(value);
  }

  #required(id: string): OpenQuestion {
    const question = this.#open.get(id);
    if (question !== undefined) return question;
    throw new RpcError("unknown_question", `There is no open question ${id}: it was answered, closed or never asked`);
  }
}

function readAnswer(question: Question, value: string | number | boolean): string | number | boolean {
  const wrong = (needs: string) =>
    new RpcError("invalid_answer", `${question.kind} needs ${needs}, not ${kindOf(value)}`);
  switch (question.kind) {
    case "select": {
      const place = typeof value === "string" ? question.options.indexOf(value) : value;
      if (typeof place === "number" && Object.hasOwn(question.options, place)) return place;
      throw wrong(`one of its ${question.options.length} options, or its place from 0`);
    }
    case "confirm":
      if (typeof value === "boolean") return value;
      throw wrong("true or false");
    case "input":
      if (typeof value === "string" && !/[\r\n]/.test(value)) return value;
      throw wrong("a string of one line");
    case "editor":
      if (typeof value === "string") return value;
      throw wrong("a string");
  }
}
