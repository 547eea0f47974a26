import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type ModelEvent, type ModelRequest, ScriptedModel, ScriptError } from "../../src/session/mod.ts";
import { withFolder } from "../session/support.ts";

function request(signal = new AbortController().signal): ModelRequest {
  return { systemPrompt: "", messages: [], tools: [], signal };
}

async function play(model: ScriptedModel): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request())) events.push(event);
  return events;
}

Deno.test("ScriptedModel plays its turns, and empty ones after them", async () => {
  const model = new ScriptedModel({
    turns: [
      { thinking: "hm", text: "Look", toolCalls: [{ name: "bash", arguments: { command: "ls" } }] },
      { error: "overloaded", usage: { input: 3, output: 4 } },
    ],
  });
  assertEquals(await play(model), [
    { type: "thinking", delta: "hm" },
    { type: "text", delta: "Look" },
    { type: "toolCallDelta", id: "call_1_1", name: "bash", delta: '{"command":"ls"}' },
    { type: "toolCall", id: "call_1_1", name: "bash", arguments: { command: "ls" } },
    { type: "done", stopReason: "toolUse" },
  ]);
  assertEquals(await play(model), [
    { type: "usage", usage: { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, totalTokens: 7 } },
    { type: "error", message: "overloaded" },
  ]);
  assertEquals(await play(model), [{ type: "done", stopReason: "stop" }]);
});

Deno.test("ScriptedModel streams long texts in pieces that join to the text", async () => {
  const text = "müsli 🥣 ".repeat(5_000);
  const pieces = (await play(new ScriptedModel({ turns: [{ text }] }))).flatMap((event) =>
    event.type === "text" ? [event.delta] : []
  );
  assertEquals(pieces.join(""), text);
  assertEquals(pieces.length > 10 && pieces.length <= 257, true);
  assertEquals(pieces.some((piece) => /^[\uDC00-\uDFFF]/.test(piece)), false);
});

Deno.test("ScriptedModel ends its delay when the signal aborts", async () => {
  const controller = new AbortController();
  const model = new ScriptedModel({ turns: [{ text: "late", delayMs: 60_000 }] });
  const next = model.stream(request(controller.signal)).next();
  controller.abort();
  await assertRejects(() => next, DOMException);
});

for (
  const [script, place] of [
    [[], "the script: expected an object with turns, found an array"],
    [{}, "turns: expected an array, found undefined"],
    [{ turns: [1] }, "turns[0]: expected an object, found the number 1"],
    [{ turns: [{ text: 1 }] }, "turns[0].text: expected a string, found the number 1"],
    [
      { turns: [{}, {}, { toolCalls: [{ name: 5 }] }] },
      "turns[2].toolCalls[0].name: expected a string, found the number 5",
    ],
    [{ turns: [{ toolCalls: [{ name: "x", arguments: [] }] }] }, "turns[0].toolCalls[0].arguments: expected an object"],
    [{ turns: [{ delayMs: "1" }] }, "turns[0].delayMs: expected a number"],
    [{ turns: [{ usage: { input: "1" } }] }, "turns[0].usage.input: expected a number"],
    [{ turns: [{ error: { status: 1 } }] }, "turns[0].error.message: expected a string"],
  ] as [unknown, string][]
) {
  Deno.test(`ScriptedModel.parse() says where it is malformed: ${place}`, () => {
    assertThrows(() => ScriptedModel.parse(JSON.stringify(script), "a.json"), ScriptError, `Script a.json: ${place}`);
  });
}

for (
  const [text, place] of [
    ['{\n  "turns": [\n    oops\n  ]\n}', "3:5"],
    ['{"turns": [}', "1:12"],
    ['{"turns": [],}', "1:14"],
    ['{"turns": ["a', "1:12"],
    ["", "1:1"],
    ['{"turns": []} x', "1:15"],
    ['{"turns" []}', "1:10"],
    ['{"turns": [1 2]}', "1:14"],
    ['{"turns": [01]}', "1:12"],
  ]
) {
  Deno.test(`ScriptedModel.parse() gives line and column of broken JSON: ${JSON.stringify(text)}`, () => {
    assertThrows(() => ScriptedModel.parse(text!, "a.json"), ScriptError, `Script a.json:${place}: `);
  });
}

Deno.test("ScriptedModel.load() names a file that cannot be read", () =>
  withFolder(async (folder) => {
    await assertRejects(
      () => ScriptedModel.load(`${folder}/none.json`),
      ScriptError,
      `${folder}/none.json cannot be read`,
    );
  }));
