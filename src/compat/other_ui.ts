/**
 * What hooks of other hosts find in `ctx.ui` and give to it.
 *
 * @module
 */

import type { CustomFactory, HookUIContext, Theme } from "../api.ts";

/** Keys by what they do in lists, fields and dialogs. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  selectup: ["up"],
  selectdown: ["down"],
  selectpageup: ["pageUp"],
  selectpagedown: ["pageDown"],
  selectconfirm: ["enter"],
  selectcancel: ["escape", "ctrl+c"],
  inputsubmit: ["enter"],
  inputnewline: ["shift+enter"],
  inputtab: ["tab"],
  editorcursorup: ["up"],
  editorcursordown: ["down"],
  editorcursorleft: ["left"],
  editorcursorright: ["right"],
  interrupt: ["escape"],
  clear: ["ctrl+c"],
  exit: ["ctrl+d"],
  toolsexpand: ["ctrl+o"],
};
const INPUT: Readonly<Record<string, readonly string[]>> = {
  up: ["\x1b[A", "\x1bOA"],
  down: ["\x1b[B", "\x1bOB"],
  right: ["\x1b[C", "\x1bOC"],
  left: ["\x1b[D", "\x1bOD"],
  pageUp: ["\x1b[5~"],
  pageDown: ["\x1b[6~"],
  enter: ["\r", "\n", "\x1bOM", "\x1b[13u"],
  "shift+enter": ["\x1b[13;2u", "\x1b[27;2;13~"],
  escape: ["\x1b", "\x1b[27u"],
  tab: ["\t", "\x1b[9u"],
  "ctrl+c": ["\x03", "\x1b[99;5u"],
  "ctrl+d": ["\x04", "\x1b[100;5u"],
  "ctrl+o": ["\x0f", "\x1b[111;5u"],
};

/** What a key does, as components of other hosts ask it: `matches(data, "tui.select.confirm")`, `getKeys(…)`. */
const keybindings = {
  matches: (data: string, does: string): boolean => keysOf(does).some((key) => INPUT[key]?.includes(data)),
  getKeys: (does: string): string[] => [...keysOf(does)],
};

/** The keys that do something, such as `tui.select.confirm`, or `selectConfirm` as it was called once. */
export function keysOf(does: unknown): readonly string[] {
  const name = String(does).replace(/^(?:tui|app)\./, "").replaceAll(".", "").toLowerCase();
  return Object.hasOwn(KEYS, name) ? KEYS[name]! : [];
}

type OtherFactory = (tui: unknown, theme: Theme, keys: unknown, done: (result: never) => void) => never;

/** Members that change how a chat looks, for a UI that has no place for them. */
const SHOWN_NOWHERE: readonly (keyof HookUIContext)[] = ["setTitle", "setHeader", "setFooter", "setWorkingMessage"];
const extended = new WeakMap<HookUIContext, HookUIContext>();

/**
 * Makes of a UI the one that hooks get: `custom` also takes the factories of today's other hosts, which get the keys before `done`.
 *
 * @param ui The UI.
 * @returns The same one for the same UI.
 */
export function otherUI(ui: HookUIContext): HookUIContext {
  let more = extended.get(ui);
  if (more !== undefined) return more;
  more = Object.create(ui) as HookUIContext;
  Object.defineProperty(more, "custom", {
    value: <T>(factory: CustomFactory<T>, ...rest: [never?]) =>
      ui.custom<T>(
        factory.length < 4
          ? factory
          : (tui, theme, done) => (factory as unknown as OtherFactory)(tui, theme, keybindings, done),
        ...rest,
      ),
    writable: true,
    configurable: true,
  });
  for (const name of SHOWN_NOWHERE) {
    if (ui[name] !== undefined) continue;
    Object.defineProperty(more, name, { value: () => {}, writable: true, configurable: true });
  }
  extended.set(ui, more).set(more, more);
  return more;
}
