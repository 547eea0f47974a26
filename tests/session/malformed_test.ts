import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { HookFactory } from "../../src/api.ts";
import type { AgentMessage } from "../../src/messages.ts";
import {
  buildSessionContext,
  contextTokens,
  ScriptedModel,
  type ScriptedTurn,
  type SessionEvent,
  SessionManager,
  type SessionTool,
  toModelMessages,
} from "../../src/session/mod.ts";
import { answered, said, startSession, withFolder } from "./support.ts";

const play = (...turns: ScriptedTurn[]) => new ScriptedModel({ turns });
const text = (text: string) => ({ type: "text" as const, text });
const circle = () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  return circle;
};
const errorsIn = (told: readonly SessionEvent[]) =>
  told.flatMap((event) => event.type === "hook_error" ? [event.error] : []);
const noticesIn = (told: readonly SessionEvent[]) =>
  told.flatMap((event) => event.type === "notice" ? [event.message] : []);

Deno.test("SessionManager appends no message that could not be read again, and names the field", () => {
  const session = SessionManager.inMemory("/project");
  for (
    const [message, field] of [
      [null, "message should be an object, not null"],
      [[], "message should be an object, not an array"],
      [{}, "message.role should be a string"],
      [{ role: "user" }, "message.content should be a string or an array of parts, not undefined"],
      [{ role: "user", content: [null] }, "message.content[0] should be a part"],
      [{ role: "user", content: [undefined] }, "message.content[0] should be a part"],
      [{ role: "user", content: [text("a"), { type: "text" }] }, "message.content[1].text should be a string"],
      [{ role: "user", content: [{ type: "image", data: "" }] }, "message.content[0].mimeType should be a string"],
      [{ role: "assistant", content: "hi" }, "message.content should be an array of parts, not a string"],
      [{ role: "assistant", content: [{ type: "toolCall", id: "1", name: "x" }] }, "arguments should be an object"],
      [{ role: "toolResult", toolName: "x", content: [] }, "message.toolCallId should be a string"],
      [{ role: "bashExecution", command: "ls" }, "message.output should be a string"],
      [{ role: "user", content: [{ ...text("a"), toJSON: () => null }] }, "message.content[0] should be a part"],
      [{ role: "user", content: [{ ...text("a"), n: 1n }] }, "message.content[0].n is a BigInt"],
      [{ ...answered("a"), details: { deep: [circle()] } }, "message.details.deep[0].self leads back"],
    ] as const
  ) assertThrows(() => session.appendMessage(message as never), TypeError, field);
  assertThrows(() => session.appendCustomMessageEntry("x", [null] as never, true), TypeError, "content[0]");
  assertThrows(() => session.appendCustomMessageEntry(1 as never, "x", true), TypeError, "customType");
  assertThrows(() => session.appendCustomMessageEntry("x", "y", true, 1n), TypeError, "details is a BigInt");
  assertThrows(() => session.branchWithSummary(null, {} as never), TypeError, "summary should be a string");
  assertThrows(
    () => session.appendCompaction({ summary: null as never, firstKeptEntryId: "", tokensBefore: 0 }),
    TypeError,
    "summary should be a string",
  );
  assertEquals([session.getEntries(), session.getLeafId()], [[], null]);
});

Deno.test("SessionManager keeps messages and parts of kinds that are not known here", () => {
  const session = SessionManager.inMemory("/project");
  session.appendMessage({ role: "future", anything: [null] } as never);
  session.appendMessage({ role: "user", content: [{ type: "future" }, text("hi")], timestamp: 1 } as never);
  assertEquals(session.buildContext().messages.length, 2);
});

/** A file as earlier versions let hooks leave it. */
const POISONED = [
  { type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" },
  { type: "message", id: "a", parentId: null, message: said("hello") },
  { type: "message", id: "b", parentId: "a", message: null },
  { type: "custom_message", id: "c", parentId: "b", customType: "x", content: [null], display: true },
  { type: "custom_message", id: "d", parentId: "c", customType: "x", content: [null, text("kept")], display: true },
  { type: "message", id: "e", parentId: "d", message: { ...answered("hi"), content: [null, text("answer")] } },
  { type: "message", id: "f", parentId: "e", message: { role: "user", content: 7 } },
  { type: "message", id: "g", parentId: "f", message: { role: "future", content: [null] } },
  { type: "branch_summary", id: "h", parentId: "g", fromId: "a", summary: {} },
  { type: "compaction", id: "j", parentId: "h", firstKeptEntryId: "h", tokensBefore: 1, summary: null },
  { type: "message", id: "i", parentId: "j", message: { ...answered(""), usage: null } },
];

Deno.test("AgentSession goes on in a file with malformed messages, says what is wrong with it, and never rewrites it", () =>
  withFolder(async (folder) => {
    const file = `${folder}/s.jsonl`;
    const lines = POISONED.map((line) => JSON.stringify(line)).join("\n") + "\n";
    Deno.writeTextFileSync(file, lines);
    const manager = SessionManager.open(file);
    assertEquals(manager.warnings.map((warning) => /^Entry (\w)/.exec(warning)?.[1]), [
      "b",
      "c",
      "d",
      "e",
      "f",
      "h",
      "j",
    ]);
    const model = play({ text: "done" });
    const { session, told } = await startSession({ model, sessionManager: manager });
    await session.prompt("go on");
    assertEquals(model.lastRequest!.messages.map(({ content }) => content), [
      "hello\n\nkept",
      [text("answer")],
      "go on",
    ]);
    assertStringIncludes(noticesIn(told).join("\n"), "Entry b is malformed");
    assertEquals(manager.getUsageStatistics().cost, 0);
    for (const id of ["f", "c", "b"]) await session.navigateTree(id, { summarize: false });
    await assertRejects(() => session.branch("b"), Error, "Invalid entry ID for branching");
    await session.dispose();
    assert(Deno.readTextFileSync(file).startsWith(lines));
  }));

Deno.test("buildSessionContext() and toModelMessages() leave out what is malformed, and say so", () => {
  const branch = SessionManager.fromLines({
    header: POISONED[0] as never,
    dir: "",
    lines: POISONED.slice(1),
    warnings: [],
  }).getBranch();
  const warnings: string[] = [];
  const { messages } = buildSessionContext(branch, (warning) => warnings.push(warning));
  assertEquals(warnings.length, 7);
  assert(contextTokens(messages) > 0);
  const given = [null, said("a"), { role: "user", content: [null] }, answered("b")] as AgentMessage[];
  assertEquals(toModelMessages(given, (warning) => warnings.push(warning)), [said("a"), answered("b")]);
  assertEquals(warnings.length, 9);
});

for (
  const [what, message] of Object.entries({
    "a part that is null": { customType: "x", content: [null], display: true },
    "a part with a BigInt": { customType: "x", content: [{ ...text("a"), n: 1n }], display: true },
    "details with a BigInt": { customType: "x", content: "a", display: true, details: { n: 1n } },
    "details in a circle": { customType: "x", content: "a", display: true, details: circle() },
  })
) {
  Deno.test(`AgentSession refuses ${what} of a hook, and goes on`, () =>
    withFolder(async (folder) => {
      const hook: HookFactory = (pi) => {
        pi.on("before_agent_start", () => ({ message: message as never }));
        pi.on("turn_end", () => pi.sendMessage(message as never));
      };
      const model = play({ text: "one" }, { text: "two" });
      const { session, told } = await startSession({
        model,
        sessionManager: SessionManager.create(folder, folder),
        hooks: [hook],
      });
      await session.prompt("go");
      await session.prompt("again");
      assertEquals(errorsIn(told).length, 4);
      const file = session.sessionManager.getSessionFile()!;
      await session.dispose();
      using again = SessionManager.open(file);
      assertEquals(again.warnings, []);
      assertEquals(again.buildContext().messages.map(({ role }) => role), ["user", "assistant", "user", "assistant"]);
    }));
}

Deno.test("AgentSession keeps a hook's message as it was handed in, whatever becomes of it while it waits", async () => {
  const model = play({ text: "one" }, { text: "two" });
  const { session } = await startSession({
    model,
    hooks: [(pi) => {
      pi.on("turn_start", () => {
        if (session.messages.length > 1) return;
        const content = [text("as said")];
        pi.sendMessage({ customType: "x", content, display: true });
        content.push(null as never);
      });
    }],
  });
  await session.prompt("go");
  assertEquals(session.messages.map(({ role }) => role), ["user", "assistant", "custom", "assistant"]);
  await session.dispose();
});

Deno.test("AgentSession.newSession() refuses a malformed message of setup, and stays where it is", () =>
  withFolder(async (folder) => {
    const { session } = await startSession({ sessionManager: SessionManager.create(folder, folder) });
    const id = session.sessionManager.getSessionId();
    const setup = (sm: { appendMessage(message: never): string }) => void sm.appendMessage(null as never);
    await assertRejects(() => session.newSession({ setup }), TypeError, "message should be an object, not null");
    assertEquals(session.sessionManager.getSessionId(), id);
    assertEquals([...Deno.readDirSync(folder)], []);
    await session.dispose();
  }));

Deno.test("AgentSession asks the model without a context that a hook made malformed", async () => {
  const model = play({ text: "one" });
  const bad = [[null], [{ role: "user", content: [null] }], [{ role: "user", content: [{ ...text("a"), n: 1n }] }]];
  const { session, told } = await startSession({
    model,
    hooks: bad.map((messages) => (pi) => void pi.on("context", () => ({ messages: messages as never }))),
  });
  await session.prompt("go");
  assertEquals(model.lastRequest!.messages.map(({ content }) => content), ["go"]);
  assertEquals(errorsIn(told).length, 3);
  assertStringIncludes(errorsIn(told)[0]!, "messages[0] should be an object, not null");
  await session.dispose();
});

Deno.test("AgentSession refuses pictures of input that are none, and what is said as the person", async () => {
  const { session, told } = await startSession({
    model: play({ text: "one" }),
    hooks: [(pi) => {
      pi.on("input", () => ({ images: [null] }) as never);
      pi.on("session_start", () => (pi as never as { sendUserMessage(c: unknown): void }).sendUserMessage([null]));
    }],
  });
  await session.prompt("go");
  assertEquals(session.messages.map(({ role }) => role), ["user", "assistant"]);
  assertEquals(errorsIn(told).length, 2);
  await session.dispose();
});

/** Runs a tool once with a hook that answers its result; gives what the session kept of it. */
async function resultWith(tool: SessionTool["execute"], hook: HookFactory) {
  const model = play({ toolCalls: [{ name: "tool", arguments: {} }] }, { text: "done" });
  const { session, told } = await startSession({ model, tools: [{ name: "tool", execute: tool }], hooks: [hook] });
  await session.prompt("go");
  const result = session.messages.find((message) => message.role === "toolResult")!;
  assertEquals(session.messages.at(-1)?.role, "assistant");
  await session.dispose();
  return { result, told, content: JSON.stringify(result.content) };
}

Deno.test("AgentSession keeps the result of a tool whose hook answers what cannot be written (C7.5)", async () => {
  const tool = () => Promise.resolve({ content: [text("CANARY")], details: { raw: "CANARY" } });
  for (
    const answer of [
      { content: [{ ...text("[redacted]"), n: 1n }], details: {} },
      { content: [text("[redacted]")], details: { n: 1n } },
      { content: [text("[redacted]")], details: circle() },
    ]
  ) {
    const { result, told, content } = await resultWith(tool, (pi) => void pi.on("tool_result", () => answer as never));
    assertEquals(JSON.parse(content), [text("[redacted]")]);
    assertEquals(JSON.stringify([result, told]).includes("CANARY"), false);
    assertEquals(errorsIn(told).length, 1);
  }
  const { content, told } = await resultWith(
    tool,
    (pi) => void pi.on("tool_result", () => ({ content: [null] }) as never),
  );
  assertEquals(JSON.parse(content), [text("CANARY")]);
  assertEquals(errorsIn(told).length, 1);
});

Deno.test("AgentSession keeps what is sound of a tool's answer, with a note", async () => {
  const answer = { content: [null, { ...text("kept"), n: 1n }, { type: "text" }, 1n], details: circle() };
  const { result, told, content } = await resultWith(() => Promise.resolve(answer as never), () => {});
  assertStringIncludes(content, '{"type":"text","text":"kept"}');
  assertStringIncludes(content, "malformed");
  assertEquals([result.isError, result.details], [false, undefined]);
  assertStringIncludes(noticesIn(told).join("\n"), "The details of tool were left out");
});

Deno.test("AgentSession lets a hook redact the answer of a tool that cannot be written itself (C7.5)", async () => {
  const answer = { content: [text("CANARY")], details: { n: 1n, raw: "CANARY" } };
  const { result, told } = await resultWith(() => Promise.resolve(answer), (pi) => {
    pi.on("tool_result", (event) => ({
      content: [text("[redacted]")],
      details: { ...event.details as object, raw: "[redacted]" },
    }));
  });
  assertEquals(result.content, [text("[redacted]")]);
  assertEquals(JSON.stringify([result, told]).includes("CANARY"), false);
  assertEquals(errorsIn(told), []);
});
