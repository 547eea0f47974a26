import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SessionManager } from "../../src/session/store.ts";
import { Folder, readUntil, records, run, start } from "./program.ts";

const script = JSON.stringify({
  turns: Array.from({ length: 20 }, (_, i) => ({ text: `answer ${i} ${"x".repeat(400)}` })),
});

/** A folder with a script, whose sessions are kept in it. */
function project(files: Record<string, string> = {}) {
  const folder = new Folder({ "script.json": script, ...files });
  const env = { HOME: folder.path };
  const base = ["run", "--cwd", folder.path, "--script", `${folder.path}/script.json`];
  const sessions = () => SessionManager.list(folder.path, sessionFolder(folder.path));
  return { folder, base, env, sessions, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

function sessionFolder(home: string): string {
  const root = `${home}/.xcsh/agent/sessions`;
  return `${root}/${[...Deno.readDirSync(root)][0]!.name}`;
}

Deno.test("run --continue begins a session that is kept, and goes on with it", async () => {
  await using p = project();
  await run([...p.base, "--continue", "one"], { env: p.env });
  const { stdout, code } = await run([...p.base, "--continue", "--json", "two"], { env: p.env });
  assertEquals(code, 0);
  assertEquals(p.sessions().length, 1);
  using session = SessionManager.open(p.sessions()[0]!.path);
  assertEquals(session.getEntries().length, 4);
  assertEquals(records(stdout)[0]!.type, "session_start");
});

Deno.test("run --resume goes on with the session of an id, and lists what there is when it finds none", async () => {
  await using p = project();
  await run([...p.base, "--continue", "the first prompt"], { env: p.env });
  const { id, path } = p.sessions()[0]!;
  const { code } = await run([...p.base, "--resume", id.slice(0, 8), "two"], { env: p.env });
  assertEquals(code, 0);
  const missing = await run([...p.base, "--resume", "zzz", "two"], { env: p.env });
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "There is no session zzz");
  assertStringIncludes(missing.stderr, "the first prompt");
  using session = SessionManager.open(path);
  assertEquals(session.getEntries().length, 4);
});

Deno.test("run keeps a single prompt in memory, and so does run --no-session", async () => {
  await using p = project();
  assertEquals((await run([...p.base, "one"], { env: p.env })).code, 0);
  assertEquals((await run([...p.base, "--no-session", "--interactive"], { env: p.env, input: "one\n" })).code, 0);
  assert(![...Deno.readDirSync(p.folder.path)].some(({ name }) => name === ".xcsh"));
});

Deno.test("run refuses options that contradict each other", async () => {
  await using p = project();
  for (
    const [args, text] of [
      [["--continue", "--resume", "x"], "give one of them"],
      [["--model", "anthropic:x"], "script"],
      [["--session", "a.jsonl", "--continue"], "give one of them"],
    ] as [string[], string][]
  ) {
    const { code, stderr } = await run([...p.base, ...args, "go"], { env: p.env });
    assertEquals(code, 2);
    assertStringIncludes(stderr, text);
  }
  const model = await run(["run", "--cwd", p.folder.path, "--model", "nobody:x", "go"], { env: p.env });
  assertEquals(model.code, 2);
  assertStringIncludes(model.stderr, "write openai-compatible:NAME or anthropic:NAME");
});

Deno.test("run --interactive takes prompts and the commands of a session line by line", async () => {
  await using p = project({
    "hook.ts": `export default (pi) => {
      pi.on("session_before_switch", () => {});
      pi.registerCommand("greet", { description: "Say hello", handler: (_args, ctx) => ctx.ui.notify("hello") });
    };`,
  });
  const input = [
    "one",
    "two",
    "/label start of it",
    "/tree",
    "/branch",
    "/hooks",
    "/help",
    "/greet",
    "/tre",
    "/new",
    "three",
    "/resume",
    "/fork",
    "/compact",
    "/quit",
    "never",
  ].join("\n");
  const args = [...p.base, "--interactive", "--hook", `${p.folder.path}/hook.ts`];
  const { code, stdout, stderr } = await run(args, { env: p.env, input });
  const all = stdout + stderr;
  assertEquals(code, 0, all);
  for (
    const text of [
      "answer 1",
      "is now start of it",
      "user: one",
      "[start of it]",
      "events: session_before_switch",
      "commands: /greet",
      "/tree [entry] [summarize]",
      "Say hello",
      "hello",
      "There is no command /tre; did you mean /tree?",
      "New session",
      "answer 2",
      "Nothing to compact",
    ]
  ) assertStringIncludes(all, text);
  assertEquals(all.includes("answer 3"), false);
  const help = stdout.slice(stdout.indexOf("  /new "), stdout.indexOf("Say hello"));
  for (const line of help.split("\n")) assert(line.length <= 80, line);
  assertStringIncludes(help, `\n  /hooks [disable|enable hook]  List the hooks, what they handle`);
  assertEquals(p.sessions().length, 3);
});

Deno.test("run takes a command of the session as its prompt", async () => {
  await using p = project();
  await run([...p.base, "--continue", "one"], { env: p.env });
  const { code, stdout } = await run([...p.base, "--continue", "/tree"], { env: p.env });
  assertEquals(code, 0);
  assertStringIncludes(stdout, "user: one");
  const json = await run([...p.base, "--continue", "--json", "/branch"], { env: p.env });
  const output = records(json.stdout).find(({ type }) => type === "output");
  assertStringIncludes(String(output?.text), "one");
  const nothing = await run([...p.base, "--continue", "/compact"], { env: p.env });
  assertEquals(nothing.code, 1);
  assertStringIncludes(nothing.stderr, "Nothing to compact");
});

Deno.test("run refuses a session that another process has, with its pid", async () => {
  await using p = project();
  const file = `${p.folder.path}/s.jsonl`;
  const owner = start([...p.base, "--interactive", "--session", file], { env: p.env, stdin: "piped" });
  const writer = owner.stdin.getWriter();
  await writer.write(new TextEncoder().encode("one\n"));
  const reader = owner.stdout.getReader();
  await readUntil(reader, "answer 0");
  const { code, stderr } = await run([...p.base, "--session", file, "two"], { env: p.env });
  assertEquals(code, 2);
  assertStringIncludes(stderr, `is in use by process ${owner.pid}`);
  await writer.close();
  await reader.cancel();
  await owner.stderr.cancel();
  await owner.status;
});

Deno.test("/hooks leaves a hook out of a running session, and takes it in again", async () => {
  await using p = project({
    "gate.ts": `export default (pi) => pi.on("before_agent_start", (_e, ctx) => ctx.ui.notify("seen"));`,
  });
  const hook = `${p.folder.path}/gate.ts`;
  const input = [
    "one",
    `/hooks disable ${hook}`,
    "/hooks",
    "two",
    `/hooks enable ${hook}`,
    "three",
    "/hooks disable x",
  ];
  const { stdout, stderr } = await run([...p.base, "--hook", hook, "--interactive", "--no-session"], {
    env: p.env,
    input: `${input.join("\n")}\n`,
  });
  const all = stdout + stderr;
  assertEquals(all.match(/info: seen/g)?.length, 2);
  assertStringIncludes(all, `${hook} is left out; its gates are open now`);
  assertStringIncludes(all, `${hook} (disabled)`);
  assertStringIncludes(all, `${hook} runs again`);
  assertStringIncludes(all, `Say which hook: /hooks disable ${hook}`);
});
