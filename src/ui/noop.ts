/**
 * The UI where nobody is.
 *
 * @module
 */

import type { HookUIContext, Theme } from "../api.ts";

/** A theme without colours: text comes back as it is. */
export const plainTheme: Theme = {
  fg: (_color, text) => text,
  bg: (_color, text) => text,
  bold: (text) => text,
  italic: (text) => text,
  underline: (text) => text,
  strikethrough: (text) => text,
  inverse: (text) => text,
};

/**
 * Makes the UI of a session that nobody watches: questions are answered as if they were closed, and the rest does nothing.
 *
 * @returns The UI.
 *
 * @example
 * ```ts
 * import { createNoOpUIContext } from "@xcsh/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await createNoOpUIContext().confirm("Deploy?", "to production"), false);
 * ```
 */
export function createNoOpUIContext(): HookUIContext {
  return {
    select: () => Promise.resolve(undefined),
    confirm: () => Promise.resolve(false),
    input: () => Promise.resolve(undefined),
    editor: () => Promise.resolve(undefined),
    notify() {},
    setStatus() {},
    setWidget() {},
    setTitle() {},
    setHeader() {},
    setFooter() {},
    setWorkingMessage() {},
    custom: () => Promise.resolve(undefined),
    setEditorText() {},
    getEditorText: () => "",
    theme: plainTheme,
  };
}
