import { assertEquals, assertStringIncludes } from "@std/assert";
import type { AgentMessage } from "@xcsh/hooks";
import { testHook } from "@xcsh/hooks/testing";
import handoff from "../../examples/hooks/handoff.ts";
import { assertNoHookErrors, realSession } from "./real_session.ts";

const MESSAGES: AgentMessage[] = [
  { role: "user", content: "mend the parser", timestamp: 1 },
  {
    role: "assistant",
    content: [
      { type: "text", text: "The parser is mended; tests are missing." },
      { type: "toolCall", id: "1", name: "edit", arguments: { path: "src/parser.ts" } },
    ],
    stopReason: "stop",
    timestamp: 2,
  },
];
const SUMMARY = `Continue from a previous session.

## Goal

write tests

## What was asked

- mend the parser

## Files

- src/parser.ts

## Where it stands

The parser is mended; tests are missing.`;

Deno.test("/handoff begins a session with what matters", async () => {
  const t = await testHook(handoff, { messages: MESSAGES });
  t.idle = false;
  await t.runCommand("/handoff write tests");
  const [entry] = t.newSessions[0]!.session.getEntries();
  assertEquals(entry?.type === "message" && entry.message.role === "user" && entry.message.content, SUMMARY);
  assertEquals(t.notifications, [{ message: "Handed off to a new session", type: "info" }]);
});

Deno.test("/handoff lets the person edit the text, or cancel", async () => {
  const t = await testHook(handoff, { messages: MESSAGES, ui: { editor: ["edited", undefined] } });
  await t.runCommand("/handoff");
  assertEquals(t.newSessions.length, 1);
  assertStringIncludes(t.asked[0]!.message!, "## What was asked");
  await t.runCommand("/handoff");
  assertEquals(t.newSessions.length, 1);
  assertEquals(t.notifications.at(-1)?.message, "Handoff cancelled");
});

Deno.test("/handoff does nothing in an empty session, or when another hook keeps it", async () => {
  const empty = await testHook(handoff);
  await empty.runCommand("/handoff");
  assertEquals(empty.notifications, [{ message: "There is nothing to hand off yet", type: "warning" }]);
  const kept = await testHook([handoff, (pi) => pi.on("session_before_switch", () => ({ cancel: true }))], {
    messages: MESSAGES,
  });
  await kept.runCommand("/handoff");
  assertEquals([kept.newSessions, kept.notifications[0]?.message], [[], "Another hook keeps this session open"]);
});

Deno.test("/handoff goes on in another file of a real session", async () => {
  await using real = await realSession("handoff", [{ text: "Half done." }]);
  await real.session.prompt("build it");
  const before = real.session.sessionManager.getSessionFile();
  await real.session.prompt("/handoff finish it");
  const { sessionManager } = real.session;
  assertEquals(sessionManager.getHeader().parentSession, before);
  const text = JSON.stringify(sessionManager.getEntries());
  for (const part of ["finish it", "build it", "Half done."]) assertStringIncludes(text, part);
  assertNoHookErrors(real.events);
});
