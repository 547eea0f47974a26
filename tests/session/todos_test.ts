import { assertEquals, assertStringIncludes } from "@std/assert";
import { textOf } from "../../src/messages.ts";
import { ScriptedModel, type ScriptedTurn, SessionManager } from "../../src/session/mod.ts";
import { startSession, withFolder } from "./support.ts";

const write = (...statuses: string[]): ScriptedTurn => ({
  toolCalls: [{
    name: "todo_write",
    arguments: { todos: statuses.map((status, i) => ({ content: `item ${i}`, status })) },
  }],
});

Deno.test("AgentSession reminds the agent of what is left, up to its limit (TD-2)", async () => {
  const log: unknown[] = [];
  const model = new ScriptedModel({ turns: [write("completed", "pending", "in_progress"), { text: "done" }] });
  const { session } = await startSession({
    model,
    todos: { maxReminders: 2 },
    hooks: [(pi) => {
      pi.on("todo_reminder", (event) => void log.push([event.attempt, event.maxAttempts, event.todos]));
    }],
  });
  await session.prompt("go");
  const left = [{ id: "2", content: "item 1", status: "pending" }, {
    id: "3",
    content: "item 2",
    status: "in_progress",
  }];
  assertEquals(log, [[1, 2, left], [2, 2, left]]);
  assertStringIncludes(String(model.lastRequest!.messages.at(-1)!.content), "[pending] item 1 (id 2)");
  await session.prompt("again");
  assertEquals(log.length, 4);
  await session.dispose();
});

Deno.test("AgentSession does not remind when all is done, the answer failed, or reminders are off", async () => {
  for (
    const [turns, todos] of [
      [[write("completed", "abandoned"), { text: "done" }], {}],
      [[write("pending"), { error: "invalid api key" }], {}],
      [[write("pending"), { text: "done" }], { reminders: false }],
    ] as [ScriptedTurn[], object][]
  ) {
    const { session, told } = await startSession({ model: new ScriptedModel({ turns }), todos });
    await session.prompt("go");
    await session.dispose();
    assertEquals(told.some((event) => event.type === "todo_reminder"), false);
  }
});

Deno.test("AgentSession has no todo tool when todos are off", async () => {
  const model = new ScriptedModel({ turns: [] });
  const { session } = await startSession({ model, todos: { enabled: false } });
  await session.prompt("go");
  await session.dispose();
  assertEquals(model.lastRequest!.tools.some((tool) => tool.name === "todo_write"), false);
});

Deno.test("AgentSession finds its list again in a session that is opened again", () =>
  withFolder(async (folder) => {
    const sessionManager = SessionManager.create(folder, folder);
    const first = await startSession({ model: new ScriptedModel({ turns: [write("completed"), {}] }), sessionManager });
    await first.session.prompt("go");
    await first.session.dispose();
    const again = await startSession({ sessionManager: SessionManager.open(sessionManager.getSessionFile()!) });
    assertEquals(again.session.todos, [{ id: "1", content: "item 0", status: "completed" }]);
    await again.session.dispose();
  }));

Deno.test("todo_write refuses lists that cannot be", async () => {
  const model = new ScriptedModel({
    turns: [{
      toolCalls: [
        { name: "todo_write", arguments: { todos: [{ content: "x", status: "later" }] } },
        {
          name: "todo_write",
          arguments: {
            todos: [{ id: "a", content: "x", status: "pending" }, { id: "a", content: "y", status: "pending" }],
          },
        },
      ],
    }],
  });
  const { session } = await startSession({ model });
  await session.prompt("go");
  await session.dispose();
  const texts = session.messages.flatMap((message) => message.role === "toolResult" ? [textOf(message.content)] : []);
  assertStringIncludes(texts[0]!, "todos[0].status: expected one of");
  assertEquals(texts[1], 'Two items have the id "a"');
});
