import { assertEquals } from "@std/assert";
import type { ModelErrorEvent } from "../../src/models/model.ts";
import { DEFAULT_RETRY, isOverflow, isRetryable, retryDelay } from "../../src/session/retry.ts";
import { ScriptedModel, type ScriptedTurn } from "../../src/session/mod.ts";
import { startSession, until } from "./support.ts";

const failure = (message: string, more: Partial<ModelErrorEvent> = {}): ModelErrorEvent => ({
  type: "error",
  message,
  ...more,
});

for (
  const [message, retryable] of [
    ["Overloaded", true],
    ["rate limit reached", true],
    ["HTTP 503", true],
    ["status code: 429", true],
    ["500 Internal Server Error", true],
    ["fetch failed", true],
    ["connection refused", true],
    ["request timed out", true],
    ["there are 500 files in the folder", false],
    ["invalid api key", false],
    ["prompt is too long: 429 tokens", false],
  ] as [string, boolean][]
) {
  Deno.test(`isRetryable() is ${retryable} for ${JSON.stringify(message)} (RT-2, Q-34)`, () => {
    assertEquals(isRetryable(failure(message)), retryable);
  });
}

Deno.test("isRetryable() believes the status and the model before the text", () => {
  assertEquals(isRetryable(failure("whatever", { status: 529 })), true);
  assertEquals(isRetryable(failure("overloaded", { status: 401 })), false);
  assertEquals(isRetryable(failure("overloaded", { retryable: false })), false);
  assertEquals(isOverflow(failure("rate limit: too many tokens a minute", { status: 429 })), false);
});

Deno.test("retryDelay() doubles, varies, and honours what the provider asks for", () => {
  const plain = failure("overloaded");
  assertEquals([1, 2, 3].map((attempt) => retryDelay(attempt, plain, DEFAULT_RETRY, () => 0.5)), [2_000, 4_000, 8_000]);
  assertEquals(retryDelay(1, plain, DEFAULT_RETRY, () => 0), 1_500);
  assertEquals(retryDelay(1, plain, DEFAULT_RETRY, () => 1), 2_500);
  assertEquals(retryDelay(1, failure("x", { retryAfterMs: 9_000 }), DEFAULT_RETRY), 9_000);
  assertEquals(retryDelay(1, failure("429, retry-after: 7"), DEFAULT_RETRY), 7_000);
  assertEquals(retryDelay(1, failure('{"retry-after-ms": 4500}'), DEFAULT_RETRY), 4_500);
});

async function play(turns: ScriptedTurn[], retry = {}) {
  const model = new ScriptedModel({ turns });
  const log: unknown[] = [];
  const { session, told } = await startSession({
    model,
    retry: { baseDelayMs: 1, ...retry },
    hooks: [(pi) => {
      pi.on("auto_retry_start", (event) => void log.push(["start", event.attempt, event.maxAttempts]));
      pi.on("auto_retry_end", (event) => void log.push(["end", event.success, event.attempt, event.finalError]));
    }],
  });
  return { model, log, session, told };
}

Deno.test("AgentSession sends a failed request again, and forgets the failed answer", async () => {
  const { log, session, model } = await play([{ text: "half", error: "overloaded" }, { error: "overloaded" }, {
    text: "ok",
  }]);
  await session.prompt("go");
  await session.dispose();
  assertEquals(log, [["start", 1, 3], ["end", false, 1, "overloaded"], ["start", 2, 3], ["end", true, 2, undefined]]);
  assertEquals(model.lastRequest!.messages.map((message) => message.role), ["user"]);
});

Deno.test("AgentSession gives up after the last attempt, and counts anew for the next prompt", async () => {
  const failed = { error: "overloaded" };
  const { log, session } = await play([failed, failed, failed, { error: "overloaded" }, { text: "ok" }], {
    maxRetries: 1,
  });
  await session.prompt("one");
  assertEquals(log, [["start", 1, 1], ["end", false, 1, "overloaded"]]);
  await session.prompt("two");
  assertEquals(log.length, 4);
  await session.dispose();
});

Deno.test("AgentSession closes an attempt that ends with an error that is not tried again (Q-34)", async () => {
  const { log, session } = await play([{ error: "overloaded" }, { error: "invalid api key" }]);
  await session.prompt("go");
  await session.dispose();
  assertEquals(log, [["start", 1, 3], ["end", false, 1, "invalid api key"]]);
});

Deno.test("AgentSession.abort() ends the wait before an attempt", async () => {
  const { log, session } = await play([{ error: "overloaded" }], { baseDelayMs: 60_000 });
  const run = session.prompt("go");
  await until("it waits", () => log.length === 1);
  await session.abort();
  await run;
  await session.dispose();
  assertEquals(log, [["start", 1, 3], ["end", false, 1, "Retry cancelled"]]);
});

Deno.test("AgentSession.abort() ends an attempt that is under way, and closes it (Q-34)", async () => {
  const { log, session, model } = await play([{ error: "overloaded" }, { delayMs: 60_000 }]);
  const run = session.prompt("go");
  await until("the second request is out", () => model.requests === 2);
  await session.abort();
  await run;
  await session.dispose();
  assertEquals(log, [["start", 1, 3], ["end", false, 1, "The run was aborted"]]);
});

Deno.test("AgentSession does not wait longer than it may", async () => {
  const { log, session, told } = await play([{ error: { message: "quota", status: 429, retryAfterMs: 3_600_000 } }]);
  await session.prompt("go");
  await session.dispose();
  assertEquals(log, []);
  const notices = told.flatMap((event) => event.type === "notice" ? [event.message] : []);
  assertEquals(notices, ["The provider asks to be left alone for 3600 s; try again then"]);
});

Deno.test("AgentSession does not send again when that is switched off", async () => {
  const { log, session } = await play([{ error: "overloaded" }], { enabled: false });
  await session.prompt("go");
  await session.dispose();
  assertEquals(log, []);
});
