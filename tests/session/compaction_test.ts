import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { SessionEntry } from "../../src/entries.ts";
import type { AssistantMessage, ToolResultMessage } from "../../src/messages.ts";
import {
  AgentBusyError,
  type AgentSession,
  CompactionCancelledError,
  contextTokens,
  estimateTokens,
  type LanguageModel,
  NothingToCompactError,
  prepareCompaction,
  ScriptedModel,
  SessionManager,
  shouldCompact,
} from "../../src/session/mod.ts";
import { answered, said, startSession, until, withFolder } from "./support.ts";

const settings = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 };
const usage = (totalTokens: number) => ({ input: totalTokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens });
const calling = (id: string, path: string, name = "read"): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name, arguments: { path } }],
  stopReason: "toolUse",
  timestamp: 1,
});
const result = (toolCallId: string, text: string): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 2,
});
const texts = (session: AgentSession) =>
  session.messages.map((message) =>
    message.role === "compactionSummary" ? "summary" : message.role === "user" ? message.content : message.role
  );

Deno.test("shouldCompact() keeps room for the answer (CM-1, A.7)", () => {
  assertEquals([170_000, 170_001].map((tokens) => shouldCompact(tokens, 200_000, settings)), [false, true]);
  assertEquals([3_616, 3_617].map((tokens) => shouldCompact(tokens, 20_000, settings)), [false, true]);
  assertEquals(shouldCompact(501, 1_000, { ...settings, thresholdPercent: 50 }), true);
  assertEquals(shouldCompact(500, 1_000, { ...settings, thresholdPercent: 50 }), false);
  assertEquals(shouldCompact(101, 1_000, { ...settings, thresholdTokens: 100, thresholdPercent: 50 }), true);
  assertEquals(shouldCompact(999, 1_000, { ...settings, thresholdTokens: 5_000 }), false);
});

Deno.test("estimateTokens() counts messages of hooks and pictures like all others (Q-38)", () => {
  assertEquals(
    estimateTokens({ role: "custom", customType: "c", content: "x".repeat(9), display: true, timestamp: 1 }),
    3,
  );
  assertEquals(estimateTokens({ role: "developer", content: "xxxx", timestamp: 1 }), 1);
  const picture = { type: "image" as const, data: "", mimeType: "image/png" };
  assertEquals(estimateTokens({ role: "user", content: [picture], timestamp: 1 }), 1_200);
  assertEquals(estimateTokens(calling("a", "p")), Math.ceil(("read".length + '{"path":"p"}'.length) / 4));
});

Deno.test("contextTokens() takes the provider's count and estimates what came after", () => {
  assertEquals(
    contextTokens([said("x".repeat(400)), { ...answered("a"), usage: usage(1_000) }, said("x".repeat(400))]),
    1_100,
  );
  assertEquals(
    contextTokens([said("x".repeat(400)), { ...answered("abcd"), stopReason: "error", usage: usage(9) }]),
    101,
  );
});

function branchOf(fill: (session: SessionManager) => void): SessionEntry[] {
  const session = SessionManager.inMemory("/project");
  fill(session);
  return session.getBranch();
}

Deno.test("prepareCompaction() cuts at a turn and keeps what is recent", () => {
  const branch = branchOf((session) => {
    for (let i = 0; i < 4; i++) {
      session.appendMessage(said(`${i} ${"u".repeat(400)}`));
      session.appendMessage(answered(`${i} ${"a".repeat(400)}`));
    }
  });
  const preparation = prepareCompaction(branch, { ...settings, keepRecentTokens: 350 });
  assertEquals(preparation.firstKeptEntryId, branch[4]!.id);
  assertEquals([preparation.messagesToSummarize.length, preparation.recentMessages.length], [4, 4]);
  assertEquals(preparation.isSplitTurn, false);
});

Deno.test("prepareCompaction() splits a long turn and keeps its beginning apart (CM-6)", () => {
  const branch = branchOf((session) => {
    session.appendMessage(said("first"));
    session.appendMessage(answered("done"));
    session.appendMessage(said("second"));
    for (let i = 0; i < 5; i++) {
      session.appendMessage(calling(`c${i}`, `f${i}`));
      session.appendMessage(result(`c${i}`, "r".repeat(400)));
    }
  });
  const preparation = prepareCompaction(branch, { ...settings, keepRecentTokens: 150 });
  assertEquals(preparation.isSplitTurn, true);
  assertEquals(preparation.messagesToSummarize.length, 2);
  assertEquals(preparation.turnPrefixMessages[0]!.role, "user");
  assertEquals(preparation.recentMessages[0]!.role, "assistant");
  const all = preparation.messagesToSummarize.length + preparation.turnPrefixMessages.length +
    preparation.recentMessages.length;
  assertEquals(all, branch.length);
});

Deno.test("prepareCompaction() cuts before a tool result that is larger than all that may stay (Q-46)", () => {
  const branch = branchOf((session) => {
    session.appendMessage(said("first"));
    session.appendMessage(answered("done"));
    session.appendMessage(said("second"));
    session.appendMessage(calling("c", "f"));
    session.appendMessage(result("c", "r".repeat(4_000)));
  });
  const preparation = prepareCompaction(branch, { ...settings, keepRecentTokens: 100 });
  assertEquals(preparation.firstKeptEntryId, branch[3]!.id);
  assertEquals(preparation.messagesToSummarize.length + preparation.turnPrefixMessages.length, 3);
});

Deno.test("prepareCompaction() says when there is nothing to do (CP-1)", () => {
  const small = branchOf((session) => void session.appendMessage(said("one")));
  assertThrows(
    () => prepareCompaction(small, settings),
    NothingToCompactError,
    "Nothing to compact (session too small)",
  );
  const done = branchOf((session) => {
    const id = session.appendMessage(said("one"));
    session.appendCompaction({ summary: "s", firstKeptEntryId: id, tokensBefore: 1 });
  });
  assertThrows(() => prepareCompaction(done, settings), NothingToCompactError, "Already compacted");
  assertThrows(() => prepareCompaction([], settings), NothingToCompactError);
});

Deno.test("prepareCompaction() summarises what the compaction before had kept, so that nothing is lost", () => {
  const session = SessionManager.inMemory("/project");
  for (const text of ["one", "two"]) session.appendMessage(said(text.repeat(100)));
  const kept = session.appendMessage(said("kept".repeat(100)));
  session.appendCompaction({
    summary: "before",
    firstKeptEntryId: kept,
    tokensBefore: 9,
    preserveData: { mine: 1 },
    details: { readFiles: ["old.ts"], modifiedFiles: [] },
  });
  session.appendMessage(calling("c", "new.ts", "edit"));
  session.appendMessage(result("c", "ok"));
  session.appendMessage(said("four".repeat(100)));
  const preparation = prepareCompaction(session.getBranch(), { ...settings, keepRecentTokens: 50 });
  assertEquals(preparation.messagesToSummarize.map((message) => message.role), ["user", "assistant", "toolResult"]);
  assertEquals([preparation.previousSummary, preparation.previousPreserveData], ["before", { mine: 1 }]);
  assertEquals([[...preparation.fileOps.read], [...preparation.fileOps.edited]], [["old.ts"], ["new.ts"]]);
});

function longSession(): SessionManager {
  const session = SessionManager.inMemory("/project");
  for (let i = 0; i < 4; i++) {
    session.appendMessage(said(`prompt ${i} ${"u".repeat(400)}`));
    session.appendMessage(answered(`answer ${i} ${"a".repeat(400)}`));
  }
  return session;
}

Deno.test("AgentSession.compact() puts a summary in the place of what is old, and tells the entry (Q-32)", async () => {
  const log: unknown[] = [];
  const model = new ScriptedModel({ turns: [{ text: "What was done" }] });
  const { session } = await startSession({
    model,
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
    hooks: [(pi) => {
      pi.on("session_before_compact", (event) => void log.push([event.customInstructions, event.branchEntries.length]));
      pi.on("session.compacting", (event) => {
        log.push(event.messages.length);
        return { context: ["mind the gap"], prompt: "My own prompt", preserveData: { keep: true } };
      });
      pi.on("session_compact", (event, ctx) => {
        log.push([
          event.fromExtension,
          event.compactionEntry.id === ctx.sessionManager.getLeafId(),
          session.messages.length,
        ]);
      });
    }],
  });
  const compaction = await session.compact("the names");
  assertEquals(log, [["the names", 8], 4, [false, true, 5]]);
  assertEquals([compaction.summary, compaction.preserveData], ["What was done", { keep: true }]);
  const prompt = String(model.lastRequest!.messages[0]!.content);
  for (const part of ["[User]: prompt 0", "- mind the gap", "My own prompt", "Mind above all: the names"]) {
    assertStringIncludes(prompt, part);
  }
  assertEquals(texts(session).map((text) => String(text).slice(0, 8)), [
    "summary",
    "prompt 2",
    "assistan",
    "prompt 3",
    "assistan",
  ]);
  await assertRejects(() => session.compact(), NothingToCompactError, "Already compacted");
  await session.dispose();
});

Deno.test("AgentSession.compact() keeps a hook's own compaction as it is (CP-3)", async () => {
  const log: string[] = [];
  const { session } = await startSession({
    model: new ScriptedModel({ turns: [] }),
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
    hooks: [(pi) => {
      pi.on("session_before_compact", ({ preparation }) => ({
        compaction: {
          summary: "mine",
          firstKeptEntryId: preparation.firstKeptEntryId,
          tokensBefore: 7,
          details: { a: 1 },
        },
      }));
      pi.on("session.compacting", () => void log.push("asked"));
      pi.on("session_compact", (event) => void log.push(`${event.compactionEntry.summary} ${event.fromExtension}`));
    }],
  });
  await session.compact();
  assertEquals(log, ["mine true"]);
  await session.dispose();
});

Deno.test("AgentSession.compact() changes nothing when a hook cancels or the model fails", async () => {
  let cancel = true;
  const { session } = await startSession({
    model: new ScriptedModel({ turns: [{ error: "no" }] }),
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
    hooks: [(pi) => {
      pi.on("session_before_compact", () => ({ cancel }));
    }],
  });
  await assertRejects(() => session.compact(), CompactionCancelledError, "Compaction cancelled");
  cancel = false;
  await assertRejects(() => session.compact(), Error, "no");
  assertEquals(session.sessionManager.getEntries().length, 8);
  assertEquals(session.isIdle, true);
  await session.dispose();
});

Deno.test("AgentSession.compact() asks for a summary again when the provider is overloaded", async () => {
  const model = new ScriptedModel({ turns: [{ error: "overloaded" }, { text: "What was done" }] });
  const { session, told } = await startSession({
    model,
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
    retry: { baseDelayMs: 1 },
  });
  assertEquals((await session.compact()).summary, "What was done");
  assertStringIncludes(JSON.stringify(told), "is asked for again");
  await session.dispose();
});

const ended = (told: { type: string }[]) => told.filter((event) => event.type.startsWith("auto_compaction"));

Deno.test("AgentSession compacts by itself between two turns when the context is full, and goes on", async () => {
  const model = new ScriptedModel({
    contextWindow: 100_000,
    turns: [
      { toolCalls: [{ name: "bash", arguments: { command: "true" } }], usage: { input: 90_000 } },
      { text: "The summary" },
      { text: "The beginning of the turn" },
      { text: "finished", usage: { input: 100 } },
    ],
  });
  const { session, told } = await startSession({
    cwd: ".",
    model,
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
  });
  await session.prompt("go");
  const [start, end] = ended(told);
  assertEquals(start, { type: "auto_compaction_start", reason: "threshold", action: "context-full" } as typeof start);
  assertEquals(end?.type === "auto_compaction_end" && "willRetry" in end && end.willRetry, false);
  const last = session.messages.at(-1);
  assertEquals(last?.role === "assistant" && last.content, [{ type: "text", text: "finished" }]);
  assertEquals(session.messages[0]!.role, "compactionSummary");
  await session.dispose();
});

Deno.test("AgentSession recovers from an overflow once, and tells that it retries", async () => {
  const model = new ScriptedModel({
    turns: [
      { error: "prompt is too long: 210000 tokens" },
      { text: "The summary" },
      { text: "now it fits" },
    ],
  });
  const { session, told } = await startSession({
    model,
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
  });
  await session.prompt("go");
  const [start, end] = ended(told) as unknown as [{ reason: string }, { willRetry: boolean }];
  assertEquals([start.reason, end.willRetry, ended(told).length], ["overflow", true, 2]);
  const last = session.messages.at(-1);
  assertEquals(last?.role === "assistant" && last.content, [{ type: "text", text: "now it fits" }]);
  await session.dispose();
});

Deno.test("AgentSession gives up when a context overflows even after it was compacted", async () => {
  const error = "maximum context length exceeded";
  const model = new ScriptedModel({ turns: [{ error }, { text: "The summary" }, { error }] });
  const { session, told } = await startSession({
    model,
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
  });
  await session.prompt("go");
  assertEquals(ended(told).length, 2);
  assertEquals(model.requests, 3);
  await session.dispose();
});

for (
  const [what, script, cancel, expected] of [
    ["skipped", [], false, { skipped: true, aborted: false }],
    ["aborted", [], true, { aborted: true }],
    ["failed", [{ error: "bad" }, { error: "bad" }], false, {
      aborted: false,
      errorMessage: "Auto-compaction failed: bad",
    }],
  ] as [string, { error: string }[], boolean, Record<string, unknown>][]
) {
  Deno.test(`AgentSession emits auto_compaction_end when it was ${what}, and answers the prompt all the same`, async () => {
    const model = new ScriptedModel({ contextWindow: 20_000, turns: [...script, { text: "ok" }] });
    const sessionManager = what === "skipped" ? SessionManager.inMemory("/project") : longSession();
    sessionManager.appendMessage({ ...answered("big"), usage: usage(19_000) });
    const { session, told } = await startSession({
      model,
      sessionManager,
      compaction: { keepRecentTokens: 350 },
      hooks: [(pi) => {
        pi.on("session_before_compact", () => ({ cancel }));
      }],
    });
    await session.prompt("go");
    const pairs = ended(told);
    assertEquals(pairs.map((event) => event.type).slice(0, 2), ["auto_compaction_start", "auto_compaction_end"]);
    for (const [key, value] of Object.entries(expected)) {
      assertEquals((pairs[1] as unknown as typeof expected)[key], value, key);
    }
    const last = session.messages.at(-1);
    assertEquals(last?.role === "assistant" && last.content, [{ type: "text", text: "ok" }]);
    await session.dispose();
  });
}

/** A long session whose model never answers. */
async function hangingSession(): Promise<AgentSession> {
  const model: LanguageModel = {
    provider: "test",
    id: "hangs",
    // deno-lint-ignore require-yield
    async *stream() {
      await new Promise(() => {});
    },
  };
  const { session } = await startSession({
    model,
    sessionManager: longSession(),
    compaction: { keepRecentTokens: 350 },
  });
  return session;
}

Deno.test("AgentSession.abort() ends a compaction that hangs, and nothing has changed", async () => {
  const session = await hangingSession();
  const compacting = session.compact();
  const failed = assertRejects(() => compacting);
  await until("it is busy", () => !session.isIdle);
  await session.abort();
  await failed;
  assertEquals([session.isIdle, session.sessionManager.getEntries().length], [true, 8]);
  await session.dispose();
});

Deno.test("AgentSession.compact() twice at once: the one stops the other, and abort() ends what is left", async () => {
  const session = await hangingSession();
  const both = [session.compact(), session.compact()].map((compacting) => assertRejects(() => compacting));
  await both[0];
  await until("the second is at work", () => !session.isIdle);
  await assertRejects(() => session.prompt("not now"), AgentBusyError);
  await session.abort();
  await both[1];
  await session.waitForIdle();
  await session.dispose();
});

Deno.test("AgentSession.navigateTree() lets the model summarise what is left (TR-4)", async () => {
  const model = new ScriptedModel({ turns: [{ text: "It was tried" }] });
  const { session } = await startSession({ model, sessionManager: longSession() });
  const entries = session.sessionManager.getEntries();
  await session.navigateTree(entries[1]!.id, { summarize: true });
  const leaf = session.sessionManager.getLeafEntry()!;
  assertEquals(leaf.type === "branch_summary" && [leaf.summary, leaf.parentId], ["It was tried", entries[1]!.id]);
  assertStringIncludes(String(model.lastRequest!.messages[0]!.content), "prompt 3");
  await session.dispose();
});

Deno.test("AgentSession opens the real session, compacts, branches, and reopens equal", async (t) => {
  // Beside the repository, or beside the folder of its work trees.
  const places = ["../../../shared/data/", "../../../../shared/data/"];
  const files = places.map((place) => new URL(`${place}real-session.jsonl`, import.meta.url));
  const found = await Promise.all(files.map((file) => Deno.readFile(file).catch(() => undefined)));
  const bytes = found.find((content) => content !== undefined);
  await t.step({
    name: "with the recorded file",
    ignore: bytes === undefined,
    fn: () =>
      withFolder(async (folder) => {
        const file = `${folder}/real.jsonl`;
        await Deno.writeFile(file, bytes!);
        const sessionManager = SessionManager.open(file);
        assertEquals(sessionManager.getEntries().length, 1_002);
        const model = new ScriptedModel({ turns: [{ text: "summary" }, { text: "prefix" }] });
        const { session } = await startSession({ cwd: folder, model, sessionManager });
        const before = session.messages.length;
        await session.compact();
        assert(session.messages.length < before);
        const user = session.sessionManager.getBranch().findLast((e) =>
          e.type === "message" && e.message.role === "user"
        )!;
        const compacted = session.sessionManager;
        await session.branch(user.id);
        const branched = session.sessionManager;
        await session.dispose();
        assertEquals(await Deno.readFile(file), bytes);
        for (const manager of [compacted, branched]) {
          using again = SessionManager.open(manager.getSessionFile()!);
          assertEquals(again.getEntries(), manager.getEntries());
          assertEquals(again.buildContext().messages, manager.buildContext().messages);
        }
      }),
  });
});
