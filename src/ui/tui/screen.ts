/**
 * The screen of the chat: what was said, the editor or what stands in its place, and what hooks show beside it.
 *
 * @module
 */

import type { WidgetContent, WidgetOptions } from "../../actions.ts";
import type { Component, CustomFactory, Theme } from "../../api.ts";
import { errorText } from "../../values.ts";
import { plainTheme } from "../noop.ts";
import { formatStatusLine } from "../status_line.ts";
import { plainText } from "../text.ts";
import type { Answers, Asking, Question, Surface } from "../surface.ts";
import { Dialog, edgeOf } from "./dialog.ts";
import { Guard } from "./guard.ts";
import { editorTheme } from "./look.ts";
import type { PiTui } from "./pi_tui.ts";

type Lib = PiTui;
type Terminal = InstanceType<Lib["ProcessTerminal"]>;
type Autocomplete = Parameters<InstanceType<Lib["Editor"]>["setAutocompleteProvider"]>[0];

/** What the screen is told of, and what it tells. */
export interface ScreenOptions {
  /** The terminal library. */
  readonly lib: Lib;
  /** The terminal; the one of the process when absent. */
  readonly terminal?: Terminal;
  /** The colours in use. */
  readonly theme: Theme;
  /** Completes what is typed into the editor. */
  readonly autocomplete: Autocomplete;
  /** The lowest line. */
  readonly footer: () => string;
  /** The person has typed something. */
  readonly onSubmit: (text: string) => void;
  /** The person has pressed a key; whether that was all. Not asked while a dialog or a component is open. */
  readonly onKey: (data: string) => boolean;
  /** Opens text in the person's own editor; `undefined` when that failed. */
  readonly openEditor: (text: string) => Promise<string | undefined>;
  /** Shows a note. */
  readonly notify: (message: string, type: "info" | "warning" | "error") => void;
}

/** A part of the screen. */
type Part = Component & { invalidate(): void };

/** Most things said that are kept on the screen and above it. */
const MAX_BLOCKS = 2_000;
/** How soon a second Ctrl+C has to come to close a component that does not listen, in ms. */
const TWICE = 2_000;

/** The screen. It shows one dialog and one component at a time; see `oneAtATime()`. */
export class Screen implements Surface {
  /** The colours in use. */
  readonly theme: Theme;
  /** What draws it. */
  readonly tui: InstanceType<Lib["TUI"]>;
  /** Where prompts are typed. */
  readonly editor: InstanceType<Lib["Editor"]>;
  readonly #options: ScreenOptions;
  readonly #transcript: InstanceType<Lib["Container"]>;
  readonly #activity: InstanceType<Lib["Container"]>;
  readonly #place: InstanceType<Lib["Container"]>;
  readonly #statuses = new Map<string, string>();
  readonly #widgets = new Map<string, { part: Guard; below: boolean }>();
  #component: { part: Guard; head: Part; close: () => void } | undefined;
  #dialog: Dialog<Question["kind"]> | undefined;
  #loader: InstanceType<Lib["Loader"]> | undefined;
  #lastInterrupt = 0;
  #running = false;

  /** @param options See {@linkcode ScreenOptions}. */
  constructor(options: ScreenOptions) {
    const { lib, theme } = this.#options = options;
    this.theme = theme;
    this.tui = new lib.TUI(options.terminal ?? new lib.ProcessTerminal());
    this.tui.setClearOnShrink(true);
    this.editor = new lib.Editor(this.tui, editorTheme(theme));
    this.editor.setAutocompleteProvider(options.autocomplete);
    this.editor.onSubmit = (text) => options.onSubmit(text);
    this.#transcript = new lib.Container();
    this.#activity = new lib.Container();
    this.#place = new lib.Container();
    this.#place.addChild(this.editor);
    const parts = [
      this.#transcript,
      this.#activity,
      part((width) => this.#drawWidgets(width, false)),
      this.#place,
      part((width) => this.#drawWidgets(width, true)),
      part((width) => this.#drawFooter(width)),
    ];
    for (const each of parts) this.tui.addChild(each);
    this.tui.setFocus(this.editor);
    this.tui.addInputListener((data) => this.#listen(data) ? { consume: true } : undefined);
  }

  /** Whether hooks wait for the person. */
  get isAsking(): boolean {
    return this.#dialog !== undefined || this.#component !== undefined;
  }

  /** Takes the terminal. */
  start(): void {
    this.#running = true;
    this.tui.start();
  }

  /** Gives the terminal back as it was. May be called again. */
  stop(): void {
    if (!this.#running) return;
    this.#running = false;
    this.tui.stop();
  }

  /** Gives the terminal to something else for a while. */
  async pause<T>(run: () => Promise<T>): Promise<T> {
    this.stop();
    try {
      return await run();
    } finally {
      this.start();
      this.tui.requestRender(true);
    }
  }

  /** Adds to what was said. The oldest of very much is left out: all of it is drawn for each key. */
  add(block: Part): void {
    this.#transcript.addChild(block);
    const { children } = this.#transcript;
    if (children.length > MAX_BLOCKS) children.splice(0, MAX_BLOCKS / 4);
    this.redraw();
  }

  /** Draws what was said anew. */
  redrawAll(): void {
    this.#transcript.invalidate();
    this.redraw();
  }

  /** Forgets what was said. */
  clear(): void {
    this.#transcript.clear();
    this.tui.requestRender(true);
  }

  /** Shows that something goes on, and what, or that nothing does. */
  setActivity(text: string | undefined): void {
    const { lib, theme } = this.#options;
    this.#loader?.stop();
    this.#loader = text === undefined
      ? undefined
      : new lib.Loader(this.tui, (sign) => theme.fg("accent", sign), (shown) => theme.fg("muted", shown), text);
    this.#activity.clear();
    if (this.#loader !== undefined) this.#activity.addChild(this.#loader);
    this.redraw();
  }

  /** Draws what has changed, soon. */
  redraw(): void {
    if (this.#running) this.tui.requestRender();
  }

  /** Puts a component of a hook behind a guard. */
  guard(component: Component, failed: (error: unknown) => void): Guard {
    return new Guard(this.#options.lib, component, {
      colour: this.theme !== plainTheme,
      onError: failed,
      requestRender: () => this.redraw(),
    });
  }

  /** As {@linkcode Surface.ask}. */
  async ask<K extends Question["kind"]>(
    question: Extract<Question, { kind: K }>,
    asking: Asking,
  ): Promise<Answers[K] | undefined> {
    const { lib, theme, openEditor } = this.#options;
    const dialog = new Dialog<K>(question, { lib, tui: this.tui, theme, asking, openEditor });
    this.#dialog = dialog as Dialog<Question["kind"]>;
    this.#arrange();
    try {
      return await dialog.answered;
    } finally {
      this.#dialog = undefined;
      this.#arrange();
    }
  }

  /** As {@linkcode Surface.custom}. What it throws closes it, and is thrown. */
  async custom<T>(factory: CustomFactory<T>, { signal, hookPath }: Asking): Promise<T | undefined> {
    const { lib } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    const close = () => resolve(undefined);
    signal.addEventListener("abort", close, { once: true });
    let shown: Guard | undefined;
    let open = true;
    const begin = async () => {
      const component = await factory(this.tui, this.theme, resolve);
      if (typeof component?.render !== "function") {
        throw new TypeError("ui.custom needs a component with render(width)");
      }
      shown = this.guard(component, reject);
      if (!open) return shown.dispose();
      this.#component = { part: shown, head: part((width) => [edgeOf(lib, this.theme, width, hookPath)]), close };
      this.#arrange();
    };
    begin().catch(reject);
    try {
      return await promise;
    } finally {
      open = false;
      signal.removeEventListener("abort", close);
      shown?.dispose();
      this.#component = undefined;
      this.#arrange();
    }
  }

  /** As {@linkcode Surface.notify}. */
  notify(message: string, type: "info" | "warning" | "error"): void {
    this.#options.notify(message, type);
  }

  /** As {@linkcode Surface.setStatus}. */
  setStatus(key: string, text: string | undefined): void {
    if (text === undefined) this.#statuses.delete(key);
    else this.#statuses.set(key, text);
    this.redraw();
  }

  /** As {@linkcode Surface.setWidget}. */
  setWidget(key: string, content: WidgetContent, options: WidgetOptions = {}): void {
    this.#widgets.get(key)?.part.dispose();
    this.#widgets.delete(key);
    if (content !== undefined) {
      const failed = (error: unknown) =>
        this.notify(`The widget ${plainText(key)} failed: ${errorText(error)}`, "error");
      const component = typeof content === "function" ? content(this.tui, this.theme) : { render: () => content };
      this.#widgets.set(key, { part: this.guard(component, failed), below: options.placement === "belowEditor" });
    }
    this.redraw();
  }

  /** As {@linkcode Surface.setEditorText}. */
  setEditorText(text: string): void {
    this.editor.setText(text);
    this.redraw();
  }

  /** As {@linkcode Surface.getEditorText}. */
  getEditorText(): string {
    return this.editor.getExpandedText();
  }

  /** Shows the dialog, else the component, else the editor. */
  #arrange(): void {
    const shown = this.#dialog ?? this.#component?.part ?? this.editor;
    this.#place.clear();
    // What a component draws may look like anything, but not as if another hook had drawn it.
    if (shown === this.#component?.part) this.#place.addChild(this.#component.head);
    this.#place.addChild(shown);
    this.tui.setFocus(shown);
    this.redraw();
  }

  /** Whether a key has been dealt with before it reaches what has the focus. */
  #listen(data: string): boolean {
    if (this.#dialog !== undefined) return false;
    if (this.#component === undefined) return this.#options.onKey(data);
    const { part, close } = this.#component;
    if (this.#options.lib.matchesKey(data, "ctrl+c")) {
      const now = Date.now();
      if (now - this.#lastInterrupt < TWICE) close();
      this.#lastInterrupt = now;
    }
    // What is drawn elsewhere asks for the screen when it has new lines: drawing the old ones would only delay them.
    if (part.component.whenDrawn === undefined) return false;
    part.handleInput(data);
    return true;
  }

  #drawWidgets(width: number, below: boolean): string[] {
    return [...this.#widgets.values()].filter((each) => each.below === below).flatMap(({ part }) => part.render(width));
  }

  #drawFooter(width: number): string[] {
    const { lib, theme, footer } = this.#options;
    const status = formatStatusLine(this.#statuses, width);
    const lines = status === "" ? [] : [this.theme === plainTheme ? plainText(status) : status];
    lines.push(theme.fg("muted", footer()));
    return lines.map((line) => lib.truncateToWidth(line, width, "…"));
  }
}

/** A part that is drawn by a function. */
function part(render: (width: number) => string[]): Part {
  return { render, invalidate() {} };
}
