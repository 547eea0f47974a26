import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { recordScript, type Script } from "../replay/recorded.ts";
import { Folder, MAIN, records, run } from "./program.ts";

const SCRIPT: Script = [{
  prompt: "clean up",
  turns: [{
    calls: [
      { id: "a", name: "bash", args: { command: "rm -rf \x1b[31mbuild" }, result: { text: "gone" } },
      { id: "b", name: "bash", args: { command: "cat .env" }, result: { text: "KEY=hunter2\n" } },
    ],
  }, { text: "done", calls: [] }],
}];

const GATE = `export default (pi) => pi.on("tool_call", (event) => {
  if (event.input.command?.startsWith("rm")) return { block: true, reason: "no \\x1b]0;x\\x07rm" };
});`;
const REDACT = `export default (pi) => pi.on("tool_result", (event) => {
  for (const part of event.content) part.text = part.text.replace("hunter2", "***");
});`;
const BROKEN = `export default (pi) => pi.on("tool_call", () => { throw new Error("oops"); });`;

function folder(): Folder {
  const made = new Folder({
    "gate.ts": GATE,
    "redact.ts": REDACT,
    "broken.ts": BROKEN,
    "syntax.ts": "export default (",
  });
  made.write("session.jsonl", recordScript(SCRIPT, "pi 3").join("\n"));
  made.write("claude.jsonl", recordScript(SCRIPT, "claude").join("\n"));
  return made;
}

Deno.test("replay shows what hooks would have done, and no secret or control character", async () => {
  await using files = folder();
  const args = ["replay", "session.jsonl", "--hook", "gate.ts", "--hook", "redact.ts"];
  const { code, stdout, stderr } = await run(args, { cwd: files.path });
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    stdout,
    `session.jsonl: session version 3, 6 lines, working in /home/ada/project
  prompts             1
  tool calls          2   bash 2
  tool results        2
  blocked             1
  gates broken        0
  redacted            1
  messages            0
  failures            0

Blocked
      1  gate.ts: no rm
         line 3  bash  rm -rf build

Redacted
      1  redact.ts
         line 5  bash  7 characters in 1 part
`,
  );
});

Deno.test("replay --json prints one record a decision and a summary, the same for every format", async () => {
  await using files = folder();
  const outputs = [];
  for (const session of ["session.jsonl", "claude.jsonl"]) {
    const args = ["replay", session, "--hook", "gate.ts", "--hook", "redact.ts", "--json"];
    const { code, stdout, stderr } = await run(args, { cwd: files.path });
    assertEquals([code, stderr], [0, ""]);
    assert(!stdout.includes("hunter2"));
    outputs.push(records(stdout));
  }
  for (const output of outputs) {
    assertEquals(output.map(({ type, hookPath, toolCallId }) => [type, hookPath, toolCallId]), [
      ["block", "gate.ts", "a"],
      ["redact", "redact.ts", "b"],
      ["summary", undefined, undefined],
    ]);
  }
});

Deno.test("replay exits with 1 for a broken gate, a hook that does not load, and a block when asked to", async () => {
  await using files = folder();
  const replay = (...args: string[]) => run(["replay", "session.jsonl", ...args], { cwd: files.path });

  const broken = await replay("--hook", "broken.ts");
  assertEquals(broken.code, 1);
  assertStringIncludes(broken.stdout, "Gates that broke, which blocks the call\n      2  broken.ts: oops\n");

  const unloaded = await replay("--hook", "syntax.ts", "--hook", "gate.ts");
  assertEquals(unloaded.code, 1);
  assertStringIncludes(unloaded.stderr, "error: syntax.ts: Failed to load hook: ");
  assertStringIncludes(unloaded.stdout, "1  gate.ts: no rm");

  assertEquals((await replay("--hook", "gate.ts", "--fail-on-block")).code, 1);
  assertEquals((await replay("--hook", "redact.ts", "--fail-on-block")).code, 0);
});

Deno.test("replay exits with 2 and one sentence for wrong usage and for what is no session", async () => {
  await using files = folder();
  files.write("empty.jsonl", "");
  for (
    const [args, text] of [
      [[], "Missing argument(s): session"],
      [["session.jsonl"], "There is no hook to ask; name one: xcsh-hooks replay session.jsonl --hook ./gate.ts"],
      [["nothing.jsonl", "--hook", "gate.ts"], "There is no file nothing.jsonl; give the path of a recorded session"],
      [["empty.jsonl", "--hook", "gate.ts"], "empty.jsonl is empty; there is nothing to replay"],
      [[".", "--hook", "gate.ts"], ". is a folder; give the path of a session file in it"],
    ] as const
  ) {
    const { code, stdout, stderr } = await run(["replay", ...args], { cwd: files.path });
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, `error: ${text}`);
  }
});

Deno.test("replay names damaged lines", async () => {
  await using files = folder();
  files.write("damaged.jsonl", [...recordScript(SCRIPT, "pi 1"), "hunter2", '{"type":"mess'].join("\n"));
  const { code, stdout } = await run(["replay", "damaged.jsonl", "--hook", "gate.ts"], { cwd: files.path });
  assertEquals(code, 0);
  assertStringIncludes(stdout, "  damaged lines       2\n");
  assertStringIncludes(
    stdout,
    "Damaged lines\n  line 7 is not JSON\n  line 8 ends too early, as does the file\n",
  );
});

Deno.test("replay runs programs of hooks only with --allow-exec, whatever the settings grant", async () => {
  await using files = folder();
  files.write(
    "exec.ts",
    `export default (pi) => pi.on("session_start", async (_event, ctx) => {
      const { stdout } = await pi.exec("echo", ["hi"]);
      pi.appendEntry(stdout.trim() + " " + ctx.cwd);
    });`,
  );
  const replay = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(["replay", "session.jsonl", "--hook", "exec.ts", "--json", ...args], {
      cwd: files.path,
    });
    assertEquals([code, stderr], [0, ""]);
    return records(stdout);
  };
  for (const args of [[], ["--in-process"]]) {
    assertEquals((await replay(...args)).map(({ type, error, command }) => error ?? command ?? type), [
      "echo",
      "A replay runs no programs, so it did not run echo",
      "summary",
    ]);
  }
  assertEquals((await replay("--allow-exec=echo hi"))[0]?.customType, "hi /home/ada/project");
  assertEquals((await replay("--allow-exec=echo hi", "--cwd", "/"))[0]?.customType, "hi /");
});

Deno.test("replay shows the same whether hooks are isolated or not", async () => {
  await using files = folder();
  const args = ["replay", "session.jsonl", "--hook", "gate.ts", "--hook", "redact.ts", "--hook", "broken.ts", "--json"];
  const isolated = await run(args, { cwd: files.path });
  const inProcess = await run([...args, "--in-process"], { cwd: files.path });
  assertEquals(isolated, inProcess);
  assertEquals(records(isolated.stdout).map(({ type }) => type), ["block", "broken", "redact", "summary"]);
});

Deno.test("replay ends quietly when nobody reads its output any more", async () => {
  await using files = folder();
  const long = Array.from({ length: 2000 }, (_, i): Script[number] => ({
    prompt: "go",
    turns: [{ calls: [{ id: `c${i}`, name: "bash", args: { command: "rm x" } }] }],
  }));
  files.write("long.jsonl", recordScript(long, "pi 3").join("\n"));
  const shell = `"$0" run -A "$1" replay long.jsonl --hook gate.ts --json | head -n 1`;
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", shell, Deno.execPath(), MAIN],
    cwd: files.path,
  }).output();
  assertEquals(records(new TextDecoder().decode(stdout)).map(({ type }) => type), ["block"]);
  assertEquals(new TextDecoder().decode(stderr), "");
});

const REAL = join(import.meta.dirname!, "../../../shared/data/real-session.jsonl");
const there = await Deno.stat(REAL).then(() => true, () => false);

Deno.test({
  name: `replay shows a real session${there ? "" : `: left out, since ${REAL} is not there`}`,
  ignore: !there,
  async fn() {
    await using files = folder();
    const { code, stdout } = await run(["replay", REAL, "--hook", "gate.ts"], { cwd: files.path });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "  tool calls        454   bash 206, edit 125, read 107, write 16\n");
  },
});
