import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { EXAMPLES, Folder, run } from "./program.ts";

const FMT = `import type { HookAPI } from "@xcsh/hooks";
export default function (pi: HookAPI) {
  console.log("noise \\x1b]0;title\\x07");
  pi.on("tool_call", async () => {
    const status = await pi.exec("git", ["status", "--porcelain"]);
    const stat = await pi.exec("git", ["diff", "--stat"]);
    if (status.stdout === "" && stat.stdout === "") await Deno.readTextFile("notes.md");
  });
  pi.registerCommand("fmt", { description: "Formats \\x1b[2J all", handler: async () => {} });
}
`;

Deno.test("check shows what a hook does, asks for and may do, and exits with 1 for what it lacks", async () => {
  await using folder = new Folder({ "fmt.ts": FMT, "notes.md": "" });
  const project = await Deno.realPath(folder.path);
  const bare = await run(["check", "./fmt.ts"], { cwd: folder.path });
  assertEquals(bare.code, 1);
  assertEquals(bare.stdout.split("\n").map((line) => line.replaceAll(project, "…")), [
    "./fmt.ts  isolated",
    "  events    tool_call",
    "  commands  /fmt  Formats all",
    "  asks      exec=git status --porcelain  fmt.ts:5  not granted",
    "            exec=git diff --stat  fmt.ts:6  not granted",
    "            read=./notes.md  fmt.ts:7  not granted",
    "  may       --allow-read=…/fmt.ts",
    "  can leave none",
    "  error: fmt.ts:5:26: pi.exec needs exec=git status --porcelain, which was not granted; " +
    'grant it with --allow-exec="git status --porcelain"',
    '  error: fmt.ts:6:24: pi.exec needs exec=git diff --stat, which was not granted; grant it with --allow-exec="git diff --stat"',
    "  error: fmt.ts:7:59: Deno.readTextFile needs read=./notes.md, which was not granted; grant it with --allow-read=./notes.md",
    "",
    "",
  ]);
  assertStringIncludes(bare.stderr, "[./fmt.ts] noise \n");

  const granted = await run(
    ["check", "./fmt.ts", "--allow-read=.", "--allow-exec=git status --porcelain", "--allow-exec=git diff --stat"],
    { cwd: folder.path },
  );
  assertEquals(granted.code, 0, granted.stdout);
  assertStringIncludes(granted.stdout, '\n            --allow-exec="git diff --stat"\n');
});

Deno.test("check --json prints one object for all hooks", async () => {
  await using folder = new Folder({ "fmt.ts": FMT, "none.ts": "export const x = 1;" });
  const { code, stdout } = await run(["check", "fmt.ts", "--hook", "none.ts", "--json", "--allow-run=git"], {
    cwd: folder.path,
  });
  assertEquals(code, 1);
  const { hooks: [none, fmt] } = JSON.parse(stdout);
  assertEquals([none.path, none.registers, fmt.path, fmt.mode], ["none.ts", null, "fmt.ts", "isolated"]);
  assertEquals(none.diagnostics.at(-1).place, {
    file: join(await Deno.realPath(folder.path), "none.ts"),
    line: 1,
    column: 1,
  });
  assertEquals(fmt.registers.events, ["tool_call"]);
  assertEquals(fmt.permissions, { run: ["git"] });
  assertEquals(fmt.exits, [{ grant: "run=git", why: "git runs whatever it is told to" }]);
  assertEquals(fmt.diagnostics.map(({ code }: { code: string }) => code), ["sandbox-exit", "missing-permission"]);
});

Deno.test("check knows the grants of the person's settings", async () => {
  await using folder = new Folder({ "fmt.ts": FMT, "notes.md": "" });
  const home = join(folder.path, "home");
  await Deno.mkdir(join(home, ".xcsh"), { recursive: true });
  const hook = join(await Deno.realPath(folder.path), "fmt.ts");
  const permissions = { read: ["."], exec: ["git status --porcelain", "git diff --stat"] };
  await Deno.writeTextFile(join(home, ".xcsh/hooks.json"), JSON.stringify({ hooks: { [hook]: permissions } }));
  const { code, stdout } = await run(["check", hook], { cwd: folder.path, env: { HOME: home } });
  assertEquals(code, 0, stdout);
});

Deno.test("check finds the examples sound, and says what they need", async () => {
  const sound = ["block_unsafe_bash", "filter_context", "handoff", "notes", "protect_paths", "redact_secrets"];
  const { code, stdout } = await run(["check", ...sound.map((name) => join(EXAMPLES, `${name}.ts`))]);
  assertEquals(code, 0, stdout);
  assert(!/error:|warning:/.test(stdout), stdout);
});

Deno.test("check says what to do when it is called wrongly", async () => {
  const nothing = await run(["check"]);
  assertEquals(nothing.code, 2);
  assertStringIncludes(nothing.stderr, "name a hook: xcsh-hooks check ./gate.ts");
  const inProcess = await run(["check", "x.ts", "--in-process"]);
  assertEquals(inProcess.code, 2);
  assertStringIncludes(inProcess.stderr, "leave --in-process out");
  const missing = await run(["check", "none.ts"]);
  assertEquals(missing.code, 1);
  assertStringIncludes(missing.stdout, "none.ts does not exist");
});
