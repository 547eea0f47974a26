import { assert, assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.11.0";
import type { HookFactory } from "../../src/api.ts";
import { EVENT_NAMES } from "../../src/events.ts";
import {
  AgentSession,
  type LanguageModel,
  type ModelEvent,
  type ModelMessage,
  NothingToCompactError,
  type ScriptedTurn,
  SessionManager,
  type SessionTool,
  toModelMessages,
} from "../../src/session/mod.ts";
import { createTestHook } from "../../src/testing/mod.ts";
import { withFolder } from "./support.ts";

// More runs, or the run that failed: FC_RUNS=500 FC_SEED=1234 deno test …
const RUNS = Number(Deno.env.get("FC_RUNS") ?? 60);
const SEED = Deno.env.get("FC_SEED");

/** A model that plays what a test lays out, and summarises when it is asked without tools. */
class Player implements LanguageModel {
  readonly provider = "test";
  readonly id = "player";
  readonly contextWindow = 4_000;
  turns: ScriptedTurn[] = [];
  calls = 0;

  async *stream({ tools, signal }: Parameters<LanguageModel["stream"]>[0]): AsyncGenerator<ModelEvent> {
    const turn: ScriptedTurn = tools.length === 0 ? { text: "A summary" } : this.turns.shift() ?? { text: "ok" };
    if (turn.delayMs) {
      await new Promise((done, fail) => {
        const timer = setTimeout(done, turn.delayMs);
        signal.addEventListener("abort", () => (clearTimeout(timer), fail(signal.reason)), { once: true });
      });
    }
    if (turn.text) yield { type: "text", delta: turn.text };
    for (const call of turn.toolCalls ?? []) yield { type: "toolCall", id: `c${++this.calls}`, ...call };
    if (typeof turn.error === "string") yield { type: "error", message: turn.error };
    else yield { type: "done", stopReason: turn.toolCalls ? "toolUse" : "stop" };
  }
}

const tool: SessionTool = {
  name: "work",
  execute: (_id, { fails, size }) =>
    fails
      ? Promise.reject(new Error("It failed"))
      : Promise.resolve({ content: [{ type: "text", text: "r".repeat(Number(size ?? 1)) }], details: { size } }),
};

type Step =
  | { do: "prompt"; turns: ScriptedTurn[]; abortAfter?: number }
  | { do: "message"; trigger: boolean }
  | { do: "entry" | "label" | "branch" | "new" | "fork" | "compact" | "reopen" | "resume"; pick: number }
  | { do: "navigate"; pick: number; summarize: boolean }
  | { do: "crash"; torn: string };

const turn: fc.Arbitrary<ScriptedTurn> = fc.oneof(
  fc.record({ text: fc.string({ maxLength: 2_000 }) }),
  fc.record({
    text: fc.string({ maxLength: 20 }),
    toolCalls: fc.array(
      fc.record({
        name: fc.constantFrom("work", "work", "nothing"),
        arguments: fc.record({ fails: fc.boolean(), blocked: fc.boolean(), size: fc.nat(3_000) }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc.constantFrom<ScriptedTurn>(
    { text: "half", error: "overloaded" },
    { error: "invalid api key" },
    { error: "prompt is too long" },
    { text: "slow", delayMs: 3 },
  ),
);
const pick = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("prompt" as const), turns: fc.array(turn, { maxLength: 5 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("prompt" as const),
      turns: fc.array(turn, { maxLength: 5 }),
      abortAfter: fc.nat(6),
    }),
  },
  fc.record({ do: fc.constant("message" as const), trigger: fc.boolean() }),
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("entry", "label", "branch", "new", "fork", "compact", "reopen", "resume" as const),
      pick,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("navigate" as const), pick, summarize: fc.boolean() }) },
  fc.record({ do: fc.constant("crash" as const), torn: fc.string({ maxLength: 40 }) }),
) as fc.Arbitrary<Step>;

/** A session under test, and all that was said of it. */
class Trial {
  readonly log: string[] = [];
  readonly player = new Player();
  readonly files = new Set<string>();
  /** Ids of entries that were reported as appended, by file. */
  readonly reported = new Map<string, Set<string>>();
  session!: AgentSession;

  constructor(readonly folder: string) {}

  async open(manager: SessionManager): Promise<void> {
    const recorder: HookFactory = (pi) => {
      for (const name of EVENT_NAMES) pi.on(name, (event) => void this.log.push(event.type));
      pi.on("tool_call", ({ input }) => input.blocked ? { block: true, reason: "blocked" } : undefined);
      pi.on("turn_end", () => {
        if (this.log.length % 7 === 0) pi.sendMessage({ customType: "m", content: "by the way", display: false });
      });
      pi.on("agent_end", () => {
        if (this.log.length % 11 === 0) pi.sendMessage({ customType: "m", content: "later", display: true });
      });
    };
    this.session = new AgentSession({
      cwd: this.folder,
      model: this.player,
      hooks: [await createTestHook(recorder)],
      tools: [tool],
      sessionManager: manager,
      handleSignals: false,
      compaction: { reserveTokens: 400, keepRecentTokens: 500 },
      retry: { baseDelayMs: 1, maxRetries: 2 },
      rules: [],
    });
    this.session.subscribe((event) => {
      if (event.type === "message_end") this.note(event.entryId);
    });
    await this.session.start();
  }

  note(entryId: string): void {
    const file = this.session.sessionManager.getSessionFile()!;
    this.files.add(file);
    const ids = this.reported.get(file) ?? new Set();
    this.reported.set(file, ids.add(entryId));
  }

  async take(step: Step): Promise<void> {
    const { session } = this;
    const manager = session.sessionManager;
    const entries = manager.getEntries();
    const entry = "pick" in step ? entries[step.pick % Math.max(1, entries.length)] : undefined;
    switch (step.do) {
      case "prompt": {
        this.player.turns = structuredClone(step.turns);
        const run = session.prompt("p".repeat(50));
        if (step.abortAfter !== undefined) {
          await new Promise((done) => setTimeout(done, step.abortAfter));
          await session.abort();
        }
        await run;
        this.player.turns = [];
        return;
      }
      case "message":
        session.sendMessage({ customType: "m", content: "hello", display: true }, { triggerTurn: step.trigger });
        return await session.waitForIdle();
      case "entry":
        return this.note(session.appendEntry("data", { pick: step.pick }));
      case "label":
        if (entry !== undefined) session.label(entry.id, step.pick % 3 === 0 ? undefined : `label ${step.pick}`);
        return;
      case "branch": {
        const users = entries.filter((each) => each.type === "message" && each.message.role === "user");
        const user = users[step.pick % Math.max(1, users.length)];
        if (user !== undefined) await session.branch(user.id);
        return;
      }
      case "navigate":
        if (entry !== undefined) await session.navigateTree(entry.id, { summarize: step.summarize });
        return;
      case "new":
        await session.newSession({
          setup: (sm) =>
            void (step.pick % 2 === 0 && sm.appendMessage({ role: "user", content: "set up", timestamp: 1 })),
        });
        return;
      case "fork":
        await session.fork();
        return;
      case "compact":
        await session.compact().catch((error) => {
          if (!(error instanceof NothingToCompactError)) throw error;
        });
        return;
      case "resume": {
        const others = [...this.files].filter((file) => file !== manager.getSessionFile());
        const other = others[step.pick % Math.max(1, others.length)];
        if (other !== undefined) await session.switchSession(other);
        return;
      }
      case "reopen":
        await session.dispose();
        return await this.open(SessionManager.open(manager.getSessionFile()!, { cwd: this.folder }));
      case "crash": {
        // What a killed process leaves behind: what was written, and perhaps the beginning of a line.
        const copy = `${this.folder}/crash-${this.files.size}-${this.log.length}.jsonl`;
        const before = manager.getEntries();
        if (before.length > 0) {
          await Deno.copyFile(manager.getSessionFile()!, copy);
          await Deno.writeTextFile(copy, `{"type":"message${step.torn.replaceAll("\n", " ")}`, { append: true });
        }
        await session.dispose();
        const opened = SessionManager.open(copy, { cwd: this.folder });
        assertEquals(opened.getEntries(), before);
        assertEquals(opened.getLeafId(), manager.getLeafId());
        return await this.open(opened);
      }
    }
  }

  /** What must hold after each step. */
  check(): void {
    const { session } = this;
    assert(session.isIdle, "idle");
    const manager = session.sessionManager;
    const context = manager.buildContext();
    assertEquals(session.messages, context.messages);
    checkGrammar(this.log);
    checkPairing(toModelMessages(session.messages));
    const file = manager.getSessionFile()!;
    if (manager.getEntries().length > 0) {
      const again = SessionManager.open(file, { readOnly: true });
      assertEquals(again.getEntries(), manager.getEntries());
      assertEquals(again.getLeafId(), manager.getLeafId());
      assertEquals(again.buildContext(), context);
      const found = new Set(again.getEntries().map(({ id }) => id));
      for (const id of this.reported.get(file) ?? []) assert(found.has(id), `${id} is in the file`);
      again.close();
    }
  }
}

/** A provider refuses a call without a result right after it, and a result without a call. */
function checkPairing(messages: readonly ModelMessage[]): void {
  let waiting: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") assertEquals(message.toolCallId, waiting.shift());
    else assertEquals(waiting, []);
    if (message.role !== "assistant") continue;
    waiting = message.content.flatMap((part) => part.type === "toolCall" ? [part.id] : []);
  }
  assertEquals(waiting, []);
}

const ENDS: Record<string, string> = {
  agent_start: "agent_end",
  turn_start: "turn_end",
  auto_retry_start: "auto_retry_end",
  auto_compaction_start: "auto_compaction_end",
};
/** Events that come only inside of another pair. */
const INSIDE: Record<string, string> = {
  turn_start: "agent_start",
  context: "turn_start",
  tool_call: "turn_start",
  tool_result: "turn_start",
};

function checkGrammar(log: readonly string[]): void {
  const open = new Set<string>();
  let previous = "";
  for (const name of log) {
    const inside = INSIDE[name];
    if (inside !== undefined) assert(open.has(inside), `${name} inside of ${inside}`);
    if (name in ENDS) {
      assert(!open.has(name), `${name} twice`);
      open.add(name);
    }
    const start = Object.keys(ENDS).find((key) => ENDS[key] === name);
    if (start !== undefined) assert(open.delete(start), `${name} without ${start}`);
    if (name === "session_shutdown") assertEquals([...open], [], "closed before the end");
    if (previous === "session_shutdown") assertEquals(name, "session_start");
    for (
      const [before, after] of [["session_before_tree", "session_tree"], ["session_before_branch", "session_branch"]]
    ) {
      if (name === after) {
        assert([before, "session.compacting"].includes(previous), `${after} after ${before}, not ${previous}`);
      }
    }
    previous = name;
  }
  assertEquals([...open], []);
}

Deno.test("AgentSession keeps its promises through random sequences of whatever may happen", () =>
  withFolder(async (folder) => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const own = `${folder}/${count++}`;
        await Deno.mkdir(own);
        const trial = new Trial(own);
        await trial.open(SessionManager.create(own, own));
        try {
          trial.check();
          for (const each of steps) {
            await trial.take(each);
            trial.check();
          }
        } finally {
          await trial.session.dispose();
        }
        checkGrammar(trial.log);
        assertEquals(trial.log.at(-1), "session_shutdown");
        const leftovers = [...Deno.readDirSync(own)].filter(({ name }) => /\.(lock|part)$/.test(name));
        assertEquals(leftovers, []);
        await Deno.remove(own, { recursive: true });
      }),
      { numRuns: RUNS, ...SEED !== undefined && { seed: Number(SEED) }, interruptAfterTimeLimit: 60_000 },
    );
  }));
