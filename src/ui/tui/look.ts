/**
 * How parts of the library look, by the colours in use.
 *
 * @module
 */

import type { Theme } from "../../api.ts";
import type { PiTui } from "./pi_tui.ts";

/** Lists to choose from. */
export function listTheme(theme: Theme): ConstructorParameters<PiTui["SelectList"]>[2] {
  return {
    selectedPrefix: (text) => theme.fg("accent", text),
    selectedText: (text) => theme.fg("accent", theme.bold(text)),
    description: (text) => theme.fg("muted", text),
    scrollInfo: (text) => theme.fg("muted", text),
    noMatch: (text) => theme.fg("muted", text),
  };
}

/** Editors. */
export function editorTheme(theme: Theme): ConstructorParameters<PiTui["Editor"]>[1] {
  return { borderColor: (text) => theme.fg("muted", text), selectList: listTheme(theme) };
}

/** Text of the model. */
export function markdownTheme(theme: Theme): ConstructorParameters<PiTui["Markdown"]>[3] {
  const muted = (text: string) => theme.fg("muted", text);
  const accent = (text: string) => theme.fg("accent", text);
  return {
    heading: (text) => theme.bold(accent(text)),
    link: accent,
    linkUrl: muted,
    code: accent,
    codeBlock: (text) => text,
    codeBlockBorder: muted,
    quote: (text) => theme.italic(text),
    quoteBorder: muted,
    hr: muted,
    listBullet: accent,
    bold: (text) => theme.bold(text),
    italic: (text) => theme.italic(text),
    strikethrough: (text) => theme.strikethrough(text),
    underline: (text) => theme.underline(text),
  };
}
