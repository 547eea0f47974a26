import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  type AgentMessage,
  EVENT_NAMES,
  HookBrokenError,
  type HookCommandContext,
  type HookContext,
  type HookDecision,
  type HookEvent,
  HookRunner,
  type HookRunnerOptions,
  type HookUIContext,
  type Model,
} from "@xcsh/hooks";
import { hook, models, runnerOf, session } from "./support.ts";

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const before: HookEvent<"session_before_switch"> = { type: "session_before_switch", reason: "new" };
const call: HookEvent<"tool_call"> = { type: "tool_call", toolName: "bash", toolCallId: "1", input: {} };
const result = (text: string): HookEvent<"tool_result"> => ({
  type: "tool_result",
  toolName: "bash",
  toolCallId: "1",
  input: {},
  content: [{ type: "text", text }],
  details: { a: 1 },
  isError: false,
});
const compacting: HookEvent<"session.compacting"> = { type: "session.compacting", sessionId: "s", messages: [] };
// deno-lint-ignore no-explicit-any -- handlers here answer what their types forbid
const odd = (answer: unknown): any => answer;
const later = <T>(value: T): Promise<T> => new Promise((resolve) => setTimeout(() => resolve(value), 1));

Deno.test("HookRunner.emit() runs handlers one at a time, by hook and then by registration (C3.1)", async () => {
  const log: string[] = [];
  const slow = (name: string, ms: number) => async () => {
    log.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, ms));
    log.push(`${name} ends`);
  };
  const { runner } = runnerOf(
    hook("one.ts", (pi) => {
      pi.on("agent_start", slow("1a", 10));
      pi.on("agent_start", () => void log.push("1b"));
    }),
    hook("two.ts", (pi) => {
      pi.on("agent_start", () => void log.push("2a"));
      pi.on("agent_start", slow("2b", 1));
      pi.on("agent_start", slow("2c", 1));
    }),
  );
  await runner.emit({ type: "agent_start" });
  assertEquals(log, ["1a begins", "1a ends", "1b", "2a", "2b begins", "2b ends", "2c begins", "2c ends"]);
});

Deno.test("HookRunner.emit() stops at a cancel and reports what a handler throws (C3.6, C3.8, A.3)", async () => {
  const order: string[] = [];
  const { runner, errors } = runnerOf(
    hook("one.ts", (pi) => {
      pi.on("session_before_switch", () => (order.push("1a"), odd({ x: 1 })));
      pi.on("session_before_switch", () => void order.push("1b"));
    }),
    hook("two.ts", (pi) => {
      pi.on("session_before_switch", () => {
        order.push("2a");
        throw new Error("E");
      });
      pi.on("session_before_switch", () => (order.push("2b"), odd({ cancel: true, why: 2 })));
      pi.on("session_before_switch", () => void order.push("2c"));
    }),
  );
  const outcome: unknown = await runner.emit(before);
  assertEquals(outcome, { cancel: true, why: 2 });
  assertEquals(order, ["1a", "1b", "2a", "2b"]);
  assertEquals(errors.map(({ hookPath, event, error }) => ({ hookPath, event, error })), [
    { hookPath: "two.ts", event: "session_before_switch", error: "E" },
  ]);
  assertStringIncludes(errors[0]!.stack ?? "", "runner_test.ts");
});

Deno.test("HookRunner.emit() keeps the latest known result (C3.6, A.3)", async (t) => {
  type Row = [name: string, answers: unknown[], expected: unknown];
  const compactings: Row[] = [
    ["the latest wins whole", [{ prompt: "a" }, { context: ["c"] }, null], { context: ["c"] }],
    ["{} replaces nothing, unlike in the reference", [{ prompt: "a" }, {}], { prompt: "a" }],
    ["nor does an unknown field", [{ prompt: "a" }, { x: 1 }], { prompt: "a" }],
    ["nor what is falsy", [{ prompt: "a" }, undefined, null, false, 0, ""], { prompt: "a" }],
    ["nothing known is nothing", [{}, { x: 1 }], undefined],
    ["promises", [later({ prompt: "a" }), later({}), later({ prompt: "b" })], { prompt: "b" }],
  ];
  for (const [name, answers, expected] of compactings) {
    await t.step(name, async () => {
      const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
        for (const answer of answers) pi.on("session.compacting", () => odd(answer));
      }));
      assertEquals(await runner.emit(compacting) as unknown, expected);
      assertEquals(errors, []);
    });
  }
  await t.step("cancel: false does not stop, and {} does not replace it", async () => {
    const { runner } = runnerOf(hook("h.ts", (pi) => {
      pi.on("session_before_switch", () => ({ cancel: false }));
      pi.on("session_before_switch", () => ({}));
    }));
    assertEquals(await runner.emit(before), { cancel: false });
  });
});

Deno.test("HookRunner.emit() ignores results of all other events (C3.7, A.3)", async () => {
  const seen: string[] = [];
  const answers = { cancel: true, block: true, messages: [], message: {}, content: [], prompt: "x" };
  const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
    for (const name of EVENT_NAMES) pi.on(name, () => (seen.push(name), odd(answers)));
  }));
  const ignored = EVENT_NAMES.filter((name) =>
    !name.includes("before") && name !== "tool_result" && name !== "session.compacting"
  );
  for (const name of ["before_agent_start" as const, ...ignored]) {
    assertEquals(await runner.emit(odd({ type: name })), undefined, name);
  }
  assertEquals(seen, ["before_agent_start", ...ignored]);
  assertEquals(errors, []);
});

Deno.test("HookRunner.emitToolCall() gives the last result and ends at a block (C3.2)", async (t) => {
  const rows: [name: string, answers: unknown[], expected: unknown, ran: number][] = [
    ["the last wins", [{ block: false, reason: "a" }, { reason: "b" }], { reason: "b" }, 2],
    ["undefined replaces nothing", [{ block: false, reason: "x" }, undefined], { block: false, reason: "x" }, 2],
    ["{} replaces nothing", [{ reason: "x" }, {}], { reason: "x" }, 2],
    [
      "a block ends it",
      [{ reason: "a" }, { block: true, reason: "b" }, { block: false }],
      { block: true, reason: "b" },
      2,
    ],
    ["anything truthy blocks", [{ block: 1, reason: "one" }, {}], { block: 1, reason: "one" }, 1],
    ["a promise of a block", [later({ block: true }), {}], { block: true }, 1],
    ["a thenable of a block", [{ then: (f: (v: unknown) => void) => f({ block: true }) }, {}], { block: true }, 1],
    ["nothing", [undefined, null, false], undefined, 3],
  ];
  for (const [name, answers, expected, ran] of rows) {
    await t.step(name, async () => {
      let count = 0;
      const { runner } = runnerOf(hook("h.ts", (pi) => {
        for (const answer of answers) pi.on("tool_call", () => (count++, odd(answer)));
      }));
      assertEquals(await runner.emitToolCall(call) as unknown, expected);
      assertEquals(count, ran);
    });
  }
});

Deno.test("HookRunner.emitToolCall() rejects with what a handler throws, and reports nothing (C3.2, A.3)", async () => {
  for (const thrown of [new RangeError("X"), "text", undefined]) {
    for (const asynchronous of [false, true]) {
      let after = false;
      const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
        pi.on("tool_call", () => {
          if (asynchronous) return Promise.reject(thrown);
          throw thrown;
        });
        pi.on("tool_call", () => void (after = true));
      }));
      const caught = await runner.emitToolCall(call).then(() => "resolved", (error: unknown) => error);
      assertStrictEquals(caught, thrown);
      assertEquals([errors, after], [[], false]);
    }
  }
});

Deno.test("HookRunner.emit() only observes tool_call, context and before_agent_start (A.3)", async () => {
  const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
    pi.on("tool_call", () => ({ block: true }));
    pi.on("tool_call", () => {
      throw new Error("observed");
    });
    pi.on("context", () => ({ messages: [] }));
  }));
  assertEquals(await runner.emit(call), undefined);
  assertEquals(await runner.emit({ type: "context", messages: [user("a")] }), undefined);
  assertEquals(errors.map(({ error }) => error), ["observed"]);
});

Deno.test("HookRunner reports an answer of a wrong type with hook and event (C3.8)", async (t) => {
  const rows: [given: unknown, text: string][] = [
    ["yes", 'the string "yes"'],
    [true, "the boolean true"],
    [7, "the number 7"],
    [[{ block: true }], "an array"],
    [() => {}, "the function"],
    [Symbol("s"), "the symbol"],
    [later("yes"), 'the string "yes"'],
  ];
  for (const [given, text] of rows) {
    await t.step(text, async () => {
      const { runner, errors } = runnerOf(hook("bad.ts", (pi) => {
        pi.on("session_before_switch", () => odd(given));
        pi.on("tool_call", () => odd(given));
        pi.on("session_before_switch", () => ({ cancel: false }));
      }));
      assertEquals(await runner.emit(before), { cancel: false }, "the others go on");
      assertEquals([errors.length, errors[0]?.hookPath, errors[0]?.event], [1, "bad.ts", "session_before_switch"]);
      assertStringIncludes(errors[0]!.error, `a session_before_switch handler returned ${text}`);
      assertStringIncludes(errors[0]!.error, "{ cancel }");
      const error = await assertRejects(() => runner.emitToolCall(call), TypeError);
      assertStringIncludes(error.message, `bad.ts: a tool_call handler returned ${text}`);
      assertStringIncludes(error.message, "{ block, reason }");
    });
  }
});

Deno.test("HookRunner.emit() overrides content and details of a tool_result one by one (C3.3)", async (t) => {
  const A = [{ type: "text", text: "A" }], B = [{ type: "text", text: "B" }];
  const rows: [name: string, answers: unknown[], expected: unknown][] = [
    ["#1 content, #2 details: both count, where the reference has the last alone", [{ content: A }, { details: "D" }], {
      content: A,
      details: "D",
    }],
    ["the last content decides", [{ content: A }, { content: B }], { content: B }],
    ["undefined overrides nothing", [{ content: A }, { content: undefined, details: undefined }], { content: A }],
    ["null overrides nothing", [{ content: null, details: null }], undefined],
    ["{} is no override", [{}], undefined],
    ["isError alone is no override", [{ isError: true }], undefined],
    ["[] and 0 override", [{ content: [], details: 0 }], { content: [], details: 0 }],
    ["a string is text", [{ content: "A" }], { content: A }],
    ["promises", [later({ content: A }), later({ details: 1 })], { content: A, details: 1 }],
  ];
  for (const [name, answers, expected] of rows) {
    await t.step(name, async () => {
      const { runner, errors } = runnerOf(
        ...answers.map((answer, i) => hook(`${i}.ts`, (pi) => pi.on("tool_result", () => odd(answer)))),
      );
      assertEquals(await runner.emit(result("r")) as unknown, expected);
      assertEquals(errors, []);
    });
  }
});

Deno.test("HookRunner.emit() shows a later tool_result handler what the earlier ones left (C3.3)", async () => {
  const seen: unknown[] = [];
  const { runner } = runnerOf(
    hook("redact.ts", (pi) =>
      pi.on("tool_result", (event) => ({
        content: event.content.map((part) =>
          part.type === "text" ? { ...part, text: part.text.replace("secret", "***") } : part
        ),
      }))),
    hook("in_place.ts", (pi) =>
      pi.on("tool_result", (event) => {
        event.content.push({ type: "text", text: "seen" });
        event.details = { b: 2 };
      })),
    hook(
      "watch.ts",
      (pi) => pi.on("tool_result", (event) => void seen.push(structuredClone([event.content, event.details]))),
    ),
  );
  const event = result("a secret");
  const content = [{ type: "text", text: "a ***" }, { type: "text", text: "seen" }];
  assertEquals(await runner.emit(event) as unknown, { content, details: { b: 2 } });
  assertEquals(seen, [[content, { b: 2 }]]);
  assertEquals(event, result("a secret"), "the emitter's event is not touched");
});

Deno.test("HookRunner.emit() drops the edits of a tool_result handler that throws (C3.3)", async () => {
  for (const asynchronous of [false, true]) {
    const { runner, errors } = runnerOf(
      hook("keeps.ts", (pi) => pi.on("tool_result", () => ({ details: "kept" }))),
      hook("throws.ts", (pi) =>
        pi.on("tool_result", (event) => {
          event.content.length = 0;
          event.details = "dropped";
          if (asynchronous) return Promise.reject(new Error("te"));
          throw new Error("te");
        })),
    );
    assertEquals(await runner.emit(result("r")) as unknown, { details: "kept" });
    assertEquals(errors.map(({ hookPath, event, error }) => [hookPath, event, error]), [[
      "throws.ts",
      "tool_result",
      "te",
    ]]);
  }
});

Deno.test("HookRunner.emit() is not reached by edits that a hook makes after its turn (C3.3)", async () => {
  const kept: { text: string }[][] = [];
  const { runner } = runnerOf(
    hook("later.ts", (pi) =>
      pi.on("tool_result", (event) => {
        const content = [{ type: "text" as const, text: "redacted" }];
        kept.push(content, event.content as { text: string }[]);
        return { content };
      })),
    hook("next.ts", (pi) =>
      pi.on("tool_result", () => {
        for (const parts of kept) for (const part of parts) part.text = "unredacted";
      })),
  );
  assertEquals((await runner.emit(result("r")))?.content, [{ type: "text", text: "redacted" }]);
});

Deno.test("HookRunner.emit() refuses content that is none, and keeps the rest (C3.3)", async (t) => {
  for (const content of [7, { type: "text", text: "x" }, [null], ["x"], [{ type: "text" }], [{ text: "x" }]]) {
    await t.step(JSON.stringify(content), async () => {
      const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
        pi.on("tool_result", () => odd({ content, details: "lost with it" }));
        pi.on("tool_result", (event) => void (event.content = odd(content)));
      }));
      assertEquals(await runner.emit(result("r")), undefined);
      assertEquals(errors.length, 2);
      for (const { error } of errors) assertStringIncludes(error, "a tool_result handler left ");
    });
  }
});

Deno.test("HookRunner.emitContext() chains, each handler with a copy (C3.4, A.3)", async () => {
  const seen: AgentMessage[][] = [];
  const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
    pi.on("context", ({ messages }) => ({ messages: [...messages, user("b")] }));
    pi.on("context", ({ messages }) => {
      seen.push(messages);
      return { messages: [] };
    });
    pi.on("context", () => odd({ messages: null }));
    pi.on("context", ({ messages }) => void messages.push(user("inplace")));
    pi.on("context", () => {});
  }));
  const messages = [user("a")];
  assertEquals(await runner.emitContext(messages), [user("inplace")]);
  assertEquals(seen, [[user("a"), user("b")]]);
  assertEquals(messages, [user("a")]);
  assertEquals(errors, []);
});

Deno.test("HookRunner.emitContext() never touches the caller's messages (C3.4, A.3: the reference lets edits through)", async () => {
  const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
    pi.on("context", ({ messages }) => {
      messages.push(user("b"));
      (messages[0] as { content: string }).content = "changed";
    });
    pi.on("context", ({ messages }) => {
      messages.length = 0;
      throw new Error("dropped");
    });
  }));
  const messages = [user("a")];
  assertEquals(await runner.emitContext(messages), [user("changed"), user("b")]);
  assertEquals(messages, [user("a")]);
  assertEquals(errors.map(({ error }) => error), ["dropped"]);
});

Deno.test("HookRunner.emitContext() gives back the very messages when no handler is there (C3.4)", async () => {
  const messages = [user("a")];
  assertStrictEquals(await runnerOf().runner.emitContext(messages), messages);
});

Deno.test("HookRunner.emitContext() refuses messages that are no array (C3.4)", async () => {
  const { runner, errors } = runnerOf(hook("h.ts", (pi) => pi.on("context", () => odd({ messages: "all" }))));
  assertEquals(await runner.emitContext([user("a")]), [user("a")]);
  assertStringIncludes(errors[0]?.error ?? "", 'left the string "all" for the messages');
});

Deno.test("HookRunner.emitBeforeAgentStart() keeps the first message, and later handlers run (C3.5, A.3)", async () => {
  const events: object[] = [];
  const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
    for (const answer of [{}, { message: 1, extra: true }, { message: 2 }]) {
      pi.on("before_agent_start", (event) => (events.push(event), odd(answer)));
    }
  }));
  assertEquals(await runner.emitBeforeAgentStart("go") as unknown, { message: 1, extra: true });
  assertEquals(events, Array(3).fill({ type: "before_agent_start", prompt: "go", images: undefined }));
  assert("images" in events[0]!);
  assertEquals(new Set(events).size, 3);
  assertEquals(errors, []);
});

Deno.test("HookRunner.emit() goes on when an error listener throws (C3.8)", async () => {
  const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
    pi.on("session_before_switch", () => {
      throw new Error("E");
    });
    pi.on("session_before_switch", () => ({ cancel: true }));
  }));
  runner.onError(() => {
    throw new Error("listener");
  });
  runner.onError(() => Promise.reject(new Error("async listener")));
  const heard: string[] = [];
  runner.onError(({ error }) => heard.push(error));
  assertEquals(await runner.emit(before), { cancel: true });
  assertEquals([errors.length, heard], [1, ["E"]]);
});

Deno.test("HookRunner.emit() reports any thrown value as text (C3.8)", async (t) => {
  const unshowable = {
    toString: () => {
      throw new Error("no");
    },
  };
  const rows: [thrown: unknown, text: string][] = [
    ["s", "s"],
    [undefined, "undefined"],
    [{ a: 1 }, "[object Object]"],
    [unshowable, "a value that cannot be shown"],
    [Object.create(null), "a value that cannot be shown"],
  ];
  for (const [thrown, text] of rows) {
    await t.step(text, async () => {
      const { runner, errors } = runnerOf(hook("h.ts", (pi) =>
        pi.on("agent_end", () => {
          throw thrown;
        })));
      await runner.emit({ type: "agent_end", messages: [] });
      assertEquals(errors, [{ hookPath: "h.ts", event: "agent_end", error: text }]);
    });
  }
});

Deno.test("HookRunner.onError() tells once whether it listened (A.3)", async () => {
  const { runner } = runnerOf(hook("h.ts", (pi) =>
    pi.on("agent_start", () => {
      throw 1;
    })));
  let heard = 0;
  const stop = runner.onError(() => heard++);
  await runner.emit({ type: "agent_start" });
  assertEquals([stop(), stop()], [true, false]);
  await runner.emit({ type: "agent_start" });
  assertEquals(heard, 1);
});

Deno.test("HookRunner finds the first hook's command and renderer, and lists all (C3.9)", () => {
  const renderers = [() => undefined, () => undefined];
  const { runner } = runnerOf(
    ...renderers.map((renderer, i) =>
      hook(`${i}.ts`, (pi) => {
        pi.registerCommand("same", { description: `${i}`, handler() {} });
        pi.registerCommand(`own${i}`, { handler() {} });
        pi.registerMessageRenderer("note", renderer);
      })
    ),
  );
  assertEquals(runner.getCommand("same")?.description, "0");
  assertEquals(runner.getCommand("own1")?.name, "own1");
  assertEquals(runner.getCommand("none"), undefined);
  assertEquals(runner.getRegisteredCommands().map(({ name }) => name), ["same", "own0", "same", "own1"]);
  assertStrictEquals(runner.getMessageRenderer("note"), renderers[0]);
  assertEquals(runner.getMessageRenderer("none"), undefined);
  assertEquals(runner.getHookPaths(), ["0.ts", "1.ts"]);
});

Deno.test("HookRunner.emit() runs the handlers that were there when it began (C3.10)", async (t) => {
  for (const asynchronous of [false, true]) {
    await t.step(asynchronous ? "async" : "sync", async () => {
      const log: string[] = [];
      const wait = () => asynchronous ? later(undefined) : undefined;
      const { runner } = runnerOf(
        hook("one.ts", (pi) =>
          pi.on("agent_start", async () => {
            await wait();
          })),
        hook("two.ts", (pi) => {
          let added = false;
          pi.on("agent_start", () => {
            log.push("two");
            if (!added) pi.on("agent_start", () => void log.push("added"));
            added = true;
            return wait();
          });
          pi.on("agent_start", () => void log.push("last"));
        }),
      );
      await runner.emit({ type: "agent_start" });
      assertEquals(log, ["two", "last"]);
      await runner.emit({ type: "agent_start" });
      assertEquals(log, ["two", "last", "two", "last", "added"]);
    });
  }
});

Deno.test("HookRunner.emit() takes in the handlers of a hook that registers late (C1.2)", async () => {
  let register: () => void = () => {};
  const { runner } = runnerOf(hook("h.ts", (pi) => {
    register = () => pi.on("session_before_switch", () => ({ cancel: true }));
  }));
  assertEquals([await runner.emit(before), runner.hasHandlers("session_before_switch")], [undefined, false]);
  register();
  assertEquals([await runner.emit(before), runner.hasHandlers("session_before_switch")], [{ cancel: true }, true]);
});

Deno.test("HookRunner.hasHandlers() is false for an empty list (A.3)", () => {
  const empty = hook("h.ts", () => {});
  empty.handlers.set("context", []);
  assertEquals(runnerOf(empty).runner.hasHandlers("context"), false);
});

Deno.test("HookRunner.emit() may be called while it runs", async () => {
  const log: string[] = [];
  const { runner } = runnerOf(hook("h.ts", (pi) => {
    pi.on("agent_start", async () => {
      log.push("outer begins");
      await runner.emit({ type: "agent_end", messages: [] });
      log.push("outer ends");
    });
    pi.on("agent_end", () => void log.push("inner"));
  }));
  await runner.emit({ type: "agent_start" });
  assertEquals(log, ["outer begins", "inner", "outer ends"]);
});

const host = (over: Partial<HookRunnerOptions> = {}): HookRunnerOptions => ({
  getModel: () => undefined,
  sendMessageHandler: () => {},
  appendEntryHandler: () => {},
  ...over,
});

Deno.test("HookRunner.createCommandContext() works before initialize() (A.3)", async () => {
  const { runner } = runnerOf();
  const ctx = runner.createCommandContext();
  assertEquals(await ctx.newSession(), { cancelled: false });
  assertEquals(await ctx.branch("a"), { cancelled: false });
  assertEquals(await ctx.navigateTree("a"), { cancelled: false });
  assertEquals(await ctx.waitForIdle(), undefined);
  assertEquals([ctx.hasUI, ctx.isIdle(), ctx.hasQueuedMessages(), ctx.model, ctx.cwd], [
    false,
    true,
    false,
    undefined,
    "/project",
  ]);
  assertEquals(
    await ctx.ui.custom(() => {
      throw new Error("never called");
    }),
    undefined,
  );
  assertStrictEquals(ctx.sessionManager, session);
  assertStrictEquals(ctx.modelRegistry, models);
  ctx.abort();
});

Deno.test("HookRunner.initialize() connects contexts, and sets back what is absent but for the session handlers", async () => {
  let ctx: HookContext | undefined;
  const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("agent_start", (_event, given) => void (ctx = given))));
  const calls: unknown[] = [];
  let model: Model | undefined = { id: "m1", provider: "p" };
  const ui = { notify: () => {} } as unknown as HookUIContext;
  runner.initialize(host({
    getModel: () => model,
    newSessionHandler: (options) => (calls.push(["new", options]), Promise.resolve({ cancelled: true })),
    branchHandler: (id) => (calls.push(["branch", id]), Promise.resolve({ cancelled: true })),
    navigateTreeHandler: (id, options) => (calls.push(["tree", id, options]), Promise.resolve({ cancelled: true })),
    isIdle: () => false,
    waitForIdle: () => (calls.push(["idle"]), Promise.resolve()),
    abort: () => void calls.push(["abort"]),
    hasQueuedMessages: () => true,
    uiContext: ui,
    hasUI: true,
  }));
  await runner.emit({ type: "agent_start" });
  assertEquals([ctx!.model?.id, ctx!.hasUI, ctx!.isIdle(), ctx!.hasQueuedMessages()], ["m1", true, false, true]);
  assertStrictEquals(ctx!.ui.notify, ui.notify);
  assertStrictEquals(runner.getUIContext(), ui);
  assertEquals(runner.getHasUI(), true);
  model = { id: "m2", provider: "p" };
  assertEquals(ctx!.model?.id, "m2", "read when asked for");
  assertEquals("newSession" in ctx!, false);

  const command: HookCommandContext = runner.createCommandContext();
  command.abort();
  assertEquals(await command.newSession({ parentSession: "f" }), { cancelled: true });
  await command.branch("e");
  await command.navigateTree("t", { summarize: true });
  await command.waitForIdle();
  assertEquals(calls, [
    ["abort"],
    ["new", { parentSession: "f" }],
    ["branch", "e"],
    ["tree", "t", { summarize: true }],
    ["idle"],
  ]);

  runner.initialize(host());
  assertEquals([ctx!.model, ctx!.hasUI, ctx!.isIdle(), ctx!.hasQueuedMessages()], [undefined, false, true, false]);
  assertNotStrictEquals(ctx!.ui.notify, ui.notify);
  assertEquals(await command.branch("again"), { cancelled: true }, "kept");
});

Deno.test("pi.sendMessage() and pi.appendEntry() reach the host once it is there (C1.3)", async () => {
  const { runner, errors } = runnerOf(hook("h.ts", (pi) =>
    pi.on("agent_start", () => {
      pi.sendMessage({ customType: "note", content: "hi", display: true }, { deliverAs: "followUp" });
      pi.appendEntry("count", { n: 1 });
    })));
  await runner.emit({ type: "agent_start" });
  assertEquals(errors.map(({ error }) => error), ["sendMessage handler not initialized"]);
  const got: unknown[] = [];
  runner.initialize(host({
    sendMessageHandler: (message, options) => void got.push(message, options),
    appendEntryHandler: (type, data) => void got.push(type, data),
  }));
  await runner.emit({ type: "agent_start" });
  assertEquals(got, [
    { customType: "note", content: "hi", display: true },
    { deliverAs: "followUp" },
    "count",
    { n: 1 },
  ]);
});

Deno.test("HookRunner keeps a gate closed when its hook is broken (C7.1)", async (t) => {
  const broken = (name: "session_before_switch" | "tool_call" | "session.compacting" | "agent_start") =>
    hook("broken.ts", (pi) => pi.on(name, () => Promise.reject(new HookBrokenError("broken.ts died; restart it"))));
  await t.step("session_before_switch is cancelled", async () => {
    const { runner, errors } = runnerOf(broken("session_before_switch"));
    const outcome: unknown = await runner.emit(before);
    assertEquals(outcome, { cancel: true, reason: "broken.ts died; restart it" });
    assertEquals(errors.length, 1);
  });
  await t.step("tool_call rejects", async () => {
    await assertRejects(() => runnerOf(broken("tool_call")).runner.emitToolCall(call), HookBrokenError, "died");
  });
  await t.step("what is no gate goes on", async () => {
    const { runner, errors } = runnerOf(broken("session.compacting"), broken("agent_start"));
    assertEquals(await runner.emit(compacting), undefined);
    await runner.emit({ type: "agent_start" });
    assertEquals(errors.map(({ event }) => event), ["session.compacting", "agent_start"]);
  });
});

Deno.test("HookRunner.onDecision() tells what hooks bring about, and nothing else", async () => {
  const { runner } = runnerOf(
    hook("quiet.ts", (pi) => {
      pi.on("tool_call", () => ({ block: false, reason: "fine" }));
      pi.on("tool_result", () => ({}));
      pi.on("context", () => {});
      pi.on("session_before_switch", () => {});
    }),
    hook("loud.ts", (pi) => {
      pi.on("tool_call", () => ({ block: true, reason: "no" }));
      pi.on("tool_result", (event) => {
        event.content.push({ type: "text", text: "more" });
      });
      pi.on("context", ({ messages }) => ({ messages: messages.slice(1) }));
      pi.on("session_before_switch", () => ({ cancel: true }));
    }),
  );
  const decisions: HookDecision[] = [];
  const stop = runner.onDecision((decision) => void decisions.push(decision));
  runner.onDecision(() => {
    throw new Error("a listener changes nothing");
  });
  assertEquals((await runner.emitToolCall(call))?.block, true);
  await runner.emit(result("r"));
  assertEquals(await runner.emitContext([user("a"), user("b")]), [user("b")]);
  await runner.emit(before);
  stop();
  await runner.emit(before);
  assertEquals(
    decisions.map(({ hookPath, event, effect, reason }) => [hookPath, event.type, effect, reason]),
    [
      ["loud.ts", "tool_call", "block", "no"],
      ["loud.ts", "tool_result", "change", undefined],
      ["loud.ts", "context", "change", undefined],
      ["loud.ts", "session_before_switch", "cancel", undefined],
    ],
  );
});

Deno.test("HookRunner.disable() leaves a hook out until enable()", async () => {
  const { runner } = runnerOf(hook("h.ts", (pi) => {
    pi.on("session_before_switch", () => ({ cancel: true }));
    pi.registerCommand("c", { handler() {} });
    pi.registerMessageRenderer("m", () => undefined);
  }));
  const state = async () => [
    await runner.emit(before),
    runner.hasHandlers("session_before_switch"),
    runner.getCommand("c")?.name,
    runner.getRegisteredCommands().length,
    runner.getMessageRenderer("m") !== undefined,
  ];
  const on = [{ cancel: true }, true, "c", 1, true];
  assertEquals(await state(), on);
  assertEquals([runner.disable("h.ts"), runner.disable("none.ts")], [true, false]);
  assertEquals(await state(), [undefined, false, undefined, 0, false]);
  assertEquals([runner.enable("h.ts"), runner.enable("none.ts")], [true, false]);
  assertEquals(await state(), on);
});

Deno.test("HookRunner counts an answer's fields once, whatever getters it has (C7.1)", async () => {
  let reads = 0;
  const shifty = {
    get block() {
      return ++reads === 1;
    },
  };
  const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("tool_call", () => shifty)));
  assertEquals(await runner.emitToolCall(call), { block: true });
  class Answer {
    get block() {
      return true;
    }
  }
  const inherited = runnerOf(hook("h.ts", (pi) => pi.on("tool_call", () => new Answer()))).runner;
  assertEquals((await inherited.emitToolCall(call))?.block, true);
});

Deno.test("HookRunner can be made without hooks", async () => {
  const runner = new HookRunner([], "/project", session, models);
  assertEquals(await runner.emit({ type: "session_start" }), undefined);
  assertEquals(await runner.emitToolCall(call), undefined);
  assertEquals(await runner.emitBeforeAgentStart("go"), undefined);
});
