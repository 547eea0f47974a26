import { assertEquals, assertMatch } from "@std/assert";
import { readProc, until } from "../isolation/support.ts";
import { assertAlive, assertBroken, attack } from "./_attack.ts";

const BUDGET = 500;

for (const how of ["loop", "microtasks", "regex", "wait", "atomics", "then", "worker", "ticks"]) {
  Deno.test(`15: a gate that never answers is closed, and its process gone: ${how}`, async () => {
    await using a = await attack("15_spins.ts", { isolation: { budget: BUDGET } });
    const [child] = a.children();
    const startedAt = performance.now();
    const called = await a.call({ how });
    const took = performance.now() - startedAt;
    assertBroken(called, /did not answer within its time limit of 500 ms/);
    assertEquals(took >= BUDGET && took < BUDGET + 5_000, true, `${took} ms`);
    await until("it is gone", () => readProc(child!, "cmdline") === "");
    await assertAlive(a);
  });
}

Deno.test("15: a hook that spins in other events cancels what it guards, and holds up what it watches no longer than that", async () => {
  await using a = await attack("15_spins.ts", { isolation: { budget: BUDGET } });
  const result = await a.runner.emit({ type: "session_before_switch", reason: "fork" });
  assertEquals(result?.cancel, true);
  assertMatch((result as { reason?: string }).reason ?? "", /is broken, it did not deny anything/);
  await a.runner.emit({ type: "turn_end", turnIndex: 0, message: undefined!, toolResults: [] });
  assertEquals(a.errors.map(({ event }) => event), ["session_before_switch", "turn_end"]);
  assertEquals(a.decisions.map(({ effect }) => effect), ["broken"]);
  await assertAlive(a);
});

for (const how of ["objects", "strings", "map"]) {
  Deno.test(`16: a hook that exhausts its heap dies alone: ${how}`, async () => {
    await using a = await attack("16_exhausts_the_heap.ts", { isolation: { heapLimit: 40, budget: 60_000 } });
    assertBroken(await a.call({ how }), /its process (?:was ended by|ended with exit code)/);
    await assertAlive(a);
  });
}

for (const how of ["ArrayBuffer", "SharedArrayBuffer", "Buffer", "WebAssembly"]) {
  Deno.test(`17: a hook that takes memory outside of its heap is held to 2 GiB: ${how}`, async () => {
    await using a = await attack("17_fills_buffers.ts", { isolation: { budget: 60_000 } });
    const called = await a.call({ how });
    assertEquals(called.ran, false);
    assertEquals(/^took/.test(called.reason), false, called.reason);
    await assertAlive(a);
  });
}

for (
  const [how, why] of [
    ["tell", /more messages a second than a host can take/],
    ["huge", /a frame of more than \d+ bytes/],
    ["half", /time limit/],
    ["bytes", /a frame of more than \d+ bytes|time limit|more than a host can take/],
    ["asks", /without reading the answers|more than a host can take|at once|time limit/],
    ["small asks", /at once|without reading the answers|more than a host can take|time limit/],
    ["syncs", /without reading the answers|more than a host can take|time limit/],
    ["warn", /under a name of more than 4096 characters/],
    ["on", /under a name of more than 4096 characters/],
    ["status", /more than it can take|time limit/],
    ["append", /more than it can take|time limit/],
    ["log", /more than it can take|time limit/],
    ["lines", /no JSON/],
  ] as const
) {
  Deno.test(`18: a flood ends the hook and leaves the host: ${how}`, async () => {
    await using a = await attack("18_floods_the_channel.ts", { isolation: { budget: 3_000 } });
    // Half of a megabyte is none of the host's concern; hundreds would be.
    const before = Deno.memoryUsage();
    const called = await a.call({ how });
    const after = Deno.memoryUsage();
    assertBroken(called, why);
    const grown = after.heapUsed + after.external - before.heapUsed - before.external;
    assertEquals(grown < 700 * 1024 * 1024, true, `${Math.round(grown / 1024 / 1024)} MiB`);
    a.appended.length = 0;
    await assertAlive(a);
  });
}

Deno.test("34: a hook that has stopped itself is ended", async () => {
  await using a = await attack("34_stops_itself.ts", { isolation: { budget: BUDGET } });
  assertBroken(await a.call({ how: "stop" }), /time limit/);
  assertEquals((await a.call({ how: "stop later" })).reason, "soon");
  const [child] = a.children();
  await until("it has stopped", () => / T /.test(readProc(child!, "stat")));
  assertBroken(await a.call({}), /time limit/);
  await assertAlive(a);
});

Deno.test("34: a hook that ignores every request to end is ended", async () => {
  await using a = await attack("34_stops_itself.ts");
  assertEquals((await a.call({ how: "ignore" })).reason, "ignores");
  assertEquals((await a.call({ how: "group" })).reason, "undefined undefined");
  // The arena's end fails when the process is left.
});

Deno.test("34: Workers do not multiply the memory without bound", async () => {
  await using a = await attack("34_stops_itself.ts", { isolation: { budget: 8_000, heapLimit: 64 } });
  assertBroken(await a.call({ how: "workers" }));
  await assertAlive(a);
});
