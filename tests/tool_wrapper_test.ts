import {
  assert,
  assertEquals,
  assertMatch,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  type HookAPI,
  HookBrokenError,
  HookToolWrapper,
  type Tool,
  type ToolResult,
  type ToolResultEvent,
} from "@xcsh/hooks";
import { hook, runnerOf } from "./support.ts";

// deno-lint-ignore no-explicit-any -- handlers here answer what their types forbid
const odd = (answer: unknown): any => answer;
const text = (text: string) => [{ type: "text" as const, text }];

interface Warned extends ToolResult {
  isWarning: boolean;
}

/** The tool of appendix A.2, and the calls that it got. */
function warningTool(): { tool: Tool<Record<string, unknown>, Warned>; calls: unknown[][]; result: Warned } {
  const calls: unknown[][] = [];
  const result = { content: text("r"), details: { a: 1 }, isWarning: true };
  const tool = {
    name: "t",
    execute: (...args: unknown[]) => {
      calls.push(args);
      return Promise.resolve(result);
    },
  };
  return { tool, calls, result };
}

function failingTool(thrown: unknown): Tool {
  return { name: "t", execute: () => Promise.reject(thrown) };
}

Deno.test("HookToolWrapper.execute() gives the tool's own result without hooks (C4.1, A.2)", async () => {
  const { tool, calls, result } = warningTool();
  const wrapper = new HookToolWrapper(tool, runnerOf().runner);
  assertStrictEquals(await wrapper.execute("1", { x: 1 }), result);
  assertEquals(calls.length, 1);
  const undefinedTool = { name: "u", execute: () => Promise.resolve(odd(undefined)) };
  assertEquals(await new HookToolWrapper(undefinedTool, runnerOf().runner).execute("1", {}), undefined);
});

Deno.test("HookToolWrapper.execute() asks, runs and shows, in this order (C4.1)", async () => {
  const log: unknown[] = [];
  const { runner } = runnerOf(hook("h.ts", (pi) => {
    pi.on(
      "tool_call",
      ({ type, toolName, toolCallId, input }) => void log.push([type, toolName, toolCallId, { ...input }]),
    );
    pi.on(
      "tool_result",
      ({ type, toolName, toolCallId, input, content, details, isError }) =>
        void log.push([type, toolName, toolCallId, { ...input }, content, details, isError]),
    );
  }));
  const tool: Tool = {
    name: "t",
    execute: () => {
      log.push("runs");
      return Promise.resolve({ content: text("r"), details: { a: 1 } });
    },
  };
  await new HookToolWrapper(tool, runner).execute("id", { x: 1 });
  assertEquals(log, [
    ["tool_call", "t", "id", { x: 1 }],
    "runs",
    ["tool_result", "t", "id", { x: 1 }, text("r"), { a: 1 }, false],
  ]);
});

Deno.test("HookToolWrapper.execute() does not run a blocked tool, and shows no result of it (C4.2, C7.1, A.2)", async (t) => {
  const rows: [name: string, handler: () => unknown, expected: string][] = [
    ["block without reason", () => ({ block: true }), "Tool execution was blocked by a hook"],
    ["an empty reason", () => ({ block: true, reason: "" }), "Tool execution was blocked by a hook"],
    ["anything truthy blocks", () => ({ block: 1, reason: "one" }), "one"],
    ["a reason that is no text", () => ({ block: true, reason: { z: 1 } }), "[object Object]"],
    ["a promise", () => Promise.resolve({ block: true, reason: "later" }), "later"],
    ["a thrown string", () => {
      throw "ss";
    }, "Hook failed, blocking execution: ss"],
    ["a thrown object", () => {
      throw { a: 1 };
    }, "Hook failed, blocking execution: [object Object]"],
    ["thrown undefined", () => {
      throw undefined;
    }, "Hook failed, blocking execution: undefined"],
    ["a rejected string", () => Promise.reject("rs"), "Hook failed, blocking execution: rs"],
    [
      "an answer of a wrong type",
      () => "no",
      'h.ts: a tool_call handler returned the string "no"; it may return { block, reason } or nothing',
    ],
  ];
  for (const [name, handler, expected] of rows) {
    await t.step(name, async () => {
      let shown = false;
      const { runner, errors } = runnerOf(hook("h.ts", (pi) => {
        pi.on("tool_call", () => odd(handler()));
        pi.on("tool_result", () => void (shown = true));
      }));
      const { tool, calls } = warningTool();
      const error = await assertRejects(() => new HookToolWrapper(tool, runner).execute("1", {}), Error);
      assertEquals([error.message, calls, shown, errors], [expected, [], false, []]);
    });
  }
});

Deno.test("HookToolWrapper.execute() rethrows an Error of a tool_call handler as it is (C4.2, A.2)", async () => {
  for (const thrown of [new TypeError("tt"), new HookBrokenError("gone")]) {
    const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("tool_call", () => Promise.reject(thrown))));
    const { tool, calls } = warningTool();
    const caught = await new HookToolWrapper(tool, runner).execute("1", {}).catch((error: unknown) => error);
    assertStrictEquals(caught, thrown);
    assertEquals(calls, []);
  }
});

Deno.test("HookToolWrapper.execute() runs the tool when no handler blocks (A.2)", async () => {
  const { runner } = runnerOf(hook("h.ts", (pi) => {
    pi.on("tool_call", () => ({ block: false, reason: "x" }));
    pi.on("tool_call", () => undefined);
  }));
  const { tool, result } = warningTool();
  assertStrictEquals(await new HookToolWrapper(tool, runner).execute("1", {}), result);
});

Deno.test("HookToolWrapper.execute() blocks a hook that tries to change the input (C4.3; A.2: the reference lets it)", async (t) => {
  // deno-lint-ignore no-explicit-any -- what a careless hook does
  const rows: [name: string, change: (input: any) => void][] = [
    ["sets a field", (input) => void (input.x = 42)],
    ["adds a field", (input) => void (input.y = 42)],
    ["deletes a field", (input) => void delete input.x],
    ["defines a field", (input) => void Object.defineProperty(input, "x", { value: 42 })],
    ["assigns many", (input) => void Object.assign(input, { x: 42 })],
    ["sets a nested field", (input) => void (input.nested.list[0].z = 42)],
    ["pushes to a list", (input) => void input.nested.list.push(42)],
    ["empties a list", (input) => void (input.nested.list.length = 0)],
    ["sorts a list", (input) => void input.nested.list.sort()],
    ["replaces the prototype", (input) => void Object.setPrototypeOf(input, {})],
    ["in sloppy code", (input) => void new Function("input", "input.x = 42")(input)],
    ["in sloppy code, deep", (input) => void new Function("input", "delete input.nested.list")(input)],
  ];
  for (const [name, change] of rows) {
    await t.step(name, async () => {
      const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("tool_call", ({ input }) => change(input))));
      const { tool, calls } = warningTool();
      const params = { x: 1, nested: { list: [{ z: 1 }, 2] } };
      const error = await assertRejects(() => new HookToolWrapper(tool, runner).execute("1", params), TypeError);
      assertMatch(error.message, /^Hooks cannot change the input of a tool: tried to .+ Block the call instead\.$/);
      assertEquals([calls, params], [[], { x: 1, nested: { list: [{ z: 1 }, 2] } }]);
    });
  }
});

Deno.test("HookToolWrapper.execute() shows all handlers one frozen copy, and gives the tool the original (C4.3)", async () => {
  const inputs: Record<string, unknown>[] = [];
  const keep = (pi: HookAPI) => pi.on("tool_call", ({ input }) => void inputs.push(input));
  const { runner } = runnerOf(hook("a.ts", keep), hook("b.ts", keep));
  const { tool, calls } = warningTool();
  const params = { x: 1, nested: { list: [{ z: 1 }] } };
  await new HookToolWrapper(tool, runner).execute("1", params);
  assertStrictEquals(calls[0]![1], params);
  assert(!Object.isFrozen(params) && !Object.isFrozen(params.nested));
  const [first, second] = inputs;
  assertStrictEquals(first, second);
  assertNotStrictEquals(first, params as unknown);
  assertEquals(first, params);
  assertEquals(JSON.stringify(first), JSON.stringify(params));
  assert(Object.isFrozen(first) && Object.isFrozen((first as typeof params).nested.list[0]));
  assertEquals({ ...first, x: 2 }, { x: 2, nested: { list: [{ z: 1 }] } }, "a copy can be made");
});

Deno.test("HookToolWrapper.execute() replaces what tool_result handlers return, and keeps the rest (C4.4, A.2)", async (t) => {
  // isWarning stays in every row; the reference drops it as soon as a handler answers.
  const rows: [name: string, handlers: ((event: ToolResultEvent) => unknown)[], expected: Partial<Warned>][] = [
    ["content and details", [() => ({ content: [], details: 0 })], { content: [], details: 0 }],
    ["#1 content, #2 details (the reference applies the last alone)", [
      () => ({ content: text("A") }),
      () => ({ details: "D" }),
    ], {
      content: text("A"),
      details: "D",
    }],
    ["an edit in place", [(event) => {
      odd(event.content[0]).text = "edited";
      event.content.push(...text("more"));
    }], { content: [...text("edited"), ...text("more")] }],
    ["an assignment (no effect in the reference)", [(event) => void (event.content = [])], { content: [] }],
    ["isError is not applied", [() => ({ content: text("x"), isError: true })], { content: text("x") }],
  ];
  for (const [name, handlers, expected] of rows) {
    await t.step(name, async () => {
      const { runner, errors } = runnerOf(
        ...handlers.map((handler) => hook("h.ts", (pi) => pi.on("tool_result", (e) => odd(handler(e))))),
      );
      const { tool, result } = warningTool();
      const got = await new HookToolWrapper(tool, runner).execute("1", {});
      assertEquals(got, { content: text("r"), details: { a: 1 }, isWarning: true, ...expected });
      assertEquals(result, { content: text("r"), details: { a: 1 }, isWarning: true }, "the tool's own is not touched");
      assertEquals(errors, []);
    });
  }
});

Deno.test("HookToolWrapper.execute() gives the tool's own result when nothing is overridden (C4.4, A.2)", async (t) => {
  const rows: [answer: unknown, errors: number][] = [
    [undefined, 0],
    [{}, 0],
    [{ isError: true }, 0],
    [{ content: null, details: null }, 0],
    [true, 1],
    ["abc", 1],
  ];
  for (const [answer, faults] of rows) {
    await t.step(JSON.stringify(answer) ?? "undefined", async () => {
      const { runner, errors } = runnerOf(hook("h.ts", (pi) => pi.on("tool_result", () => odd(answer))));
      const { tool, result } = warningTool();
      assertStrictEquals(await new HookToolWrapper(tool, runner).execute("1", {}), result);
      assertEquals(errors.length, faults);
    });
  }
});

Deno.test("HookToolWrapper.execute() gives the tool's own result when a tool_result handler throws (C3.8, A.2)", async () => {
  const { runner, errors } = runnerOf(hook("h.ts", (pi) =>
    pi.on("tool_result", () => {
      throw new Error("te");
    })));
  let calls = 0;
  // A listener that throws changes nothing; in the reference it fails the call.
  runner.onError(() => {
    calls++;
    throw new Error("listener");
  });
  const { tool, result } = warningTool();
  assertStrictEquals(await new HookToolWrapper(tool, runner).execute("1", {}), result);
  assertEquals(errors.map(({ hookPath, event, error }) => ({ hookPath, event, error })), [
    { hookPath: "h.ts", event: "tool_result", error: "te" },
  ]);
  assertEquals(calls, 1);
});

Deno.test("HookToolWrapper.execute() shows a failure and rethrows what the tool threw (C4.5, A.2)", async (t) => {
  for (
    const [thrown, message] of [[new RangeError("fail"), "fail"], ["strfail", "strfail"], [
      undefined,
      "undefined",
    ]] as const
  ) {
    await t.step(message, async () => {
      const seen: unknown[] = [];
      const { runner } = runnerOf(hook("h.ts", (pi) =>
        pi.on("tool_result", ({ isError, content, details }) => {
          seen.push([isError, content, details]);
          return odd({ content: "fixed", isError: false });
        })));
      const caught = await new HookToolWrapper(failingTool(thrown), runner).execute("1", {}).then(
        () => "resolved",
        (e: unknown) => e,
      );
      assertStrictEquals(caught, thrown);
      assertEquals(seen, [[true, text(message), undefined]]);
    });
  }
  await t.step("a tool that throws at once", async () => {
    const thrown = new Error("sync");
    const tool: Tool = {
      name: "t",
      execute: () => {
        throw thrown;
      },
    };
    let seen = 0;
    const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("tool_result", () => void seen++)));
    assertStrictEquals(await new HookToolWrapper(tool, runner).execute("1", {}).catch((e: unknown) => e), thrown);
    assertEquals(seen, 1);
  });
  await t.step("a result that is none is a failure, shown once", async () => {
    const seen: boolean[] = [];
    const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("tool_result", ({ isError }) => void seen.push(isError))));
    const tool: Tool = { name: "t", execute: () => Promise.resolve(odd(undefined)) };
    await assertRejects(
      () => new HookToolWrapper(tool, runner).execute("1", {}),
      TypeError,
      "The tool t answered undefined",
    );
    assertEquals(seen, [true]);
  });
});

Deno.test("HookToolWrapper.execute() redacts errors when it is told to (C4.5, C7.5)", async (t) => {
  const secret = new Error("login failed for token hunter2", { cause: "hunter2" });
  const redact = (pi: HookAPI) =>
    pi.on("tool_result", (event) => {
      for (const part of event.content) if (part.type === "text") part.text = part.text.replaceAll("hunter2", "***");
    });
  const run = (options: { redactErrors?: boolean }, ...factories: ((pi: HookAPI) => void)[]) =>
    new HookToolWrapper(failingTool(secret), runnerOf(...factories.map((f) => hook("h.ts", f))).runner, options)
      .execute("1", {}).catch((error: unknown) => error);
  await t.step("by a new error without a trace of the old", async () => {
    const error = await run({ redactErrors: true }, redact);
    assert(error instanceof Error);
    assertEquals([error.message, error.cause], ["login failed for token ***", undefined]);
    assert(!Deno.inspect(error).includes("hunter2") && !error.stack?.includes("hunter2"));
  });
  await t.step("not by default", async () => assertStrictEquals(await run({}, redact), secret));
  await t.step("not when nothing was changed", async () => {
    assertStrictEquals(await run({ redactErrors: true }, (pi) => pi.on("tool_result", () => {})), secret);
    assertStrictEquals(await run({ redactErrors: true }), secret);
  });
});

Deno.test("HookToolWrapper.execute() hands signal, onUpdate and context through (C4.6, A.2)", async () => {
  for (const signal of [new AbortController().signal, AbortSignal.abort("earlier")]) {
    const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("tool_call", () => {})));
    const { tool, calls } = warningTool();
    const onUpdate = () => {}, context = { a: 1 };
    await new HookToolWrapper(tool, runner).execute("1", {}, signal, onUpdate, context);
    const [id, , ...rest] = calls[0]!;
    assertEquals(id, "1");
    for (const [i, value] of [signal, onUpdate, context].entries()) assertStrictEquals(rest[i], value);
  }
});

Deno.test("HookToolWrapper.execute() rejects with the reason of an abort while handlers run (C4.6)", async (t) => {
  await t.step("even if a handler never answers", async () => {
    const controller = new AbortController();
    const { runner } = runnerOf(hook("h.ts", (pi) =>
      pi.on("tool_call", () => {
        queueMicrotask(() => controller.abort("stop"));
        return new Promise(() => {});
      })));
    const { tool, calls } = warningTool();
    const caught = await new HookToolWrapper(tool, runner).execute("1", {}, controller.signal).catch((e: unknown) => e);
    assertEquals([caught, calls], ["stop", []]);
  });
  await t.step("also when the handler answers at once", async () => {
    const controller = new AbortController();
    const { runner } = runnerOf(hook("h.ts", (pi) => pi.on("tool_call", () => controller.abort("stop"))));
    const { tool, calls } = warningTool();
    const caught = await new HookToolWrapper(tool, runner).execute("1", {}, controller.signal).catch((e: unknown) => e);
    assertEquals([caught, calls], ["stop", []]);
  });
  await t.step("and a late failure of the handler harms nothing", async () => {
    const controller = new AbortController();
    let fail: (reason: Error) => void = () => {};
    const { runner } = runnerOf(
      hook("h.ts", (pi) => pi.on("tool_call", () => new Promise<never>((_, reject) => void (fail = reject)))),
    );
    const { tool } = warningTool();
    const running = new HookToolWrapper(tool, runner).execute("1", {}, controller.signal).catch((e: unknown) => e);
    controller.abort("stop");
    assertEquals(await running, "stop");
    fail(new Error("late"));
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
});

class Counter {
  readonly name = "counter";
  label = "Counts";
  #count = 0;
  get count(): number {
    return this.#count;
  }
  get description(): string {
    return `Counted ${this.#count}`;
  }
  increment(by = 1): number {
    return this.#count += by;
  }
  execute(): Promise<ToolResult> {
    this.increment();
    return Promise.resolve({ content: text(`${this.#count}`) });
  }
}

Deno.test("HookToolWrapper reads through to the tool (C4.7)", async (t) => {
  const tool = new Counter();
  const blocked = runnerOf(hook("h.ts", (pi) => pi.on("tool_call", () => ({ block: true, reason: "gated" })))).runner;
  const wrapper = new HookToolWrapper(tool, blocked) as HookToolWrapper & Counter;
  await t.step("members, getters and private state", () => {
    assertEquals([wrapper.name, wrapper.label, wrapper.description, wrapper.count], [
      "counter",
      "Counts",
      "Counted 0",
      0,
    ]);
    assertEquals([wrapper.increment(2), tool.count, wrapper.description], [2, 2, "Counted 2"]);
    assertStrictEquals(wrapper.increment, wrapper.increment);
  });
  await t.step("later changes, in both directions", () => {
    tool.label = "Counts on";
    assertEquals(wrapper.label, "Counts on");
    wrapper.label = "Counts off";
    assertEquals(tool.label, "Counts off");
  });
  await t.step("in and keys", () => {
    assert("increment" in wrapper && "label" in wrapper && !("missing" in wrapper));
    assertEquals(Object.keys(wrapper), Object.keys(tool));
    assert(wrapper instanceof HookToolWrapper);
  });
  await t.step("but for execute, which stays gated", async () => {
    await assertRejects(() => wrapper.execute("1", {}), Error, "gated");
    const { execute } = wrapper;
    await assertRejects(() => execute("1", {}), Error, "gated");
    assertThrows(() => void (odd(wrapper).execute = () => {}), TypeError);
    assertThrows(() => void delete odd(wrapper).execute, TypeError);
    assertThrows(() => Object.defineProperty(wrapper, "execute", { value: () => {} }), TypeError);
    const literal: Tool = { name: "t", execute: () => Promise.resolve({ content: [] }) };
    const spread = { ...new HookToolWrapper(literal, blocked) };
    await assertRejects(() => spread.execute("1", {}), Error, "gated");
    assertEquals(tool.count, 2);
  });
});
