/**
 * The session: opening, appending, building a context, and what a turn costs.
 *
 * @module
 */

// deno-lint-ignore-file no-console -- a child of it prints what it measured
import { fromFileUrl, join } from "@std/path";
import { createTestHook } from "@xcsh/hooks/testing";
import { AgentSession, type LanguageModel, SessionManager, type SessionTool } from "@xcsh/hooks/session";
import { compare, median } from "./measure.ts";
import { type Measured, type Row, us } from "./row.ts";

const SELF = fromFileUrl(import.meta.url);
const ENTRIES = 100_000;

/** The rows of the table in `main.ts`. */
export const sessionRows: readonly Row[] = [
  {
    name: "open a session of 100 000 entries, of JSON.parse of its lines",
    unit: "×",
    target: { atMost: 3 },
    run: () =>
      withSession(ENTRIES, async (path) => {
        const lines = (await Deno.readTextFile(path)).trimEnd().split("\n");
        const parse = () => lines.map((line) => JSON.parse(line));
        const open = () => SessionManager.open(path).close();
        const { ours, theirs, ratio } = await compare(open, parse, { samples: 7 });
        return { value: ratio, detail: `${us(ours)} : ${us(theirs)}` };
      }),
  },
  {
    name: "append to a session of 100 000 entries, of one of 1 000",
    unit: "×",
    target: { atMost: 1.5 },
    run: () =>
      withSession(ENTRIES, (long) =>
        withSession(1_000, async (short) => {
          using large = SessionManager.open(long);
          using small = SessionManager.open(short);
          const append = (session: SessionManager) => () => void session.appendCustomEntry("bench", { i: 1 });
          const { ours, theirs, ratio } = await compare(append(large), append(small));
          return { value: ratio, detail: `${us(ours)} : ${us(theirs)}` };
        })),
  },
  {
    name: "context of a branch of 100 000 entries",
    unit: "µs",
    target: { atMost: 150_000 },
    run: () =>
      withSession(ENTRIES, (path) => {
        using session = SessionManager.open(path);
        const time = timeOf(() => session.buildContext());
        return Promise.resolve({ value: time, detail: us(time) });
      }),
  },
  {
    name: "context of a branch of 100 000 entries, of one of 10 000",
    unit: "×",
    target: { atMost: 12 },
    run: () =>
      withSession(ENTRIES, (long) =>
        withSession(ENTRIES / 10, (short) => {
          using large = SessionManager.open(long);
          using small = SessionManager.open(short);
          // The best of many by turns: a pause for the garbage of either tells nothing of how the work grows.
          let [ours, theirs] = [Infinity, Infinity];
          for (let i = 0; i < 60; i++) {
            ours = Math.min(ours, timeOf(() => large.buildContext(), 1));
            theirs = Math.min(theirs, timeOf(() => small.buildContext(), 10));
          }
          return Promise.resolve({ value: ours / theirs, detail: `${us(ours)} : ${us(theirs)}` });
        })),
  },
  {
    name: "memory of an open session of 100 000 entries, of its file",
    unit: "×",
    target: { atMost: 4 },
    run: () =>
      withSession(ENTRIES, async (path) => {
        const { stdout } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", "--no-check", SELF, path],
          stderr: "inherit",
        }).output();
        const memory = Number(new TextDecoder().decode(stdout));
        const { size } = await Deno.stat(path);
        return { value: memory / size, detail: `${(memory / 1e6).toFixed(0)} MB : ${(size / 1e6).toFixed(0)} MB` };
      }),
  },
  {
    name: "a turn with one tool call and ten hooks, model and tool excluded",
    unit: "µs",
    target: { atMost: 1_000 },
    run: turn,
  },
];

/** Runs something on a session file of some length. */
async function withSession(entries: number, run: (path: string) => Promise<Measured>): Promise<Measured> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "session.jsonl");
    const timestamp = "2026-01-01T00:00:00.000Z";
    const lines: string[] = [JSON.stringify({ type: "session", version: 3, id: "bench", timestamp, cwd: "/project" })];
    for (let i = 0; i < entries; i++) {
      const id = i.toString(16).padStart(8, "0");
      const parentId = i === 0 ? null : (i - 1).toString(16).padStart(8, "0");
      const text = `Number ${i}: ${"some words of an answer ".repeat(12)}`;
      const message = i % 2 === 0
        ? { role: "user", content: text, timestamp: 1 }
        : { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", timestamp: 1 };
      lines.push(JSON.stringify({ type: "message", id, parentId, timestamp, message }));
    }
    await Deno.writeTextFile(path, lines.join("\n") + "\n");
    return await run(path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Median time in µs. */
function timeOf(work: () => unknown, samples = 9): number {
  const times = Array.from({ length: samples }, () => {
    const start = performance.now();
    work();
    return (performance.now() - start) * 1_000;
  });
  return median(times);
}

const TURNS = 50;

/** Time of a turn of a session that is kept in a file. */
async function turn(): Promise<Measured> {
  const folder = await Deno.makeTempDir();
  try {
    const hooks = await Promise.all(Array.from({ length: 10 }, (_, i) =>
      createTestHook((pi) => {
        for (const name of ["turn_start", "tool_call", "tool_result", "turn_end"] as const) pi.on(name, () => {});
        if (i === 0) pi.on("context", () => {});
      })));
    const times: number[] = [];
    for (let run = 0; run < 15; run++) {
      let left = 1;
      const model: LanguageModel = {
        provider: "bench",
        id: "bench",
        async *stream() {
          yield { type: "text", delta: "On." };
          if (--left > 0) yield { type: "toolCall", id: `c${left}`, name: "nothing", arguments: {} };
          yield { type: "done", stopReason: left > 0 ? "toolUse" : "stop" };
        },
      };
      const tool: SessionTool = { name: "nothing", execute: () => Promise.resolve({ content: [] }) };
      const sessionManager = SessionManager.create(folder, folder);
      const session = new AgentSession({
        cwd: folder,
        model,
        hooks,
        tools: [tool],
        sessionManager,
        handleSignals: false,
      });
      await session.prompt("The file is made");
      left = TURNS;
      const start = performance.now();
      await session.prompt("go");
      times.push((performance.now() - start) * 1_000 / TURNS);
      await session.dispose();
    }
    return { value: median(times), detail: `${TURNS} turns in a row, kept in a file; one hook reads the context` };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  // What opening takes on top of a process that has opened a session before.
  const [path = ""] = Deno.args;
  const warm = `${path}.warm`;
  Deno.writeTextFileSync(warm, Deno.readTextFileSync(path).split("\n", 1)[0]! + "\n");
  SessionManager.open(warm).close();
  const before = Deno.memoryUsage().rss;
  const session = SessionManager.open(path);
  console.log(Deno.memoryUsage().rss - before);
  session.close();
}
