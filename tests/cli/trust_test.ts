import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { type Ended, run } from "./program.ts";
import { Repository } from "../trust/_repository.ts";

const HOOK = ".xcsh/hooks/pre/bash.ts";
const GATE = (reason: string) =>
  `export default (pi) => { pi.on("tool_call", () => ({ block: true, reason: ${JSON.stringify(reason)} })); };\n`;

class Cli extends Repository {
  constructor(files: Record<string, string> = { [HOOK]: GATE("kept out") }) {
    super(files);
    this.write(
      "script.json",
      JSON.stringify({ turns: [{ toolCalls: [{ name: "bash", arguments: { command: "echo ran > ran" } }] }] }),
    );
  }

  /** Runs the program in the project, with a home of its own. */
  program(...args: string[]): Promise<Ended> {
    const cache = Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME")!, ".cache", "deno");
    return run(args, {
      cwd: this.cwd,
      env: { HOME: this.home, DENO_DIR: cache, XDG_CACHE_HOME: join(this.root, "cache") },
    });
  }

  session(...args: string[]): Promise<Ended> {
    return this.program("run", "go", "--script", "script.json", ...args);
  }

  /** Whether the tool of the session ran since the last look. */
  ran(): boolean {
    try {
      Deno.removeSync(this.path("ran"));
      return true;
    } catch {
      return false;
    }
  }
}

Deno.test("trust: a hook of the project is skipped and named, then approved, then runs isolated, until it changes", async () => {
  using cli = new Cli();
  const before = await cli.session();
  assertEquals([before.code, cli.ran()], [0, true]);
  assertMatch(
    before.stderr,
    /bash\.ts: not trusted, so it was left out: .* approve it with: xcsh-hooks trust \.xcsh\/hooks\/pre\/bash\.ts/,
  );
  const required = await cli.session("--require-trust");
  assertEquals([required.code, cli.ran()], [1, false]);
  assertStringIncludes(required.stderr, "not trusted");

  const open = await cli.program("trust");
  assertEquals(open.stdout, `new       ${cli.path(HOOK)}\n`);
  assertStringIncludes(open.stderr, `approve it: xcsh-hooks trust ${HOOK}\n`);
  const look = await cli.program("trust", HOOK);
  assertEquals(look.code, 1);
  assertStringIncludes(look.stderr, "+ export default (pi)");
  assertStringIncludes(look.stderr, "approve it with --yes");
  assertEquals((await cli.program("trust", HOOK, "--yes")).stdout, `approved  ${cli.path(HOOK)}\n`);
  const after = await cli.session("--require-trust");
  assertEquals(cli.ran(), false);
  assertStringIncludes(after.stdout + after.stderr, "kept out");

  cli.write(HOOK, GATE("other"));
  const changed = await cli.session();
  assertEquals(cli.ran(), true);
  assertStringIncludes(changed.stderr, `${HOOK} has changed since it was approved on`);
  const again = await cli.program("trust", HOOK, "--json");
  assertMatch(again.stderr, /- export default[^]*\+ export default/);
  assertEquals(JSON.parse(again.stdout).hooks[0].state, "left");
});

Deno.test("trust: --list, --revoke and wrong paths", async () => {
  using cli = new Cli();
  assertEquals((await cli.program("trust", "--list")).stdout, "Nothing is approved here.\n");
  assertEquals((await cli.program("trust")).stdout, `new       ${cli.path(HOOK)}\n`);
  await cli.program("trust", HOOK, "--yes");
  assertStringIncludes((await cli.program("trust", "--list")).stdout, `${HOOK}\n  approved  `);
  assertEquals(JSON.parse((await cli.program("trust", "--list", "--json")).stdout).approvals[0].path, HOOK);
  assertEquals((await cli.program("trust")).stdout, `approved  ${cli.path(HOOK)}\n`);
  assertEquals((await cli.program("trust", "--revoke", HOOK)).stdout, `revoked   ${HOOK}\n`);
  assertEquals((await cli.program("trust", "--revoke", HOOK)).code, 1);
  assertEquals((await cli.program("trust", "--revoke")).code, 2);
  const wrong = await cli.program("trust", "script.json");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "is no hook that comes with the project");
});

Deno.test("trust: a pin file lets another clone run what was approved here, and nothing else", async () => {
  using cli = new Cli();
  assertEquals((await cli.program("trust", "--export", "../hooks.lock.json")).code, 2);
  await cli.program("trust", HOOK, "--yes", "--export", "../hooks.lock.json");
  const lock = join(cli.root, "hooks.lock.json");
  using ci = new Cli();
  const run = () => ci.session("--require-trust", "--trust-lock", lock);
  const pinned = await run();
  assertEquals(ci.ran(), false);
  assertStringIncludes(pinned.stdout + pinned.stderr, "kept out");
  ci.write(HOOK, GATE("other"));
  assertEquals([(await run()).code, ci.ran()], [1, false]);
  // A pin file counts only when the person names it.
  ci.write(HOOK, GATE("kept out"));
  ci.write("hooks.lock.json", Deno.readTextFileSync(lock));
  assertEquals([(await ci.session("--require-trust")).code, ci.ran()], [1, false]);
  Deno.writeTextFileSync(lock, Deno.readTextFileSync(lock).replace(HOOK, ".xcsh/hooks/pre/read.ts"));
  const edited = await run();
  assertEquals(edited.code, 2);
  assertStringIncludes(edited.stderr, "entry 1 is no pin, or has been changed");
});

Deno.test("trust: rights beyond those approved ask again, fewer do not", async () => {
  using cli = new Cli();
  await cli.program("trust", HOOK, "--yes", "--allow-read=.", "--allow-env=HOME");
  assertEquals((await cli.session("--require-trust", "--allow-read=.")).stderr.includes("not trusted"), false);
  assertEquals((await cli.session("--require-trust")).stderr.includes("not trusted"), false);
  const more = await cli.session("--require-trust", "--allow-read=.", "--allow-run");
  assertEquals(more.code, 1);
  assertStringIncludes(more.stderr, "what it may do has changed");
  assertEquals((await cli.session("--require-trust", "--in-process")).code, 1);
});

Deno.test("list shows every candidate: where it comes from, and why it does not run", async () => {
  using cli = new Cli({
    [HOOK]: GATE("kept out"),
    "~/.xcsh/hooks/pre/bash.ts": GATE("mine"),
    "~/.claude/hooks/pre/bash.ts": GATE("hidden"),
    "~/.xcsh/hooks.json": JSON.stringify({ disabledHooks: ["hook:pre:*:off.ts"] }),
    "~/.xcsh/hooks/off.ts": GATE("off"),
    "~/.claude/settings.json": JSON.stringify({
      hooks: { Stop: [{ hooks: [{ type: "command", command: "true" }] }], Notification: [] },
    }),
    "~/.pi/hooks/bad.ts": "export default 1;",
  });
  Deno.symlinkSync("/nowhere/x.ts", cli.path("~/.xcsh/hooks/dead.ts"));
  const { code, stdout, stderr } = await cli.program("list");
  assertEquals(code, 1);
  const lines = stdout.split("\n").filter((line) => /^(?:loaded|shadowed|disabled|untrusted|failed) /.test(line));
  const row = (state: string, path: string, about: string) =>
    assert(
      lines.some((line) => line.startsWith(`${state.padEnd(9)} ${cli.path(path)}  ${about}`)),
      `${state} ${path}: ${lines.join("\n")}`,
    );
  row("loaded", "~/.xcsh/hooks/pre/bash.ts", "user, xcsh, module pre bash");
  row("untrusted", HOOK, "project, xcsh, module pre bash  it comes with the project");
  row(
    "shadowed",
    "~/.claude/hooks/pre/bash.ts",
    `user, Claude Code, module pre bash  shadowed by ${cli.path("~/.xcsh/hooks/pre/bash.ts")}`,
  );
  row("disabled", "~/.xcsh/hooks/off.ts", "user, xcsh, module pre *  hook:pre:*:off.ts is disabled");
  row("disabled", "~/.claude/settings.json#Stop[0].hooks[0]", "user, Claude Code, command pre *  shell hooks are off");
  row("failed", "~/.pi/hooks/bad.ts", "user, pi, module pre *  Hook must export a default function");
  row("failed", "~/.xcsh/hooks/dead.ts", "user, xcsh, module pre *  is a link to /nowhere/x.ts");
  assert(!stderr.includes("not trusted"), "its row says so");
  // What is wrong with commands is told to whoever runs them.
  assert(!stderr.includes("Notification"), stderr);
  assertStringIncludes(
    (await cli.program("list", "--shell-hooks")).stderr,
    '"Notification" is an event that does not exist',
  );
  const json = JSON.parse((await cli.program("list", "--json")).stdout);
  assertEquals(json.candidates.length, 7);
  assertEquals(
    (await cli.program("list", "--no-discovery")).stdout,
    "No hook is here; name one (xcsh-hooks list ./gate.ts), or put it into .xcsh/hooks\n",
  );
});

Deno.test("--shell-hooks runs approved scripts and commands of the project, and those of the person", async () => {
  const settings = (line: string) =>
    JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: line }] }] } });
  using cli = new Cli({
    ".claude/settings.json": settings('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh'),
    "~/.claude/settings.json": settings("touch user-ran"),
  });
  cli.write(".claude/hooks/check.sh", "#!/bin/sh\necho from the project >&2\nexit 2\n", 0o755);
  await cli.session();
  assertEquals(cli.ran(), true);
  const skipped = await cli.session("--shell-hooks");
  assertStringIncludes(skipped.stderr, "not trusted");
  assertEquals([cli.ran(), Deno.statSync(cli.path("user-ran")).isFile], [true, true]);
  assertEquals((await cli.program("trust", ".claude/settings.json", "--yes")).code, 0);
  const approved = await cli.session("--shell-hooks");
  assertStringIncludes(approved.stdout + approved.stderr, "from the project");
  assertEquals(cli.ran(), false);
  cli.write(".claude/hooks/check.sh", "#!/bin/sh\ntouch evil\n", 0o755);
  const swapped = await cli.session("--shell-hooks", "--require-trust");
  assertEquals(swapped.code, 1);
  assertStringIncludes(swapped.stderr, ".claude/hooks/check.sh has changed since");
  assertEquals([...Deno.readDirSync(cli.cwd)].some(({ name }) => name === "evil"), false);
});

Deno.test("--shell-hooks: a refused prompt reaches neither model nor transcript, and Stop makes the agent go on", async () => {
  const command = (line: string) => [{ hooks: [{ type: "command", command: line }] }];
  using cli = new Cli({
    "~/.claude/settings.json": JSON.stringify({
      hooks: {
        UserPromptSubmit: command("grep -q secret && { echo no secrets >&2; exit 2; }; echo extra context"),
        SessionStart: command("echo rules"),
        Stop: command("[ -e stopped ] || { touch stopped; echo run the tests >&2; exit 2; }"),
      },
    }),
  });
  const session = (prompt: string) =>
    cli.program("run", prompt, "--script", "script.json", "--shell-hooks", "--json", "--session", "s.jsonl");
  const refused = await session("my secret");
  assertStringIncludes(refused.stdout, '"level":"error","message":"no secrets"');
  assertEquals([cli.ran(), Deno.readTextFileSync(cli.path("s.jsonl")).includes("my secret")], [false, false]);
  const { stdout } = await session("hello");
  for (const text of ["rules", "extra context", "run the tests"]) assertStringIncludes(stdout, `"content":"${text}"`);
  assertEquals(stdout.match(/"type":"agent_start"/g)?.length, 2);
});
