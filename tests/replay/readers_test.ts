import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import type { HookEvent } from "@xcsh/hooks";
import { replaySession, type ReplaySummary } from "@xcsh/hooks/replay";
import { createTestHook } from "@xcsh/hooks/testing";
import { bytesOf } from "./recorded.ts";

async function drive(records: readonly unknown[]) {
  const prompts: HookEvent<"before_agent_start">[] = [];
  const calls: [name: string, input: unknown][] = [];
  const results: HookEvent<"tool_result">[] = [];
  let turns = 0;
  const roles: string[] = [];
  const hook = await createTestHook((pi) => {
    pi.on("before_agent_start", (event) => void prompts.push(event));
    pi.on(
      "tool_call",
      ({ toolName, input }) => void calls.push([toolName, structuredClone(JSON.parse(JSON.stringify(input)))]),
    );
    pi.on("tool_result", (event) => void results.push(event));
    pi.on("turn_end", () => void turns++);
    pi.on("session_shutdown", (_event, { sessionManager }) => {
      for (const entry of sessionManager.getEntries()) {
        roles.push(entry.type === "message" ? entry.message.role : entry.type);
      }
    });
  });
  let summary: ReplaySummary | undefined;
  for await (const record of replaySession(bytesOf(records.map((record) => JSON.stringify(record))), [hook])) {
    if (record.type === "summary") summary = record;
  }
  assert(summary !== undefined);
  return { prompts, calls, results, turns, roles, summary };
}

const claude = (type: "user" | "assistant", content: unknown, rest: Record<string, unknown> = {}) => ({
  type,
  uuid: crypto.randomUUID(),
  sessionId: "s",
  cwd: "/p",
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: type, content },
  ...rest,
});
const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });

Deno.test("the Claude Code reader gives tools and arguments our names", async () => {
  const { calls, summary } = await drive([
    claude("assistant", [
      use("1", "Bash", { command: "ls", timeout: 120000, description: "List" }),
      use("2", "Read", { file_path: "/a", offset: 3, limit: 4 }),
      use("3", "Write", { file_path: "/a", content: "x" }),
      use("4", "Edit", { file_path: "/a", old_string: "x", new_string: "y", replace_all: true }),
      use("5", "MultiEdit", { file_path: "/a", edits: [{ old_string: "x", new_string: "y" }, 7] }),
      use("6", "Grep", { pattern: "x", path: "/p", glob: "*.ts" }),
      use("7", "Glob", { pattern: "**" }),
      use("8", "mcp__db__query", { file_path: "kept" }),
      use("9", "toString", {}),
      use("10", "Read", '{"file_path":"/b"}'),
    ]),
  ]);
  assertEquals(calls, [
    ["bash", { command: "ls", timeout: 120, description: "List" }],
    ["read", { path: "/a", offset: 3, limit: 4 }],
    ["write", { path: "/a", content: "x" }],
    ["edit", { path: "/a", oldText: "x", newText: "y", replace_all: true }],
    ["edit", { path: "/a", edits: [{ oldText: "x", newText: "y" }, 7] }],
    ["grep", { pattern: "x", path: "/p", glob: "*.ts" }],
    ["find", { pattern: "**" }],
    ["mcp__db__query", { file_path: "kept" }],
    ["toString", {}],
    ["read", { path: "/b" }],
  ]);
  assertEquals([summary.format, summary.version, summary.sessionId, summary.cwd], ["claude", undefined, "s", "/p"]);
});

Deno.test("the Claude Code reader takes for a prompt only what a person sent", async () => {
  const { prompts, roles } = await drive([
    { type: "queue-operation", operation: "enqueue", sessionId: "s" },
    claude("user", "one"),
    claude("user", "caveat", { isMeta: true }),
    claude("user", "<command-name>/clear</command-name>"),
    claude("user", "<local-command-stdout></local-command-stdout>"),
    claude("user", [{ type: "text", text: "[Request interrupted by user]" }]),
    claude("user", "This session is being continued", { isCompactSummary: true }),
    claude("user", "for the subagent", { isSidechain: true }),
    claude("user", [
      { type: "text", text: "two" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    ], { isMeta: null }),
    claude("user", "<b>three</b>"),
    { type: "system", subtype: "turn_duration", sessionId: "s" },
  ]);
  assertEquals(prompts, [
    { type: "before_agent_start", prompt: "one", images: undefined },
    { type: "before_agent_start", prompt: "two", images: [{ type: "image", mimeType: "image/png", data: "AAAA" }] },
    { type: "before_agent_start", prompt: "<b>three</b>", images: undefined },
  ]);
  assertEquals(roles.length, 8);
});

Deno.test("the Claude Code reader finds results by their call, with details and errors", async () => {
  const { results, summary } = await drive([
    claude("assistant", [use("1", "Bash", { command: "a" }), use("2", "Read", { file_path: "/a" })]),
    claude("user", [
      { type: "tool_result", tool_use_id: "2", content: [{ type: "text", text: "x" }, { type: "tool_reference" }] },
      { type: "text", text: "[Request interrupted by user for tool use]" },
    ], { toolUseResult: { stdout: "x" } }),
    claude("user", [{ type: "tool_result", tool_use_id: "1", content: "no", is_error: true }], {
      toolUseResult: "Error: no",
    }),
    claude("user", [{ type: "tool_result", tool_use_id: "lost", content: "?" }, { type: "tool_result" }]),
  ]);
  assertEquals(
    results.map(({ toolName, input, content, details, isError }) => [toolName, input.path, content, details, isError]),
    [
      ["read", "/a", [{ type: "text", text: "x" }], { stdout: "x" }, false],
      ["bash", undefined, [{ type: "text", text: "no" }], "Error: no", true],
      ["unknown", undefined, [{ type: "text", text: "?" }], undefined, false],
    ],
  );
  assertEquals([summary.orphans, summary.prompts, summary.damaged], [1, 0, 1]);
});

Deno.test("the Claude Code reader lets a subagent's tools pass the hooks, and keeps its turns out", async () => {
  const side = { isSidechain: true };
  const { calls, results, turns, roles } = await drive([
    claude("user", "go"),
    claude("assistant", [use("1", "Task", { prompt: "look" })]),
    claude("user", "look", side),
    claude("assistant", [use("2", "Grep", { pattern: "x" })], side),
    claude("user", [{ type: "tool_result", tool_use_id: "2", content: "found" }], side),
    claude("user", [{ type: "tool_result", tool_use_id: "1", content: "it is there" }]),
    claude("assistant", [{ type: "text", text: "done" }]),
  ]);
  assertEquals(calls.map(([name]) => name), ["Task", "grep"]);
  assertEquals(results.map(({ toolName }) => toolName), ["grep", "Task"]);
  assertEquals([turns, roles], [2, ["user", "assistant", "toolResult", "assistant"]]);
});

Deno.test("the pi reader reads what older and other versions wrote", async () => {
  const { calls, results, roles, summary } = await drive([
    { type: "session", version: 2, id: "s", timestamp: "nonsense", cwd: "/p", title: "T" },
    { type: "session_info", id: "1", parentId: null, timestamp: "2026-01-01T00:00:00Z", name: "T" },
    {
      type: "message",
      id: "2",
      parentId: "1",
      message: { role: "hookMessage", customType: "c", content: "x", display: true },
    },
    { type: "message", id: "3", parentId: "2", message: { role: "bashExecution", command: "ls", output: "" } },
    {
      type: "message",
      id: "4",
      parentId: "3",
      message: {
        role: "assistant",
        content: [
          { type: "toolCall", id: "a", name: "bash", arguments: '{"command":"ls"}' },
          { type: "toolCall", id: "b", name: "todo" },
          { type: "toolCall", id: "c", name: "bash", arguments: "{" },
          { type: "toolCall", name: "bash", arguments: {} },
          null,
        ],
        stopReason: "whatever",
      },
    },
    {
      type: "message",
      id: "5",
      parentId: "4",
      message: { role: "toolResult", toolCallId: "a", toolName: "bash", content: "x" },
    },
    { type: "from_the_future", id: "6", parentId: "5", anything: 1 },
  ]);
  assertEquals(calls, [["bash", { command: "ls" }], ["todo", {}]]);
  assertEquals(results.map(({ content, isError }) => [content, isError]), [[[{ type: "text", text: "x" }], false]]);
  assertEquals(roles, ["session_info", "custom", "bashExecution", "assistant", "toolResult", "from_the_future"]);
  assertEquals([summary.version, summary.damagedLines], [2, [
    { line: 5, cause: "holds a part without what it needs, which was left out" },
  ]]);
});

Deno.test("the pi reader reads a session whose header is gone", async () => {
  const { prompts, summary } = await drive([
    { type: "message", timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: "hi" } },
  ]);
  assertEquals([prompts.length, summary.version, summary.cwd], [1, 1, Deno.cwd()]);
});

const REAL = join(import.meta.dirname!, "../../../shared/data/real-session.jsonl");
const there = await Deno.stat(REAL).then(() => true, () => false);

Deno.test({
  name: `replaySession() replays a real session of version 1${there ? "" : `: left out, since ${REAL} is not there`}`,
  ignore: !there,
  async fn() {
    const seen = { before_agent_start: 0, tool_call: 0, tool_result: 0, session_compact: 0 };
    const hook = await createTestHook((pi) => {
      for (const name of Object.keys(seen) as (keyof typeof seen)[]) pi.on(name, () => void seen[name]++);
    });
    let summary: ReplaySummary | undefined;
    for await (const record of replaySession(REAL, [hook])) if (record.type === "summary") summary = record;
    assertEquals(seen, { before_agent_start: 55, tool_call: 454, tool_result: 448, session_compact: 2 });
    assertEquals(summary?.tools, { read: 107, bash: 206, write: 16, edit: 125 });
    const { lines, version, failedResults, unanswered, orphans, duplicates, damaged } = summary!;
    assertEquals({ lines, version, failedResults, unanswered, orphans, duplicates, damaged }, {
      lines: 1003,
      version: 1,
      failedResults: 12,
      unanswered: 6,
      orphans: 0,
      duplicates: 0,
      damaged: 0,
    });
  },
});
