/**
 * Replay: tool calls a second through three hooks, and the most memory that it takes, for sessions of growing length.
 *
 * ```sh
 * deno run -A bench/replay.ts
 * ```
 *
 * @module
 */

// deno-lint-ignore-file no-console -- its output is what it is for
import { fromFileUrl, join } from "@std/path";
import { loadHooks } from "@xcsh/hooks";
import { refuseExec, replaySession } from "@xcsh/hooks/replay";

/** What replaying one session took. */
export interface ReplayMeasurement {
  /** Tool calls in the session. */
  calls: number;
  /** Size of its file in MB. */
  megabytes: number;
  /** Tool calls a second, loading hooks and starting up left out. */
  callsPerSecond: number;
  /** Most memory of the process (RSS) in MB. */
  peakMegabytes: number;
}

const HOOKS = ["block_unsafe_bash.ts", "redact_secrets.ts", "protect_paths.ts"];
const SELF = fromFileUrl(import.meta.url);

/**
 * Replays generated sessions, each in a process of its own, since the memory of one process tells of all that it did before.
 *
 * @param lengths How many tool calls each session has.
 * @returns One measurement for each.
 */
export async function measureReplay(lengths: readonly number[]): Promise<ReplayMeasurement[]> {
  const folder = await Deno.makeTempDir();
  try {
    const measured: ReplayMeasurement[] = [];
    for (const calls of lengths) {
      const path = join(folder, `${calls}.jsonl`);
      await writeSession(path, calls);
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", SELF, path],
        stderr: "inherit",
      }).output();
      measured.push(JSON.parse(new TextDecoder().decode(stdout)));
      await Deno.remove(path);
    }
    return measured;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The row of the table in `main.ts`. */
export const replayRows: readonly {
  readonly name: string;
  readonly unit: "calls/s";
  readonly target: { readonly atLeast: number };
  run(): Promise<{ value: number; detail: string }>;
}[] = [{
  name: "replay of 100 000 tool calls with three hooks",
  unit: "calls/s",
  target: { atLeast: 20_000 },
  async run() {
    const measured = await measureReplay([1_000, 10_000, 100_000]);
    const memory = measured.map(({ calls, peakMegabytes }) => `${peakMegabytes.toFixed(0)} MB at ${calls} calls`);
    return { value: measured.at(-1)!.callsPerSecond, detail: `most memory: ${memory.join(", ")}` };
  },
}];

/** Writes a session with as many tool calls, about 2 kB each. */
async function writeSession(path: string, calls: number): Promise<void> {
  const timestamp = "2026-01-01T00:00:00.000Z";
  const lines: unknown[] = [{ type: "session", version: 3, id: "bench", timestamp, cwd: "/project" }];
  let parentId: string | null = null;
  let entries = 0;
  const add = (message: Record<string, unknown>) => {
    const id: string = (entries++).toString(16).padStart(8, "0");
    lines.push({ type: "message", id, parentId, timestamp, message: { ...message, timestamp: 1767225600000 } });
    parentId = id;
  };
  const file = await Deno.create(path);
  const writer = file.writable.getWriter();
  const encoder = new TextEncoder();
  for (let i = 0; i < calls; i++) {
    if (i % 20 === 0) add({ role: "user", content: [{ type: "text", text: `Please do number ${i}` }] });
    const id = `call-${i}`;
    add({
      role: "assistant",
      content: [
        { type: "text", text: "Let me look." },
        { type: "toolCall", id, name: "bash", arguments: { command: `grep -rn "term ${i}" src | head -20` } },
      ],
      provider: "acme",
      model: "m-1",
      usage: { input: 10, output: 20, cacheRead: 30_000, cacheWrite: 40, totalTokens: 30_070 },
      stopReason: "toolUse",
    });
    const text = `src/file_${i}.ts:12: a line of output, as programs print them\n`.repeat(22);
    add({ role: "toolResult", toolCallId: id, toolName: "bash", content: [{ type: "text", text }], isError: false });
    if (lines.length >= 1000 || i === calls - 1) {
      await writer.write(encoder.encode(lines.splice(0).map((line) => `${JSON.stringify(line)}\n`).join("")));
    }
  }
  await writer.close();
}

async function replayOnce(path: string): Promise<ReplayMeasurement> {
  const folder = fromFileUrl(new URL("../examples/hooks", import.meta.url));
  const { hooks, errors } = await loadHooks(HOOKS.map((name) => join(folder, name)), folder, { exec: refuseExec() });
  if (errors.length > 0) throw new Error(`${errors[0]!.path}: ${errors[0]!.error}`);
  let peak = 0;
  let calls = 0;
  const onProgress = () => void (peak = Math.max(peak, Deno.memoryUsage().rss));
  const start = performance.now();
  for await (const record of replaySession(path, hooks, { onProgress })) {
    if (record.type === "summary") calls = record.calls;
  }
  const seconds = (performance.now() - start) / 1000;
  return {
    calls,
    megabytes: (await Deno.stat(path)).size / 1e6,
    callsPerSecond: calls / seconds,
    peakMegabytes: peak / 1e6,
  };
}

if (import.meta.main) {
  const [path] = Deno.args;
  if (path !== undefined) console.log(JSON.stringify(await replayOnce(path)));
  else {
    for (const { calls, megabytes, callsPerSecond, peakMegabytes } of await measureReplay([1_000, 10_000, 100_000])) {
      console.log(
        `replay of ${calls} calls (${megabytes.toFixed(0)} MB): ${callsPerSecond.toFixed(0)} calls/s, ` +
          `at most ${peakMegabytes.toFixed(0)} MB of memory`,
      );
    }
  }
}
