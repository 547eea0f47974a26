// deno-lint-ignore-file no-control-regex -- control characters are what this file is about
/**
 * Text on its way to a terminal: what may pass, and how wide it is.
 *
 * @module
 */

const SGR = /\x1b\[[0-9;:]*m/;
const SGR_ALL = new RegExp(SGR.source, "g");
// A control sequence of any kind: CSI, a string (OSC, DCS, SOS, PM, APC) up to its end, or two characters.
const SEQUENCE =
  /\x1b\[[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x9b[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;
// Marks that reorder what follows, so that text can look like other text.
const REORDERING = /[\u061c\u202a-\u202e\u2066-\u2069]/g;
// Marks that cannot be seen, and so can hide that two texts differ.
const INVISIBLE =
  /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
// Marks without a width of their own: any number of them makes one character, which no line is too short for.
const PILED = /([\p{Mark}\u200c\u200d]{8})[\p{Mark}\u200c\u200d]+/gu;
// What needs no cleaning.
const HARMLESS = /^[\x20-\x7e\n]*$/;

/** Keeps colours (SGR codes); drops every other control sequence, control characters but CR, LF and TAB, and what reorders text. */
export function keepColours(text: string): string {
  if (HARMLESS.test(text)) return text;
  return text.toWellFormed()
    .replace(SEQUENCE, (sequence) => sequence.match(SGR)?.[0] === sequence ? sequence : "")
    .split(/(\x1b\[[0-9;:]*m)/)
    .map((piece, i) => i % 2 === 1 ? piece : bounded(piece.replace(CONTROL, "").replace(REORDERING, "")))
    .join("");
}

/** Drops every control sequence, every control character but LF and TAB, and marks that reorder or hide text. */
export function plainText(text: string): string {
  if (HARMLESS.test(text)) return text;
  const bare = text.toWellFormed().replace(SEQUENCE, "").replace(/\r\n?|[\u2028\u2029]/g, "\n");
  return bounded(bare.replace(CONTROL, "").replace(REORDERING, "").replace(INVISIBLE, ""));
}

/** Bounds what stands in one cell. */
function bounded(text: string): string {
  return text.replace(/[\u2028\u2029]/g, " ").replace(PILED, "$1");
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const ASCII = /^[\x20-\x7e]*$/;
const ZERO_WIDTH = /^(?:\p{Mark}|\p{Default_Ignorable_Code_Point}|\p{Control})+$/u;
const EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2}|\p{Emoji_Modifier_Base}\p{Emoji_Modifier})/u;
const WIDE = new RegExp(
  "^[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\u33ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua000-\\ua4cf\\ua960-\\ua97c" +
    "\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18cff}" +
    "\\u{1aff0}-\\u{1b2fb}\\u{20000}-\\u{3fffd}]",
  "u",
);

/** Splits text into what a terminal draws as one character, colours apart. */
function* pieces(text: string): Generator<{ text: string; cells: number }> {
  for (const [i, part] of text.split(/(\x1b\[[0-9;:]*m)/).entries()) {
    if (i % 2 === 1) yield { text: part, cells: 0 };
    else if (ASCII.test(part)) { for (const char of part) yield { text: char, cells: 1 }; }
    else for (const { segment } of segmenter.segment(part)) yield { text: segment, cells: graphemeCells(segment) };
  }
}

function graphemeCells(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) return 0;
  return EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}

/** How many terminal cells text takes; colours take none. */
export function cellsOf(text: string): number {
  const bare = text.replace(SGR_ALL, "");
  if (ASCII.test(bare)) return bare.length;
  let cells = 0;
  for (const piece of pieces(bare)) cells += piece.cells;
  return cells;
}

/**
 * Cuts text to a width.
 *
 * @param text Text that may hold colours.
 * @param width Cells that there are.
 * @returns The text when it fits; else its beginning and `…`, with a reset when a colour was copied.
 */
export function truncateToCells(text: string, width: number): string {
  if (cellsOf(text) <= width) return text;
  if (width <= 0) return "";
  let kept = "";
  let cells = 0;
  let coloured = false;
  for (const piece of pieces(text)) {
    if (cells + piece.cells > width - 1) break;
    if (piece.text.startsWith("\x1b")) coloured = true;
    kept += piece.text;
    cells += piece.cells;
  }
  return `${kept}…${coloured ? "\x1b[0m" : ""}`;
}

/**
 * Breaks text into lines that fit a width, at blanks where there are some.
 *
 * @param text Text without colours.
 * @param width Cells that there are.
 * @returns The lines; each that was empty stays one.
 */
export function wrapToCells(text: string, width: number): string[] {
  return text.replaceAll("\t", "    ").split("\n").flatMap((whole) => {
    const lines: string[] = [];
    let line = "";
    let cells = 0;
    for (const piece of pieces(whole)) {
      const wide = atMost(piece.text);
      if (cells + wide > width && line !== "") {
        const blank = line.lastIndexOf(" ");
        const kept = piece.text === " " || blank <= 0 ? line : line.slice(0, blank);
        lines.push(kept.trimEnd());
        line = line.slice(kept.length).trimStart();
        cells = atMost(line);
        if (piece.text === " ") continue;
      }
      line += piece.text;
      cells += wide;
    }
    return [...lines, line];
  });
}

/** The most cells that a terminal takes for text: some draw each part of an emoji that is put together. */
function atMost(text: string): number {
  return ASCII.test(text) ? text.length : [...text].reduce((cells, char) => cells + graphemeCells(char), 0);
}
