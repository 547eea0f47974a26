import { assertEquals, assertMatch } from "@std/assert";
import { toFileUrl } from "@std/path";
import { loadHooks } from "@xcsh/hooks";
import { join } from "@std/path";
import { arena, exists, processesOf, readProc, until } from "./support.ts";

const FRAGILE = `export default (pi) => {
  pi.on("tool_call", async (event, ctx) => {
    if (event.input.die) Deno.exit(9);
    if (event.input.hang) for (;;);
    if (event.input.ask) for (;;) await ctx.ui.confirm("a", "b");
    if (event.input.dialog) return { block: true, reason: String(await ctx.ui.confirm("a", "b")) };
    if (event.input.wait) await new Promise((done) => setTimeout(done, event.input.wait));
  });
};`;

Deno.test("a hook that dies three times within a minute is broken until it is enabled again", async () => {
  await using a = await arena({ hook: FRAGILE });
  for (let i = 0; i < 3; i++) assertMatch((await a.call({ die: true })).reason, /ended with exit code 9/);
  const called = await a.call({});
  assertEquals([called.ran, called.broken], [false, true]);
  assertMatch(called.reason, /it died 3 times within a minute, last because its process ended with exit code 9/);
  assertEquals(a.children(), [], "it is not even started");
  a.runner.disable(a.hook.path);
  assertEquals((await a.call({})).ran, true, "disabling needs no restart");
  a.runner.enable(a.hook.path);
  assertEquals((await a.call({})).ran, true, "enabling gives it another chance");
});

Deno.test("calls in flight when a hook dies are all closed", async () => {
  await using a = await arena({ hook: FRAGILE });
  const calls = await Promise.all([a.call({ wait: 20_000 }), a.call({ wait: 20_000 }), a.call({ die: true })]);
  assertEquals(calls.map(({ ran, broken }) => [ran, broken]), Array(3).fill([false, true]));
  assertEquals((await a.call({})).ran, true);
});

Deno.test("questions to nobody do not stop the clock again and again", async () => {
  await using a = await arena({ hook: FRAGILE, isolation: { budget: 500 } });
  const startedAt = performance.now();
  assertEquals((await a.call({ ask: true })).ran, false);
  assertEquals(performance.now() - startedAt < 8_000, true);
});

Deno.test("time in a dialog does not count, and what comes after it does", async () => {
  const noUi = { hasUI: true };
  let answer = (_yes: boolean) => {};
  const ui = new Proxy({}, {
    get: (_target, key) => key === "confirm" ? () => new Promise<boolean>((done) => answer = done) : () => undefined,
  });
  await using a = await arena({
    hook: FRAGILE,
    isolation: { budget: 500 },
    host: { ...noUi, uiContext: ui as never },
  });
  const pending = a.call({ dialog: true });
  await new Promise((done) => setTimeout(done, 1_500));
  answer(true);
  assertEquals(await pending, { ran: false, reason: "true", broken: false, text: "" });
});

Deno.test("the isolated hooks of one emission share a time limit", async () => {
  const slow = `export default (pi) => pi.on("turn_end", () => new Promise((done) => setTimeout(done, 700)));`;
  await using a = await arena({ hook: slow, isolation: { budget: 5_000, emissionBudget: 1_000 } });
  const { hooks } = await loadHooks([a.hook.resolvedPath], a.project, {
    permissions: {},
    isolation: { budget: 5_000, emissionBudget: 1_000 },
  });
  try {
    const { HookRunner } = await import("@xcsh/hooks");
    const runner = new HookRunner([a.hook, ...hooks], a.project, a.session, {} as never);
    const errors: string[] = [];
    runner.onError(({ error }) => errors.push(error));
    await runner.emit({ type: "turn_end", turnIndex: 0, message: undefined!, toolResults: [] });
    assertEquals(errors.length, 1);
    assertMatch(errors[0]!, /time limit/);
  } finally {
    for (const hook of hooks) await hook.dispose?.();
  }
});

/** A program that loads a hook, says that it has, and calls it. */
function program(hook: string, project: string, call: string): string {
  return `
    import { HookRunner, loadHooks } from ${JSON.stringify(toFileUrl(join(import.meta.dirname!, "../../mod.ts")).href)};
    const { hooks, errors } = await loadHooks([${JSON.stringify(hook)}], ${
    JSON.stringify(project)
  }, { permissions: {} });
    console.log("loaded", hooks.length, errors.map(({ error }) => error).join());
    ${call}`;
}

const CALL = `
  const runner = new HookRunner(hooks, "/", {}, {});
  const input = JSON.parse(Deno.args[0] ?? "{}");
  const answer = await runner.emitToolCall({ type: "tool_call", toolName: "x", toolCallId: "1", input }).catch((e) => e.message);
  console.log("answered", answer);
  await runner.dispose();`;

async function script(a: { root: string; project: string; hook: { resolvedPath: string } }, call: string) {
  const config = join(import.meta.dirname!, "../../deno.json");
  const path = join(a.root, "host.ts");
  await Deno.writeTextFile(path, program(a.hook.resolvedPath, a.project, call));
  return ["run", `--config=${config}`, "--no-check", path];
}

Deno.test("a host that is killed leaves no child and no folder", async () => {
  await using a = await arena({ hook: FRAGILE });
  const args = await script(a, CALL);
  const host = new Deno.Command(Deno.execPath(), {
    args: [...args.slice(0, 1), "-A", ...args.slice(1), '{"hang":true}'],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const own = a.children();
  const theirs = () => a.children().filter((pid) => !own.includes(pid));
  await until("its child runs", () => theirs().length > 0);
  const [child] = theirs();
  const folder = /DENO_DIR=([^\0]*\/xcsh-hooks-[^/\0]+)/.exec(readProc(child!, "environ"))![1]!;
  await until("it has begun to spin", () => Number(readProc(child!, "stat").split(" ")[13]) > 30);
  host.kill("SIGKILL");
  await host.stdout.cancel();
  await host.status;
  await until("the child is gone", () => theirs().length === 0);
  await until("the folder is gone", () => !exists(folder));
});

Deno.test("a host that has nothing else to do waits for the answer of a hook", async () => {
  await using a = await arena({ hook: FRAGILE });
  const args = await script(a, CALL);
  for (
    const [input, text] of [['{"wait":500}', /answered undefined/], [
      '{"die":true}',
      /answered The hook .* is broken/,
    ]] as const
  ) {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [...args.slice(0, 1), "-A", ...args.slice(1), input],
      stderr: "null",
    }).output();
    assertMatch(new TextDecoder().decode(stdout), text);
    assertEquals(code, 0);
  }
});

Deno.test("a host without --allow-run says so, and does not load the hook into itself", async () => {
  await using a = await arena({
    hook: `console.log("in process"); export default () => { console.log("in process"); };`,
  });
  const args = await script(a, "");
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args.slice(0, 1), "--no-prompt", "--allow-read", "--allow-write", "--allow-env", ...args.slice(1)],
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertMatch(text, /loaded 0 .*isolating a hook starts a process for it, for which this program lacks --allow-run/);
  assertMatch(text, /It was not loaded, since in this process it would have all of its rights/);
  assertEquals(text.includes("in process\n"), false);
});

Deno.test("a hook whose folder has gone is broken, and the host lives", async () => {
  await using a = await arena({ hook: FRAGILE });
  await a.call({ die: true });
  await Deno.rename(a.project, join(a.root, "moved"));
  const called = await a.call({});
  assertEquals([called.ran, called.broken], [false, true]);
  await Deno.rename(join(a.root, "moved"), a.project);
  assertEquals((await a.call({})).ran, true);
  assertEquals(processesOf(a.root).length > 0, true);
});
