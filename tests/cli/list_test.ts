import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { EXAMPLES, Folder, run } from "./program.ts";

Deno.test("list shows what hooks register", async () => {
  const { code, stdout, stderr } = await run(["list", "notes.ts", "--hook", "redact_secrets.ts"], { cwd: EXAMPLES });
  assertEquals([code, stderr], [0, ""]);
  assertEquals(stdout.split("\n"), [
    "redact_secrets.ts",
    "  events    tool_result",
    "notes.ts",
    "  events    none",
    "  command   /note  Leave a note that the model reads with the next prompt",
    "  renders   note",
    "",
  ]);
});

Deno.test("list tells warnings and errors, and exits with 1 for an error", async () => {
  await using folder = new Folder({
    "odd.ts": `export default (pi) => { console.log("noise"); pi.on("toolcall", () => {}); };`,
    "bad.ts": "export default (",
  });
  const text = await run(["list", "odd.ts", "bad.ts", "none.ts"], { cwd: folder.path });
  assertEquals(text.code, 1);
  assertStringIncludes(
    text.stderr,
    'warning: odd.ts: There is no event "toolcall", so this handler never runs; did you mean "tool_call"?',
  );
  assertStringIncludes(text.stderr, "error: bad.ts: Failed to load hook:");
  assertStringIncludes(
    text.stderr,
    `error: none.ts: Failed to load hook: ${join(folder.path, "none.ts")} does not exist`,
  );

  const json = await run(["list", "--json", "odd.ts", "bad.ts"], { cwd: folder.path });
  assertEquals(json.code, 1);
  const { hooks, errors, warnings } = JSON.parse(json.stdout);
  assertEquals(hooks.map(({ path }: { path: string }) => path), ["odd.ts"]);
  assertEquals([errors.length, warnings.length], [1, 1]);
});

Deno.test("completions prints a script for each shell", async () => {
  for (const shell of ["bash", "fish", "zsh"]) {
    const { code, stdout } = await run(["completions", shell]);
    assertEquals(code, 0);
    assertStringIncludes(stdout, "xcsh-hooks");
  }
});
