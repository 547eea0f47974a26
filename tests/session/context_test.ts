import { assertEquals } from "@std/assert";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../src/messages.ts";
import { toModelMessages } from "../../src/session/mod.ts";
import { answered, said } from "./support.ts";

const calling = (...ids: string[]): AssistantMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "bash", arguments: {} })),
  stopReason: "toolUse",
  timestamp: 1,
});
const result = (toolCallId: string, text = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "bash",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 2,
});
const shape = (messages: readonly AgentMessage[]) =>
  toModelMessages(messages).map((message) => message.role === "toolResult" ? message.toolCallId : message.role);

Deno.test("toModelMessages() gives every call one result, right after it and in the order of the calls", () => {
  assertEquals(shape([calling("a", "b"), result("b"), said("in between"), result("a")]), [
    "assistant",
    "a",
    "b",
    "user",
  ]);
  assertEquals(shape([calling("a", "b"), result("a")]), ["assistant", "a", "b"]);
  assertEquals(shape([result("orphan"), said("x")]), ["user"]);
});

Deno.test("toModelMessages() keeps apart the results of calls that have the same id", () => {
  const messages = toModelMessages([calling("a"), result("a", "first"), calling("a"), result("a", "second")]);
  const texts = messages.flatMap((message) => message.role === "toolResult" ? message.content : []);
  assertEquals(texts, [{ type: "text", text: "first" }, { type: "text", text: "second" }]);
});

Deno.test("toModelMessages() leaves out answers that failed, and keeps the text of aborted ones", () => {
  const failed: AssistantMessage = { ...answered("half"), stopReason: "error" };
  const stopped: AssistantMessage = { ...answered("half"), stopReason: "aborted", interruptedBy: ["rule"] };
  const aborted: AssistantMessage = {
    ...answered("half"),
    content: [...answered("half").content, ...calling("a").content],
    stopReason: "aborted",
  };
  assertEquals(shape([failed, stopped]), []);
  assertEquals(toModelMessages([aborted])[0]!.content, [{ type: "text", text: "half" }]);
});

Deno.test("toModelMessages() makes user messages of all that is not the model's (7.4)", () => {
  const messages: AgentMessage[] = [
    { role: "compactionSummary", summary: "s1", tokensBefore: 1, timestamp: 1 },
    { role: "branchSummary", summary: "s2", fromId: "root", timestamp: 1 },
    { role: "bashExecution", command: "ls", output: "a", exitCode: 2, timestamp: 1 },
    { role: "bashExecution", command: "secret", output: "b", excludeFromContext: true, timestamp: 1 },
    { role: "custom", customType: "c", content: "hidden", display: false, details: { never: 1 }, timestamp: 1 },
    { role: "developer", content: "rule", timestamp: 1 },
  ];
  const [message] = toModelMessages(messages);
  assertEquals(toModelMessages(messages).length, 1);
  for (
    const text of ["<summary>\ns1\n</summary>", "<summary>\ns2\n</summary>", "`ls`", "Exit code 2", "hidden", "rule"]
  ) {
    assertEquals(String(message!.content).includes(text), true, text);
  }
  assertEquals(/secret|never/.test(JSON.stringify(message)), false);
});

Deno.test("toModelMessages() does not merge messages with pictures", () => {
  const picture: AgentMessage = {
    role: "user",
    content: [{ type: "image", data: "", mimeType: "image/png" }],
    timestamp: 1,
  };
  assertEquals(shape([said("a"), picture, said("b"), said("c")]), ["user", "user", "user"]);
});

Deno.test("toModelMessages() merges many texts in linear time", () => {
  const many = Array.from({ length: 20_000 }, (_, i) => said(`${i} ${"x".repeat(100)}`));
  const start = performance.now();
  assertEquals(toModelMessages(many).length, 1);
  assertEquals(performance.now() - start < 1_000, true);
});
