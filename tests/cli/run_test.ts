import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { EXAMPLES, Folder, readUntil, records, run, start } from "./program.ts";

const BLOCK = join(EXAMPLES, "block_unsafe_bash.ts");
const REDACT = join(EXAMPLES, "redact_secrets.ts");
const NOTES = join(EXAMPLES, "notes.ts");

Deno.test("run shows the block with hook and reason, and the redaction", async () => {
  await using folder = new Folder({ "config.env": "API_KEY=hunter2hunter2\n" });
  const script = folder.script("rm -rf ~", "cat config.env");
  const { code, stdout, stderr } = await run(
    ["run", "clean up", "--script", script, "--hook", BLOCK, "--hook", REDACT, "--cwd", folder.path],
  );
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, `● bash rm -rf ~\n  ✗ blocked by ${BLOCK}\n    Blocked: rm -r deletes ~`);
  assertStringIncludes(stdout, `✓ done, changed by ${REDACT}\n    API_KEY=[REDACTED]`);
  assert(stdout.endsWith("All done.\n"));
  assert(!stdout.includes("hunter2"));
});

Deno.test("run --json prints records and nothing else", async () => {
  await using folder = new Folder({
    "config.env": "API_KEY=hunter2hunter2\n",
    "noisy.ts": `export default (pi) => {
      console.log("from the factory");
      Deno.stdout.writeSync(new TextEncoder().encode("raw\\n"));
      pi.on("tool_call", (_event, ctx) => {
        console.log("from a handler");
        console.info({ a: 1 });
        ctx.ui.notify("look", "warning");
        ctx.ui.setStatus("k", "on");
        pi.logger.warn("logged");
      });
    };`,
  });
  const script = folder.script("rm -rf ~", "cat config.env");
  const { code, stdout, stderr } = await run(
    ["run", "go", "--json", "--script", script, "--hook", "noisy.ts", "--hook", BLOCK, "--hook", REDACT],
    { cwd: folder.path },
  );
  const all = records(stdout);
  const types = new Set(all.map((record) => record.type));
  assertEquals(code, 0);
  for (const type of ["session_start", "message_end", "notify", "status", "hook_decision", "session_shutdown"]) {
    assert(types.has(type), type);
  }
  const blocked = all.filter((record) => record.type === "tool_execution_end" && record.blocked);
  assertEquals(blocked.map(({ hook }) => hook), [BLOCK]);
  assertEquals(stdout.includes("hunter2"), false);
  const printed = ["from the factory", "raw", "from a handler", "{ a: 1 }"];
  assertStringIncludes(stderr, printed.map((line) => `[noisy.ts] ${line}\n`).join(""));
});

Deno.test("run takes the prompt from standard input, also one of 10 MB", async () => {
  await using folder = new Folder();
  const input = "x".repeat(10 * 1024 * 1024);
  const { code, stdout } = await run(["run", "--json", "--script", folder.script()], { input });
  const prompt = records(stdout).find((record) =>
    record.type === "message_end" && (record.message as { role: string }).role === "user"
  );
  assertEquals(code, 0);
  assertEquals((prompt!.message as { content: string }).content.length, input.length);
});

Deno.test("run runs a slash command and draws its message with its renderer", async () => {
  const { code, stdout } = await run(["run", "/note mind the gap", "--hook", NOTES]);
  assertEquals([code, stdout], [0, "/note mind the gap\n\n┃ Note\n┃ mind the gap\n"]);
});

Deno.test("run keeps the session in a file", async () => {
  await using folder = new Folder();
  const session = join(folder.path, "work.jsonl");
  const args = ["--script", folder.script(), "--session", session, "--cwd", folder.path];
  assertEquals((await run(["run", "one", ...args])).code, 0);
  assertEquals((await run(["run", "two", ...args])).code, 0);
  const text = await Deno.readTextFile(session);
  const prompts = records(text).flatMap((entry) => {
    const message = entry.message as { role: string; content: string } | undefined;
    return message?.role === "user" ? [message.content] : [];
  });
  assertEquals(prompts, ["one", "two"]);
});

const WRONG_USAGE: [args: string[], text: string][] = [
  [[], "Name a command; xcsh-hooks --help lists them"],
  [["frob"], 'Unknown command "frob"'],
  [["rnu"], 'Did you mean command "run"?'],
  [["run", "--frob"], 'Unknown option "--frob"'],
  [["run", "hi", "--script"], 'Missing value for option "--script"'],
  [["run", "two", "words"], "Put a prompt of several words in quotes"],
  [["run", "  "], "The prompt is empty"],
  [["run"], "Standard input is empty"],
  [["run", "hi", "--script", "/nowhere/script.json"], "Script /nowhere/script.json cannot be read"],
  [["run", "/x", "--cwd", "/nowhere"], "--cwd /nowhere: there is no such folder"],
  [["run", "/nope", "--hook", NOTES], "There is no command /nope; did you mean /note?"],
  [["list", "--cwd", NOTES, NOTES], "this is a file; name a folder"],
  [["completions", "tcsh"], "tcsh"],
  [["\x1b]0;title\x07"], "Unknown command"],
];

Deno.test("wrong usage exits with 2, says what to type, and prints nothing else", async () => {
  for (const [args, text] of WRONG_USAGE) {
    const { code, stdout, stderr } = await run(args);
    assertEquals([args, code, stdout], [args, 2, ""]);
    assertStringIncludes(stderr, text);
    // deno-lint-ignore no-control-regex -- they are what must not be there
    assert(!/[\x00-\x08\x0b-\x1f]/.test(stderr), JSON.stringify(stderr));
  }
});

Deno.test("run without a model runs the hooks, and says how to name one", async () => {
  await using folder = new Folder({
    "hello.ts": `export default (pi) => pi.on("agent_start", () => console.log("hello"));`,
  });
  const { code, stdout, stderr } = await run(["run", "hi", "--hook", "hello.ts"], { cwd: folder.path });
  assertEquals([code, stdout.trim()], [0, ""]);
  assertStringIncludes(stderr, "[hello.ts] hello");
  assertStringIncludes(stderr, "--script script.json");
});

Deno.test("a gate that hangs is broken after its budget, the call stays blocked, and the session goes on", async () => {
  await using folder = new Folder({ "hangs.ts": `export default (pi) => pi.on("tool_call", () => { for (;;); });` });
  const args = ["run", "hi", "--script", folder.script("touch ran"), "--hook", "hangs.ts", "--budget=300"];
  const { code, stdout } = await run(args, { cwd: folder.path });
  assertEquals(code, 1);
  assertStringIncludes(stdout, "the gate broke, and stays closed");
  assertStringIncludes(stdout, "did not answer within its time limit of 300 ms");
  assert(stdout.endsWith("All done.\n"));
  assertEquals([...Deno.readDirSync(folder.path)].some(({ name }) => name === "ran"), false);
});

Deno.test("a malformed script or session file exits with 2 and names the place", async () => {
  await using folder = new Folder({ "bad.json": '{ "turns": [{ "text": 5 }] }', "bad.jsonl": "not json\n" });
  const script = join(folder.path, "bad.json");
  const one = await run(["run", "hi", "--script", script]);
  assertEquals([one.code, one.stdout], [2, ""]);
  assertStringIncludes(one.stderr, `Script ${script}: turns[0].text: expected a string`);
  const session = join(folder.path, "bad.jsonl");
  const two = await run(["run", "hi", "--script", folder.script(), "--session", session]);
  assertEquals([two.code, two.stdout], [2, ""]);
  assertStringIncludes(two.stderr, session);
  assertEquals(await Deno.readTextFile(session), "not json\n");
});

Deno.test("a hook that does not load keeps the session from running", async () => {
  await using folder = new Folder({ "broken.ts": "export default 1;", "gate.sh": "exit 2" });
  const script = folder.script("touch ran");
  for (
    const [hook, text] of [
      ["missing.ts", "missing.ts does not exist"],
      ["broken.ts", "Hook must export a default function"],
      ["gate.sh", "shell"],
    ]
  ) {
    const { code, stdout, stderr } = await run(
      ["run", "go", "--script", script, "--hook", BLOCK, "--hook", hook!],
      { cwd: folder.path },
    );
    assertEquals([hook, code, stdout], [hook, 1, ""]);
    assertStringIncludes(stderr, `error: ${hook}: `);
    assertStringIncludes(stderr, text!);
    assertStringIncludes(stderr, "Nothing was run");
  }
  assertEquals([...Deno.readDirSync(folder.path)].some(({ name }) => name === "ran"), false);
});

Deno.test("C7.1 a gate that throws keeps the tool from running, and the exit code is 1", async () => {
  await using folder = new Folder({
    "gate.ts": `export default (pi) => void pi.on("tool_call", () => { throw new Error("no idea"); });`,
  });
  const script = folder.script("touch ran");
  const { code, stdout } = await run(["run", "go", "--script", script, "--hook", "gate.ts"], { cwd: folder.path });
  assertEquals(code, 1);
  assertStringIncludes(stdout, "✗ the gate broke, and stays closed by gate.ts\n    no idea");
  assertEquals([...Deno.readDirSync(folder.path)].some(({ name }) => name === "ran"), false);
});

Deno.test("a slash command or a model that fails exits with 1 and says why", async () => {
  await using folder = new Folder({
    "cmd.ts": `export default (pi) => void pi.registerCommand("boom", { handler() { throw new Error("it broke"); } });`,
    "fails.json": '{ "turns": [{ "error": "quota is used up for good" }] }',
  });
  const one = await run(["run", "/boom", "--hook", "cmd.ts"], { cwd: folder.path });
  assertEquals(one.code, 1);
  assertStringIncludes(one.stderr, "it broke");
  const two = await run(["run", "hi", "--script", "fails.json"], { cwd: folder.path });
  assertEquals(two.code, 1);
  assertStringIncludes(two.stderr, "quota is used up for good");
});

Deno.test("errors where nobody waits are reported with the hook, and the session goes on", async () => {
  await using folder = new Folder({
    "lost.ts": `export default (pi) => {
      pi.on("agent_start", () => { Promise.reject(new Error("lost promise")); });
      pi.on("tool_call", async () => {
        setTimeout(() => { throw new Error("lost timer"); }, 0);
        await new Promise((done) => setTimeout(done, 20));
      });
    };`,
  });
  const args = ["run", "go", "--script", folder.script("true"), "--hook", "lost.ts"];
  const { code, stdout, stderr } = await run(args, { cwd: folder.path });
  assertEquals(code, 0);
  assertStringIncludes(stderr, "error: lost.ts failed where nobody waited for it: lost promise");
  assertStringIncludes(stderr, "error: lost.ts failed where nobody waited for it: lost timer");
  assert(stdout.endsWith("All done.\n"));
});

Deno.test("text of models, tools and hooks cannot control the terminal", async () => {
  await using folder = new Folder({
    "say.ts": `export default (pi) => {
      pi.on("session_start", (_e, ctx) => ctx.ui.notify("note\\x1b]0;title\\x07\\x1b[2J"));
      pi.registerMessageRenderer("m", () => ({ render: () => ["\\x1b[31mred\\x1b[39m\\x1b[2Jclear"] }));
      pi.on("agent_start", () => pi.sendMessage({ customType: "m", content: "x", display: true }));
      pi.on("tool_call", (e) => e.input.command === "true" ? { block: true, reason: "why\\x1b[2J" } : undefined);
    };`,
    "script.json": JSON.stringify({
      turns: [
        {
          text: "text\x1b[2J\u202e",
          toolCalls: [{ name: "bash", arguments: { command: "printf 'out\\033[2J\\033]52;c;eA==\\007'" } }],
        },
        {
          toolCalls: [{ name: "bash", arguments: { command: "true" } }, {
            name: "\x1b[2J",
            arguments: { "\x1b[2J": "\x1b[2J" },
          }],
        },
      ],
    }),
  });
  const { stdout, stderr } = await run(["run", "go", "--script", "script.json", "--hook", "say.ts"], {
    cwd: folder.path,
  });
  // deno-lint-ignore no-control-regex -- they are what must not be there
  const controls = /(?!\x1b\[\d+m)[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/;
  assert(!controls.test(stdout), JSON.stringify(stdout));
  assert(!controls.test(stderr), JSON.stringify(stderr));
  assertStringIncludes(stdout, "\x1b[31mred\x1b[39mclear");
});

for (const [signal, expected] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(
    { name: `${signal} ends the session in order, with code ${expected}`, ignore: Deno.build.os === "windows" },
    async () => {
      await using folder = new Folder({
        "down.ts":
          `export default (pi) => void pi.on("session_shutdown", () => Deno.writeTextFileSync("down", "yes"));`,
      });
      const args = [
        "run",
        "go",
        "--json",
        "--script",
        folder.script("echo $$ > pid; sleep 60"),
        "--hook",
        "down.ts",
        "--allow-write=.",
      ];
      const child = start(args, { cwd: folder.path });
      const reader = child.stdout.getReader();
      const begin = await readUntil(reader, "tool_execution_start");
      await until(() => Deno.readTextFileSync(join(folder.path, "pid")) !== "");
      child.kill(signal);
      let rest = "";
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        rest += new TextDecoder().decode(step.value);
      }
      const { code } = await child.status;
      await child.stderr.cancel();
      assertEquals(code, expected);
      assertEquals(await Deno.readTextFile(join(folder.path, "down")), "yes");
      assertEquals(records(begin + rest).at(-1), { type: "session_shutdown" });
      const pid = Number(await Deno.readTextFile(join(folder.path, "pid")));
      assertEquals(isAlive(pid), false);
    },
  );
}

Deno.test({ name: "a reader that leaves is no crash", ignore: Deno.build.os === "windows" }, async () => {
  await using folder = new Folder();
  const script = folder.script(...Array.from({ length: 30 }, () => "seq 2000"));
  const child = start(["run", "go", "--json", "--script", script], { cwd: folder.path });
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const stderr = await new Response(child.stderr).text();
  assertEquals([(await child.status).code, stderr], [141, ""]);
});

Deno.test("a hook that keeps a timer does not keep the program from ending", async () => {
  await using folder = new Folder({ "timer.ts": "export default () => void setInterval(() => {}, 1000);" });
  const { code } = await run(["run", "hi", "--script", folder.script(), "--hook", "timer.ts"], { cwd: folder.path });
  assertEquals(code, 0);
});

Deno.test("--version and --help print plain text to a pipe", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assertEquals((await run(["--version"])).stdout, `xcsh-hooks ${version}\n`);
  for (const args of [["--help"], ["run", "--help"], ["list", "-h"]]) {
    const { code, stdout } = await run(args);
    assertEquals(code, 0);
    assertMatch(stdout, /Usage:[^]*Examples:/);
    assert(!stdout.includes("\x1b"));
  }
});

Deno.test("--help fits a terminal of 80 columns, and breaks examples where a shell reads on", async () => {
  const commands = "run,chat,list,trust,replay,check,import,permissions,permissions record,completions".split(",");
  const texts = await Promise.all([[], ...commands.map((name) => name.split(" "))].map(async (command) => {
    const { code, stdout } = await run([...command, "--help"]);
    assertEquals(code, 0, command.join(" "));
    return stdout;
  }));
  for (const line of texts.join("\n").split("\n")) assert([...line].length <= 80, line);
  const [, ofRun = "", ofChat = ""] = texts;
  assertStringIncludes(ofRun, "  -R, --allow-read [list]    Let each hook read files and folders; all without a\n");
  assertMatch(ofRun, /--model <name> .*\n.*anthropic:NAME\. \(not with --script\)/);
  assertStringIncludes(
    ofRun,
    'xcsh-hooks run "What is here?" --model openai-compatible:qwen3 \\\n      --base-url http',
  );
  assertMatch(ofRun, /--no-session .*\n +single prompt does so/);
  assert(!ofChat.includes("a single prompt"));
  assertStringIncludes(ofRun, "--deny-read=secrets");
  assertStringIncludes(texts[9]!, "--events <file>");
});

Deno.test("a hook that was granted the home's name gets it, and reads why the rest is denied", async () => {
  await using folder = new Folder({
    "home.ts": `import { homedir } from "node:os";
    import { readFileSync } from "node:fs";
    export default (pi) => {
      pi.on("session_start", (_event, ctx) => ctx.ui.notify("home " + homedir()));
      pi.on("session_start", () => void readFileSync(homedir() + "/.pi.json"));
      pi.on("session_start", () => void process.env.HOME);
    };`,
  });
  const { stderr } = await run(
    ["run", "go", "--script", folder.script(), "--hook", "home.ts", "--allow-sys=homedir"],
    { cwd: folder.path, env: { HOME: folder.path, DENO_DIR: Deno.env.get("DENO_DIR") ?? "" } },
  );
  assertStringIncludes(stderr, `home ${folder.path}\n`);
  assertStringIncludes(
    stderr,
    `access to "${folder.path}/.pi.json"; grant it with --allow-read=${folder.path}/.pi.json`,
  );
  assertStringIncludes(stderr, "grant it with --allow-env=HOME");
});

async function until(condition: () => boolean): Promise<void> {
  const limit = Date.now() + 10_000;
  for (;;) {
    try {
      if (condition()) return;
    } catch {
      // Not there yet.
    }
    if (Date.now() > limit) throw new Error("It did not happen within 10 s");
    await new Promise((done) => setTimeout(done, 10));
  }
}

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

Deno.test({ name: "SIGINT ends a session whose gate never answers", ignore: Deno.build.os === "windows" }, async () => {
  await using folder = new Folder({
    "hang.ts": `export default (pi) => void pi.on("tool_call", () => new Promise(() => {}));`,
  });
  const script = folder.script("touch ran");
  const child = start(["run", "go", "--json", "--script", script, "--hook", "hang.ts"], { cwd: folder.path });
  const reader = child.stdout.getReader();
  await readUntil(reader, "tool_execution_start");
  child.kill("SIGINT");
  while (!(await reader.read()).done);
  await child.stderr.cancel();
  assertEquals((await child.status).code, 130);
  assertEquals([...Deno.readDirSync(folder.path)].some(({ name }) => name === "ran"), false);
});
