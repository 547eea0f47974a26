import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";

async function demo(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", fromFileUrl(new URL("../../examples/demo.ts", import.meta.url)), ...args],
    // Elsewhere than in the repository, which must not matter.
    cwd: "/",
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test("the demo shows the block, the redaction and the commands, and exits with 0", async () => {
  const { code, stdout } = await demo();
  assertEquals(code, 0);
  for (
    const text of [
      "✗ blocked by examples/hooks/block_unsafe_bash.ts",
      "API_KEY=[REDACTED]",
      "┃ Note",
      "Continue from a previous session.",
      "✓ The files are still there",
    ]
  ) assertStringIncludes(stdout, text);
  assert(!stdout.includes("4711") && !stdout.includes("\x1b"));
});

Deno.test("the demo with --json prints the same as records", async () => {
  for (const args of [["--json"], ["--", "--json"]]) {
    const { code, stdout } = await demo(...args);
    const records = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(code, 0);
    assertEquals(records.filter(({ blocked }) => blocked).map(({ hook }) => hook), [
      "examples/hooks/block_unsafe_bash.ts",
    ]);
    assertEquals(records.flatMap(({ type, name }) => type === "command" ? [name] : []), ["note", "handoff"]);
    assert(stdout.includes("[REDACTED]") && !stdout.includes("4711"));
  }
});

Deno.test("the demo refuses options that it does not have", async () => {
  const { code, stdout, stderr } = await demo("--frob");
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(stderr, "--frob");
});
