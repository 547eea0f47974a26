import { assertEquals, assertMatch } from "@std/assert";
import { HookRunner, loadHooks } from "@xcsh/hooks";
import { join } from "@std/path";
import { assertAlive, assertBroken, attack, lootOf } from "./_attack.ts";

Deno.test("19: an answer under a number that was not asked ends the hook", async () => {
  for (const how of [0, -1, 1e9, "1", null, { id: 1 }, [1], 1.5, true]) {
    await using a = await attack("19_forges_answers.ts", { isolation: { budget: 5_000 } });
    assertBroken(await a.call({ how: how as never }), /it answered .+, which it was not asked/);
    await assertAlive(a);
  }
});

Deno.test("19: a hook cannot answer for another hook", async () => {
  await using a = await attack("19_forges_answers.ts");
  const gate = join(a.project, "hooks/gate.ts");
  await Deno.writeTextFile(
    gate,
    `export default (pi) => {
    pi.on("tool_call", () => new Promise((done) => setTimeout(() => done({ block: true, reason: "denied" }), 300)));
  };`,
  );
  const { hooks } = await loadHooks([gate], a.project, { permissions: {} });
  try {
    a.runner = new HookRunner([a.hook, ...hooks], a.project, a.session, {} as never);
    // It may hurt itself by what it does, and then the call is blocked because of that; it cannot open the other gate.
    const called = await a.call({ how: "everywhere" });
    assertEquals(called.ran, false);
    if (called.broken) assertBroken(called);
    else assertEquals(called.reason, "denied");
    a.runner.disable(a.hook.path);
    assertEquals((await a.call({})).reason, "denied");
  } finally {
    for (const hook of hooks) await hook.dispose?.();
  }
});

for (
  const [how, why] of [
    ["Deno.exit", /exit code 0/],
    ["process.exit", /exit code 0/],
    ["reallyExit", /exit code 0/],
    ["abort", /was ended by SIG|exit code/],
    ["kill", /was ended by SIGKILL/],
    ["Deno.kill", /was ended by SIGTERM/],
    ["unstable", /exit code|ended by/],
  ] as const
) {
  Deno.test(`20: a gate that ends its process is closed: ${how}`, async () => {
    await using a = await attack("20_exits.ts");
    const called = await a.call({ how });
    assertEquals(called.ran, false);
    if (called.broken) assertBroken(called, why);
    await assertAlive(a);
  });
}

Deno.test("20: a gate that throws is closed with what it threw, and lives", async () => {
  await using a = await attack("20_exits.ts");
  const [child] = a.children();
  assertEquals((await a.call({ how: "throw" })).reason, "thrown");
  assertEquals((await a.call({ how: "throw nothing" })).reason, "Hook failed, blocking execution: undefined");
  assertEquals((await a.call({ how: "throw oddly" })).ran, false);
  assertEquals((await a.call({ how: "reject" })).reason, "still here");
  assertEquals((await a.call({ how: "queue" })).reason, "still here");
  assertEquals(a.children(), [child]);
});

Deno.test("20: in other events as well", async () => {
  await using a = await attack("20_exits.ts");
  const result = await a.runner.emit({ type: "session_before_switch", reason: "new" });
  assertEquals(result?.cancel, true);
  await a.runner.emit({ type: "turn_end", turnIndex: 0, message: undefined!, toolResults: [] });
  assertMatch(a.errors.at(-1)!.error, /its process ended with exit code 7 while it was asked for turn_end/);
  await assertAlive(a);
});

Deno.test("20: a hook that ends the process, hangs or throws while it loads is a load error", async () => {
  for (
    const [text, why] of [
      [`throw new Error("at top level");`, /at top level/],
      [`Deno.exit(0); export default () => {};`, /it called exit\(0\) while loading/],
      [`process.exit(3); export default () => {};`, /it called exit\(3\) while loading/],
      [`process.reallyExit(3); export default () => {};`, /exit code 3|while loading/],
      [`for (;;); export default () => {};`, /did not finish loading within 1000 ms/],
      [`await new Promise(() => {}); export default () => {};`, /did not finish loading|never|unresolved|exit code/i],
      [`export default () => new Promise(() => {});`, /did not finish loading within 1000 ms/],
      [`export default () => { throw "oh"; };`, /^Failed to load hook: oh$/],
      [`Promise.reject(new Error("unhandled")); export default 1;`, /^Hook must export a default function$/],
      [`process.kill(process.pid, "SIGKILL"); export default () => {};`, /was ended by SIGKILL/],
    ] as const
  ) {
    await using a = await attack("20_exits.ts", {
      mayFail: true,
      load: { timeout: 1_000 },
      prepare: (root) => Deno.writeTextFile(join(root, "project/hooks/20_exits.ts"), text),
    });
    assertMatch(a.loadErrors.join(), why, text);
  }
});

Deno.test("22: polluted prototypes stay in the hook's process, and do not open its gate", async () => {
  await using a = await attack("22_pollutes_prototypes.ts", { isolation: { budget: 1_000 } });
  const called = await a.call({ how: "prototypes" });
  assertEquals(called.ran, false, "what it answered, or broken");
  if (called.broken) assertBroken(called);
  else assertEquals(called.reason, "polluted");
  assertEquals([({} as { block?: unknown }).block, [1].map((x) => x)], [undefined, [1]]);
});

Deno.test("22: a hook that spoils the means by which it answers spoils its own answers alone", async () => {
  await using a = await attack("22_pollutes_prototypes.ts", { isolation: { budget: 1_000 } });
  await a.call({ how: "means" });
  assertEquals(JSON.stringify({ a: 1 }), `{"a":1}`);
  assertEquals(await Promise.resolve(1).then((one) => one + 1), 2);
  const next = await a.call({ how: "keys" });
  assertEquals(next.ran && !next.broken, false);
});

Deno.test("22: keys that would pollute do not", async () => {
  await using a = await attack("22_pollutes_prototypes.ts");
  assertEquals((await a.call({ how: "keys" })).reason, "keys");
  assertEquals((await a.call({ how: "tagged" })).reason, "tagged");
  const messages = await a.runner.emitContext([{ role: "user", content: "y", timestamp: 1 }]);
  assertEquals(messages.length, 2);
  assertEquals(({} as { polluted?: unknown }).polluted, undefined);
  for (const value of [a.sent, a.appended, messages]) {
    assertEquals((structuredClone(value) as { polluted?: unknown }).polluted, undefined);
  }
  const [, data] = a.appended[0] as [string, object];
  assertEquals(Object.hasOwn(data, "__proto__"), true, "it is data like any other");
  assertEquals(Object.getPrototypeOf(data), Object.prototype);
  await assertAlive(a);
});

Deno.test("23: what is printed is a log, whatever it looks like", async () => {
  await using a = await attack("23_prints_frames.ts");
  for (let i = 0; i < 3; i++) {
    assertEquals(await a.call({ print: true }), { ran: false, reason: "denied", broken: false, text: "" });
  }
  // deno-lint-ignore no-control-regex
  assertEquals(a.printed.filter((line) => /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/.test(line)), []);
  assertEquals(a.printed.some((line) => line.includes(`"t":"result"`)), true);
  assertEquals(a.errors, []);
});

for (const how of ["readSync", "fs", "process.stdin", "close", "closeSync", "prompt", "tty"]) {
  Deno.test(`24: a hook that reads or closes its standard input hurts itself alone: ${how}`, async () => {
    await using a = await attack("24_reads_stdin.ts", { isolation: { budget: 1_000 } });
    assertEquals((await a.call({ how })).ran, false);
    // Its next event may be lost on it; then the gate is closed, and the one after that goes to a new process.
    for (let next = await a.call({}), calls = 1; calls < 4; next = await a.call({}), calls++) {
      if (next.ran) continue;
      assertBroken(next);
      break;
    }
    a.runner.enable(a.hook.path);
    await assertAlive(a);
  });
}

Deno.test("28: odd answers block, allow, or fail, by what they say", async () => {
  await using a = await attack("28_odd_answers.ts");
  const outcomes: Record<string, [ran: boolean, reason: RegExp]> = {
    "getter": [false, /^getter$/],
    "throwing getter": [false, /: no$/],
    "cycle": [false, /^cycle$/],
    "BigInt": [false, /^18446744073709551616$/],
    "function": [false, /returned the function/],
    "functions": [false, /./],
    "symbol": [false, /returned the symbol/],
    "proxy": [false, /blocked by a hook/],
    "class": [false, /^class$/],
    "toJSON": [false, /^toJSON$/],
    "deep": [false, /^deep$/],
    "date": [true, /^$/],
    "text": [false, /returned the string "allow"/],
    "array": [false, /returned an array/],
    "NaN": [true, /^$/],
    "long": [false, /is broken/],
    "revoked": [false, /revoked/],
  };
  for (const [how, [ran, reason]] of Object.entries(outcomes)) {
    const called = await a.call({ how });
    assertEquals(called.ran, ran, `${how}: ${called.reason}`);
    assertMatch(called.reason, reason, how);
    await assertAlive(a);
  }
});

Deno.test("28: odd answers to other events leave the result as it was, or are data", async () => {
  await using a = await attack("28_odd_answers.ts");
  assertEquals((await a.call({ result: "cycle" })).text, "done");
  assertEquals((await a.call({ result: "numbers" })).text, "done");
  assertEquals((await a.call({ result: "deep" })).text, "done");
  assertEquals(a.errors.map(({ event }) => event), ["tool_result", "tool_result"]);
});

Deno.test("29: what was not granted is refused, by the API and by frames", async () => {
  let turns = 0;
  const moved: string[] = [];
  const did = (what: string) => () => (moved.push(what), Promise.resolve({ cancelled: false }));
  await using a = await attack("29_asks_for_more.ts", {
    host: {
      newSessionHandler: did("new"),
      branchHandler: did("branch"),
      navigateTreeHandler: did("navigate"),
      waitForIdle: () => new Promise(() => {}),
      sendMessageHandler: (_message, options) => void (turns += options?.triggerTurn ? 1 : 0),
    },
  });
  const found = lootOf(await a.call({ how: "more" }));
  assertMatch(
    found.exec!,
    /^refused: id was not granted to this hook with these arguments; grant it with --allow-exec="id"/,
  );
  assertMatch(found.shell!, /^refused: sh was not granted/);
  assertEquals(found.key, "got undefined");
  assertMatch(found.newSession!, /^refused/);
  await a.call({ how: "frames" });
  // Also after one of its commands has run: the rights of a command end with it.
  await a.runner.getCommand("innocent")!.handler("", a.runner.createCommandContext());
  await a.call({ how: "frames" });
  assertEquals(moved, []);
  await assertAlive(a);
  // Limit: messages and entries need no grant, so that a gate can start a turn.
  await a.call({ how: "turn" });
  assertEquals(turns, 1);
});
