// deno-lint-ignore-file no-console
/**
 * Plays a session in which every event happens, behind a hook that tells each of them. The model is scripted; all else is real.
 *
 * `deno task demo -- --full`, or with `--json` for one JSON record an event.
 *
 * @module
 */
import { EVENT_NAMES, type HookEventName, loadHooks } from "@xcsh/hooks";
import {
  AgentSession,
  type LanguageModel,
  ScriptedModel,
  type ScriptedTurn,
  SessionManager,
} from "@xcsh/hooks/session";
import { createNoOpUIContext } from "@xcsh/hooks";
import { fromFileUrl, join } from "@std/path";

const HOOK = fromFileUrl(new URL("hooks/event_log.ts", import.meta.url));
const WINDOW = 20_000;
const long = "This answer is long, and so it fills the context of the model. ".repeat(20);

/** One step of the session. */
interface Step {
  says: string;
  turns: ScriptedTurn[];
  take(session: AgentSession): Promise<unknown>;
}

const todo = (status: string): ScriptedTurn => ({
  toolCalls: [{ name: "todo_write", arguments: { todos: [{ content: "write a test", status }] } }],
});

const steps: Step[] = [
  {
    says: "A prompt; the model calls tools, and stops with something left to do.",
    turns: [
      { text: "Let me look.", toolCalls: [{ name: "bash", arguments: { command: "ls" } }] },
      todo("pending"),
      { text: "Later." },
      todo("completed"),
      { text: `Now it is done. ${long}` },
    ],
    take: (session) => session.prompt("Write a test"),
  },
  {
    says: "The provider is overloaded; the request is sent again.",
    turns: [{ error: "overloaded" }, { text: long }],
    take: (session) => session.prompt("And now?"),
  },
  {
    says: "The model writes what a rule forbids, is stopped, and told the rule.",
    turns: [{ text: "I will use console.log for that." }, { text: "I will use the logger for that." }],
    take: (session) => session.prompt("How will you log?"),
  },
  {
    says: "The context is full, and is compacted.",
    turns: [{ text: long, usage: { input: 19_000 } }, { text: "A summary of what was done." }, {
      text: "A summary of the turn.",
    }, {
      text: "On we go.",
    }],
    async take(session) {
      await session.prompt("Fill the context");
      await session.prompt("Go on");
    },
  },
  {
    says: "Back to an earlier point of the tree, with a summary of what is left.",
    turns: [{ text: "What was tried there." }],
    async take(session) {
      const [first] = session.sessionManager.getEntries().filter((entry) => entry.type === "message");
      await session.navigateTree(session.sessionManager.getBranch().find((entry) => entry.parentId === first!.id)!.id, {
        summarize: true,
      });
    },
  },
  {
    says: "A branch before the first prompt, a new session, a fork, and the session from before.",
    turns: [{ text: "Hello." }],
    async take(session) {
      const before = session.sessionManager.getSessionFile()!;
      const user = session.sessionManager.getBranch().find((entry) => entry.type === "message")!;
      await session.branch(user.id);
      await session.newSession({ parentSession: before });
      await session.prompt("Hello");
      await session.fork();
      await session.switchSession(before);
    },
  },
];

/** Plays all of it; gives the events that did not happen. */
export async function playAll(say: (text: string) => void, tell: (event: string) => void): Promise<HookEventName[]> {
  const folder = await Deno.makeTempDir({ prefix: "xcsh-demo-" });
  try {
    await Deno.mkdir(join(folder, ".xcsh", "rules"), { recursive: true });
    const rule = "---\ncondition: console\\.log\n---\nUse the logger, not console.log.\n";
    await Deno.writeTextFile(join(folder, ".xcsh", "rules", "no-console.md"), rule);
    const { hooks, errors } = await loadHooks([HOOK], folder);
    if (errors.length > 0) throw new Error(errors[0]!.error);
    const seen = new Set<string>();
    const player = new Player();
    const session = new AgentSession({
      cwd: folder,
      hooks,
      model: player,
      sessionManager: SessionManager.create(folder, join(folder, "sessions")),
      compaction: { reserveTokens: 2_000, keepRecentTokens: 300 },
      retry: { baseDelayMs: 20 },
      todos: { maxReminders: 1 },
      uiContext: {
        ...createNoOpUIContext(),
        notify(text) {
          seen.add(text.split(" ", 1)[0]!);
          tell(text);
        },
      },
    });
    try {
      for (const [i, step] of steps.entries()) {
        say(`${i === 0 ? "" : "\n"}${i + 1}. ${step.says}`);
        player.play(step.turns);
        await step.take(session);
      }
      say(`\n${steps.length + 1}. The end.`);
    } finally {
      await session.dispose();
    }
    return EVENT_NAMES.filter((name) => !seen.has(name));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Plays one script after the other. */
class Player implements LanguageModel {
  readonly provider = "scripted";
  readonly id = "demo";
  readonly contextWindow = WINDOW;
  #script = new ScriptedModel({ turns: [] });

  play(turns: ScriptedTurn[]): void {
    this.#script = new ScriptedModel({ turns });
  }

  stream(request: Parameters<LanguageModel["stream"]>[0]): ReturnType<LanguageModel["stream"]> {
    return this.#script.stream(request);
  }
}

if (import.meta.main) {
  const json = Deno.args.includes("--json");
  let count = 0;
  const missing = await playAll(
    (text) => json || console.log(text),
    (text) => {
      count++;
      const [event, ...words] = text.split(" ");
      console.log(json ? JSON.stringify({ type: "event", event, about: words.join(" ") }) : `   ${text.slice(0, 110)}`);
    },
  );
  if (missing.length > 0) {
    console.error(`error: these events did not happen: ${missing.join(", ")}`);
    Deno.exit(1);
  }
  if (!json) {
    console.log(`\n✓ ${count} events; each of the ${EVENT_NAMES.length} that there are happened at least once.`);
  }
}
