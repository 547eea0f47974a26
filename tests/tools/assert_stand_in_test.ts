import * as real from "@std/assert";
import * as standIn from "../../tools/assert_stand_in.ts";

// Where JSR answers, `@std/assert` is the real one, and each case then holds the stand-in against it. The cast is for that
// case: a release may type a parameter a little otherwise.
const LIBRARIES: [string, typeof standIn][] = [
  ["@std/assert", real as unknown as typeof standIn],
  ["assert_stand_in.ts", standIn],
];

const cycle = (): unknown => {
  const object: Record<string, unknown> = { a: 1 };
  object["self"] = object;
  return object;
};
class Point {
  #x: number;
  constructor(x: number) {
    this.#x = x;
  }
  get x(): number {
    return this.#x;
  }
}

const EQUAL: [unknown, unknown][] = [
  [1, 1],
  [0, -0],
  [NaN, NaN],
  [[0, [NaN]], [-0, [NaN]]],
  [{ a: 1, b: { c: [2] } }, { b: { c: [2] }, a: 1 }],
  [{}, Object.create(null)],
  [new Date(5), new Date(5)],
  [new Date(NaN), new Date(NaN)],
  [/a/g, /a/g],
  [new URL("file:///a"), new URL("file:///a")],
  [new Set([1, { a: 1 }]), new Set([{ a: 1 }, 1])],
  [new Map<unknown, unknown>([["a", [1]], [{ k: 1 }, 2]]), new Map<unknown, unknown>([[{ k: 1 }, 2], ["a", [1]]])],
  [new Uint8Array([1, 2]), new Uint8Array([1, 2])],
  [new Uint8Array([1]).buffer, new Uint8Array([1]).buffer],
  [new Point(1), new Point(1)],
  [cycle(), cycle()],
];

const UNEQUAL: [unknown, unknown][] = [
  [1, "1"],
  [null, undefined],
  [{ a: undefined }, {}],
  [{ a: undefined }, { b: undefined }],
  [[1, 2], [1]],
  [[1], { 0: 1 }],
  [new Date(5), new Date(6)],
  [/a/g, /a/],
  [new URL("file:///a"), new URL("file:///b")],
  [new Set([1, 2]), new Set([1, 3])],
  [new Set([{ a: 1 }]), new Set([{ a: 2 }])],
  [new Map([["a", 1]]), new Map([["a", 2]])],
  [new Map([["a", 1]]), new Map([["b", 1]])],
  [new Uint8Array([1, 2]), new Uint8Array([1, 3])],
  [new Uint8Array([1]), new Int8Array([1])],
  [new Point(1), new Point(2)],
  [new Error("a"), new Error("b")],
  [new Point(1), { x: 1 }],
  [() => 1, () => 1],
];

for (const [name, library] of LIBRARIES) {
  // TypeScript wants a written type for the object of a function that asserts.
  const lib: typeof standIn = library;
  const { AssertionError, equal } = lib;

  const passes = (...runs: (() => unknown)[]) => runs.forEach((run) => run());
  const fails = (...runs: (() => unknown)[]) => {
    for (const run of runs) {
      try {
        run();
      } catch (error) {
        if (error instanceof AssertionError && error.name === "AssertionError") continue;
        throw new Error(`${run} threw something else`, { cause: error });
      }
      throw new Error(`${run} passed`);
    }
  };
  const throwType = () => {
    throw new TypeError("wrong type");
  };

  Deno.test(`${name} equal() and assertEquals() compare by structure`, () => {
    for (const [a, b] of EQUAL) {
      if (!equal(a, b) || !equal(b, a)) throw new Error(`${Deno.inspect(a)} is not equal to ${Deno.inspect(b)}`);
      passes(() => lib.assertEquals(a, b));
      fails(() => lib.assertNotEquals(a, b));
    }
    for (const [a, b] of UNEQUAL) {
      if (equal(a, b) || equal(b, a)) throw new Error(`${Deno.inspect(a)} is equal to ${Deno.inspect(b)}`);
      passes(() => lib.assertNotEquals(a, b));
      fails(() => lib.assertEquals(a, b));
    }
  });

  Deno.test(`${name} assertEquals() says what it was told and what differs`, () => {
    const error = lib.assertThrows(
      () => lib.assertEquals({ a: "left" }, { a: "right" }, "for a reason"),
      AssertionError,
    );
    for (const part of ["for a reason", "left", "right"]) lib.assertStringIncludes(error.message, part);
  });

  Deno.test(`${name} assertions about one value tell it from others`, () => {
    passes(
      () => lib.assert(1),
      () => lib.assertFalse(""),
      () => lib.assertExists(0),
      () => lib.assertInstanceOf(new TypeError(), Error),
      () => lib.assertNotInstanceOf(1, Error),
      () => lib.assertStrictEquals(NaN, NaN),
      () => lib.assertNotStrictEquals({}, {}),
      () => lib.assertNotStrictEquals(0, -0),
      () => lib.assertMatch("abc", /b/),
      () => lib.assertNotMatch("abc", /d/),
      () => lib.assertStringIncludes("abc", "bc"),
      () => lib.assertArrayIncludes([1, { a: 1 }], [{ a: 1 }]),
      () => lib.assertGreater(2, 1),
      () => lib.assertGreaterOrEqual(2, 2),
      () => lib.assertLess(1, 2),
      () => lib.assertLessOrEqual(2, 2),
      () => lib.assertAlmostEquals(0.1 + 0.2, 0.3),
      () => lib.assertAlmostEquals(1, 1.4, 0.5),
    );
    fails(
      () => lib.assert(0),
      () => lib.assertFalse("a"),
      () => lib.assertExists(null),
      () => lib.assertInstanceOf({}, Error),
      () => lib.assertNotInstanceOf(new TypeError(), Error),
      () => lib.assertStrictEquals<unknown>({}, {}),
      () => lib.assertStrictEquals(0, -0),
      () => lib.assertNotStrictEquals(1, 1),
      () => lib.assertMatch("abc", /d/),
      () => lib.assertNotMatch("abc", /b/),
      () => lib.assertStringIncludes("abc", "d"),
      () => lib.assertArrayIncludes([1], [1, 2]),
      () => lib.assertGreater(1, 1),
      () => lib.assertGreaterOrEqual(1, 2),
      () => lib.assertLess(1, 1),
      () => lib.assertLessOrEqual(2, 1),
      () => lib.assertAlmostEquals(1, 1.1),
      () => lib.fail("x"),
      () => lib.unreachable(),
      () => lib.unimplemented(),
    );
  });

  Deno.test(`${name} assertObjectMatch() looks at the expected part alone`, () => {
    const shared = { p: 1, q: 2 };
    const actual = {
      a: 1,
      list: [{ x: 1, y: 2 }, 3],
      map: new Map([["k", { v: 1, w: 2 }]]),
      when: new Date(1),
      one: shared,
      two: shared,
    };
    passes(
      () => lib.assertObjectMatch(actual, { a: 1, list: [{ x: 1 }], when: new Date(1) }),
      () => lib.assertObjectMatch(actual, { map: new Map([["k", { v: 1 }]]) }),
      () => lib.assertObjectMatch(actual, { one: { p: 1 }, two: { q: 2 } }),
    );
    fails(
      () => lib.assertObjectMatch(actual, { a: 2 }),
      () => lib.assertObjectMatch(actual, { list: [{ x: 2 }] }),
      () => lib.assertObjectMatch(actual, { list: [{ x: 1, z: 3 }] }),
      () => lib.assertObjectMatch(actual, { missing: undefined }),
    );
  });

  Deno.test(`${name} assertThrows() and assertIsError() return or accept the expected error alone`, () => {
    const error: TypeError = lib.assertThrows(throwType, TypeError, "wrong");
    lib.assertEquals(error.message, "wrong type");
    lib.assertEquals(
      lib.assertThrows(() => {
        throw "text";
      }),
      "text",
    );
    passes(
      () => lib.assertThrows(throwType, Error),
      () => lib.assertThrows(throwType, "a reason"),
      () => lib.assertIsError(error, TypeError, /^wrong/),
      () => lib.assertIsError(new Error("\x1b[31mred\x1b[0m hat"), Error, "red hat"),
    );
    fails(
      () => lib.assertThrows(() => 1),
      () => lib.assertThrows(throwType, RangeError),
      () => lib.assertThrows(throwType, TypeError, "right"),
      () =>
        lib.assertThrows(() => {
          throw "text";
        }, Error),
      () => lib.assertIsError("text"),
      () => lib.assertIsError(error, RangeError),
      () => lib.assertIsError(error, TypeError, "right"),
    );
  });

  Deno.test(`${name} assertRejects() takes a rejection alone`, async () => {
    // deno-lint-ignore require-await -- a rejection is what is wanted
    const reject = async () => throwType();
    const error: TypeError = await lib.assertRejects(reject, TypeError, "wrong");
    lib.assertEquals(error.message, "wrong type");
    await lib.assertRejects(reject, "a reason");
    for (
      const run of [
        () => lib.assertRejects(() => Promise.resolve()),
        () => lib.assertRejects(throwType),
        () => lib.assertRejects(reject, RangeError),
        () => lib.assertRejects(reject, TypeError, "right"),
      ]
    ) {
      await lib.assertRejects(run, AssertionError);
    }
  });
}
