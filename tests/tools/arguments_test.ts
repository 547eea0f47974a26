import { assertEquals, assertThrows } from "@std/assert";
import { checkArguments, ToolArgumentsError } from "../../src/tools/arguments.ts";

const schema = {
  type: "object",
  properties: {
    path: { type: "string" },
    limit: { type: "integer", minimum: 1 },
    mode: { type: "string", enum: ["a", "b"] },
    deep: { type: "boolean" },
    items: { type: "array", items: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
  },
  required: ["path"],
};

Deno.test("checkArguments() passes what fits and keeps what it does not know", () => {
  const args = { path: "x", limit: 2, mode: "a", deep: true, items: [{ n: 1.5 }], more: [1] };
  assertEquals(checkArguments("read", schema, args), args);
  assertEquals(checkArguments("read", undefined, { any: 1 }), { any: 1 });
});

Deno.test("checkArguments() drops null from optional places and reads numbers from strings (TC-1)", () => {
  const args = { path: "x", limit: "3", deep: "true", mode: null };
  assertEquals(checkArguments("read", schema, args), { path: "x", limit: 3, deep: true });
  assertEquals(args.limit, "3");
});

for (
  const [args, text] of [
    [{}, "read: path is missing; expected a string"],
    [{ path: null }, "read: path is missing; expected a string"],
    [{ path: 1 }, "read: path: expected a string, found the number 1"],
    [{ path: "x", limit: 1.5 }, "read: limit: expected an integer, found the number 1.5"],
    [{ path: "x", limit: 0 }, "read: limit: expected at least 1, found the number 0"],
    [{ path: "x", mode: "c" }, 'read: mode: expected one of "a", "b", found the string "c"'],
    [{ path: "x", items: {} }, "read: items: expected an array, found an object"],
    [{ path: "x", items: [{}] }, "read: items[0].n is missing; expected a number"],
    ["x", 'read: the arguments should be an object, not the string "x"'],
  ] as [unknown, string][]
) {
  Deno.test(`checkArguments() says: ${text}`, () => {
    assertThrows(() => checkArguments("read", schema, args), ToolArgumentsError, text);
  });
}
