/**
 * Where hooks meet the person: what a terminal, or a program at the other end of a pipe, has to do to be the UI of a session.
 *
 * @module
 */

import type { WidgetContent, WidgetOptions } from "../actions.ts";
import type { CustomFactory, DialogOptions, HookUIContext, Theme } from "../api.ts";
import { plainText } from "./text.ts";

/** A question, in text that a terminal may get. */
export type Question =
  | { readonly kind: "select"; readonly title: string; readonly options: readonly string[] }
  | { readonly kind: "confirm"; readonly title: string; readonly message: string }
  | { readonly kind: "input"; readonly title: string; readonly placeholder: string }
  | { readonly kind: "editor"; readonly title: string; readonly prefill: string };

/** The answers by kind: the place of the option, yes or no, the text. */
export interface Answers {
  /** Place of the chosen option. */
  select: number;
  /** Whether it was a yes. */
  confirm: boolean;
  /** One line. */
  input: string;
  /** Lines. */
  editor: string;
}

/** Who asks, and until when. */
export interface Asking {
  /** The hook, as it was given; `undefined` when it is not known. */
  readonly hookPath: string | undefined;
  /** Closes the question; its reason is a `TimeoutError` when the time of the question is over. */
  readonly signal: AbortSignal;
  /** When the time of the question is over, on the clock of `Date.now()`; `undefined` when it has no limit. */
  readonly deadline: number | undefined;
}

/** What hooks change of the looks of a chat. */
export interface Chrome {
  /** Names the window of the terminal. */
  setTitle(title: string): void;
  /** Sets what stands above the conversation, or clears it. */
  setHeader(content: WidgetContent, hookPath: string | undefined): void;
  /** Sets what stands below the editor in place of our own, or brings that back. */
  setFooter(content: WidgetContent, hookPath: string | undefined): void;
  /** Sets what is said while the agent works; our own words when absent. */
  setWorkingMessage(message: string | undefined): void;
}

/** Asks and tells a person. All text but that of components and widgets is clean already. */
export interface Surface {
  /** The colours in use. */
  readonly theme: Theme;
  /** How the person is reached; in a terminal when absent. */
  readonly mode?: "tui" | "rpc";
  /** What can be changed of its looks, if it has any. */
  readonly chrome?: Chrome;
  /** Asks; `undefined` when the question was closed. */
  ask<K extends Question["kind"]>(
    question: Extract<Question, { kind: K }>,
    asking: Asking,
  ): Promise<Answers[K] | undefined>;
  /** Shows a component until it says that it is done; `undefined` when it was closed. */
  custom<T>(factory: CustomFactory<T>, asking: Asking): Promise<T | undefined>;
  /** Shows a note. */
  notify(message: string, type: "info" | "warning" | "error", hookPath: string | undefined): void;
  /** Sets or clears a text of the status line. */
  setStatus(key: string, text: string | undefined): void;
  /** Sets or clears lines beside the editor. */
  setWidget(key: string, content: WidgetContent, options?: WidgetOptions, hookPath?: string): void;
  /** Replaces the text of the prompt editor. */
  setEditorText(text: string): void;
  /** The text of the prompt editor. */
  getEditorText(): string;
}

/** Most characters of a text that are shown: more than any screen takes. */
const MAX_SHOWN = 20_000;
/** Most characters of a text that is edited: with more of them, each key would take long. */
const MAX_EDITED = 100_000;

/**
 * Makes what hooks get of a surface.
 *
 * @param surface Where the person is.
 * @returns The UI of a hook, by its path.
 */
export function uiContextsOf(surface: Surface): (hookPath?: string) => HookUIContext {
  const { chrome, mode } = surface;
  return (hookPath) => {
    const ask = <K extends Question["kind"]>(
      question: Extract<Question, { kind: K }>,
      dialog: DialogOptions | undefined,
    ) => surface.ask(question, askingOf(hookPath, dialog));
    return {
      async select(title, options, dialog) {
        const shown = options.map(clean);
        const place = await ask({ kind: "select", title: clean(title), options: shown }, dialog);
        return place === undefined ? undefined : options[place];
      },
      async confirm(title, message, dialog) {
        return await ask({ kind: "confirm", title: clean(title), message: clean(message) }, dialog) ?? false;
      },
      input: (title, placeholder, dialog) =>
        ask({ kind: "input", title: clean(title), placeholder: clean(placeholder) }, dialog),
      async editor(title, prefill, dialog) {
        const text = String(prefill ?? "");
        if (text.length > MAX_EDITED) {
          throw new RangeError(`ui.editor takes at most ${MAX_EDITED} characters, and this text has ${text.length}`);
        }
        return await ask({ kind: "editor", title: clean(title), prefill: plainText(text) }, dialog);
      },
      custom: (factory, dialog) => surface.custom(factory, askingOf(hookPath, dialog)),
      notify: (message, type) => surface.notify(clean(message), noteTypeOf(type), hookPath),
      setStatus: (key, text) => surface.setStatus(String(key), text === undefined ? undefined : String(text)),
      setWidget: (key, content, options) => surface.setWidget(String(key), content, options, hookPath),
      setEditorText: (text) => surface.setEditorText(plainText(String(text).slice(0, MAX_EDITED))),
      getEditorText: () => surface.getEditorText(),
      get theme() {
        return surface.theme;
      },
      ...mode !== undefined && { mode },
      ...chrome !== undefined && {
        setTitle: (title: string) => chrome.setTitle(oneLine(title)),
        setHeader: (content: WidgetContent) => chrome.setHeader(content, hookPath),
        setFooter: (content: WidgetContent) => chrome.setFooter(content, hookPath),
        setWorkingMessage: (message?: string) =>
          chrome.setWorkingMessage(message === undefined ? undefined : oneLine(message)),
      },
    };
  };
}

function oneLine(text: unknown): string {
  return clean(text).replaceAll(/\s+/g, " ").trim();
}

/** What a hook gives may be anything. */
function clean(text: unknown): string {
  const whole = plainText(String(text ?? "").slice(0, MAX_SHOWN + 1));
  return whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)}…` : whole;
}

/** What a hook gives for the type of a note, as far as it is one. */
export function noteTypeOf(type: unknown): "info" | "warning" | "error" {
  return type === "warning" || type === "error" ? type : "info";
}

function askingOf(hookPath: string | undefined, { timeout, signal }: DialogOptions = {}): Asking {
  return {
    hookPath,
    signal: signal ?? new AbortController().signal,
    deadline: timeout === undefined ? undefined : Date.now() + timeout,
  };
}
