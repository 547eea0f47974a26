// deno-lint-ignore-file no-control-regex -- keys are control characters
/**
 * Stands in for `pi-tui`: the components with which hooks draw messages and dialogs.
 *
 * @module
 */

import { cellsOf, truncateToCells } from "../../ui/text.ts";

/** Something that draws itself as lines. */
export interface Component {
  /** Its lines. */
  render(width: number): string[];
  /** Takes input. */
  handleInput?(data: string): void;
  /** Forgets what was drawn. */
  invalidate?(): void;
}

type Paint = (text: string) => string;

// ——— Text ———

/** How many terminal cells text takes. */
export function visibleWidth(text: string): number {
  return cellsOf(text.replaceAll("\t", "   "));
}

/**
 * Cuts text to a width.
 *
 * @param text Text that may hold colours.
 * @param width Cells that there are.
 * @param ellipsis What says that something was cut.
 * @param pad Whether shorter text is filled up with spaces.
 * @returns The text, or its beginning.
 */
export function truncateToWidth(text: string, width: number, ellipsis = "…", pad = false): string {
  let cut = text;
  if (cellsOf(text) > width) {
    const room = width - cellsOf(ellipsis);
    const kept = room < 0 ? "" : truncateToCells(`${text} `, room + 1).replace("…", "");
    cut = room < 0 ? truncateToCells(text, width) : kept.replace(/\x1b\[0m$/, "") + ellipsis;
    if (cut.includes("\x1b[")) cut += "\x1b[0m";
  }
  return pad ? cut + " ".repeat(Math.max(0, width - cellsOf(cut))) : cut;
}

/** Breaks text into lines of a width; colours go on from line to line. */
export function wrapTextWithAnsi(text: string, width: number): string[] {
  const lines: string[] = [];
  let colours = "";
  for (const line of text.replaceAll("\t", "   ").split("\n")) {
    let current = colours;
    let cells = 0;
    const flush = () => {
      lines.push(colours === "" ? current : `${current}\x1b[0m`);
      [current, cells] = [colours, 0];
    };
    for (const word of line.split(/(?<=\s)(?=\S)/)) {
      for (const piece of pieces(word, width)) {
        if (cells > 0 && cells + cellsOf(piece.trimEnd()) > width) {
          current = current.trimEnd();
          flush();
        }
        current += piece;
        cells += cellsOf(piece);
        for (const [code] of piece.matchAll(/\x1b\[[0-9;:]*m/g)) {
          colours = /^\x1b\[0*m$/.test(code) ? "" : colours + code;
        }
      }
    }
    current = current.trimEnd();
    flush();
  }
  return lines;
}

/** A word in pieces that fit. */
function pieces(word: string, width: number): string[] {
  if (cellsOf(word.trimEnd()) <= width) return [word];
  const found: string[] = [];
  let piece = "";
  for (const part of word.split(/(\x1b\[[0-9;:]*m)|/u).filter((part) => part !== undefined && part !== "")) {
    if (cellsOf(piece) + cellsOf(part) > width && piece !== "") {
      found.push(piece);
      piece = "";
    }
    piece += part;
  }
  return piece === "" ? found : [...found, piece];
}

function padded(line: string, width: number, paddingX: number, paint: Paint | undefined): string {
  const text = `${" ".repeat(paddingX)}${line}`;
  const filled = text + " ".repeat(Math.max(0, width - cellsOf(text)));
  return paint === undefined ? filled : paint(filled);
}

/** Text that is broken into lines. */
export class Text implements Component {
  /** Makes text with space around it. */
  constructor(protected text = "", readonly paddingX = 1, readonly paddingY = 1, protected paint?: Paint) {}

  /** Replaces the text. */
  setText(text: string): void {
    this.text = text;
  }

  /** Replaces the background. */
  setCustomBgFn(paint?: Paint): void {
    if (paint === undefined) delete this.paint;
    else this.paint = paint;
  }

  /** Nothing is kept. */
  invalidate(): void {}

  /** Its lines. */
  render(width: number): string[] {
    if (this.text.trim() === "") return [];
    const inner = Math.max(1, width - 2 * this.paddingX);
    const space = Array.from({ length: this.paddingY }, () => padded("", width, 0, this.paint));
    const lines = wrapTextWithAnsi(this.text, inner).map((line) => padded(line, width, this.paddingX, this.paint));
    return [...space, ...lines, ...space];
  }
}

/** One line of text, cut where it is too long. */
export class TruncatedText implements Component {
  /** Makes it with space around it. */
  constructor(readonly text: string, readonly paddingX = 0, readonly paddingY = 0) {}

  /** Nothing is kept. */
  invalidate(): void {}

  /** Its lines. */
  render(width: number): string[] {
    const space = Array.from({ length: this.paddingY }, () => " ".repeat(width));
    const line = truncateToWidth(this.text.split("\n")[0]!, Math.max(1, width - 2 * this.paddingX));
    return [...space, padded(line, width, this.paddingX, undefined), ...space];
  }
}

/** Text with marks: headings, emphasis, code and lists, drawn by a theme. */
export class Markdown implements Component {
  /** Makes it; `theme` may paint `heading`, `bold`, `italic`, `code`, `quote`, `listBullet`. */
  constructor(
    protected text: string,
    readonly paddingX = 1,
    readonly paddingY = 0,
    readonly theme: Record<string, Paint | undefined> = {},
    readonly defaultTextStyle?: { color?: Paint },
  ) {}

  /** Replaces the text. */
  setText(text: string): void {
    this.text = text;
  }

  /** Nothing is kept. */
  invalidate(): void {}

  /** Its lines. */
  render(width: number): string[] {
    const paint = (name: string, text: string) => this.theme[name]?.(text) ?? text;
    const base = this.defaultTextStyle?.color ?? ((text: string) => text);
    const marks = this.text.trim().split("\n").map((line) => {
      const heading = /^#{1,6}\s+(.*)$/.exec(line);
      if (heading !== null) return paint("heading", heading[1]!);
      const inline = line
        .replaceAll(/`([^`]+)`/g, (_, text: string) => paint("code", text))
        .replaceAll(/\*\*([^*]+)\*\*/g, (_, text: string) => paint("bold", text))
        .replaceAll(/(?<![\w*])\*([^*\s][^*]*)\*/g, (_, text: string) => paint("italic", text));
      const quote = /^>\s?(.*)$/.exec(inline);
      if (quote !== null) return paint("quote", `│ ${quote[1]}`);
      return base(inline.replace(/^(\s*)[-*]\s/, (_, indent: string) => `${indent}${paint("listBullet", "- ")}`));
    });
    return new Text(marks.join("\n"), this.paddingX, this.paddingY).render(width);
  }
}

/** Empty lines. */
export class Spacer implements Component {
  /** Makes that many. */
  constructor(protected lines = 1) {}

  /** Changes how many there are. */
  setLines(lines: number): void {
    this.lines = lines;
  }

  /** Nothing is kept. */
  invalidate(): void {}

  /** Its lines. */
  render(): string[] {
    return Array.from({ length: this.lines }, () => "");
  }
}

/** Components one below the other. */
export class Container implements Component {
  /** The components. */
  children: Component[] = [];

  /** Adds one at the end. */
  addChild(component: Component): void {
    this.children.push(component);
  }

  /** Takes one away. */
  removeChild(component: Component): void {
    this.children = this.children.filter((child) => child !== component);
  }

  /** Takes all away. */
  clear(): void {
    this.children = [];
  }

  /** Passes it on. */
  invalidate(): void {
    for (const child of this.children) child.invalidate?.();
  }

  /** Its lines. */
  render(width: number): string[] {
    return this.children.flatMap((child) => child.render(width));
  }
}

/** Components with space around them and a background. */
export class Box extends Container {
  /** Makes it empty. */
  constructor(readonly paddingX = 1, readonly paddingY = 1, protected paint?: Paint) {
    super();
  }

  /** Replaces the background. */
  setBgFn(paint?: Paint): void {
    if (paint === undefined) delete this.paint;
    else this.paint = paint;
  }

  /** Its lines. */
  override render(width: number): string[] {
    const lines = super.render(Math.max(1, width - 2 * this.paddingX));
    if (lines.length === 0) return [];
    const space = Array.from({ length: this.paddingY }, () => padded("", width, 0, this.paint));
    return [...space, ...lines.map((line) => padded(line, width, this.paddingX, this.paint)), ...space];
  }
}

// ——— Keys ———

const KEYS: Readonly<Record<string, readonly string[]>> = {
  escape: ["\x1b", "\x1b[27u"],
  enter: ["\r", "\n", "\x1bOM", "\x1b[13u"],
  tab: ["\t", "\x1b[9u"],
  "shift+tab": ["\x1b[Z", "\x1b[9;2u"],
  "shift+enter": ["\x1b[13;2u", "\x1b[27;2;13~"],
  "alt+enter": ["\x1b\r", "\x1b[13;3u"],
  space: [" "],
  backspace: ["\x7f", "\b", "\x1b[127u"],
  delete: ["\x1b[3~"],
  up: ["\x1b[A", "\x1bOA"],
  down: ["\x1b[B", "\x1bOB"],
  right: ["\x1b[C", "\x1bOC"],
  left: ["\x1b[D", "\x1bOD"],
  home: ["\x1b[H", "\x1bOH", "\x1b[1~"],
  end: ["\x1b[F", "\x1bOF", "\x1b[4~"],
  pageUp: ["\x1b[5~"],
  pageDown: ["\x1b[6~"],
};
const OTHER_NAMES: Readonly<Record<string, string>> = {
  esc: "escape",
  return: "enter",
  pageup: "pageUp",
  pagedown: "pageDown",
};

/** Whether input is a key, such as `escape`, `up`, `ctrl+c`, `shift+tab`, `a`. */
export function matchesKey(data: string, key: string): boolean {
  const name = OTHER_NAMES[key.toLowerCase()] ?? key;
  const known = KEYS[name] ?? KEYS[name.toLowerCase()];
  if (known !== undefined) return known.includes(data);
  const several = /^((?:(?:ctrl|alt|shift)\+){2,3})(.+)$/.exec(name.toLowerCase());
  if (several !== null) return matchesSeveral(data, several[1]!, several[2]!);
  const combined = /^(ctrl|alt|shift)\+(.+)$/.exec(name);
  if (combined === null) return data === name;
  const [, modifier, rest] = combined;
  const last = rest!.length === 1 ? rest!.toLowerCase() : rest!;
  const code = last.charCodeAt(0);
  if (modifier === "ctrl" && last.length === 1) {
    return data === String.fromCharCode(code & 0x1f) || data === `\x1b[${code};5u`;
  }
  if (modifier === "alt") return data === `\x1b${last}` || data === `\x1b[${code};3u`;
  if (modifier === "shift" && last.length === 1) return data === last.toUpperCase() || data === `\x1b[${code};2u`;
  const arrow = (KEYS[last] ?? [])[0];
  const number = modifier === "ctrl" ? 5 : 2;
  return arrow !== undefined && data === arrow.replace(/^\x1b\[([A-Z])$/, `\x1b[1;${number}$1`);
}

/** Whether input is a key with more than one modifier. */
function matchesSeveral(data: string, modifiers: string, key: string): boolean {
  const has = (modifier: string) => modifiers.includes(modifier);
  const number = 1 + (has("shift") ? 1 : 0) + (has("alt") ? 2 : 0) + (has("ctrl") ? 4 : 0);
  if (key.length > 1) {
    const plain = (KEYS[OTHER_NAMES[key] ?? key] ?? [])[0];
    return plain !== undefined && data === plain.replace(/^\x1b\[([A-Z])$/, `\x1b[1;${number}$1`);
  }
  const code = key.charCodeAt(0);
  const isOld = has("ctrl") && has("alt") && !has("shift") && data === `\x1b${String.fromCharCode(code & 0x1f)}`;
  return isOld || data === `\x1b[${code};${number}u`;
}

type Combine = (key: string) => string;

/** Names of keys. */
export const Key: {
  readonly [name: string]: string;
} & Readonly<Record<"ctrl" | "alt" | "shift" | "ctrlAlt" | "ctrlShift" | "shiftAlt", Combine>> = {
  ...Object.fromEntries(Object.keys(KEYS).map((name) => [name, name])),
  esc: "escape",
  return: "enter",
  ctrl: (key: string) => `ctrl+${key}`,
  alt: (key: string) => `alt+${key}`,
  shift: (key: string) => `shift+${key}`,
  ctrlAlt: (key: string) => `ctrl+alt+${key}`,
  ctrlShift: (key: string) => `ctrl+shift+${key}`,
  shiftAlt: (key: string) => `shift+alt+${key}`,
} as never;

/** Whether input is the escape key. */
export const isEscape = (data: string): boolean => matchesKey(data, "escape");
/** Whether input is the enter key. */
export const isEnter = (data: string): boolean => matchesKey(data, "enter");
/** Whether input is the tab key. */
export const isTab = (data: string): boolean => matchesKey(data, "tab");
/** Whether input is Shift and tab. */
export const isShiftTab = (data: string): boolean => matchesKey(data, "shift+tab");
/** Whether input is the backspace key. */
export const isBackspace = (data: string): boolean => matchesKey(data, "backspace");
/** Whether input is the up key. */
export const isArrowUp = (data: string): boolean => matchesKey(data, "up");
/** Whether input is the down key. */
export const isArrowDown = (data: string): boolean => matchesKey(data, "down");
/** Whether input is the left key. */
export const isArrowLeft = (data: string): boolean => matchesKey(data, "left");
/** Whether input is the right key. */
export const isArrowRight = (data: string): boolean => matchesKey(data, "right");
/** Whether input is Ctrl-C. */
export const isCtrlC = (data: string): boolean => matchesKey(data, "ctrl+c");
/** Whether input is Ctrl-D. */
export const isCtrlD = (data: string): boolean => matchesKey(data, "ctrl+d");

// ——— Things to choose from ———

/** One thing to choose. */
export interface SelectItem {
  /** What is chosen. */
  value: string;
  /** What is shown. */
  label?: string;
  /** What is shown beside it. */
  description?: string;
}

/** A list to choose from. */
export class SelectList implements Component {
  /** Called with what was chosen. */
  onSelect?: (item: SelectItem) => void;
  /** Called when the list is left. */
  onCancel?: () => void;
  /** Called when another item is looked at. */
  onSelectionChange?: (item: SelectItem) => void;
  #shown: readonly SelectItem[];
  #index = 0;

  /** Makes a list; `theme` may paint `selectedText`, `description`, `scrollInfo`, `noMatch`. */
  constructor(
    readonly items: readonly SelectItem[],
    readonly maxVisible = 5,
    readonly theme: Record<string, Paint | undefined> = {},
  ) {
    this.#shown = items;
  }

  /** Shows only what begins with a text. */
  setFilter(filter: string): void {
    this.#shown = this.items.filter(({ value }) => value.toLowerCase().startsWith(filter.toLowerCase()));
    this.#index = 0;
  }

  /** Looks at an item. */
  setSelectedIndex(index: number): void {
    this.#index = Math.max(0, Math.min(index, this.#shown.length - 1));
  }

  /** The item that is looked at. */
  getSelectedItem(): SelectItem | null {
    return this.#shown[this.#index] ?? null;
  }

  /** Nothing is kept. */
  invalidate(): void {}

  /** Its lines. */
  render(width: number): string[] {
    const paint = (name: string, text: string) => this.theme[name]?.(text) ?? text;
    if (this.#shown.length === 0) return [paint("noMatch", "  No matching items")];
    const half = Math.floor(this.maxVisible / 2);
    const start = Math.max(0, Math.min(this.#index - half, this.#shown.length - this.maxVisible));
    const lines = this.#shown.slice(start, start + this.maxVisible).map((item, i) => {
      const selected = start + i === this.#index;
      const text = `${selected ? "→ " : "  "}${item.label || item.value}`;
      const line = item.description === undefined ? text : `${text}  ${paint("description", item.description)}`;
      return truncateToWidth(selected ? paint("selectedText", line) : line, width);
    });
    if (this.#shown.length > this.maxVisible) {
      lines.push(paint("scrollInfo", `  (${this.#index + 1}/${this.#shown.length})`));
    }
    return lines;
  }

  /** Takes a key. */
  handleInput(data: string): void {
    const count = this.#shown.length;
    const item = this.getSelectedItem();
    if (matchesKey(data, "up") || matchesKey(data, "down")) {
      if (count === 0) return;
      this.#index = (this.#index + (matchesKey(data, "up") ? count - 1 : 1)) % count;
      this.onSelectionChange?.(this.getSelectedItem()!);
    } else if (matchesKey(data, "enter")) {
      if (item !== null) this.onSelect?.(item);
    } else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.onCancel?.();
  }
}

/** A line to type in. */
export class Input implements Component {
  /** Called with what was typed. */
  onSubmit?: (value: string) => void;
  /** Called when it is left. */
  onEscape?: () => void;
  /** Whether it takes keys. */
  focused = false;
  #value = "";
  #cursor = 0;

  /** What was typed. */
  getValue(): string {
    return this.#value;
  }

  /** Replaces what was typed. */
  setValue(value: string): void {
    this.#value = value;
    this.#cursor = value.length;
  }

  /** Nothing is kept. */
  invalidate(): void {}

  /** Its line. */
  render(width: number): string[] {
    const before = this.#value.slice(0, this.#cursor);
    const at = this.#value[this.#cursor] ?? " ";
    const room = Math.max(1, width - 3);
    const shown = before.length > room ? before.slice(-room) : before;
    return [truncateToWidth(`> ${shown}\x1b[7m${at}\x1b[27m${this.#value.slice(this.#cursor + 1)}`, width, "")];
  }

  /** Takes a key, or text. */
  handleInput(data: string): void {
    const insert = (text: string, from: number, to: number) => {
      this.#value = this.#value.slice(0, from) + text + this.#value.slice(to);
      this.#cursor = from + text.length;
    };
    if (matchesKey(data, "enter")) this.onSubmit?.(this.#value);
    else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.onEscape?.();
    else if (matchesKey(data, "backspace")) insert("", Math.max(0, this.#cursor - 1), this.#cursor);
    else if (matchesKey(data, "delete")) insert("", this.#cursor, this.#cursor + 1);
    else if (matchesKey(data, "left")) this.#cursor = Math.max(0, this.#cursor - 1);
    else if (matchesKey(data, "right")) this.#cursor = Math.min(this.#value.length, this.#cursor + 1);
    else if (matchesKey(data, "home") || matchesKey(data, "ctrl+a")) this.#cursor = 0;
    else if (matchesKey(data, "end") || matchesKey(data, "ctrl+e")) this.#cursor = this.#value.length;
    else if (!/[\x00-\x1f\x7f]/.test(data)) insert(data, this.#cursor, this.#cursor);
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Says that something goes on. */
export class Loader extends Text {
  #frame = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Makes it and starts it. */
  constructor(
    readonly tui: { requestRender?: () => void } | undefined,
    readonly spinnerColor: Paint = (text) => text,
    readonly messageColor: Paint = (text) => text,
    protected message = "Loading...",
  ) {
    super("", 1, 0);
    this.start();
  }

  /** Its lines, with an empty one above. */
  override render(width: number): string[] {
    this.text = `${this.spinnerColor(FRAMES[this.#frame]!)} ${this.messageColor(this.message)}`;
    return ["", ...super.render(width)];
  }

  /** Starts it. */
  start(): void {
    this.#timer ??= setInterval(() => {
      this.#frame = (this.#frame + 1) % FRAMES.length;
      this.tui?.requestRender?.();
    }, 80);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  /** Stops it. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** As {@linkcode Loader.stop}. */
  dispose(): void {
    this.stop();
  }

  /** Replaces the message. */
  setMessage(message: string): void {
    this.message = message;
  }
}

/** A loader that escape stops. */
export class CancellableLoader extends Loader {
  /** Called when it was stopped. */
  onAbort?: () => void;
  readonly #controller = new AbortController();

  /** Aborted when it was stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was stopped. */
  get aborted(): boolean {
    return this.signal.aborted;
  }

  /** Takes a key. */
  handleInput(data: string): void {
    if (!matchesKey(data, "escape") && !matchesKey(data, "ctrl+c")) return;
    this.#controller.abort();
    this.onAbort?.();
  }
}
