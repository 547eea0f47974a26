import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { EVENT_NAMES, type HookAPI, type Tool } from "@xcsh/hooks";
import { testHook } from "@xcsh/hooks/testing";

Deno.test("fire() gives each event a payload in which nothing is missing", async () => {
  const seen: Record<string, unknown>[] = [];
  const t = await testHook((pi) => {
    for (const name of EVENT_NAMES) pi.on(name, (event) => void seen.push(event as unknown as Record<string, unknown>));
  });
  for (const name of EVENT_NAMES) await t.fire(name);
  assertEquals(seen.map((event) => event.type), [...EVENT_NAMES]);
  const call = seen.find((event) => event.type === "tool_call")!;
  assertEquals(Object.keys(call).sort(), ["input", "toolCallId", "toolName", "type"]);
});

Deno.test("fire() gives the outcome by the merge rule", async () => {
  const t = await testHook([
    (pi) => {
      pi.on("tool_call", () => ({ block: true, reason: "first" }));
      pi.on("before_agent_start", () => ({ message: { customType: "a", content: "first", display: true } }));
      pi.on("context", (event) => ({ messages: event.messages.slice(1) }));
      pi.on("session.compacting", () => ({ prompt: "first" }));
    },
    (pi) => {
      pi.on("tool_call", () => ({ block: true, reason: "second" }));
      pi.on("before_agent_start", () => ({ message: { customType: "b", content: "second", display: true } }));
      pi.on("session.compacting", () => ({ prompt: "second" }));
    },
  ], {
    messages: [
      { role: "user", content: "one", timestamp: 1 },
      { role: "user", content: "two", timestamp: 2 },
    ],
  });
  assertEquals(await t.fire("tool_call", { toolName: "bash" }), { block: true, reason: "first" });
  assertEquals((await t.fire("before_agent_start"))?.message?.customType, "a");
  assertEquals(await t.fire("context"), [{ role: "user", content: "two", timestamp: 2 }]);
  assertEquals(await t.fire("session.compacting"), { prompt: "second" });
  assertEquals(t.decisions.map(({ hookPath, effect }) => [hookPath, effect]).slice(0, 1), [["test-hook-1", "block"]]);
});

Deno.test("fire() throws at the test what a session would only report", async () => {
  const hook = (pi: HookAPI) =>
    pi.on("turn_end", () => {
      throw new RangeError("too far");
    });
  const loud = await testHook(hook);
  const error = await assertRejects(() => loud.fire("turn_end"), Error, "test-hook failed in turn_end: too far");
  assertStringIncludes(error.stack ?? "", "test_hook_test.ts");
  assertEquals(loud.errors.length, 1);

  const quiet = await testHook(hook, { onError: "collect" });
  await quiet.fire("turn_end");
  assertEquals(quiet.errors.map(({ event, error }) => [event, error]), [["turn_end", "too far"]]);
});

Deno.test("fire() names the event that a mistyped one means", async () => {
  const t = await testHook(() => {});
  await assertRejects(() => t.fire("toolCall" as "tool_call"), TypeError, 'did you mean "tool_call"?');
});

Deno.test("a question without an answer fails the test, whatever the hook makes of it", async () => {
  const t = await testHook((pi) => {
    pi.on("tool_call", async (_event, ctx) => {
      await ctx.ui.confirm("Deploy?", "to production").catch(() => false);
      return undefined;
    });
    pi.on("turn_end", async (_event, ctx) => void await ctx.ui.select("Which?", ["a", "b"]));
  }, { ui: { confirm: [true] } });
  await t.fire("tool_call");
  await assertRejects(
    () => t.fire("tool_call"),
    Error,
    'The hook asked ui.confirm("Deploy?: to production"), and the test has only 1 of these answers',
  );
  await assertRejects(() => t.fire("turn_end"), Error, 'ui.select("Which?: a | b")');
});

Deno.test("an answer that is none of the options fails the test", async () => {
  const t = await testHook((pi) => {
    pi.on("turn_end", async (_event, ctx) => void await ctx.ui.select("Which?", ["a", "b"]));
  }, { ui: { select: ["c"] } });
  await assertRejects(() => t.fire("turn_end"), Error, 'with "c", which is none of ["a","b"]');
});

Deno.test("the UI answers in order and writes down what was shown", async () => {
  const t = await testHook((pi) => {
    pi.on("session_start", async (_event, ctx) => {
      const { ui } = ctx;
      const answers = [
        await ui.select("s", ["x", "y"]),
        await ui.input("i", "place"),
        await ui.editor("e", "before"),
        await ui.confirm("c", "really"),
        await ui.custom<string>((_tui, theme, done) => ({
          render: () => [theme.bold("press q")],
          handleInput: (key) => done(key),
        })),
      ];
      ui.notify(answers.join());
      ui.setStatus("k", "on");
      ui.setStatus("gone", "on");
      ui.setStatus("gone", undefined);
      ui.setEditorText(`${ui.getEditorText()}!`);
    });
  }, {
    ui: {
      select: ["y"],
      input: [undefined],
      editor: ["after"],
      confirm: [true],
      editorText: "draft",
      custom: [(component) => {
        assertEquals(component.render(80), ["press q"]);
        component.handleInput?.("q");
      }],
    },
  });
  await t.fire("session_start");
  assertEquals(t.notifications, [{ message: "y,,after,true,q", type: "info" }]);
  assertEquals([...t.statuses], [["k", "on"]]);
  assertEquals(t.editorText, "draft!");
  assertEquals(t.asked.map(({ kind }) => kind), ["select", "input", "editor", "confirm", "custom"]);
});

Deno.test("a component that stays open fails the test", async () => {
  const t = await testHook((pi) => {
    pi.on("turn_end", async (_event, ctx) => void await ctx.ui.custom(() => ({ render: () => [] })));
  }, { ui: { custom: [() => {}] } });
  await assertRejects(() => t.fire("turn_end"), Error, "still open");
});

Deno.test("without UI questions are answered as C6.2 says, and notes are written down", async () => {
  const t = await testHook((pi) => {
    pi.on("turn_end", async (_event, ctx) => {
      ctx.ui.notify(`${ctx.hasUI} ${await ctx.ui.confirm("a", "b")} ${await ctx.ui.input("c")}`, "warning");
    });
  });
  await t.fire("turn_end");
  assertEquals(t.notifications, [{ message: "false false undefined", type: "warning" }]);
});

Deno.test("exec answers by command line, and an unknown program fails the test", async () => {
  const t = await testHook((pi) => {
    pi.on("turn_end", async () => {
      const { code, stdout, stderr } = await pi.exec("git", ["status"]);
      pi.appendEntry("git", { code, stdout, stderr });
      await pi.exec("rm", ["-r", "a b"]).catch(() => {});
    });
  }, { exec: { "git status": { code: 128, stderr: "no repository" } } });
  await assertRejects(() => t.fire("turn_end"), Error, 'The hook ran "rm -r a b", and the test has no answer');
  assertEquals(t.entries, [{ customType: "git", data: { code: 128, stdout: "", stderr: "no repository" } }]);
  assertEquals(t.execs.map(({ command, args }) => [command, ...args]), [["git", "status"], ["rm", "-r", "a b"]]);
});

Deno.test("exec answers by a function, and fails to start", async () => {
  const t = await testHook((pi) => {
    pi.on("turn_end", async () => void await pi.exec("git", ["status"]));
  }, { exec: (command) => new Error(`${command} is not installed`) });
  await assertRejects(() => t.fire("turn_end"), Error, "git is not installed");
});

Deno.test("runTool() runs a tool behind the hook", async () => {
  const t = await testHook((pi) => {
    pi.on("tool_call", (event) => event.input.text === "no" ? { block: true, reason: "not that" } : undefined);
    pi.on("tool_result", (event) => ({
      content: event.content.map((part) => part.type === "text" ? { ...part, text: part.text.toUpperCase() } : part),
    }));
  });
  let runs = 0;
  const echo: Tool<{ text: string }> = {
    name: "echo",
    execute(_id, { text }) {
      runs++;
      return Promise.resolve({ content: [{ type: "text", text }] });
    },
  };
  assertEquals(await t.runTool(echo, { text: "hi" }), { content: [{ type: "text", text: "HI" }] });
  await assertRejects(() => t.runTool(echo, { text: "no" }), Error, "not that");
  assertEquals(runs, 1);
  await assertRejects(() => t.runTool({ name: "read", result: new Error("no such file") }), Error, "NO SUCH FILE");
  assertEquals(t.decisions.map(({ effect }) => effect), ["change", "block", "change"]);
});

Deno.test("runCommand() runs a slash command with the arguments that a session would give", async () => {
  const seen: string[] = [];
  const t = await testHook((pi) => {
    pi.registerCommand("say", { handler: (args) => void seen.push(args) });
    pi.registerCommand("fail", {
      handler() {
        throw new Error("broken");
      },
    });
  });
  await t.runCommand("/say");
  await t.runCommand("say two\n words ");
  assertEquals(seen, ["", "two\n words "]);
  await assertRejects(() => t.runCommand("/fail"), Error, "broken");
  await assertRejects(() => t.runCommand("/sya"), Error, "The hook has no command /sya; it has /say, /fail");
});

Deno.test("commands begin sessions, branch and move, and the hook's own gates are asked", async () => {
  let allow = false;
  const t = await testHook((pi) => {
    pi.on("session_before_switch", () => ({ cancel: !allow }));
    pi.registerCommand("go", {
      async handler(_args, ctx) {
        await ctx.waitForIdle();
        const { cancelled } = await ctx.newSession({
          parentSession: "old.jsonl",
          setup: (session) => void session.appendMessage({ role: "user", content: "go on", timestamp: 1 }),
        });
        if (cancelled) return;
        await ctx.branch("id1");
        await ctx.navigateTree("id2", { summarize: true });
      },
    });
  });
  await t.runCommand("/go");
  assertEquals(t.newSessions, []);
  allow = true;
  await t.runCommand("/go");
  assertEquals(t.newSessions.map(({ parentSession }) => parentSession), ["old.jsonl"]);
  assertEquals(t.newSessions[0]!.session.getEntries().length, 1);
  assertEquals([t.branches, t.navigations], [["id1"], [{ targetId: "id2", summarize: true }]]);
});

Deno.test("what the hook sends and appends is in the session too", async () => {
  const t = await testHook((pi) => {
    pi.on("turn_end", () => {
      pi.sendMessage({ customType: "note", content: "mind", display: true }, { triggerTurn: true });
      pi.appendEntry("count", 1);
    });
  });
  await t.fire("turn_end");
  assertEquals(t.messages, [{
    message: { customType: "note", content: "mind", display: true },
    options: { triggerTurn: true },
  }]);
  assertEquals(t.session.getEntries().map((entry) => entry.type), ["custom_message", "custom"]);
});

Deno.test("render() draws with the hook's renderer", async () => {
  const t = await testHook((pi) => {
    pi.registerMessageRenderer("note", (message, { expanded }, theme) => ({
      render: (width) => [theme.bold(`${message.content} ${width} ${expanded}`)],
    }));
  });
  assertEquals(t.render({ customType: "note", content: "hi" }, { width: 10, expanded: true }), ["hi 10 true"]);
  assertEquals(t.render({ customType: "other", content: "hi" }), undefined);
});

Deno.test("warnings of the hook are written down, and a factory that throws rejects", async () => {
  const t = await testHook((pi) => pi.on("tool_cal" as "tool_call", () => undefined));
  assertStringIncludes(t.warnings[0]!, 'did you mean "tool_call"?');
  await assertRejects(
    () => testHook((pi) => pi.appendEntry("too early")),
    Error,
    "appendEntry handler not initialized",
  );
});
