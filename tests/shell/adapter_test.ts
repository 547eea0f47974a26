import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createShellHook, type ShellHookOptions } from "../../src/shell/adapter.ts";
import type { ShellEventName } from "../../src/shell/settings.ts";
import {
  type HookError,
  type HookEvent,
  HookRunner,
  HookToolWrapper,
  silentLogger,
  type Tool,
  type UserContent,
} from "../../mod.ts";
import { SessionManager } from "../../src/session/mod.ts";
import { createNoOpUIContext } from "../../mod.ts";
import { Project } from "../discovery/_project.ts";

/** A hook that runs a line for the shell, in a session that only takes notes. */
class Bench implements Disposable {
  readonly project = new Project();
  readonly notes: string[] = [];
  readonly sent: string[] = [];
  readonly errors: HookError[] = [];
  aborts = 0;
  runner!: HookRunner;

  hook(event: ShellEventName, command: string, more: Partial<ShellHookOptions> = {}, answer?: boolean): this {
    const { cwd } = this.project;
    const hook = createShellHook({
      path: "settings.json",
      resolvedPath: this.project.path("settings.json"),
      event,
      matcher: "",
      program: { kind: "command", command },
      cwd,
      logger: silentLogger,
      ...more,
    });
    const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
    this.runner = new HookRunner([hook], cwd, SessionManager.inMemory(cwd), models);
    this.runner.onError((error) => void this.errors.push(error));
    this.runner.initialize({
      getModel: () => undefined,
      sendMessageHandler: ({ content }, options) => void this.sent.push(`${content} ${JSON.stringify(options ?? {})}`),
      appendEntryHandler: () => {},
      abort: () => void this.aborts++,
      hasUI: answer !== undefined,
      uiContext: {
        ...createNoOpUIContext(),
        notify: (message) => void this.notes.push(message),
        confirm: () => Promise.resolve(answer ?? false),
      },
    });
    return this;
  }

  /** Asks whether a tool may run: "runs", or why not. */
  async gate(toolName = "bash", input: Record<string, unknown> = { command: "ls" }): Promise<string> {
    try {
      const answer = await this.runner.emitToolCall({ type: "tool_call", toolName, toolCallId: "t1", input });
      return answer?.block ? `denied: ${answer.reason}` : "runs";
    } catch (error) {
      assertEquals((error as Error).name, "HookBrokenError");
      return `broken: ${(error as Error).message}`;
    }
  }

  async result(text: string, isError = false, toolName = "bash"): Promise<string> {
    const content: UserContent[] = [{ type: "text", text }];
    const answer = await this.runner.emit({
      type: "tool_result",
      toolName,
      toolCallId: "t1",
      input: { command: "ls" },
      content,
      details: undefined,
      isError,
    });
    return (answer?.content ?? content).map((part) => part.type === "text" ? part.text : part.type).join("|");
  }

  [Symbol.dispose](): void {
    this.project[Symbol.dispose]();
  }
}

const print = (value: unknown) => `cat >/dev/null; printf '%s' '${JSON.stringify(value)}'`;
const own = (fields: Record<string, unknown>) => ({ hookSpecificOutput: fields });

Deno.test("shell: each way of a PreToolUse hook to answer", async () => {
  const rows: Array<[string, string]> = [
    ["exit 0", "runs"],
    ["echo all fine", "runs"],
    ["echo no >&2; exit 2", "denied: no"],
    ["echo why; exit 2", "denied: why"],
    ["exit 2", "denied: Denied by settings.json"],
    [print(own({ permissionDecision: "deny", permissionDecisionReason: "rm" })), "denied: rm"],
    [print(own({ permissionDecision: "allow" })), "runs"],
    [print({ decision: "block", reason: "old" }), "denied: old"],
    [print({ decision: "approve" }), "runs"],
    [print({ decision: null, ...own({ permissionDecision: null }) }), "runs"],
    [print({ continue: false, stopReason: "enough" }), "denied: enough"],
    [print({ other: 1 }), "runs"],
    [
      print(own({ permissionDecision: "allow", updatedInput: { command: "ls" } })),
      "denied: (the hook wants to change the arguments, which hooks cannot do here)",
    ],
    [print({ decision: "approve", ...own({ permissionDecision: "deny" }) }), "denied: Denied by settings.json"],
  ];
  for (const [command, expected] of rows) {
    using bench = new Bench().hook("PreToolUse", command);
    assertEquals(await bench.gate(), expected, command);
  }
});

Deno.test("C7.1 shell: a gate that says neither yes nor no is broken, and blocks", async () => {
  const rows: Array<[string, string]> = [
    ["exit 1", "it ended with exit code 1, which neither allows (0) nor denies (2)"],
    ["echo Traceback >&2; exit 1", 'nor denies (2): "Traceback"'],
    ["./missing.sh", "it could not be started: "],
    ["kill -9 $$", "it was ended by signal 9"],
    ["kill -SEGV $$", "it was ended by signal 11"],
    ['printf \'{"decision": "blo\'', "it printed what looks like JSON and is none"],
    ['printf \'x "permissionDecision": "deny"\'', "it printed what looks like JSON and is none"],
    [print({ decision: "maybe" }), '"decision" as the string "maybe", which cannot be read'],
    [print(own({ permissionDecision: 1 })), '"permissionDecision" as the number 1'],
    [print({ hookSpecificOutput: "deny" }), '"hookSpecificOutput" as the string "deny"'],
    [print({ continue: "no" }), '"continue" as the string "no"'],
    [`${print({ decision: "approve" })}; ${print({ decision: "block" })}`, "it printed 2 answers"],
    ["head -c 5000000 /dev/zero", "it printed more than 4194304 bytes"],
  ];
  for (const [command, expected] of rows) {
    using bench = new Bench().hook("PreToolUse", command);
    const outcome = await bench.gate();
    assertStringIncludes(outcome, "broken: The hook settings.json is broken, it did not deny anything:", command);
    assertStringIncludes(outcome, expected, command);
    assertStringIncludes(outcome, "/hooks disable settings.json");
  }
});

Deno.test("shell: a hook is one process a call, ended with all that it started when its time is up", async () => {
  using bench = new Bench().hook("PreToolUse", "echo $$ >> pids; sleep 300 & echo $! >> pids; wait", { timeout: 0.3 });
  assertStringIncludes(await bench.gate(), "it did not end within 0.3 s");
  await bench.gate();
  const pids = Deno.readTextFileSync(bench.project.path("pids")).trim().split("\n");
  assertEquals(pids.length, 4);
  for (const pid of pids) {
    const alive = () => new Deno.Command("kill", { args: ["-0", pid], stderr: "null" }).outputSync().success;
    for (let i = 0; i < 100 && alive(); i++) await new Promise((done) => setTimeout(done, 10));
    assertEquals(alive(), false);
  }
});

Deno.test("shell: noise around the answer is reported with its text, and the answer counts", async () => {
  const deny = JSON.stringify({ decision: "block", reason: "no" });
  const rows: Array<[string, string]> = [
    [`echo 'Welcome back!'; echo '${deny}'`, '"Welcome back!\\n"'],
    [`printf '\\357\\273\\277%s' '${deny}'`, '"\ufeff"'],
    [`echo 'in {braces}'; echo '${deny}'; echo bye`, "in {braces}"],
  ];
  for (const [command, noise] of rows) {
    using bench = new Bench().hook("PreToolUse", command);
    assertEquals(await bench.gate(), "denied: no", command);
    assertStringIncludes(bench.notes.join(), noise);
  }
});

Deno.test("shell: ask asks the person, and blocks where there is none", async () => {
  const ask = print(own({ permissionDecision: "ask", permissionDecisionReason: "sure?" }));
  for (
    const [answer, expected] of [[true, "runs"], [false, "denied: sure?"], [
      undefined,
      "denied: sure? (nobody is there to be asked)",
    ]] as const
  ) {
    using bench = new Bench().hook("PreToolUse", ask, {}, answer);
    assertEquals(await bench.gate(), expected);
  }
});

Deno.test("shell: standard input has the names of Claude Code and ours", async () => {
  using bench = new Bench().hook(
    "PreToolUse",
    "cat > got; echo $CLAUDE_PROJECT_DIR $CLAUDE_PLUGIN_ROOT > env; pwd >> env",
    {
      pluginRoot: "/plugin",
    },
  );
  const { cwd } = bench.project;
  const input = async (tool: string, args: Record<string, unknown>) => {
    await bench.gate(tool, args);
    return JSON.parse(Deno.readTextFileSync(bench.project.path("got")));
  };
  const bash = await input("bash", { command: "ls", timeout: 5 });
  assertEquals(bash, {
    session_id: bash.session_id,
    transcript_path: "",
    cwd,
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    event: "tool_call",
    tool_name: "Bash",
    tool_input: { command: "ls", timeout: 5000 },
    tool_use_id: "t1",
    toolName: "bash",
    input: { command: "ls", timeout: 5 },
    toolCallId: "t1",
  });
  assert(bash.session_id.length > 0);
  const edit = await input("edit", { path: "../a/./b.ts", oldText: "x", newText: "y" });
  assertEquals(edit.tool_name, "Edit");
  assertEquals(edit.tool_input, {
    path: "../a/./b.ts",
    file_path: `${bench.project.root}/a/b.ts`,
    oldText: "x",
    old_string: "x",
    newText: "y",
    new_string: "y",
  });
  const multi = await input("edit", { path: "/b", edits: [{ oldText: "x", newText: "y" }] });
  assertEquals([multi.tool_name, multi.tool_input.edits], [
    "MultiEdit",
    [{ oldText: "x", newText: "y", old_string: "x", new_string: "y" }],
  ]);
  for (const [tool, name] of [["read", "Read"], ["write", "Write"], ["grep", "Grep"], ["find", "Glob"], ["x", "x"]]) {
    assertEquals((await input(tool!, {})).tool_name, name);
  }
  assertEquals(Deno.readTextFileSync(bench.project.path("env")), `${cwd} /plugin\n${cwd}\n`);
});

Deno.test("shell: a matcher decides which tools a hook is for", async () => {
  for (
    const [matcher, blocked] of [
      ["", ["bash", "edit", "write"]],
      ["*", ["bash", "edit", "write"]],
      ["Bash", ["bash"]],
      ["bash", ["bash"]],
      ["Edit|Write", ["edit", "write"]],
      ["MultiEdit", ["edit"]],
      ["^(Ba|Wr)", ["bash", "write"]],
      ["Nothing", []],
    ] as const
  ) {
    using bench = new Bench().hook("PreToolUse", "exit 2", { matcher });
    const got: string[] = [];
    for (const tool of ["bash", "edit", "write"]) if (await bench.gate(tool) !== "runs") got.push(tool);
    assertEquals(got, [...blocked], matcher);
  }
});

Deno.test("shell: systemMessage reaches the person, additionalContext the model, continue: false stops the agent", async () => {
  using bench = new Bench().hook(
    "PreToolUse",
    print({ systemMessage: "mind", ...own({ additionalContext: "note" }) }),
  );
  assertEquals(await bench.gate(), "runs");
  assertEquals([bench.notes, bench.sent], [["mind"], ["note {}"]]);
  bench.hook("PreToolUse", print({ continue: false }));
  assertEquals([await bench.gate(), bench.aborts], ["denied: Denied by settings.json", 1]);
});

Deno.test("shell: PostToolUse adds to the output, or takes its place, for tools that did not fail", async () => {
  const rows: Array<[string, string]> = [
    ["exit 0", "out"],
    ["echo plain", "out"],
    ["echo lint >&2; exit 2", "out|lint"],
    [print({ decision: "block", reason: "lint" }), "out|lint"],
    [print(own({ additionalContext: "more" })), "out|more"],
    [print(own({ updatedToolOutput: "clean" })), "clean"],
    [print(own({ updatedToolOutput: { stdout: "a", stderr: "b" } })), "ab"],
    [print(own({ updatedToolOutput: [{ type: "text", text: "p" }] })), "p"],
    [print(own({ updatedToolOutput: { n: 1 } })), '{"n":1}'],
  ];
  for (const [command, expected] of rows) {
    using bench = new Bench().hook("PostToolUse", command);
    assertEquals(await bench.result("out"), expected, command);
    assertEquals(await bench.result("err", true), "err");
  }
  using script = new Bench().hook("PostToolUse", "grep -o isError.:true >&2 && exit 2", { seesErrors: true });
  assertStringIncludes(await script.result("err", true), "err|");
});

Deno.test("shell: a broken observer is reported, and the session goes on", async () => {
  using bench = new Bench().hook("PostToolUse", "exit 1");
  assertEquals(await bench.result("out"), "out");
  assertStringIncludes(bench.errors[0]!.error, "it ended with exit code 1");
});

Deno.test("shell: UserPromptSubmit adds what it prints, and a refused prompt stops the agent", async () => {
  for (const command of ["echo context", print(own({ additionalContext: "context" }))]) {
    using bench = new Bench().hook("UserPromptSubmit", command);
    const answer = await bench.runner.emitBeforeAgentStart("hi");
    assertEquals([answer?.message?.content, answer?.message?.display, bench.aborts], ["context", false, 0]);
  }
  using refused = new Bench().hook("UserPromptSubmit", "grep -q secret && { echo no secrets >&2; exit 2; }; true");
  assertEquals((await refused.runner.emitBeforeAgentStart("hi"))?.message, undefined);
  assertEquals(refused.aborts, 0);
  await refused.runner.emitBeforeAgentStart("my secret");
  assertEquals([refused.aborts, refused.notes], [1, ["no secrets"]]);
});

Deno.test("shell: SessionStart, SessionEnd, Stop and PreCompact run for the events that stand for them", async () => {
  using bench = new Bench().hook("SessionStart", "echo rules");
  await bench.runner.emit({ type: "session_start" });
  assertEquals(bench.sent, ["rules {}"]);
  bench.hook("SessionStart", "echo rules", { matcher: "resume" });
  await bench.runner.emit({ type: "session_start" });
  assertEquals(bench.sent.length, 1);

  bench.hook("SessionEnd", "touch ended");
  await bench.runner.emit({ type: "session_shutdown" });
  assert(Deno.statSync(bench.project.path("ended")).isFile);

  bench.hook("PreCompact", 'grep -q \'"trigger":"auto"\' && exit 2');
  const compact: HookEvent<"session_before_compact"> = {
    type: "session_before_compact",
    preparation: {} as never,
    branchEntries: [],
    signal: new AbortController().signal,
  };
  assertEquals(await bench.runner.emit(compact), { cancel: true });
  bench.hook("PreCompact", "exit 1");
  assertEquals((await bench.runner.emit(compact))?.cancel, true);
});

Deno.test("shell: Stop makes the agent go on, knows that it did, and not for ever", async () => {
  using bench = new Bench().hook("Stop", "cat >> inputs; echo 'run the tests' >&2; exit 2");
  const stop = () => bench.runner.emit({ type: "agent_end", messages: [] });
  for (let i = 0; i < 9; i++) await stop();
  assertEquals(bench.sent.length, 8);
  assertEquals(bench.sent[0], 'run the tests {"triggerTurn":true,"deliverAs":"followUp"}');
  assertStringIncludes(bench.notes.join(), "8 times in a row; it may stop now");
  const active = Deno.readTextFileSync(bench.project.path("inputs")).trim().split("\n").map((line) =>
    JSON.parse(line).stop_hook_active
  );
  assertEquals(active, [false, ...Array(8).fill(true)]);
  await bench.runner.emitBeforeAgentStart("again");
  await stop();
  assertEquals(bench.sent.length, 9);
});

Deno.test("shell: input that nobody reads, and 10 MB of it, is no fault", async () => {
  for (const command of ["exec <&-; sleep 0.1", "cat | wc -c | grep -q ^2000", "true"]) {
    using bench = new Bench().hook("PreToolUse", command);
    assertEquals(await bench.gate("write", { path: "a", content: "x".repeat(10_000_000) }), "runs", command);
  }
});

Deno.test("shell: args run a program without a shell", async () => {
  using bench = new Bench();
  bench.hook("PreToolUse", "", {
    program: { kind: "command", command: "sh", args: ["-c", 'echo "$1" >&2; exit 2', "x", "$HOME *"] },
  });
  assertEquals(await bench.gate(), "denied: $HOME *");
});

Deno.test("Bad input: a script that cannot be started blocks with one sentence that says what to do", async () => {
  const rows: Array<[string, string, number, string]> = [
    ["mode.sh", "#!/bin/sh\nexit 0\n", 0o644, "is not executable; make it so with: chmod +x"],
    ["bare.sh", "exit 0\n", 0o755, "has no #! line"],
    ["crlf.sh", "#!/bin/sh\r\nexit 0\r\n", 0o755, "has Windows line ends (CRLF)"],
    ["bom.sh", "\ufeff#!/bin/sh\nexit 0\n", 0o755, "begins with a byte order mark"],
    ["empty.sh", "", 0o755, "is empty"],
    ["interpreter.sh", "#!/no/such/sh\n", 0o755, "it could not be started"],
    ["gone.sh", "", 0, "cannot be read"],
  ];
  for (const [name, text, mode, expected] of rows) {
    using bench = new Bench();
    const path = mode === 0 ? bench.project.path(name) : bench.project.write(name, text, mode);
    bench.hook("PreToolUse", "", { program: { kind: "script", path } });
    assertStringIncludes(await bench.gate(), expected, name);
  }
});

Deno.test("C4.2 a tool behind a shell hook does not run when it is denied, nor when the hook is broken", async () => {
  for (
    const [command, expected] of [["echo no >&2; exit 2", "no"], [
      "exit 1",
      "is broken, it did not deny anything",
    ]] as const
  ) {
    using bench = new Bench().hook("PreToolUse", command);
    let ran = 0;
    const tool: Tool = { name: "bash", execute: () => (ran++, Promise.resolve({ content: [] })) };
    const wrapper = new HookToolWrapper(tool, bench.runner);
    await assertRejects(() => wrapper.execute("1", { command: "ls" }), Error, expected);
    assertEquals(ran, 0);
  }
});
