import { assert, assertEquals, assertNotStrictEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { deepCopy, errorText, frozenCopy, isThenable, kindOf, nearest, sameData } from "../src/values.ts";

class Point {
  constructor(public x: number) {}
  get double(): number {
    return 2 * this.x;
  }
}

const values = (): Record<string, unknown> => ({
  "a string": "s",
  "a function": deepCopy,
  "null": null,
  "an array": [1, [2]],
  "a plain object": { a: { b: [1] }, undefined: undefined },
  "no prototype": Object.assign(Object.create(null), { a: 1 }),
  "a key __proto__": JSON.parse('{"__proto__": {"a": 1}}'),
  "a Map": new Map<unknown, unknown>([["k", { a: 1 }], [{ k: 1 }, 2]]),
  "a Set": new Set([1, { a: 1 }]),
  "a Date": new Date(5),
  "bytes": new Uint8Array([1, 2]),
  "a RegExp": /x/g,
  "an Error": new RangeError("e"),
  "an instance": new Point(2),
});

Deno.test("deepCopy() copies all data", async (t) => {
  for (const [name, value] of Object.entries(values())) {
    await t.step(name, () => {
      const copy = deepCopy(value);
      assertEquals(copy, value);
      if (typeof value === "object" && value !== null) {
        assertNotStrictEquals(copy, value);
        assertStrictEquals(Object.getPrototypeOf(copy), Object.getPrototypeOf(value));
      }
    });
  }
  await t.step("nothing is shared", () => {
    const value = { list: [{ a: 1 }], map: new Map([["k", { a: 1 }]]) };
    const copy = deepCopy(value);
    copy.list[0]!.a = 2;
    copy.map.get("k")!.a = 2;
    assertEquals(value, { list: [{ a: 1 }], map: new Map([["k", { a: 1 }]]) });
  });
  await t.step("a key __proto__ sets no prototype", () => {
    const copy = deepCopy(JSON.parse('{"__proto__": {"polluted": 1}}')) as Record<string, unknown>;
    assertEquals([copy.polluted, Object.keys(copy)], [undefined, ["__proto__"]]);
  });
  await t.step("cycles and shared parts", () => {
    const part = { a: 1 };
    const value: Record<string, unknown> = { one: part, two: part };
    value.self = value;
    const copy = deepCopy(value);
    assertStrictEquals(copy.self, copy);
    assertStrictEquals(copy.one, copy.two);
    assertNotStrictEquals(copy.one, part);
  });
  await t.step("what cannot be copied is shared", () => {
    const { signal } = new AbortController();
    assert(deepCopy({ signal }).signal === signal);
    assertEquals(deepCopy({ signal }).signal.aborted, false);
  });
  await t.step("a very deep value", () => {
    let value: unknown = "end";
    for (let i = 0; i < 100_000; i++) value = [value];
    let copy = deepCopy(value), depth = 0;
    for (; Array.isArray(copy); copy = copy[0]) depth++;
    assertEquals([depth, copy], [100_000, "end"]);
    assert(sameData(value, deepCopy(value)));
    assertThrows(() => (frozenCopy(value, "this") as unknown[])[0] = 1, TypeError);
  });
});

Deno.test("sameData() tells whether anything differs", async (t) => {
  for (const [name, value] of Object.entries(values())) {
    // What shows no property counts as changed, to be safe.
    const opaque = ["a Date", "a RegExp", "an Error"].includes(name);
    await t.step(`${name} and its copy`, () => assertEquals(sameData(value, deepCopy(value)), !opaque));
    await t.step(`${name} and itself`, () => assert(sameData(value, value)));
  }
  const rows: [a: unknown, b: unknown][] = [
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: 1, b: undefined }],
    [{ a: undefined }, { b: undefined }],
    [[1], [1, 2]],
    [[1], { 0: 1 }],
    [{}, Object.create(null)],
    [new Map([["a", 1]]), new Map([["a", 2]])],
    [new Set([1]), new Set([2])],
    [new Point(1), { x: 1 }],
    [new Date(1), new Date(2)],
    [new Uint8Array([1]), new Uint8Array([2])],
    [{ a: { b: [{ c: "x" }] } }, { a: { b: [{ c: "y" }] } }],
    ["a", null],
    [0, -0],
  ];
  for (const [a, b] of rows) await t.step(`${Deno.inspect(a)} and ${Deno.inspect(b)}`, () => assert(!sameData(a, b)));
});

Deno.test("frozenCopy() throws at every attempt to change it", () => {
  const copy = frozenCopy({ a: { list: [1] } }, "this");
  assertEquals(copy, { a: { list: [1] } });
  assert(Object.isFrozen(copy) && Object.isFrozen(copy.a.list));
  assertThrows(() => copy.a.list.push(2), TypeError, "Hooks cannot change this: tried to set `1`");
  assertThrows(() => delete (copy as { a?: unknown }).a, TypeError, "tried to delete `a`");
  assertStrictEquals(frozenCopy("s", "this"), "s");
});

Deno.test("errorText() never throws", () => {
  const texts = [new Error("e"), "s", 1, null, undefined, Symbol("x"), Object.create(null), { toString: () => ({}) }]
    .map(errorText);
  assertEquals(texts, [
    "e",
    "s",
    "1",
    "null",
    "undefined",
    "Symbol(x)",
    "a value that cannot be shown",
    "a value that cannot be shown",
  ]);
});

Deno.test("isThenable() tells what awaiting would wait for", () => {
  assertEquals([Promise.resolve(), { then() {} }, Object.assign(() => {}, { then() {} })].map(isThenable), [
    true,
    true,
    true,
  ]);
  assertEquals([undefined, null, 1, "then", {}, { then: 1 }].map(isThenable), Array(6).fill(false));
});

Deno.test("nearest() finds what was meant", () => {
  const names = ["tool_call", "tool_result", "session_start"];
  assertEquals(["toolcall", "tool_cal", "Tool-Result", "xyz", ""].map((name) => nearest(name, names)), [
    "tool_call",
    "tool_call",
    "tool_result",
    undefined,
    undefined,
  ]);
});

Deno.test("kindOf() names what a value is", () => {
  assertEquals([null, [], {}, undefined, 1, true, "s", "x".repeat(50)].map(kindOf), [
    "null",
    "an array",
    "an object",
    "undefined",
    "the number 1",
    "the boolean true",
    'the string "s"',
    `the string "${"x".repeat(40)}…"`,
  ]);
});
