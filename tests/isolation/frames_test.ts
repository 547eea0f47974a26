import { assertEquals, assertMatch } from "@std/assert";
import { arena, type Called } from "./support.ts";

/** A hook that writes to the host whatever an event tells it to. */
const RAW = `
import fs from "node:fs";
export default (pi) => {
  pi.on("tool_call", async (event) => {
    if (event.input.raw === undefined) return;
    fs.writeSync(3, event.input.raw + "\\n");
    if (event.input.then) await new Promise(() => {});
  });
};`;

function assertClosed(called: Called, why: RegExp, frame: string): void {
  assertEquals([called.ran, called.broken], [false, true], frame);
  assertMatch(called.reason, /^The hook \S+hook\.ts is broken, it did not deny anything: /, frame);
  assertMatch(called.reason, why, frame);
  assertEquals(called.reason.includes("\n"), false, "one sentence");
}

const FRAMES: [frame: string, why: RegExp][] = [
  ["", /it sent a frame that is no JSON: ""/],
  ["nonsense", /it sent a frame that is no JSON: "nonsense"/],
  ["\x1b[2J", /no JSON: "\\u001b\[2J"/],
  ["null", /it sent a frame that is no frame: "null"/],
  ["[]", /no frame/],
  ["{}", /no frame/],
  ['{"t":1}', /no frame/],
  ['{"t":"what"}', /a frame of the unknown kind "what"/],
  ['{"t":"__proto__"}', /a frame of the unknown kind "__proto__"/],
  ['{"t":"result"}', /it answered undefined, which it was not asked/],
  ['{"t":"result","id":"1"}', /it answered the string "1", which it was not asked/],
  ['{"t":"result","id":1,"error":"x"}', /it sent a fault that is none/],
  ['{"t":"result","id":1,"x":1,"v":{"$":"what"}}', /it sent a value of the unknown kind "what"/],
  ['{"t":"result","id":1,"x":1,"v":{"$":"set","v":1}}', /it sent a tagged set that is none/],
  ['{"t":"result","id":1,"x":1,"v":{"$":"map","v":[1]}}', /it sent a map that is none/],
  ['{"t":"result","id":1,"x":1,"v":{"$":"bytes","v":"*"}}', /it sent bytes that are none/],
  ['{"t":"result","id":1,"x":1,"v":{"$":"bigint","v":"x"}}', /it sent a big integer that is none/],
  ['{"t":"result","id":1,"x":1,"v":{"$":"error"}}', /it sent a tagged error that is none/],
  [`{"t":"result","id":1,"v":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, /nested too deep/],
  ['{"t":"ask","id":"1","method":"exec","args":[]}', /it asked under a number that is in use/],
  ['{"t":"ask","id":9e6}', /it asked for nothing/],
  ['{"t":"ask","id":9e6,"method":"exec"}', /it asked without arguments/],
  ['{"t":"ask","id":9e6,"method":"what","args":[]}', /it asked for "what", which there is not/],
  ['{"t":"sync"}', /it asked for nothing/],
  ['{"t":"sync","method":"session"}', /it asked without arguments/],
  ['{"t":"sync","method":"constructor","args":[]}', /it asked for "constructor", which there is not/],
  ['{"t":"sync","method":"theme","args":["constructor"]}', /it asked for the style "constructor", which there is not/],
  ['{"t":"tell"}', /it asked for nothing/],
  ['{"t":"tell","method":"what","args":[]}', /it told "what", which there is not/],
  ['{"t":"log","level":"trace","message":""}', /it sent a log record of no level/],
  ['{"t":"on"}', /it sent undefined as the event of a frame of the kind "on"/],
  ['{"t":"on","event":{"toString":1}}', /it sent an object as the event of a frame/],
  ['{"t":"command","name":"x"}', /it sent undefined as the shown of a frame of the kind "command"/],
  ['{"t":"renderer","customType":null}', /it sent null as the customType of a frame of the kind "renderer"/],
  ['{"t":"warn","warning":[]}', /it sent an array as the warning of a frame of the kind "warn"/],
];

Deno.test("every malformed frame closes the gate with one sentence that names the hook and the cause", async () => {
  await using a = await arena({ hook: RAW, isolation: { budget: 5_000 } });
  for (const [frame, why] of FRAMES) {
    // A new child each time numbers its events anew; the host does not.
    const raw = frame.replace(`"id":1,`, `"id":@,`);
    assertClosed(await a.call({ raw: raw.replace("@", String(id(a))), then: true }), why, frame.slice(0, 80));
    a.runner.enable(a.hook.path);
    assertEquals((await a.call({})).ran, true);
  }
});

const counted = new WeakMap<object, number>();

/** Number of the next event that the host asks: one for the frame, one for the look whether the hook lives. */
function id(a: object): number {
  const next = (counted.get(a) ?? -1) + 2;
  counted.set(a, next);
  return next;
}

Deno.test("a frame that is fine where it is not asked for does nothing", async () => {
  await using a = await arena({ hook: RAW, isolation: { budget: 5_000 } });
  for (
    const raw of [
      '{"t":"ready"}',
      '{"t":"failed","error":"x"}',
      '{"t":"cancel","id":{"a":1}}',
      '{"t":"cancel"}',
      '{"t":"tell","method":"ui.done","args":[7,1]}',
      '{"t":"on","event":"no such event"}',
      '{"t":"on","event":"__proto__"}',
      '{"t":"log","level":"info","message":{"toString":1}}',
    ]
  ) {
    assertEquals(await a.call({ raw }), { ran: true, reason: "", broken: false, text: "done" }, raw);
  }
  assertEquals(a.errors, []);
});
