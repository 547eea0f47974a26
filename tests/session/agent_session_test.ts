import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { HookFactory } from "../../src/api.ts";
import { EVENT_NAMES } from "../../src/events.ts";
import { textOf } from "../../src/messages.ts";
import {
  AgentBusyError,
  type AgentSession,
  type LanguageModel,
  type ModelRequest,
  ScriptedModel,
  type ScriptedTurn,
  SessionManager,
  type SessionTool,
  UnknownCommandError,
} from "../../src/session/mod.ts";
import { said, startSession, until, withFolder } from "./support.ts";

const bash = (command: string) => ({ name: "bash", arguments: { command } });
const play = (...turns: ScriptedTurn[]) => new ScriptedModel({ turns });

/** A hook that writes down every event. */
function recorder(log: string[]): HookFactory {
  return (pi) => {
    for (const name of EVENT_NAMES) pi.on(name, (event) => void log.push(event.type));
  };
}

/** A tool that answers what it is told to. */
function echoTool(run: (signal?: AbortSignal) => unknown = () => "ok"): SessionTool {
  return {
    name: "echo",
    parameters: { type: "object", properties: { text: { type: "string" } } },
    execute: async (_id, params, signal) => {
      const text = String(await run(signal) ?? params.text);
      return { content: [{ type: "text", text }] };
    },
  };
}

Deno.test("AgentSession.prompt() emits the events of a run in their order (EV-1)", async () => {
  const log: string[] = [];
  const model = play({ text: "a", toolCalls: [{ name: "echo", arguments: {} }] }, { text: "b" });
  const { session } = await startSession({ model, tools: [echoTool()], hooks: [recorder(log)] });
  await session.prompt("go");
  await session.dispose();
  assertEquals(log, [
    "session_start",
    "before_agent_start",
    "agent_start",
    "turn_start",
    "context",
    "tool_call",
    "tool_result",
    "turn_end",
    "turn_start",
    "context",
    "turn_end",
    "agent_end",
    "session_shutdown",
  ]);
});

Deno.test("AgentSession.prompt() waits for every handler before it goes on (Q-36)", async () => {
  const log: string[] = [];
  const slow: HookFactory = (pi) => {
    for (const name of ["session_start", "agent_start", "turn_start", "turn_end", "agent_end"] as const) {
      pi.on(name, async () => {
        await new Promise((done) => setTimeout(done, 5));
        log.push(`hook ${name}`);
      });
    }
  };
  const model: LanguageModel = {
    provider: "test",
    id: "m",
    async *stream() {
      log.push("model");
      yield { type: "done", stopReason: "stop" };
    },
  };
  const { session } = await startSession({ model, hooks: [slow] });
  session.subscribe((event) => log.push(`told ${event.type}`));
  await session.prompt("go");
  await session.dispose();
  const place = (what: string) => log.indexOf(what);
  for (const name of ["session_start", "agent_start", "turn_start", "turn_end", "agent_end"]) {
    assert(place(`hook ${name}`) < place(`told ${name}`), name);
  }
  assert(place("hook turn_start") < place("model"));
});

Deno.test("AgentSession keeps the answer before its tool calls are asked for (EV-4)", async () => {
  const seen: string[] = [];
  const { session } = await startSession({
    model: play({ text: "a", toolCalls: [{ name: "echo", arguments: {} }] }),
    tools: [echoTool()],
    hooks: [(pi) => {
      pi.on("tool_call", (_event, ctx) => {
        const entry = ctx.sessionManager.getLeafEntry();
        seen.push(entry?.type === "message" ? entry.message.role : "none");
      });
    }],
  });
  await session.prompt("go");
  await session.dispose();
  assertEquals(seen, ["assistant"]);
});

Deno.test("AgentSession gives hooks a session that they cannot write to", async () => {
  let writable: unknown;
  const { session } = await startSession({
    hooks: [(pi) => {
      pi.on("session_start", (_event, ctx) => void (writable = "appendMessage" in ctx.sessionManager));
    }],
  });
  await session.start();
  await session.dispose();
  assertEquals(writable, false);
});

Deno.test("AgentSession turns a blocked call into an error that the model reads", async () => {
  const model = play({ toolCalls: [{ name: "echo", arguments: {} }] }, { text: "I see" });
  let ran = 0;
  const { session, told } = await startSession({
    model,
    tools: [echoTool(() => ran++)],
    hooks: [(pi) => {
      pi.on("tool_call", () => ({ block: true, reason: "not today" }));
    }],
  });
  await session.prompt("go");
  await session.dispose();
  assertEquals(ran, 0);
  const result = model.lastRequest!.messages.at(-1)!;
  assertEquals(result.role === "toolResult" && [result.isError, textOf(result.content)], [true, "not today"]);
  const end = told.find((event) => event.type === "tool_execution_end");
  assertEquals(end?.type === "tool_execution_end" && [end.blocked, end.hook, end.reason], [
    true,
    "test-hook",
    "not today",
  ]);
});

Deno.test("AgentSession keeps a tool from running when a gate breaks (C7.1)", async () => {
  let ran = 0;
  const { session } = await startSession({
    model: play({ toolCalls: [{ name: "echo", arguments: {} }] }),
    tools: [echoTool(() => ran++)],
    hooks: [(pi) => {
      pi.on("tool_call", () => {
        throw new Error("broken gate");
      });
    }],
  });
  await session.prompt("go");
  await session.dispose();
  assertEquals(ran, 0);
});

Deno.test("AgentSession writes nothing that tool_result redacted (C7.5)", () =>
  withFolder(async (folder) => {
    const canary = "CANARY-7f3a";
    const redact: HookFactory = (pi) => {
      pi.on("tool_result", (event) => ({
        content: event.content.map((part) =>
          part.type === "text" ? { ...part, text: part.text.replaceAll(canary, "[redacted]") } : part
        ),
        details: {},
      }));
    };
    const leaky: SessionTool = {
      name: "leaky",
      execute: (_id, _params, _signal, onUpdate) => {
        onUpdate?.({ content: [{ type: "text", text: canary }] });
        return Promise.resolve({ content: [{ type: "text", text: canary }], details: { raw: canary } });
      },
    };
    const failing: SessionTool = { name: "failing", execute: () => Promise.reject(new Error(`failed with ${canary}`)) };
    await Deno.writeTextFile(`${folder}/secret.txt`, canary);
    const model = play(
      {
        toolCalls: [
          { name: "leaky", arguments: {} },
          { name: "failing", arguments: {} },
          { name: "bash", arguments: { command: "cat secret.txt" } },
          { name: "bash", arguments: { command: "cat secret.txt; exit 1" } },
          { name: "read", arguments: { path: "secret.txt" } },
          { name: "grep", arguments: { pattern: "CANARY" } },
        ],
      },
      { text: "done" },
    );
    const { createTools } = await import("../../src/session/mod.ts");
    const { session, told } = await startSession({
      cwd: folder,
      model,
      tools: [...createTools(folder), leaky, failing],
      sessionManager: SessionManager.create(folder, `${folder}/sessions`),
      hooks: [redact],
    });
    await session.prompt("go");
    const file = session.sessionManager.getSessionFile()!;
    const remembered = JSON.stringify(session.messages);
    await session.dispose();
    // Every byte that the session wrote.
    const written = [...Deno.readDirSync(`${folder}/sessions`)].map(({ name }) => `${folder}/sessions/${name}`);
    assertEquals(written, [file]);
    const everything = [
      await Deno.readTextFile(file),
      JSON.stringify(told),
      JSON.stringify(model.lastRequest!.messages),
      remembered,
    ];
    for (const text of everything) assertEquals(text.includes(canary), false);
    assertEquals(everything[2]!.split("[redacted]").length - 1, 6);
  }));

Deno.test("AgentSession shows tool progress when no hook may redact it", async () => {
  const tool: SessionTool = {
    name: "slow",
    execute: (_id, _params, _signal, onUpdate) => {
      onUpdate?.({ content: [{ type: "text", text: "half" }] });
      return Promise.resolve({ content: [{ type: "text", text: "whole" }] });
    },
  };
  const { session, told } = await startSession({
    model: play({ toolCalls: [{ name: "slow", arguments: {} }] }),
    tools: [tool],
  });
  await session.prompt("go");
  await session.dispose();
  assertEquals(told.filter((event) => event.type === "tool_execution_update").length, 1);
});

Deno.test("AgentSession answers unknown tools and wrong arguments with errors, and asks no hook (TC-1)", async () => {
  const log: string[] = [];
  const model = play({ toolCalls: [{ name: "ecko", arguments: {} }, { name: "echo", arguments: { text: 1 } }] });
  const { session } = await startSession({ model, tools: [echoTool()], hooks: [recorder(log)] });
  await session.prompt("go");
  await session.dispose();
  assertEquals(log.includes("tool_call"), false);
  const texts = model.lastRequest!.messages.flatMap((m) => m.role === "toolResult" ? [textOf(m.content)] : []);
  assertEquals(texts, [
    'There is no tool "ecko"; did you mean echo?',
    "echo: text: expected a string, found the number 1",
  ]);
});

Deno.test("AgentSession lets the context event change one call and nothing else (CX-1)", async () => {
  const model = play({ toolCalls: [{ name: "echo", arguments: {} }] }, { text: "b" });
  const { session } = await startSession({
    model,
    tools: [echoTool()],
    hooks: [(pi) => {
      pi.on("context", (event) => ({ messages: event.messages.slice(-1) }));
    }],
  });
  await session.prompt("go");
  assertEquals(session.messages.map((message) => message.role), ["user", "assistant", "toolResult", "assistant"]);
  await session.dispose();
});

Deno.test("AgentSession adds the message of before_agent_start after the prompt (BA-2)", async () => {
  const model = play({ text: "a" });
  const { session } = await startSession({
    model,
    hooks: [(pi) => {
      pi.on("before_agent_start", (event) => ({
        message: { customType: "rules", content: `about ${event.prompt}`, display: false, details: { secret: 1 } },
      }));
    }],
  });
  await session.prompt("go");
  await session.dispose();
  const { messages } = model.lastRequest!;
  assertEquals(messages.map((message) => message.role === "user" && message.content), ["go\n\nabout go"]);
});

Deno.test("AgentSession.prompt() runs a slash command with all after its name (CMD-2)", async () => {
  const got: string[] = [];
  const { session } = await startSession({
    hooks: [(pi) => {
      pi.registerCommand("say", { handler: (args) => void got.push(args) });
    }],
  });
  assertEquals(await session.prompt("/say  two  words \nand more"), { handledAs: "command" });
  await session.prompt("/say");
  await session.dispose();
  assertEquals(got, [" two  words \nand more", ""]);
});

Deno.test("AgentSession.prompt() names the nearest of unknown commands, and takes paths for prompts", async () => {
  const model = play({ text: "a" });
  const { session } = await startSession({
    model,
    hooks: [(pi) => {
      pi.registerCommand("handoff", { handler: () => {} });
    }],
  });
  await assertRejects(
    () => session.prompt("/handof now"),
    UnknownCommandError,
    "There is no command /handof; did you mean /handoff?",
  );
  assertEquals(await session.prompt("/etc/hosts is odd"), { handledAs: "run" });
  await session.dispose();
});

Deno.test("AgentSession.prompt() reports a command that throws, and counts it as handled (CMD-3)", async () => {
  const { session, told } = await startSession({
    hooks: [(pi) => {
      pi.registerCommand("bad", {
        handler: () => {
          throw new Error("oops");
        },
      });
    }],
  });
  assertEquals(await session.prompt("/bad"), { handledAs: "command" });
  await session.dispose();
  const error = told.find((event) => event.type === "hook_error");
  assertEquals(error, { type: "hook_error", hookPath: "command:bad", event: "command", error: "oops" });
});

Deno.test("AgentSession.sendMessage() appends while idle, and runs the agent with triggerTurn", async () => {
  const model = play({ text: "a" });
  const { session } = await startSession({ model });
  await session.start();
  session.sendMessage({ customType: "note", content: "just so", display: false, details: { mine: true } });
  assertEquals([session.messages.length, model.requests], [1, 0]);
  session.sendMessage({ customType: "note", content: "act", display: true }, { triggerTurn: true });
  await session.waitForIdle();
  assertEquals(model.lastRequest!.messages.map((message) => message.content), ["just so\n\nact"]);
  await session.dispose();
});

Deno.test("AgentSession.sendMessage() steers before the next turn and follows up when the agent would stop", async () => {
  const model = play({ toolCalls: [{ name: "echo", arguments: {} }] }, { text: "b" }, { text: "c" });
  const { session } = await startSession({
    model,
    tools: [echoTool()],
    hooks: [(pi) => {
      pi.on("tool_call", () => {
        pi.sendMessage({ customType: "n", content: "later", display: true }, { deliverAs: "followUp" });
        pi.sendMessage({ customType: "n", content: "soon", display: true });
      });
    }],
  });
  await session.prompt("go");
  await session.dispose();
  const said = session.messages.map((message) => message.role === "custom" ? message.content : message.role);
  assertEquals(said, ["user", "assistant", "toolResult", "soon", "assistant", "later", "assistant"]);
});

Deno.test("AgentSession.sendMessage() from agent_end is not left waiting (Q-37)", async () => {
  let sent = 0;
  const model = play({ text: "a" }, { text: "b" });
  const { session } = await startSession({
    model,
    hooks: [(pi) => {
      pi.on("agent_end", () => {
        if (sent++ === 0) pi.sendMessage({ customType: "n", content: "again", display: true }, { triggerTurn: true });
        else pi.sendMessage({ customType: "n", content: "just so", display: true });
      });
    }],
  });
  await session.prompt("go");
  await session.dispose();
  const said = session.messages.map((message) => message.role === "custom" ? message.content : message.role);
  assertEquals(said, ["user", "assistant", "again", "assistant", "just so"]);
});

Deno.test("AgentSession.sendMessage() refuses what is no message", async () => {
  const { session } = await startSession({});
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  for (
    const bad of [undefined, {}, { customType: "x", content: 1 }, { customType: "x", content: "y", details: circular }]
  ) {
    assertThrows(() => session.sendMessage(bad as never), TypeError);
  }
  await session.dispose();
});

Deno.test("AgentSession.prompt() refuses a second prompt while the agent works, or queues it", async () => {
  const gate = Promise.withResolvers<void>();
  const model = play({ toolCalls: [{ name: "echo", arguments: {} }] }, { text: "b" });
  const { session } = await startSession({ model, tools: [echoTool(() => gate.promise)] });
  const run = session.prompt("go");
  await until("the tool runs", () => model.requests === 1);
  await assertRejects(() => session.prompt("more"), AgentBusyError);
  assertEquals(await session.prompt("more", { deliverAs: "steer" }), { handledAs: "queued" });
  gate.resolve();
  await run;
  await session.dispose();
  assertEquals(session.messages.map((message) => message.role), [
    "user",
    "assistant",
    "toolResult",
    "user",
    "assistant",
  ]);
});

const moments: [string, HookFactory, ScriptedTurn, () => SessionTool][] = [
  ["the model hangs", () => {}, { delayMs: 60_000 }, echoTool],
  ["a tool hangs", () => {}, { toolCalls: [{ name: "echo", arguments: {} }] }, () =>
    echoTool((signal) => {
      const { promise, reject } = Promise.withResolvers<string>();
      signal?.addEventListener("abort", () => reject(signal.reason));
      return promise;
    })],
  ...(["before_agent_start", "context", "turn_start", "tool_call"] as const).map((name) =>
    [
      `a handler of ${name} hangs`,
      (pi) => {
        pi.on(name, () => new Promise<undefined>(() => {}));
      },
      { toolCalls: [{ name: "echo", arguments: {} }] },
      echoTool,
    ] as typeof moments[number]
  ),
];
for (const [what, hook, turn, tool] of moments) {
  Deno.test(`AgentSession.abort() ends the run while ${what}`, async () => {
    const log: string[] = [];
    const { session, told } = await startSession({ model: play(turn), tools: [tool()], hooks: [recorder(log), hook] });
    const run = session.prompt("go");
    const last = { "the model hangs": "context", "a tool hangs": "tool_call" }[what] ?? what.split(" ")[3]!;
    await until(`${last} was emitted`, () => log.includes(last));
    await session.abort();
    await run;
    assertEquals(session.isIdle, true);
    for (const pair of ["agent", "turn"]) {
      const starts = told.filter((event) => event.type === `${pair}_start`).length;
      assertEquals(told.filter((event) => event.type === `${pair}_end`).length, starts, pair);
    }
    const calls = session.messages.flatMap((m) =>
      m.role === "assistant" && m.stopReason === "toolUse" ? m.content : []
    );
    const results = session.messages.filter((message) => message.role === "toolResult");
    assertEquals(results.length, calls.filter((part) => part.type === "toolCall").length);
    await session.dispose();
  });
}

Deno.test("AgentSession ends the run with an error message when the model fails", async () => {
  const model: LanguageModel = {
    provider: "test",
    id: "m",
    // deno-lint-ignore require-yield
    async *stream() {
      throw new Error("bad key");
    },
  };
  const { session } = await startSession({ model });
  await session.prompt("go");
  await session.dispose();
  const last = session.messages.at(-1);
  assertEquals(last?.role === "assistant" && [last.stopReason, last.errorMessage], ["error", "bad key"]);
});

Deno.test("AgentSession takes a prompt of 10 MB", () =>
  withFolder(async (folder) => {
    const text = "päivää ".repeat(1_250_000);
    const model = play({ text: "long" });
    const { session } = await startSession({ model, sessionManager: SessionManager.create(folder, folder) });
    await session.prompt(text);
    const file = session.sessionManager.getSessionFile()!;
    await session.dispose();
    assertEquals(model.lastRequest!.messages[0]!.content === text, true);
    using again = SessionManager.open(file);
    assertEquals(textOf(again.buildContext().messages[0]!.role === "user" ? text : ""), text);
    assertEquals(again.getEntries().length, 2);
  }));

Deno.test("AgentSession.newSession() has setup's messages in the agent's memory (Q-13)", () =>
  withFolder(async (folder) => {
    const log: string[] = [];
    const model = play({ text: "a" }, { text: "b" });
    const { session } = await startSession({
      model,
      sessionManager: SessionManager.create(folder, folder),
      hooks: [(pi) => {
        pi.on(
          "session_before_switch",
          (event, ctx) => void log.push(`${event.reason} ${ctx.sessionManager.getEntries().length}`),
        );
        pi.on("session_switch", (event, ctx) => {
          log.push(
            `${event.reason} ${ctx.sessionManager.getEntries().length} ${event.previousSessionFile !== undefined}`,
          );
        });
      }],
    });
    await session.prompt("go");
    const first = session.sessionManager.getSessionFile()!;
    const outcome = await session.newSession({
      parentSession: first,
      setup: (sm) => void sm.appendMessage(said("handed over")),
    });
    assertEquals(outcome, { cancelled: false });
    assertEquals(log, ["new 2", "new 1 true"]);
    await session.prompt("on");
    assertEquals(model.lastRequest!.messages.map((message) => message.content), ["handed over\n\non"]);
    assertEquals(session.sessionManager.getHeader().parentSession, first);
    await session.dispose();
  }));

Deno.test("AgentSession.newSession() leaves no file behind when setup throws", () =>
  withFolder(async (folder) => {
    const { session } = await startSession({ sessionManager: SessionManager.create(folder, folder) });
    const setup = (sm: { appendMessage(message: ReturnType<typeof said>): string }) => {
      sm.appendMessage(said("half"));
      throw new Error("no setup");
    };
    await assertRejects(() => session.newSession({ setup }), Error, "no setup");
    assertEquals([...Deno.readDirSync(folder)], []);
    await session.dispose();
  }));

Deno.test("AgentSession.newSession() changes nothing when a hook cancels or setup throws", async () => {
  let cancel = true;
  const { session } = await startSession({
    hooks: [(pi) => {
      pi.on("session_before_switch", () => ({ cancel }));
    }],
  });
  const id = session.sessionManager.getSessionId();
  assertEquals(await session.newSession(), { cancelled: true });
  cancel = false;
  const setup = () => Promise.reject(new Error("no setup"));
  await assertRejects(() => session.newSession({ setup }), Error, "no setup");
  assertEquals(session.sessionManager.getSessionId(), id);
  await session.dispose();
});

Deno.test("AgentSession.switchSession() opens another file with all changed when session_switch fires (Q-30)", () =>
  withFolder(async (folder) => {
    const other = SessionManager.create(folder, folder);
    other.appendMessage(said("from before"));
    other.close();
    const seen: unknown[] = [];
    const { session } = await startSession({
      sessionManager: SessionManager.create(folder, folder),
      hooks: [(pi) => {
        pi.on(
          "session_switch",
          (event, ctx) => void seen.push(event.reason, ctx.sessionManager.getSessionId(), session.messages.length),
        );
      }],
    });
    await session.switchSession(other.getSessionFile()!);
    assertEquals(seen, ["resume", other.getSessionId(), 1]);
    await assertRejects(() => session.switchSession(folder), Error, "is a folder");
    assertEquals(session.sessionManager.getSessionId(), other.getSessionId());
    await session.dispose();
  }));

Deno.test("AgentSession.switchSession() to the file in use changes nothing and asks nobody", () =>
  withFolder(async (folder) => {
    const log: string[] = [];
    const { session } = await startSession({
      model: play({ text: "a" }),
      sessionManager: SessionManager.create(folder, folder),
      hooks: [recorder(log)],
    });
    await session.prompt("one");
    log.length = 0;
    assertEquals(await session.switchSession(session.sessionManager.getSessionFile()!), { cancelled: false });
    assertEquals([log, session.messages.length], [[], 2]);
    await session.dispose();
  }));

Deno.test("AgentSession.navigateTree() stops a run first, and tells where that ended", async () => {
  const moves: unknown[] = [];
  const { session } = await startSession({
    model: play({ text: "a" }, { text: "half", delayMs: 60_000 }),
    hooks: [(pi) => {
      pi.on("session_tree", (event) => void moves.push(event.oldLeafId));
    }],
  });
  await session.prompt("one");
  const target = session.sessionManager.getLeafId()!;
  const run = session.prompt("two");
  await until("the second prompt is there", () => session.messages.length === 3);
  await session.navigateTree(target);
  await run;
  const stopped = session.sessionManager.getEntries().at(-1)!;
  assertEquals(
    stopped.type === "message" && stopped.message.role === "assistant" && stopped.message.stopReason,
    "aborted",
  );
  assertEquals([moves, session.sessionManager.getLeafId()], [[stopped.id], target]);
  await session.dispose();
});

Deno.test("AgentSession.fork() refuses a session in memory before it asks hooks (Q-31)", async () => {
  const log: string[] = [];
  const { session } = await startSession({ hooks: [recorder(log)] });
  await assertRejects(() => session.fork(), Error, "cannot be forked");
  assertEquals(log, []);
  await session.dispose();
});

Deno.test("AgentSession.branch() goes on before a user message, in a session of its own", () =>
  withFolder(async (folder) => {
    const log: string[] = [];
    const { session } = await startSession({
      model: play({ text: "a" }, { text: "b" }),
      sessionManager: SessionManager.create(folder, folder),
      hooks: [(pi) => {
        pi.on(
          "session_before_branch",
          (_event, ctx) => void log.push(`before ${ctx.sessionManager.getEntries().length}`),
        );
        pi.on(
          "session_branch",
          (_event, ctx) => void log.push(`after ${ctx.sessionManager.getEntries().length} ${session.messages.length}`),
        );
      }],
    });
    await session.prompt("one");
    await session.prompt("two");
    const users = session.sessionManager.getEntries().filter((entry) =>
      entry.type === "message" && entry.message.role === "user"
    );
    const first = session.sessionManager.getSessionFile();
    const outcome = await session.branch(users[1]!.id);
    assertEquals(outcome, { cancelled: false, selectedText: "two" });
    assertEquals(log, ["before 4", "after 2 2"]);
    assertEquals(session.sessionManager.getHeader().parentSession, first);
    const answer = session.sessionManager.getLeafId()!;
    await assertRejects(() => session.branch(answer), Error, "Invalid entry ID for branching");
    await session.dispose();
  }));

Deno.test("AgentSession.branch() keeps the agent's memory with skipConversationRestore (BR-4)", async () => {
  const { session } = await startSession({
    model: play({ text: "a" }),
    hooks: [(pi) => {
      pi.on("session_before_branch", () => ({ skipConversationRestore: true }));
    }],
  });
  await session.prompt("one");
  const user = session.sessionManager.getEntries()[0]!;
  await session.branch(user.id);
  assertEquals([session.messages.length, session.sessionManager.getEntries().length], [2, 0]);
  await session.dispose();
});

Deno.test("AgentSession.navigateTree() moves, offers the text again, and takes a hook's summary", async () => {
  const log: unknown[] = [];
  const { session } = await startSession({
    model: play({ text: "a" }, { text: "b" }),
    hooks: [(pi) => {
      pi.on("session_before_tree", ({ preparation }) => {
        log.push([preparation.entriesToSummarize.length, preparation.userWantsSummary]);
        return { summary: { summary: "we tried", details: { by: "hook" } } };
      });
      pi.on(
        "session_tree",
        (event) => void log.push([event.summaryEntry?.summary, event.fromExtension, session.messages.length]),
      );
    }],
  });
  await session.prompt("one");
  await session.prompt("two");
  const [first, answer, second] = session.sessionManager.getEntries();
  const left = session.sessionManager.getLeafId();
  assertEquals(await session.navigateTree(second!.id), { cancelled: false, editorText: "two" });
  assertEquals(session.sessionManager.getLeafId(), answer!.id);
  await session.navigateTree(left!);
  assertEquals(await session.navigateTree(first!.id, { summarize: true }), { cancelled: false, editorText: "one" });
  const entry = session.sessionManager.getLeafEntry()!;
  assertEquals(entry.type === "branch_summary" && [entry.fromId, entry.parentId, entry.fromExtension], [
    left,
    null,
    true,
  ]);
  assertEquals(log, [[1, false], [undefined, undefined, 2], [0, false], [undefined, undefined, 4], [3, true], [
    "we tried",
    true,
    1,
  ]]);
  await session.dispose();
});

Deno.test("AgentSession.navigateTree() changes nothing when a hook cancels, and nothing happens at the leaf (TR-1)", async () => {
  const log: string[] = [];
  const { session } = await startSession({
    model: play({ text: "a" }),
    hooks: [recorder(log), (pi) => {
      pi.on("session_before_tree", () => ({ cancel: true }));
    }],
  });
  await session.prompt("one");
  log.length = 0;
  const leaf = session.sessionManager.getLeafId()!;
  assertEquals(await session.navigateTree(leaf), { cancelled: false });
  assertEquals(log, []);
  assertEquals(await session.navigateTree(session.sessionManager.getEntries()[0]!.id), { cancelled: true });
  assertEquals([session.sessionManager.getLeafId(), log], [leaf, ["session_before_tree"]]);
  await assertRejects(() => session.navigateTree("nope"), Error, "Entry nope not found");
  await session.dispose();
});

Deno.test("AgentSession.dispose() emits session_shutdown exactly once, whatever runs", async () => {
  const log: string[] = [];
  const { session } = await startSession({ model: play({ delayMs: 60_000 }), hooks: [recorder(log)] });
  const run = session.prompt("go");
  await until("the model is asked", () => log.includes("context"));
  await Promise.all([session.dispose(), session.dispose()]);
  await run;
  await session.dispose();
  assertEquals(log.filter((name) => name === "session_shutdown").length, 1);
  assertEquals(log.at(-1), "session_shutdown");
  await assertRejects(() => session.prompt("more"), Error, "The session has ended");
});

const never = () => new Promise<undefined>(() => {});
for (
  const [event, act] of [
    ["session_before_switch", (session) => session.newSession()],
    ["session_before_tree", (session) => session.navigateTree(session.sessionManager.getEntries()[0]!.id)],
    ["session_before_branch", (session) => session.branch(session.sessionManager.getEntries()[0]!.id)],
  ] as ["session_before_switch", (session: AgentSession) => Promise<{ cancelled: boolean }>][]
) {
  Deno.test(`AgentSession.abort() takes a handler of ${event} that hangs for a no`, async () => {
    let asked = false;
    const { session } = await startSession({
      model: play({ text: "a" }),
      hooks: [(pi) => {
        pi.on(event, () => {
          asked = true;
          return never();
        });
      }],
    });
    await session.prompt("one");
    const leaf = session.sessionManager.getLeafId();
    const acting = act(session);
    await until("the hook is asked", () => asked);
    await session.abort();
    assertEquals((await acting).cancelled, true);
    assertEquals(session.sessionManager.getLeafId(), leaf);
    await session.dispose();
  });
}

Deno.test("AgentSession.dispose() does not wait for ever for a handler of session_start or session_shutdown", async () => {
  const { session } = await startSession({
    hooks: [(pi) => {
      pi.on("session_start", never);
      pi.on("session_shutdown", never);
    }],
  });
  const starting = session.start();
  await session.dispose();
  await starting;
});

Deno.test("AgentSession.compactWhileIdle() compacts a context that is nearly full, and only then", async () => {
  const log: unknown[] = [];
  const sessionManager = SessionManager.inMemory("/project");
  for (let i = 0; i < 6; i++) {
    sessionManager.appendMessage(said("u".repeat(4_000)));
    sessionManager.appendMessage({
      role: "assistant",
      content: [{ type: "text", text: "ok" }],
      stopReason: "stop",
      timestamp: 1,
    });
  }
  const model = new ScriptedModel({ turns: [{ text: "summary" }], contextWindow: 6_000 });
  const { session } = await startSession({
    model,
    sessionManager,
    compaction: { reserveTokens: 1_000, keepRecentTokens: 1_500 },
    hooks: [(pi) => {
      pi.on("auto_compaction_start", (event) => void log.push(event.reason));
      pi.on("auto_compaction_end", (event) => void log.push(event.willRetry));
    }],
  });
  assertEquals(await session.compactWhileIdle(), true);
  assertEquals(await session.compactWhileIdle(), false);
  assertEquals(log, ["idle", false]);
  await session.dispose();
});

Deno.test("AgentSession goes on in memory when it cannot be saved, and says so", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/no-folder`, "");
    const { session, told } = await startSession({
      model: play({ text: "a" }),
      sessionManager: SessionManager.create(folder, `${folder}/no-folder/x`),
    });
    await session.prompt("go");
    await session.dispose();
    assertEquals(session.messages.length, 2);
    const errors = told.flatMap((event) => event.type === "notice" && event.level === "error" ? [event.message] : []);
    assertStringIncludes(errors[0]!, "not saved");
  }));

Deno.test("AgentSession synthesises the result of a call that was interrupted (CX-3)", async () => {
  const sessionManager = SessionManager.inMemory("/project");
  sessionManager.appendMessage(said("go"));
  sessionManager.appendMessage({
    role: "assistant",
    content: [{ type: "toolCall", id: "c1", name: "bash", arguments: {} }],
    stopReason: "toolUse",
    timestamp: 1,
  });
  const model = play({ text: "a" });
  const { session } = await startSession({ model, sessionManager });
  await session.prompt("on");
  await session.dispose();
  const roles = (request: ModelRequest) => request.messages.map((message) => message.role);
  assertEquals(roles(model.lastRequest!), ["user", "assistant", "toolResult", "user"]);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`AgentSession emits session_shutdown on ${signal}, ends what runs, and ends the process by the signal (Q-29)`, () =>
    withFolder(async (folder) => {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", new URL("./run_until_killed.ts", import.meta.url).pathname, folder],
        stdout: "piped",
        stderr: "inherit",
        stdin: "null",
      }).spawn();
      let output = "";
      const reading = (async () => {
        for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) output += text;
      })();
      await until("the tool runs", () => output.includes("tool_call"));
      child.kill(signal);
      const status = await child.status;
      await reading;
      assertEquals(status.code, signal === "SIGINT" ? 130 : 143);
      assertEquals(output.split("session_shutdown").length - 1, 1);
      const file = [...Deno.readDirSync(folder)].find((entry) => entry.name.endsWith(".jsonl"))!;
      using session = SessionManager.open(`${folder}/${file.name}`);
      assertEquals(session.buildContext().messages.at(-1)?.role, "toolResult");
    }));
}

Deno.test("AgentSession runs bash in its folder", () =>
  withFolder(async (folder) => {
    const model = play({ toolCalls: [bash("pwd")] });
    const { session } = await startSession({ cwd: folder, model });
    await session.prompt("go");
    await session.dispose();
    const result = session.messages.find((message) => message.role === "toolResult");
    assertEquals(result?.role === "toolResult" && textOf(result.content), folder);
  }));
