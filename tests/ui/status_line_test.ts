import { assertEquals } from "@std/assert";
import { formatStatusLine } from "@xcsh/hooks";

const line = (statuses: Record<string, string | undefined>, width = 80) =>
  formatStatusLine(new Map(Object.entries(statuses)), width);

Deno.test("formatStatusLine() makes one line of all texts (C6.3)", async (t) => {
  const rows: [name: string, statuses: Record<string, string | undefined>, expected: string][] = [
    ["nothing", {}, ""],
    [
      "sorted by key as people sort",
      { b: "4", A: "2", z: "6", "é": "5.5", a: "1", B: "4.5", _x: "0" },
      "0 1 2 4 4.5 5.5 6",
    ],
    ["CR, LF and TAB become spaces", { a: "one\r\ntwo\tthree\nfour" }, "one two three four"],
    ["runs of spaces collapse, ends are trimmed", { a: "  one   two  ", b: " three" }, "one two three"],
    ["undefined clears a key", { a: "one", b: undefined, c: "three" }, "one three"],
    ["an empty text takes no room", { a: "one", b: "", c: " \t", d: "four" }, "one four"],
    ["colours stay", { a: "\x1b[31mred\x1b[0m" }, "\x1b[31mred\x1b[0m"],
    ["other control sequences go", { a: "\x1b[2Ja\x1b]0;title\x07b\x1b[1;1Hc\x1b]8;;http://x\x1b\\d" }, "abcd"],
    ["control characters go", { a: "a\x00b\x07c\x08d\x7fe\x9bf" }, "abcde"],
    ["an unfinished sequence goes", { a: "a\x1b[31" }, "a"],
    ["a no-break space stays", { a: "a\u00A0b" }, "a\u00A0b"],
  ];
  for (const [name, statuses, expected] of rows) await t.step(name, () => assertEquals(line(statuses), expected));
});

Deno.test("formatStatusLine() cuts to the width in terminal cells (C6.3)", async (t) => {
  const rows: [name: string, text: string, width: number, expected: string][] = [
    ["what fits stays", "12345", 5, "12345"],
    ["what does not ends in …", "123456", 5, "1234…"],
    ["one cell", "12", 1, "…"],
    ["no cell", "12", 0, ""],
    ["wide characters take two", "日本語", 6, "日本語"],
    ["and are not cut in half", "日本語", 5, "日本…"],
    ["nor is the room for … taken by half of one", "日本語", 4, "日…"],
    ["combining marks take none", "e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"],
    ["and stay with their letter", "e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    ["an emoji of several characters takes two", "👩‍👩‍👧x", 3, "👩‍👩‍👧x"],
    ["and is not cut apart", "👩‍👩‍👧xy", 3, "👩‍👩‍👧…"],
    ["a flag", "🇩🇪🇫🇷", 3, "🇩🇪…"],
    ["colours take none", "\x1b[31m12345\x1b[0m", 5, "\x1b[31m12345\x1b[0m"],
    ["cut colours are reset", "\x1b[31m123456\x1b[0m", 5, "\x1b[31m1234…\x1b[0m"],
    ["a colour after the cut is not", "123456\x1b[31m7", 5, "1234…"],
  ];
  for (const [name, text, width, expected] of rows) {
    await t.step(name, () => assertEquals(line({ a: text }, width), expected));
  }
});
