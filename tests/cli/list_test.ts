import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { EXAMPLES, Folder, run } from "./program.ts";

Deno.test("list shows what hooks register", async () => {
  const { code, stdout, stderr } = await run(["list", "notes.ts", "--hook", "redact_secrets.ts"], { cwd: EXAMPLES });
  assertEquals([code, stderr], [0, ""]);
  assertEquals(stdout.split("\n"), [
    "redact_secrets.ts",
    "  events    tool_result",
    "  mode      isolated",
    `  granted   --allow-read=${join(EXAMPLES, "redact_secrets.ts")}`,
    "notes.ts",
    "  events    none",
    "  command   /note  Leave a note that the model reads with the next prompt",
    "  renders   note",
    "  mode      isolated",
    `  granted   --allow-read=${join(EXAMPLES, "notes.ts")}`,
    "",
  ]);
});

Deno.test("list shows what each hook may do, and what can leave the sandbox", async () => {
  await using folder = new Folder({
    "a.ts": "export default () => {};",
    "b.ts": "export default () => {};",
    "home/.xcsh/hooks.json": `{ "hooks": { "~/../b.ts": { "exec": ["git diff ..."], "read": ["./src"] } } }`,
    "src/x": "",
  });
  const args = ["list", "a.ts", "b.ts", "--json", "-R=.", "--deny-read=src", "--allow-run=sh", "-E=FOO,BAR"];
  const { stdout, code } = await run(args, { cwd: folder.path, env: { HOME: join(folder.path, "home") } });
  assertEquals(code, 0);
  const [a, b] = JSON.parse(stdout).hooks;
  assertEquals(a.mode, "isolated");
  assertEquals(a.permissions, { read: ["."], env: ["FOO", "BAR"], run: ["sh"], deny: { read: ["src"] } });
  assertEquals(a.flags.includes("--allow-env=FOO,BAR"), true);
  assertEquals(a.canLeaveSandbox, [{ grant: "run=sh", why: "sh runs whatever it is told to" }]);
  // What the person gave this hook stands in the place of the run's grants; what is denied stays denied.
  assertEquals(b.permissions, { exec: ["git diff ..."], read: ["./src"], deny: { read: ["src"] } });
  assertEquals(b.canLeaveSandbox[0].grant, "exec=git diff ...");

  const open = await run(["list", "a.ts", "--in-process"], { cwd: folder.path });
  assertStringIncludes(open.stdout, "  mode      in-process, with all rights of this process\n");
  const both = await run(["list", "a.ts", "--in-process", "--allow-read"], { cwd: folder.path });
  assertEquals(both.code, 2);
  const wrong = await run(["list", "a.ts", "--allow-net=a b"], { cwd: folder.path });
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "--allow.net[0] holds a space");
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
  assert(!text.stdout.includes("bad.ts"), "what is wrong is told once");
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
