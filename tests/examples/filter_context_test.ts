import { assertEquals, assertStringIncludes } from "@std/assert";
import type { AgentMessage } from "@xcsh/hooks";
import { testHook } from "@xcsh/hooks/testing";
import filterContext from "../../examples/hooks/filter_context.ts";
import { assertNoHookErrors, realSession } from "./real_session.ts";

function result(text: string): AgentMessage {
  return {
    role: "toolResult",
    toolCallId: "1",
    toolName: "read",
    content: [{ type: "text", text }, { type: "image", data: "AAAA", mimeType: "image/png" }],
    isError: false,
    timestamp: 1,
  };
}

Deno.test("filter_context leaves out what is for people, and cuts old results", async () => {
  const t = await testHook(filterContext);
  const old = result("a".repeat(5_000));
  const short = result("short");
  const recent = Array.from({ length: 9 }, () => result("b".repeat(5_000)));
  const debug: AgentMessage = { role: "custom", customType: "debug-only", content: "x", display: true, timestamp: 1 };
  const messages = await t.fire("context", { messages: [old, debug, short, ...recent, short] });
  assertEquals(messages.length, 12);
  assertEquals(messages.slice(2), [...recent, short]);
  const cut = messages[0] as Extract<AgentMessage, { role: "toolResult" }>;
  const [text, picture] = cut.content.map((part) => part.type === "text" ? part.text : "");
  assertStringIncludes(text!, "a\n[… 4000 characters of an old result …]\na");
  assertEquals(picture, "[a picture from earlier]");
  assertEquals(t.errors, []);
});

Deno.test("filter_context makes the context of a real session smaller, and not the session", async () => {
  const turns = Array.from({ length: 12 }, () => ({ toolCalls: [{ name: "read", arguments: { path: "big.txt" } }] }));
  await using real = await realSession("filter_context", turns, { "big.txt": "x".repeat(5_000) });
  await real.session.prompt("read on");
  const sizes = (messages: readonly unknown[]) =>
    messages.map((message) => JSON.stringify(message)).filter((text) => text.includes("toolResult")).map((text) =>
      text.length
    );
  const sent = sizes(real.model.lastRequest!.messages);
  const kept = sizes(real.session.messages);
  assertEquals([sent.filter((size) => size < 2_000).length, kept.filter((size) => size < 2_000).length], [2, 0]);
  assertNoHookErrors(real.events);
});
