import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { resolveHookPath } from "@xcsh/hooks";
import { homeDirectory } from "../src/paths.ts";

const POSIX = { ignore: Deno.build.os === "windows" };
const home = homeDirectory();

Deno.test("resolveHookPath() reads paths as people write them (C2.3)", POSIX, async (t) => {
  // The vectors of the reference, §3.1; what is ours is said.
  const rows: [given: string, expected: string, note?: string][] = [
    ["~", home],
    ["~/x", `${home}/x`],
    ["~\\x", `${home}\\x`],
    ["@/abs", "/abs"],
    ["@~/x", `${home}/x`],
    ["@rel", "/cwd/dir/@rel"],
    ["@file:///tmp/q", "/tmp/q", "ours: the reference leaves the @"],
    ["file:///tmp/a%20b", "/tmp/a b"],
    ["FILE:///tmp/q", "/tmp/q"],
    ["file:///tmp/100%", "/tmp/100%", "ours: a lone % stands for itself"],
    ["file:///tmp/%FF", "/cwd/dir/file:/tmp/%FF"],
    ["a\u00A0b", "/cwd/dir/a b"],
    ["a\u202Fb\u3000c\u2003d", "/cwd/dir/a b c d"],
    ["./x", "/cwd/dir/x"],
    ["../x", "/cwd/x"],
    ["/a/../b/./c.ts", "/b/c.ts", "ours: absolute paths are normalised"],
    ["a//b", "/cwd/dir/a/b"],
    [" x", "/cwd/dir/ x"],
    ["a~b", "/cwd/dir/a~b"],
    ["we ird#%?.ts", "/cwd/dir/we ird#%?.ts"],
  ];
  for (const [given, expected, note] of rows) {
    await t.step(`${JSON.stringify(given)}${note === undefined ? "" : ` (${note})`}`, () => {
      assertEquals(resolveHookPath(given, "/cwd/dir"), expected);
    });
  }
});

Deno.test("resolveHookPath() throws for what is no path (C2.3)", async (t) => {
  const rows: [given: unknown, expected: string][] = [
    ["", "is empty"],
    [" \u00A0", "is empty"],
    ["a\0b", '"a\\u0000b" holds a NUL byte'],
    ["file:///a%00b", "holds a NUL byte"],
    ["~root/x", "~root/x names another user's home"],
    ["@~root/x", "~root/x names another user's home"],
    [undefined, "must be a string, not undefined"],
    [7, "must be a string, not number"],
  ];
  for (const [given, expected] of rows) {
    await t.step(JSON.stringify(given) ?? "undefined", () => {
      const error = assertThrows(() => resolveHookPath(given as string, "/cwd"), TypeError);
      assertStringIncludes(error.message, expected);
    });
  }
});

Deno.test("resolveHookPath() says which flag is missing when home is not known (C2.3)", async () => {
  const script = `
    const { resolveHookPath } = await import(${JSON.stringify(new URL("../src/paths.ts", import.meta.url).href)});
    console.log(resolveHookPath("a.ts", "/cwd"));
    try { resolveHookPath("~/a.ts", "/cwd"); } catch (error) { console.log(error.message); }`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--allow-read",
      `--config=${new URL("../deno.json", import.meta.url).pathname}`,
      `data:text/javascript,${encodeURIComponent(script)}`,
    ],
    stderr: "inherit",
  }).output();
  const [relative, message] = new TextDecoder().decode(stdout).split("\n");
  assertEquals(relative, "/cwd/a.ts");
  assertStringIncludes(message ?? "", "--allow-env=HOME");
});
