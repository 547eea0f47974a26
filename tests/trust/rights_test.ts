import { assertEquals, assertThrows } from "@std/assert";
import { readPins, writePins } from "../../mod.ts";
import type { Json } from "../../src/trust/approval.ts";
import { covers, IN_PROCESS } from "../../src/trust/rights.ts";

Deno.test("covers() lets the same rights and fewer pass, and no others", () => {
  const rows: Array<[Json, Json, boolean]> = [
    [{}, {}, true],
    [IN_PROCESS, IN_PROCESS, true],
    [IN_PROCESS, { run: true }, true],
    [{ run: true }, IN_PROCESS, false],
    ["unrestricted program", { read: true }, false],
    [{ read: ["a", "b"] }, { read: ["b"] }, true],
    [{ read: ["b", "a"] }, { read: ["a", "b"] }, true],
    [{ read: true }, { read: ["a"] }, true],
    [{ read: ["a"] }, { read: true }, false],
    [{ read: ["a"] }, { read: ["a", "c"] }, false],
    [{ read: ["a"] }, { write: ["a"] }, false],
    [{ exec: ["git status"] }, { exec: ["git status", "git push"] }, false],
    [{ exec: ["git status"] }, {}, true],
    [{ read: true, deny: { read: ["s"] } }, { read: true }, false],
    [{ read: true, deny: { read: ["s"] } }, { read: true, deny: { read: ["s", "t"] } }, true],
    [{ read: true, deny: { read: ["s"] } }, { read: true, deny: { read: true } }, true],
    [{ read: true, deny: { read: ["s"] } }, { net: ["h"] }, false],
    [{ read: true }, { read: true, links: true }, false],
    [{ read: true, links: true }, { read: true }, true],
    [{ read: true }, { read: true, other: 1 }, false],
    [[], {}, false],
    [{}, [], false],
  ];
  for (const [approved, asked, expected] of rows) {
    assertEquals(covers(approved, asked), expected, JSON.stringify([approved, asked]));
  }
});

Deno.test("readPins() refuses what is no whole pin file", () => {
  assertEquals(readPins(writePins([])), []);
  for (
    const [text, error] of [
      ["{", "it is no JSON"],
      ["[]", "it is no pin file of version 1"],
      ['{"version":1,"hooks":[{}]}', "entry 1 is no pin"],
    ] as const
  ) assertThrows(() => readPins(text), Error, error);
});
