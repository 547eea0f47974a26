/**
 * A question in the place of the editor.
 *
 * @module
 */

import type { Theme } from "../../api.ts";
import { plainText } from "../text.ts";
import type { Answers, Asking, Question } from "../surface.ts";
import { editorTheme, listTheme } from "./look.ts";
import type { PiTui } from "./pi_tui.ts";

type Tui = InstanceType<PiTui["TUI"]>;

/** What a dialog needs. */
export interface DialogOptions {
  /** The terminal library. */
  readonly lib: PiTui;
  /** What draws it. */
  readonly tui: Tui;
  /** The colours in use. */
  readonly theme: Theme;
  /** Who asks, and until when. */
  readonly asking: Asking;
  /** Opens text in the person's editor; `undefined` when that failed. */
  readonly openEditor: (text: string) => Promise<string | undefined>;
  /** Lines that there are for it. */
  readonly rows: () => number;
  /** Whether keys are taken: not before the person can have seen what is asked. */
  readonly takesKeys: () => boolean;
}

/** What the person types into. */
interface Field {
  focused: boolean;
  render(width: number, rows: number): string[];
  handleInput(data: string): void;
  /** Keys that it takes, as a hint. */
  readonly hint: string;
}

/** Lines of a dialog beside its text and what is answered: edges, a blank one, and the keys. */
const FRAME = 4;

/** A question, until it is answered or closed. */
export class Dialog<K extends Question["kind"]> {
  /** Resolves with the answer; `undefined` when it is closed. */
  readonly answered: Promise<Answers[K] | undefined>;
  /** Closes it. */
  readonly close: () => void;
  readonly #field: Field;
  readonly #lines: (width: number, rows: number) => string[];
  readonly #options: DialogOptions;

  /**
   * @param question The question.
   * @param options See {@linkcode DialogOptions}.
   */
  constructor(question: Extract<Question, { kind: K }>, options: DialogOptions) {
    const { lib, asking, tui } = options;
    const { promise, resolve } = Promise.withResolvers<Answers[K] | undefined>();
    this.#options = options;
    this.close = () => resolve(undefined);
    this.#field = fieldOf(question, options, (answer) => resolve(answer as Answers[K]), this.close);
    const asked: Question = question;
    const title = new lib.Text(options.theme.bold(asked.title), 1, 0);
    const message = asked.kind === "confirm" && asked.message !== "" ? new lib.Text(asked.message, 1, 0) : undefined;
    // However much a hook has to say, who asks and what is answered stay on the screen.
    this.#lines = (width, rows) => {
      const lines = [...title.render(width), ...message?.render(width) ?? []];
      const most = Math.max(1, rows);
      return lines.length > most ? [...lines.slice(0, most - 1), ` … ${lines.length - most + 1} more lines`] : lines;
    };
    const clock = asking.deadline === undefined ? undefined : setInterval(() => tui.requestRender(), 1_000);
    asking.signal.addEventListener("abort", this.close, { once: true });
    if (asking.signal.aborted) this.close();
    this.answered = promise.finally(() => {
      clearInterval(clock);
      asking.signal.removeEventListener("abort", this.close);
    });
  }

  /** Whether keys go to it. Asked by the library. */
  get focused(): boolean {
    return this.#field.focused;
  }

  /** As above; set by the library. */
  set focused(focused: boolean) {
    this.#field.focused = focused;
  }

  /** Its lines for a width. */
  render(width: number): string[] {
    const { lib, theme, rows: rowsOf, takesKeys } = this.#options;
    const rows = rowsOf();
    const edge = theme.fg("accent", "─".repeat(width));
    // Without the keys until they are taken, so that nobody wonders where a key went.
    const keys = takesKeys() ? `${this.#field.hint} · Esc closes` : "…";
    const hint = theme.fg("muted", lib.truncateToWidth(` ${keys}`, width, "…"));
    const field = this.#field.render(width, Math.max(1, Math.min(rows - FRAME - 1, Math.ceil(rows / 2))));
    const below = ["", ...field, hint, edge].slice(-Math.max(1, rows - 1));
    return [this.#head(width), ...this.#lines(width, rows - 1 - below.length), ...below].slice(0, Math.max(1, rows));
  }

  /** Takes a key. */
  handleInput(data: string): void {
    const { matchesKey } = this.#options.lib;
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.close();
    else this.#field.handleInput(data);
  }

  /** Nothing is kept that the colours are part of but what the library keeps. */
  invalidate(): void {}

  /** The edge, with who asks and how long there is to answer: the one line on which no text of a hook but its path stands. */
  #head(width: number): string {
    const { lib, theme, asking } = this.#options;
    const { deadline } = asking;
    const left = deadline === undefined ? "" : ` ${Math.max(0, Math.ceil((deadline - Date.now()) / 1_000))} s ─`;
    return edgeOf(lib, theme, width, asking.hookPath, " asks", left);
  }
}

/** The line above what a hook shows, with the hook's path. */
export function edgeOf(
  { truncateToWidth, visibleWidth }: PiTui,
  theme: Theme,
  width: number,
  hookPath: string | undefined,
  does = "",
  end = "",
  colour = "accent",
): string {
  if (visibleWidth(end) * 2 > width) end = "";
  const who = plainText(hookPath ?? "The session").replaceAll(/\s+/g, " ");
  const head = truncateToWidth(`─ ${who}${does} `, Math.max(1, width - visibleWidth(end)), "…");
  const rest = Math.max(0, width - visibleWidth(head) - visibleWidth(end));
  return theme.fg(colour, head + "─".repeat(rest) + end);
}

function fieldOf(
  question: Question,
  options: DialogOptions,
  answer: (value: Answers[keyof Answers]) => void,
  close: () => void,
): Field {
  switch (question.kind) {
    case "select":
      return createList(question.options.map((label) => label || " "), 0, options, answer);
    case "confirm":
      return createConfirm(options, answer);
    case "input":
      return createInput(question.placeholder, options, answer);
    case "editor":
      return createEditor(question.prefill, options, answer, close);
  }
}

function createList(
  labels: readonly string[],
  first: number,
  { lib, theme }: DialogOptions,
  answer: (place: number) => void,
): Field {
  const items = labels.map((label, place) => ({ value: String(place), label: label.replaceAll(/\s+/g, " ") }));
  let selected = first;
  const make = (shown: number) => {
    const list = new lib.SelectList(items, shown, listTheme(theme));
    list.setSelectedIndex(selected);
    list.onSelect = ({ value }) => answer(Number(value));
    list.onSelectionChange = ({ value }) => selected = Number(value);
    return list;
  };
  let shown = 3;
  let list = make(shown);
  return {
    focused: false,
    hint: "↑↓ choose · Enter",
    render(width, rows) {
      // One line tells where in a longer list one is.
      const most = Math.max(1, Math.min(15, items.length > rows ? rows - 1 : rows));
      if (most !== shown) list = make(shown = most);
      return list.render(width);
    },
    handleInput: (data) => list.handleInput(data),
  };
}

/** Yes and No, from No on: a key that was meant for something else is no yes. */
function createConfirm(options: DialogOptions, answer: (yes: boolean) => void): Field {
  const list = createList(["Yes", "No"], 1, options, (place) => answer(place === 0));
  return {
    ...list,
    hint: "y yes · n no · ↑↓ choose · Enter",
    handleInput(data) {
      if (options.lib.matchesKey(data, "y")) answer(true);
      else if (options.lib.matchesKey(data, "n")) answer(false);
      else list.handleInput(data);
    },
  };
}

function createInput(placeholder: string, { lib, theme }: DialogOptions, answer: (text: string) => void): Field {
  const input = new lib.Input();
  input.onSubmit = answer;
  const shown = placeholder.replaceAll(/\s+/g, " ");
  return focusing(input, {
    hint: "Enter answers",
    render(width) {
      const lines = input.render(width);
      if (input.getValue() !== "" || shown === "") return lines;
      const cursor = `> ${input.focused ? lib.CURSOR_MARKER : ""}\x1b[7m \x1b[27m`;
      return [`${cursor}${theme.fg("muted", lib.truncateToWidth(shown, Math.max(1, width - 3), "…"))}`];
    },
    handleInput: (data) => input.handleInput(data),
  });
}

function createEditor(
  prefill: string,
  { lib, tui, theme, openEditor }: DialogOptions,
  answer: (text: string) => void,
  close: () => void,
): Field {
  const editor = new lib.Editor(tui, editorTheme(theme));
  editor.setText(prefill);
  editor.onSubmit = () => {};
  const submitKeys = ["ctrl+s", "ctrl+enter", "alt+enter"] as const;
  return focusing(editor, {
    hint: "Enter new line · Ctrl+S answers · Ctrl+G your editor",
    render: (width) => editor.render(width),
    handleInput(data) {
      const { matchesKey } = lib;
      if (submitKeys.some((key) => matchesKey(data, key))) answer(editor.getExpandedText());
      else if (matchesKey(data, "ctrl+g")) {
        openEditor(editor.getExpandedText()).then((text) => {
          if (text !== undefined) editor.setText(text);
        }, close);
      } else editor.handleInput(matchesKey(data, "enter") ? "\n" : data);
    },
  });
}

/** A field whose keys, and so the cursor, are those of a part of it. */
function focusing(target: { focused: boolean }, field: Omit<Field, "focused">): Field {
  return Object.defineProperty(field as Field, "focused", {
    get: () => target.focused,
    set: (focused: boolean) => target.focused = focused,
  });
}
