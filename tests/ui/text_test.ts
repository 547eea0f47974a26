import { assertEquals } from "@std/assert";
import { cellsOf, keepColours, plainText } from "../../src/ui/text.ts";

Deno.test("plainText() lets no control of the terminal through (C7.5)", async (t) => {
  const rows: [name: string, text: string, expected: string][] = [
    ["plain text", "a b\tc\nd é 日本", "a b\tc\nd é 日本"],
    ["line ends", "a\r\nb\rc", "a\nb\nc"],
    ["colours", "\x1b[1;31mred\x1b[0m", "red"],
    ["cursor moves", "a\x1b[2K\x1b[1Gb\x1b[?25l", "ab"],
    ["a title", "\x1b]0;evil\x07a", "a"],
    ["a link", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"],
    ["a clipboard write", "\x1b]52;c;ZXZpbA==\x07a", "a"],
    ["a device string", "\x1bPq#0\x1b\\a", "a"],
    ["eight-bit introducers", "\x9b31ma\x9d0;evil\x9cb", "ab"],
    ["two-character sequences", "\x1bca\x1b7b\x1b(0c", "abc"],
    ["one that is put together by what is taken out", "\x1b\x1b[31m[31ma", "[31ma"],
    ["a string without end", "a\x1b]0;evil", "a"],
    ["marks that turn text around", "safe\u202Etxt.exe\u2066\u200B\uFEFF", "safetxt.exe"],
    ["backspaces", "rm\b\bls", "rmls"],
  ];
  for (const [name, text, expected] of rows) await t.step(name, () => assertEquals(plainText(text), expected));
});

Deno.test("keepColours() keeps colours alone (C6.3)", () => {
  assertEquals(keepColours("\x1b[31ma\x1b[2Jb\x1b[38:5:1mc\x1b[m\x07"), "\x1b[31mab\x1b[38:5:1mc\x1b[m");
});

Deno.test("cellsOf() counts terminal cells (C6.3)", async (t) => {
  const rows: [text: string, cells: number][] = [
    ["", 0],
    ["abc", 3],
    ["日本", 4],
    ["ｱ", 1],
    ["Ａ", 2],
    ["한국", 4],
    ["e\u0301", 1],
    ["\u200B", 0],
    ["👍", 2],
    ["👍🏽", 2],
    ["❤️", 2],
    ["❤", 1],
    ["1️⃣", 2],
    ["🇩🇪", 2],
    ["👩‍👩‍👧", 2],
    ["©", 1],
    ["…", 1],
    ["\x1b[31mab\x1b[0m", 2],
  ];
  for (const [text, cells] of rows) await t.step(JSON.stringify(text), () => assertEquals(cellsOf(text), cells));
});

Deno.test("plainText() drops characters that hide text from a person", () => {
  assertEquals(plainText("a\u{e0041}\u3164\u00ad\u115f\u180e\ufffab"), "ab");
});
