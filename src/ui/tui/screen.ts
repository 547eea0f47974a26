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
import type { Answers, Asking, Chrome, Question, Surface } from "../surface.ts";
import { Dialog, edgeOf } from "./dialog.ts";
import { FirstLook } from "./first_look.ts";
import { fitted, type Part } from "./fit.ts";
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
  /** The person wants all that goes on to stop, and not only what is open to be closed. */
  readonly onStop: () => void;
  /** The person wants to leave, whatever hooks go on to ask. */
  readonly onEnd: () => void;
  /** Opens text in the person's own editor; `undefined` when that failed. */
  readonly openEditor: (text: string) => Promise<string | undefined>;
  /** Shows a note. */
  readonly notify: (message: string, type: "info" | "warning" | "error") => void;
}

/** Where a hook shows lines. */
type Place = "header" | "above" | "below" | "footer";

/** What has a terminal remember the title of its window, and what brings that back. */
const SAVE_TITLE = "\x1b[22;0t";
const RESTORE_TITLE = "\x1b[23;0t";
/** Most things said that are kept on the screen and above it. */
const MAX_BLOCKS = 2_000;
/** How soon a second Ctrl+C has to come to close a component that does not listen, in ms. */
const TWICE = 2_000;
/** Most characters of a status that are looked at. */
const MAX_STATUS = 2_000;

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
  #statusLine: { width: number; text: string } | undefined;
  readonly #parts = new Map<string, { part: Guard; place: Place; hookPath: string | undefined }>();
  #title: string | undefined;
  #activityText: string | undefined;
  #workingMessage: string | undefined;
  #component: { part: Guard; head: Part; close: () => void } | undefined;
  #dialog: Dialog<Question["kind"]> | undefined;
  #loader: InstanceType<Lib["Loader"]> | undefined;
  /** What takes the keys. */
  #shown: Component;
  /** Whether what takes the keys has been seen. */
  readonly #look = new FirstLook(() => this.redraw());
  /** Whether the person was typing into the editor: what they type until they see something else goes on there. */
  #typing = false;
  /** Text of the editor that may be a hook's, and whether it has been seen. */
  readonly #textLook = new FirstLook(() => {});
  #unseenText: string | undefined;
  #interrupts = 0;
  #lastInterrupt = 0;
  /** Lines of the place and of what is below it. */
  #room = 0;
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
    this.#shown = this.editor;
    this.tui.addChild(fitted(lib, part((width) => this.#drawParts(width, "header"))));
    this.tui.addChild(this.#transcript);
    const parts = [
      this.#activity,
      part((width) => this.#drawParts(width, "above")),
      part((width) => this.#drawPlace(width)),
    ];
    for (const each of parts) this.tui.addChild(fitted(lib, each));
    this.tui.setFocus(this.editor);
    this.#guardOverlays();
    this.tui.addInputListener((data) => this.#listen(data) ? { consume: true } : undefined);
  }

  /** Whether what is open, if anything, has been seen and so takes keys. */
  get takesKeys(): boolean {
    return this.#look.over;
  }

  /** Takes the terminal. */
  start(): void {
    this.#running = true;
    this.tui.start();
    this.#showTitle();
  }

  /** Gives the terminal back as it was. May be called again. */
  stop(): void {
    if (!this.#running) return;
    this.#running = false;
    this.#look.end();
    this.#textLook.end();
    if (this.#title !== undefined) this.tui.terminal.write(RESTORE_TITLE);
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
    this.#activityText = text;
    this.#loader?.stop();
    this.#loader = text === undefined ? undefined : new lib.Loader(
      this.tui,
      (sign) => theme.fg("accent", sign),
      (shown) => theme.fg("muted", shown),
      `${this.#workingMessage ?? text} · Esc stops it`,
    );
    this.#activity.clear();
    if (this.#loader !== undefined) this.#activity.addChild(this.#loader);
    this.redraw();
  }

  /** Draws what has changed, soon. */
  redraw(): void {
    if (this.#running) this.tui.requestRender();
  }

  /** Puts a component of a hook behind a guard. */
  guard(component: Component, failed: (error: unknown) => void, changed: () => void = () => {}): Guard {
    return new Guard(this.#options.lib, component, {
      colour: this.theme !== plainTheme,
      onError: failed,
      requestRender: () => {
        changed();
        this.redraw();
      },
    });
  }

  /** As {@linkcode Surface.ask}. */
  async ask<K extends Question["kind"]>(
    question: Extract<Question, { kind: K }>,
    asking: Asking,
  ): Promise<Answers[K] | undefined> {
    const { lib, theme, openEditor } = this.#options;
    const rows = () => this.#room;
    const takesKeys = () => this.#look.over;
    const dialog = new Dialog<K>(question, { lib, tui: this.tui, theme, asking, openEditor, rows, takesKeys });
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
      const end = () => this.#look.over ? "" : "…";
      const head = part((width) => [edgeOf(lib, this.theme, width, hookPath, "", end())]);
      this.#component = { part: shown, head, close };
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
    else this.#statuses.set(key, text.slice(0, MAX_STATUS));
    this.#statusLine = undefined;
    this.redraw();
  }

  /** As {@linkcode Surface.setWidget}. */
  setWidget(key: string, content: WidgetContent, options: WidgetOptions = {}, hookPath?: string): void {
    this.#setPart(`widget ${key}`, content, options.placement === "belowEditor" ? "below" : "above", hookPath);
  }

  /** As {@linkcode Surface.chrome}. */
  readonly chrome: Chrome = {
    setTitle: (title) => {
      const first = this.#title === undefined;
      this.#title = title;
      if (this.#running) this.#showTitle(first);
    },
    setHeader: (content, hookPath) => this.#setPart("header", content, "header", hookPath),
    setFooter: (content, hookPath) => this.#setPart("footer", content, "footer", hookPath),
    setWorkingMessage: (message) => {
      this.#workingMessage = message || undefined;
      if (this.#activityText !== undefined) this.setActivity(this.#activityText);
    },
  };

  /** As {@linkcode Surface.setEditorText}. */
  setEditorText(text: string): void {
    this.editor.setText(text);
    this.#lookAtText();
    this.redraw();
  }

  /** As {@linkcode Surface.getEditorText}. */
  getEditorText(): string {
    return this.editor.getExpandedText();
  }

  #setPart(name: string, content: WidgetContent, place: Place, hookPath: string | undefined): void {
    this.#parts.get(name)?.part.dispose();
    this.#parts.delete(name);
    if (content !== undefined) {
      const failed = (error: unknown) => this.notify(`The ${plainText(name)} failed: ${errorText(error)}`, "error");
      const component = typeof content === "function" ? content(this.tui, this.theme) : { render: () => content };
      this.#parts.set(name, { part: this.guard(component, failed), place, hookPath });
    }
    this.redraw();
  }

  /** What the window was called before is what it is called again afterwards. */
  #showTitle(first = true): void {
    if (this.#title === undefined) return;
    if (first) this.tui.terminal.write(SAVE_TITLE);
    this.tui.terminal.setTitle(this.#title);
  }

  /** Shows the dialog, else the component, else the editor. */
  #arrange(): void {
    const shown = this.#dialog ?? this.#component?.part ?? this.editor;
    this.#place.clear();
    this.#place.addChild(shown);
    this.tui.setFocus(shown);
    if (shown !== this.#shown) {
      this.#shown = shown;
      if (shown === this.editor) {
        this.#look.end();
        this.#lookAtText();
      } else this.#look.begin();
    }
    this.redraw();
  }

  /** What stands in the editor now may be a hook's: Enter sends it when it has been seen, or changed. */
  #lookAtText(): void {
    this.#unseenText = this.editor.getText();
    this.#textLook.begin();
  }

  /** Whether a key has been dealt with before it reaches what has the focus. */
  #listen(data: string): boolean {
    const { matchesKey, isKeyRelease, isKeyRepeat } = this.#options.lib;
    if (isKeyRelease(data)) return false;
    if (!matchesKey(data, "ctrl+c")) this.#interrupts = 0;
    else if (isKeyRepeat(data)) return true;
    if (this.#shown === this.editor) {
      this.#typing = true;
      return this.#isUnseen(data) || this.#options.onKey(data);
    }
    if (matchesKey(data, "ctrl+c")) return this.#interrupt(data);
    if (!this.#look.over && !matchesKey(data, "escape")) {
      this.#look.goOn();
      if (this.#typing && isTyped(data)) this.editor.handleInput(data);
      return true;
    }
    this.#typing = false;
    return this.#handToRemote(data);
  }

  /** Whether a key would send what the person cannot have read. */
  #isUnseen(data: string): boolean {
    return !this.#textLook.over && this.#options.lib.matchesKey(data, "enter") && this.#unseenText !== "" &&
      this.editor.getText() === this.#unseenText;
  }

  /** Ctrl+C closes what is open; again, it stops what asks as well; and once more, it ends the session. */
  #interrupt(data: string): boolean {
    const now = Date.now();
    this.#interrupts = now - this.#lastInterrupt < TWICE ? this.#interrupts + 1 : 1;
    this.#lastInterrupt = now;
    if (this.#interrupts > 2) this.#options.onEnd();
    if (this.#dialog !== undefined) {
      this.#dialog.close();
      if (this.#interrupts > 1) this.#options.onStop();
      return true;
    }
    if (this.#interrupts > 1) this.#component?.close();
    return this.#handToRemote(data);
  }

  /** What is drawn elsewhere asks for the screen when it has new lines: drawing the old ones would only delay them. */
  #handToRemote(data: string): boolean {
    const part = this.#component?.part;
    if (part === undefined || part !== this.#shown || part.component.whenDrawn === undefined) return false;
    part.handleInput(data);
    return true;
  }

  /** What hooks lay over the screen is drawn by them as well. */
  #guardOverlays(): void {
    const { tui } = this;
    const showOverlay = tui.showOverlay.bind(tui);
    tui.showOverlay = (component, options) =>
      showOverlay(this.guard(component, (error) => this.notify(errorText(error), "error")), options);
  }

  #drawParts(width: number, place: Place): string[] {
    const { lib, theme } = this.#options;
    const most = Math.max(2, Math.floor(this.tui.terminal.rows / 4));
    const lines: string[] = [];
    let owner: string | undefined;
    for (const { part, place: itsPlace, hookPath } of this.#parts.values()) {
      if (itsPlace !== place) continue;
      if (lines.length > most) break;
      // As for a component: nobody draws as if it were another hook, or the program.
      if (hookPath !== undefined && hookPath !== owner) {
        lines.push(edgeOf(lib, theme, width, hookPath, " shows", "", "muted"));
      }
      owner = hookPath;
      for (const line of part.render(width)) lines.push(line);
    }
    return lines.length > most ? [...lines.slice(0, most - 1), theme.fg("muted", "…")] : lines;
  }

  /** What takes the keys and what is below it, as much as the screen has room for. */
  #drawPlace(width: number): string[] {
    const below = [...this.#drawParts(width, "below"), ...this.#drawFooter(width)];
    this.#room = Math.max(1, this.tui.terminal.rows - below.length);
    const lines = this.#place.render(width);
    // What is drawn elsewhere comes later.
    if (lines.length > 0 || this.#component?.part.component.whenDrawn === undefined) this.#look.drawn();
    this.#textLook.drawn();
    if (this.#shown !== this.#component?.part) return [...lines, ...below];
    // What a component draws may look like anything, but not as if another hook had drawn it.
    return [...this.#component.head.render(width), ...lines.slice(-Math.max(1, this.#room - 1)), ...below];
  }

  #drawFooter(width: number): string[] {
    const { lib, theme, footer } = this.#options;
    if (this.#statusLine?.width !== width) {
      this.#statusLine = { width, text: formatStatusLine(this.#statuses, width) };
    }
    const { text: status } = this.#statusLine;
    const lines = status === "" ? [] : [this.theme === plainTheme ? plainText(status) : status];
    const others = this.#drawParts(width, "footer");
    if (others.length > 0) return [...lines, ...others];
    lines.push(theme.fg("muted", footer()));
    return lines.map((line) => lib.truncateToWidth(line, width, "…"));
  }
}

/** Whether a key is text, or a paste of it. */
function isTyped(data: string): boolean {
  // deno-lint-ignore no-control-regex -- control characters are the keys that are no text
  return data.startsWith("\x1b[200~") || !/[\x00-\x1f\x7f]/.test(data);
}

/** A part that is drawn by a function. */
function part(render: (width: number) => string[]): Part {
  return { render, invalidate() {} };
}
