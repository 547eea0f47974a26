/**
 * What isolation costs.
 *
 * @module
 */

import { join } from "@std/path";
import { HookRunner, loadHooks, type LoadHooksOptions } from "@xcsh/hooks";
import { SessionManager } from "@xcsh/hooks/session";
import { compare, median } from "./measure.ts";
import { type Measured, type Row, us } from "./row.ts";

const GATE = `export default function (pi) {
  pi.on("tool_call", (event) => event.input.command === "rm" ? { block: true, reason: "no" } : undefined);
  pi.on("tool_result", () => {});
  pi.on("turn_start", (_event, ctx) => void ctx.sessionManager.getLeafEntry());
  pi.on("agent_start", () => { for (;;); });
}`;
const CALL = {
  type: "tool_call",
  toolName: "bash",
  toolCallId: "call_1",
  input: { command: "ls -la ".padEnd(120, "x") },
} as const;

/** Gives a work a runner behind isolated gates, in a folder that is gone afterwards. */
async function withGates<T>(
  count: number,
  work: (runner: HookRunner, folder: string, session: SessionManager) => Promise<T>,
  options: LoadHooksOptions = {},
): Promise<T> {
  const folder = await Deno.makeTempDir();
  try {
    const paths = Array.from({ length: count }, (_, i) => join(folder, `gate_${i}.js`));
    for (const path of paths) await Deno.writeTextFile(path, GATE);
    const session = SessionManager.inMemory(folder);
    const { hooks, errors } = await loadHooks(paths, folder, { permissions: {}, ...options });
    if (errors.length > 0) throw new Error(errors[0]!.error);
    const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
    const runner = new HookRunner(hooks, folder, session, models);
    try {
      return await work(runner, folder, session);
    } finally {
      await runner.dispose();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function latencies(runner: HookRunner): Promise<number[]> {
  for (let i = 0; i < 500; i++) await runner.emitToolCall(CALL);
  const times: number[] = [];
  for (let i = 0; i < 4_000; i++) {
    const start = performance.now();
    await runner.emitToolCall(CALL);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}

/** A hook as other systems have it: a program that reads JSON and answers by its exit code. */
const PROGRAMS: Readonly<Record<string, readonly [command: string, args: readonly string[]]>> = {
  sh: ["sh", ["-c", 'read -r event; case $event in *\'"command":"rm"\'*) exit 2 ;; esac']],
  node: ["node", ["-e", 'process.stdin.on("data", (d) => process.exit(JSON.parse(d).input.command === "rm" ? 2 : 0))']],
  deno: [Deno.execPath(), [
    "eval",
    "for await (const d of Deno.stdin.readable) Deno.exit(JSON.parse(new TextDecoder().decode(d)).input.command === 'rm' ? 2 : 0)",
  ]],
};

async function runProgram([command, args]: readonly [string, readonly string[]]): Promise<void> {
  const child = new Deno.Command(command, { args: [...args], stdin: "piped", stdout: "null", stderr: "null" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${JSON.stringify(CALL)}\n`));
  await writer.close();
  await child.status;
}

function against(program: string, atLeast: number): Row {
  return {
    name: `one event, against one ${program} process for each`,
    unit: "× faster",
    target: { atLeast },
    run: () =>
      withGates(1, async (runner) => {
        const ours = median(await latencies(runner));
        const times: number[] = [];
        for (let i = 0; i < 15; i++) {
          const start = performance.now();
          await runProgram(PROGRAMS[program]!);
          times.push(performance.now() - start);
        }
        const theirs = median(times);
        return { value: theirs / ours, detail: `${us(ours * 1_000)} against ${us(theirs * 1_000)}` };
      }),
  };
}

/** Private memory of the processes below this one that run a hook, in MiB; what the system does not tell is no number. */
async function privateMemory(folder: string): Promise<number[]> {
  const sizes: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const command = await Deno.readTextFile(`/proc/${name}/cmdline`);
      if (!command.includes(folder) || !command.includes("boot.ts")) continue;
      const memory = await Deno.readTextFile(`/proc/${name}/smaps_rollup`);
      const kib = [...memory.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm)].reduce(
        (sum, [, size]) => sum + Number(size),
        0,
      );
      sizes.push(kib / 1024);
    } catch {
      // It has ended, or belongs to somebody else.
    }
  }
  return sizes;
}

/** One megabyte of objects, as a long conversation has them. */
function bigEvent() {
  const input = {
    edits: Array.from(
      { length: 6_000 },
      (_, i) => ({ oldText: `const value${i} = ${i};`, newText: "x".repeat(90), line: i }),
    ),
  };
  return { ...CALL, input };
}

/** Rows about isolation. */
export const isolationRows: readonly Row[] = [
  {
    name: "one event of 200 bytes through an isolated hook, median",
    unit: "ms",
    target: { atMost: 0.25 },
    run: () =>
      withGates(1, async (runner): Promise<Measured> => {
        const times = await latencies(runner);
        return { value: median(times), detail: `p99 ${us(times[Math.floor(times.length * 0.99)]! * 1_000)}` };
      }),
  },
  {
    name: "one event of 200 bytes through an isolated hook, p99",
    unit: "ms",
    target: { atMost: 2 },
    run: () =>
      withGates(1, async (runner): Promise<Measured> => {
        const times = await latencies(runner);
        return { value: times[Math.floor(times.length * 0.99)]!, detail: `median ${us(median(times) * 1_000)}` };
      }),
  },
  against("sh", 20),
  against("node", 200),
  against("deno", 200),
  {
    name: "five isolated hooks ready",
    unit: "s",
    target: { atMost: 0.6 },
    async run() {
      const times: number[] = [];
      for (let i = 0; i < 6; i++) {
        const start = performance.now();
        await withGates(5, () => Promise.resolve(times.push(performance.now() - start)));
      }
      // The first fills the cache that the others start from.
      const [cold, ...warm] = times;
      return { value: median(warm) / 1_000, detail: `the first time ${us(cold! * 1_000)}` };
    },
  },
  {
    name: "private memory of an isolated hook",
    unit: "MiB",
    target: { atMost: 25 },
    run: () =>
      withGates(5, async (runner, folder) => {
        for (let i = 0; i < 200; i++) await runner.emitToolCall(CALL);
        const sizes = await privateMemory(folder);
        return { value: Math.max(...sizes), detail: `${sizes.length} processes` };
      }),
  },
  {
    name: "answer about a hung hook, after its time is up",
    unit: "ms",
    target: { atMost: 300 },
    run: () =>
      withGates(1, async (runner) => {
        const start = performance.now();
        await runner.emit({ type: "agent_start" });
        return { value: performance.now() - start - 500, detail: "a budget of 500 ms" };
      }, { isolation: { budget: 500 } }),
  },
  {
    name: "an event of 1 MB, of encoding and decoding it",
    unit: "×",
    target: { atMost: 2 },
    run: () =>
      withGates(1, async (runner) => {
        const event = bigEvent();
        const { ours, theirs, ratio } = await compare(
          () => runner.emitToolCall(event),
          () => JSON.parse(new TextDecoder().decode(new TextEncoder().encode(JSON.stringify(event)))),
          { samples: 15, sampleMs: 20 },
        );
        return { value: ratio, detail: `${us(ours)} against ${us(theirs)}` };
      }),
  },
  {
    name: "an event that reads a session of 100 000 entries, of one that reads 100",
    unit: "×",
    target: { atMost: 1.5 },
    run: () =>
      withGates(1, (many, _folder, long) =>
        withGates(1, async (few, __folder, short) => {
          for (const [session, entries] of [[long, 100_000], [short, 100]] as const) {
            for (let i = 0; i < entries; i++) {
              session.appendMessage({ role: "user", content: `message ${i}`, timestamp: 0 });
            }
          }
          const event = { type: "turn_start", turnIndex: 0, timestamp: 0 } as const;
          const { ours, theirs, ratio } = await compare(() => many.emit(event), () => few.emit(event), {
            sampleMs: 20,
          });
          return { value: ratio, detail: `${us(ours)} against ${us(theirs)}` };
        })),
  },
];
