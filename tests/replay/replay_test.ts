import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { HookEvent, HookEventName, HookFactory, LoadedHook } from "@xcsh/hooks";
import { EVENT_NAMES } from "@xcsh/hooks";
import {
  refuseExec,
  type ReplayOptions,
  type ReplayRecord,
  replaySession,
  type ReplaySummary,
  ReplayTimeoutError,
} from "@xcsh/hooks/replay";
import { createTestHook } from "@xcsh/hooks/testing";
import { bytesOf, FORMATS, randomScript, recordPi, recordScript, type Script } from "./recorded.ts";

const gate: HookFactory = (pi) => {
  pi.on("tool_call", (event) => {
    if (event.toolName === "bash" && String(event.input.command).includes("rm")) {
      return { block: true, reason: "no rm" };
    }
    if (event.input.path === ".env") return { block: true };
  });
};

const redactor: HookFactory = (pi) => {
  pi.on("tool_result", (event) => {
    for (const part of event.content) if (part.type === "text") part.text = part.text.replaceAll(/SECRET\d/g, "***");
  });
};

async function replay(
  lines: readonly string[],
  hooks: readonly LoadedHook[],
  options?: ReplayOptions,
): Promise<{ decisions: ReplayRecord[]; summary: ReplaySummary }> {
  const decisions: ReplayRecord[] = [];
  for await (const record of replaySession(bytesOf(lines), hooks, options)) decisions.push(record);
  const summary = decisions.pop();
  assert(summary?.type === "summary");
  return { decisions, summary };
}

function message(role: string, rest: Record<string, unknown>): string {
  return JSON.stringify({
    type: "message",
    timestamp: "2026-01-01T00:00:00Z",
    message: { role, timestamp: 1, ...rest },
  });
}

const HEADER = JSON.stringify({ type: "session", id: "s", timestamp: "2026-01-01T00:00:00Z", cwd: "/p" });
const call = (id: string, command: string) =>
  message("assistant", {
    content: [{ type: "toolCall", id, name: "bash", arguments: { command } }],
    stopReason: "toolUse",
  });
const result = (id: string, text: string) =>
  message("toolResult", { toolCallId: id, toolName: "bash", content: [{ type: "text", text }] });

for (const format of FORMATS) {
  Deno.test(`replaySession() drives what was recorded, and nothing else, through hooks (${format})`, async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const script = randomScript(seed);
      const lines = recordScript(script, format);
      const calls = script.flatMap((run) => run.turns.flatMap((turn) => turn.calls));
      const seen = { prompts: [] as string[], calls: [] as unknown[], results: [] as unknown[] };
      const watcher = await createTestHook((pi) => {
        pi.on("before_agent_start", (event) => void seen.prompts.push(event.prompt));
        pi.on("tool_call", ({ toolCallId, toolName, input }) => void seen.calls.push({ toolCallId, toolName, input }));
        pi.on("tool_result", ({ toolCallId, toolName, input, content, isError }) => {
          seen.results.push({ toolCallId, toolName, input, content, isError });
        });
      });
      const { decisions, summary } = await replay(lines, [
        watcher,
        await createTestHook(gate, { path: "gate" }),
        await createTestHook(redactor, { path: "redactor" }),
      ]);

      const answered = calls.filter((call) => call.result !== undefined);
      assertEquals(seen.prompts, script.map((run) => run.prompt));
      assertEquals(seen.calls, calls.map(({ id, name, args }) => ({ toolCallId: id, toolName: name, input: args })));
      assertEquals(
        seen.results,
        answered.map(({ id, name, args, result }) => ({
          toolCallId: id,
          toolName: name,
          input: args,
          content: [{ type: "text", text: result!.text }],
          isError: result!.isError === true,
        })),
      );

      const blocked = calls.filter(({ args }) => args.path === ".env" || String(args.command).includes("rm"));
      assertEquals(
        decisions.filter((decision) => decision.type === "block").map(({ toolCallId, reason }) => [toolCallId, reason]),
        blocked.map(({ id, args }) => [
          id,
          args.path === ".env" ? "Tool execution was blocked by a hook" : "no rm",
        ]),
      );
      assertEquals(
        decisions.filter((decision) => decision.type === "redact")
          .map(({ hookPath, toolCallId, parts, chars, blocked }) => [hookPath, toolCallId, parts, chars, blocked]),
        answered.filter(({ result }) => result!.text.includes("SECRET")).map(({ id, result }) => [
          "redactor",
          id,
          1,
          7 * result!.text.split("SECRET").length - 7,
          blocked.some((call) => call.id === id),
        ]),
      );
      const { prompts, results, failedResults, unanswered, orphans, duplicates, damaged, failures } = summary;
      assertEquals(
        { prompts, calls: summary.calls, results, failedResults, unanswered, orphans, duplicates, damaged, failures },
        {
          prompts: script.length,
          calls: calls.length,
          results: answered.length,
          failedResults: answered.filter(({ result }) => result!.isError).length,
          unanswered: calls.length - answered.length,
          orphans: 0,
          duplicates: 0,
          damaged: 0,
          failures: 0,
        },
      );
      assertEquals([summary.lines, summary.sessionId, summary.cwd], [lines.length, "session-1", "/home/ada/project"]);
    }
  });
}

for (const format of FORMATS) {
  Deno.test(`replaySession() emits the events of a session in the order of a session (${format})`, async () => {
    const script: Script = [
      {
        prompt: "one",
        turns: [{ calls: [{ id: "a", name: "bash", args: { command: "ls" }, result: { text: "x" } }] }, {
          text: "ok",
          calls: [],
        }],
      },
      { prompt: "two", turns: [{ text: "ok", calls: [] }] },
    ];
    const seen: string[] = [];
    const hook = await createTestHook((pi) => {
      for (const name of EVENT_NAMES) {
        pi.on(name, (event: HookEvent<HookEventName>) => {
          if (event.type === "turn_start") return void seen.push(`turn_start ${event.turnIndex}`);
          if (event.type === "turn_end") {
            return void seen.push(`turn_end ${event.turnIndex} (${event.toolResults.length})`);
          }
          if (event.type === "context") return void seen.push(`context ${event.messages.length}`);
          if (event.type === "agent_end") return void seen.push(`agent_end ${event.messages.map((m) => m.role)}`);
          seen.push(event.type);
        });
      }
    });
    await replay(recordScript(script, format), [hook]);
    const first = format === "claude, one part a line"
      ? "user,assistant,assistant,toolResult,assistant,assistant"
      : "user,assistant,toolResult,assistant";
    const second = format === "claude, one part a line" ? "user,assistant,assistant" : "user,assistant";
    assertEquals(seen, [
      "session_start",
      "before_agent_start",
      "agent_start",
      "turn_start 0",
      "context 1",
      "tool_call",
      "tool_result",
      "turn_end 0 (1)",
      "turn_start 1",
      `context ${first.split(",").indexOf("toolResult") + 1}`,
      "turn_end 1 (0)",
      `agent_end ${first}`,
      "before_agent_start",
      "agent_start",
      "turn_start 0",
      `context ${first.split(",").length + 1}`,
      "turn_end 0 (0)",
      `agent_end ${second}`,
      "session_shutdown",
    ]);
  });
}

Deno.test("replaySession() tells which hook changed how much, and never what", async () => {
  const lines = [HEADER, call("a", "env"), result("a", "KEY=hunter2\nHOME=/root\nTOKEN=swordfish\n")];
  const first = await createTestHook((pi) => {
    pi.on("tool_result", ({ content }) => {
      for (const part of content) if (part.type === "text") part.text = part.text.replace("hunter2", "*");
    });
  }, { path: "first" });
  const second = await createTestHook((pi) => {
    pi.on("tool_result", ({ content }) => ({
      content: content.map((part) =>
        part.type === "text" ? { ...part, text: part.text.replace("swordfish", "*") } : part
      ),
      details: { redacted: true },
    }));
  }, { path: "second" });
  const { decisions, summary } = await replay(lines, [first, second]);
  const common = {
    type: "redact" as const,
    line: 3,
    toolName: "bash",
    toolCallId: "a",
    isError: false,
    parts: 1,
    blocked: false,
  };
  assertEquals(decisions, [
    { ...common, hookPath: "first", chars: 7, details: false },
    { ...common, hookPath: "second", chars: 9, details: true },
  ]);
  assertEquals(summary.redacted, 1);
  assert(!/hunter2|swordfish/.test(JSON.stringify([decisions, summary])));
});

Deno.test("replaySession() counts a gate that throws as broken, and goes on", async () => {
  const hook = await createTestHook((pi) => {
    pi.on("tool_call", (event) => {
      if (event.input.command === "b") throw new Error("oops");
      if (event.input.command === "c") event.input.command = "d";
    });
  }, { path: "gate" });
  const { decisions, summary } = await replay(
    [HEADER, call("1", "a"), call("2", "b"), call("3", "c"), call("4", "d")],
    [hook],
  );
  assertEquals(decisions.map((decision) => decision.type), ["broken", "broken"]);
  const [thrown, edited] = decisions;
  assertEquals(thrown, {
    type: "broken",
    line: 3,
    hookPath: "gate",
    toolName: "bash",
    toolCallId: "2",
    subject: "b",
    reason: "oops",
  });
  assert(edited?.type === "broken");
  assertStringIncludes(edited.reason, "Hooks cannot change the input of a tool");
  assertEquals([summary.broken, summary.blocked, summary.failures], [2, 0, 0]);
});

Deno.test("replaySession() reports what fails at other events, and goes on", async () => {
  const hook = await createTestHook((pi) => {
    pi.on("turn_start", () => {
      throw new Error("no turn");
    });
    pi.on("tool_result", () => ({ content: 5 } as never));
  }, { path: "h" });
  const { decisions, summary } = await replay([HEADER, call("1", "a"), result("1", "x")], [hook]);
  assertEquals(
    decisions.map((decision) => decision.type === "failure" && [decision.line, decision.event, decision.error]),
    [
      [2, "turn_start", "no turn"],
      [3, "tool_result", "a tool_result handler left the number 5 for the content, not an array"],
    ],
  );
  assertEquals(summary.failures, 2);
});

Deno.test("replaySession() tells of messages, entries and changed contexts", async () => {
  const hook = await createTestHook((pi) => {
    pi.on("before_agent_start", () => ({
      message: { customType: "rules", content: [{ type: "text", text: "Be  kind.\n" }], display: false },
    }));
    pi.on("agent_end", () => {
      pi.sendMessage({ customType: "note", content: "x".repeat(1000), display: true });
      pi.appendEntry("state", { secret: "hunter2" });
    });
    pi.on("context", ({ messages }) => ({ messages: messages.slice(1) }));
    // A copy in which nothing is changed is no decision.
    pi.on("context", ({ messages }) => ({ messages: [...messages] }));
  }, { path: "h" });
  const lines = recordPi([{ prompt: "hi", turns: [{ text: "yo", calls: [] }] }], 3);
  const { decisions, summary } = await replay(lines, [hook]);
  const text = decisions.map((decision) => decision.type === "message" ? decision.text.slice(0, 12) : undefined);
  assertEquals(decisions.map((decision) => ({ ...decision, text: undefined })), [
    {
      type: "message",
      line: 2,
      hookPath: "h",
      via: "before_agent_start",
      customType: "rules",
      display: false,
      text: undefined,
      chars: 10,
    },
    { type: "context", line: 3, hookPath: "h", before: 1, after: 0, text: undefined },
    {
      type: "message",
      line: 3,
      hookPath: "h",
      via: "sendMessage",
      customType: "note",
      display: true,
      text: undefined,
      chars: 1000,
    },
    { type: "entry", line: 3, hookPath: "h", customType: "state", text: undefined },
  ]);
  assertEquals(text, ["Be kind.", undefined, "xxxxxxxxxxxx", undefined]);
  assertEquals([summary.messages, summary.entries], [2, 1]);
  assert(!JSON.stringify(decisions).includes("hunter2"));
});

Deno.test("replaySession() shows hooks the session as it was at that point, redacted as it would have been", async () => {
  const seen: unknown[] = [];
  const hook = await createTestHook((pi) => {
    pi.on("tool_result", ({ content }, ctx) => {
      seen.push(ctx.sessionManager.getEntries().length, ctx.isIdle(), ctx.hasUI, ctx.model?.id);
      return { content: content.map(() => ({ type: "text" as const, text: "***" })) };
    });
    pi.on("session_shutdown", (_event, ctx) => {
      seen.push(ctx.cwd, ctx.sessionManager.getCwd(), ctx.sessionManager.getSessionId(), ctx.isIdle());
      seen.push(JSON.stringify(ctx.sessionManager.getBranch()).includes("hunter2"));
    });
  });
  const script: Script = [{
    prompt: "go",
    turns: [{ calls: [{ id: "a", name: "bash", args: { command: "ls" }, result: { text: "hunter2" } }] }],
  }];
  await replay(recordPi(script, 3), [hook]);
  assertEquals(seen, [2, false, false, "m-1", "/home/ada/project", "/home/ada/project", "session-1", true, false]);
  seen.length = 0;
  await replay(recordPi(script, 1), [hook], { cwd: "/elsewhere" });
  assertEquals(seen.slice(4), ["/elsewhere", "/elsewhere", "session-1", true, false]);
});

Deno.test("replaySession() keeps no more of the session than it was told", async () => {
  const sizes = new Set<number>();
  const hook = await createTestHook((pi) => {
    pi.on("tool_result", (_event, { sessionManager }) => {
      sizes.add(sessionManager.getEntries().length);
      assertEquals(sessionManager.getBranch(), sessionManager.getEntries());
      assertEquals(sessionManager.getTree().length, 1);
    });
    pi.on("agent_end", ({ messages }) => void sizes.add(messages.length));
  });
  const calls = Array.from({ length: 50 }, (_, i) => [call(`c${i}`, "ls"), result(`c${i}`, "x")]).flat();
  const { summary } = await replay([HEADER, ...calls], [hook], { history: 8 });
  assertEquals(Math.max(...sizes) <= 16, true);
  assert(sizes.has(8));
  assertEquals([summary.calls, summary.failures], [50, 0]);
});

Deno.test("replaySession() handles results without a call, calls without a result, and ids that come twice", async () => {
  const tools: string[] = [];
  const hook = await createTestHook((pi) => pi.on("tool_result", (event) => void tools.push(event.toolName)));
  const { summary } = await replay([
    HEADER,
    result("gone", "x"),
    call("a", "ls"),
    call("a", "ls"),
    result("a", "x"),
    result("a", "x"),
    call("b", "ls"),
    message("toolResult", { toolCallId: "c", content: "text only" }),
  ], [hook]);
  assertEquals(tools, ["bash", "bash", "bash", "unknown"]);
  const { calls, results, unanswered, orphans, duplicates, damaged } = summary;
  assertEquals({ calls, results, unanswered, orphans, duplicates, damaged }, {
    calls: 3,
    results: 4,
    unanswered: 1,
    orphans: 2,
    duplicates: 2,
    damaged: 0,
  });
});

Deno.test("replaySession() replays branches in the order in which they were recorded", async () => {
  const lines = recordPi([
    { prompt: "one", turns: [{ text: "1", calls: [] }] },
    { prompt: "two", turns: [{ text: "2", calls: [] }] },
  ], 3);
  // The third prompt goes back to the first answer.
  const entry = (id: string, parentId: string, rest: unknown) =>
    JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00Z", message: rest });
  lines.push(
    entry("000000aa", "00000002", { role: "user", content: "three", timestamp: 1 }),
    entry("000000ab", "000000aa", { role: "assistant", content: "3", timestamp: 1 }),
  );
  const seen: unknown[] = [];
  const hook = await createTestHook((pi) => {
    pi.on("before_agent_start", (event) => void seen.push(event.prompt));
    pi.on("session_tree", ({ newLeafId, oldLeafId }) => void seen.push([newLeafId, oldLeafId]));
    pi.on("context", ({ messages }) => void seen.push(messages.length));
  });
  await replay(lines, [hook]);
  assertEquals(seen, ["one", 1, "two", 3, ["00000002", "00000004"], "three", 3]);
});

Deno.test("replaySession() gives hooks the context that a compaction left", async () => {
  const lines = [
    HEADER,
    message("user", { content: "one" }),
    message("assistant", { content: "1" }),
    message("user", { content: "two" }),
    JSON.stringify({
      type: "compaction",
      timestamp: "2026-01-01T00:00:00Z",
      summary: "S",
      firstKeptEntryIndex: 3,
      tokensBefore: 9,
    }),
    message("assistant", { content: "2" }),
  ];
  const seen: unknown[] = [];
  const hook = await createTestHook((pi) => {
    pi.on("context", ({ messages }) => void seen.push(messages.map((message) => message.role)));
    pi.on("session_compact", (event) => void seen.push([event.compactionEntry.summary, event.fromExtension]));
  });
  await replay(lines, [hook]);
  assertEquals(seen, [["user"], ["S", false], ["compactionSummary", "user"]]);
});

Deno.test("replaySession() gives up on hooks that never answer, and says where", async () => {
  const hook = await createTestHook((pi) => pi.on("tool_call", () => new Promise<undefined>(() => {})), {
    path: "slow.ts",
  });
  await assertRejects(
    () => replay([HEADER, call("a", "ls")], [hook], { timeout: 20 }),
    ReplayTimeoutError,
    "A tool_call handler did not answer within 20 ms at line 2; hooks that handle it: slow.ts",
  );
});

Deno.test("replaySession() tells how far it is", async () => {
  const calls = Array.from({ length: 300 }, (_, i) => call(`c${i}`, "ls"));
  const seen: unknown[] = [];
  await replay([HEADER, ...calls], [], { onProgress: ({ lines }) => seen.push(lines) });
  assertEquals(seen, [128, 256, 301]);
});

Deno.test("refuseExec() keeps programs from running and tells which", async () => {
  const refused: unknown[] = [];
  const exec = refuseExec((...what) => refused.push(what))("h.ts");
  const hook = await createTestHook((pi) => pi.on("turn_start", () => void pi.exec("git", ["stash"]).catch(() => {})), {
    exec,
  });
  await replay([HEADER, call("a", "ls")], [hook]);
  assertEquals(refused, [["h.ts", "git", ["stash"]]]);
  await assertRejects(() => exec("git", []), Error, "A replay runs no programs, so it did not run git");
});
