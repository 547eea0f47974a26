/**
 * The slash commands that every session has, beside those of hooks.
 *
 * @module
 */

import type { SessionEntry, SessionTreeNode } from "../src/entries.ts";
import { EVENT_NAMES, EXTENSION_EVENT_NAMES } from "../src/events.ts";
import { textOf } from "../src/messages.ts";
import {
  type AgentSession,
  type PromptOptions,
  type PromptOutcome,
  UnknownCommandError,
} from "../src/session/agent_session.ts";
import { messageOf } from "../src/session/context.ts";
import { SessionManager } from "../src/session/store.ts";
import { plainText, wrapToCells } from "../src/ui/text.ts";
import { nearest } from "../src/values.ts";
import { findSession, sessionList } from "./session_source.ts";

/** What a command needs. */
export interface SessionCommandContext {
  /** The session. */
  session: AgentSession;
  /** The folder that it works in. */
  cwd: string;
  /** Prints text for the person. */
  say: (text: string) => void;
}

interface SessionCommand {
  usage: string;
  description: string;
  run(args: string, context: SessionCommandContext): void | "quit" | Promise<void | "quit">;
}

/** Where what a command does begins. */
const HELP_COLUMN = 32;

const COMMANDS: Readonly<Record<string, SessionCommand>> = {
  new: {
    usage: "/new",
    description: "Begin a new session",
    async run(_args, { session, say }) {
      const { cancelled } = await session.newSession();
      say(cancelled ? "A hook kept the new session from being begun" : `New session ${nameOf(session)}`);
    },
  },
  resume: {
    usage: "/resume [id or file]",
    description: "Go on with another session of this folder; without an id, list them",
    async run(args, { session, cwd, say }) {
      if (args === "") return say(sessionList(SessionManager.list(cwd)) || "This folder has no sessions yet");
      const { cancelled } = await session.switchSession(findSession(args, cwd));
      say(cancelled ? "A hook kept the session from being resumed" : `Session ${nameOf(session)}`);
    },
  },
  fork: {
    usage: "/fork",
    description: "Go on in a copy of this session",
    async run(_args, { session, say }) {
      const { cancelled } = await session.fork();
      say(cancelled ? "A hook kept the session from being forked" : `Session ${nameOf(session)}`);
    },
  },
  branch: {
    usage: "/branch [entry]",
    description: "Go on before one of your messages, in a session of its own; without an entry, list them",
    async run(args, { session, say }) {
      if (args === "") return say(listPrompts(session) || "There is nothing to branch at yet");
      const { cancelled, selectedText } = await session.branch(entryOf(session, args).id);
      say(
        cancelled
          ? "A hook kept the branch from being made"
          : `Session ${nameOf(session)}, before: ${short(selectedText)}`,
      );
    },
  },
  tree: {
    usage: "/tree [entry] [summarize]",
    description: "Move to another entry of the tree, with a summary of what is left; without an entry, show the tree",
    async run(args, { session, say }) {
      if (args === "") return say(drawTree(session) || "The session is empty");
      const [id = "", word] = args.split(/\s+/);
      const { cancelled, editorText } = await session.navigateTree(entryOf(session, id).id, {
        summarize: word === "summarize",
      });
      const before = editorText === undefined ? "" : `, before: ${short(editorText)}`;
      say(
        cancelled
          ? "A hook kept the session where it is"
          : `Now at ${session.sessionManager.getLeafId() ?? "the root"}${before}`,
      );
    },
  },
  compact: {
    usage: "/compact [what to mind]",
    description: "Put a summary in the place of what is old",
    async run(args, { session, say }) {
      const { tokensBefore, shortSummary, summary } = await session.compact(args || undefined);
      say(`Compacted about ${tokensBefore} tokens: ${short(shortSummary ?? summary)}`);
    },
  },
  label: {
    usage: "/label [entry] name",
    description: "Name an entry, or the newest one; a dash takes the name away",
    run(args, { session, say }) {
      const [first = "", ...rest] = args.split(/\s+/);
      const named = rest.length > 0 && session.sessionManager.getEntry(first) !== undefined;
      const id = named ? first : session.sessionManager.getLeafId();
      const label = named ? rest.join(" ") : args;
      if (id === null || label === "") throw new Error(`Say how to name it: ${COMMANDS.label!.usage}`);
      session.label(id, label === "-" ? undefined : label);
      say(label === "-" ? `${id} has no name any more` : `${id} is now ${label}`);
    },
  },
  hooks: {
    usage: "/hooks [disable|enable hook]",
    description: "List the hooks, what they handle and their commands; leave one out, or take it in again",
    run(args, { session, say }) {
      const { runner } = session;
      const paths = runner.getHookPaths();
      const [, verb, path] = /^(disable|enable)\s+(.+)$/.exec(args) ?? [];
      if (args !== "" && (path === undefined || !paths.includes(path))) {
        throw new Error(`Say which hook: /hooks disable ${paths[0] ?? "<hook>"}`);
      }
      if (path !== undefined) {
        if (verb === "disable") runner.disable(path);
        else runner.enable(path);
        return say(verb === "disable" ? `${path} is left out; its gates are open now` : `${path} runs again`);
      }
      if (paths.length === 0) return say("There are no hooks; name one with --hook");
      const events = [...EVENT_NAMES, ...EXTENSION_EVENT_NAMES].filter((name) => runner.hasHandlers(name));
      const commands = runner.getRegisteredCommands().map(({ name }) => `/${name}`);
      say(
        [
          ...paths.map((each) => `  ${each}${runner.isEnabled(each) ? "" : " (disabled)"}`),
          `  events: ${events.join(", ") || "none"}`,
          `  commands: ${commands.join(", ") || "none"}`,
        ].join("\n"),
      );
    },
  },
  help: {
    usage: "/help",
    description: "List the commands",
    run(_args, { session, say }) {
      const hooks = session.runner.getRegisteredCommands().map(({ name, description = "" }) => ({
        usage: `/${plainText(name)}`,
        description: plainText(description),
      }));
      say([...Object.values(COMMANDS), ...hooks].map(helpLine).join("\n"));
    },
  },
  quit: { usage: "/quit", description: "End the session", run: () => "quit" },
};

/** A command and what it does, in two columns that fit the narrowest terminal that is common. */
function helpLine({ usage, description }: Pick<SessionCommand, "usage" | "description">): string {
  const [first = "", ...more] = wrapToCells(description, 80 - HELP_COLUMN);
  const left = `  ${usage}`;
  const lines = left.length + 2 > HELP_COLUMN
    ? [left, `${" ".repeat(HELP_COLUMN)}${first}`]
    : [left.padEnd(HELP_COLUMN) + first];
  return [...lines, ...more.map((line) => " ".repeat(HELP_COLUMN) + line)].join("\n").trimEnd();
}

/** The commands, without the slash, and what they do. */
export function sessionCommands(): { name: string; description: string }[] {
  return Object.entries(COMMANDS).map(([name, { description }]) => ({ name, description }));
}

/**
 * Runs a command that every session has.
 *
 * @returns `false` when the text is none of them, `"quit"` when the session is to end.
 */
export async function runSessionCommand(text: string, context: SessionCommandContext): Promise<boolean | "quit"> {
  const match = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const name = match?.[1] ?? "";
  if (!Object.hasOwn(COMMANDS, name)) return false;
  return await COMMANDS[name]!.run((match?.[2] ?? "").trim(), context) ?? true;
}

/**
 * Does what the person said: runs a command, or prompts the agent and waits for it, unless the prompt is to be read later.
 *
 * @returns `"quit"` when the session is to end; else `"session"` for a command that every session has, or how it was taken.
 * @throws {UnknownCommandError} When it begins like a command and there is none of that name.
 */
export async function submit(
  text: string,
  context: SessionCommandContext,
  options: PromptOptions = {},
): Promise<"quit" | "session" | PromptOutcome["handledAs"]> {
  const { session } = context;
  const outcome = await runSessionCommand(text, context);
  if (outcome === "quit") return "quit";
  const { handledAs } = outcome
    ? { handledAs: "session" as const }
    : await session.prompt(text, options).catch((error) => Promise.reject(withNearest(error, text, session)));
  if (handledAs !== "queued") await session.waitForIdle();
  return handledAs;
}

/**
 * Runs the program of a line that begins with `!`; with `!!`, the model does not get to see it.
 *
 * @returns Whether the line was one.
 */
export async function runBashLine(line: string, session: AgentSession, say: (text: string) => void): Promise<boolean> {
  const [, quiet, command] = /^!(!?)\s*(\S[\s\S]*)$/.exec(line) ?? [];
  if (command === undefined) return false;
  const { output, exitCode } = await session.runBash(command, { excludeFromContext: quiet !== "" });
  say(output.trimEnd() + (exitCode === 0 ? "" : `\n(exit code ${exitCode})`));
  return true;
}

/** Names the nearest of all commands, those that every session has included. */
function withNearest(error: unknown, text: string, session: AgentSession): unknown {
  if (!(error instanceof UnknownCommandError)) return error;
  const name = text.slice(1).split(/\s/, 1)[0]!;
  const near = nearest(name, [
    ...Object.keys(COMMANDS),
    ...session.runner.getRegisteredCommands().map((each) => each.name),
  ]);
  return new UnknownCommandError(
    `There is no command /${name}; ${near === undefined ? "/help lists them" : `did you mean /${near}?`}`,
  );
}

function nameOf(session: AgentSession): string {
  const manager = session.sessionManager;
  return manager.getSessionFile() ?? `${manager.getSessionId()} (in memory)`;
}

/** The entry that an id or the beginning of one names. */
function entryOf(session: AgentSession, id: string): SessionEntry {
  const found = session.sessionManager.getEntries().filter((entry) => entry.id.startsWith(id));
  if (found.length !== 1) {
    throw new Error(found.length === 0 ? `There is no entry ${id}` : `More than one entry begins with ${id}`);
  }
  return found[0]!;
}

function listPrompts(session: AgentSession): string {
  return session.sessionManager.getBranch().flatMap((entry) =>
    entry.type === "message" && entry.message?.role === "user"
      ? [`  ${entry.id}  ${short(textOf(entry.message.content))}`]
      : []
  ).join("\n");
}

function drawTree(session: AgentSession): string {
  const leaf = session.sessionManager.getLeafId();
  const lines: string[] = [];
  const stack: { node: SessionTreeNode; depth: number }[] = session.sessionManager.getTree()
    .map((node) => ({ node, depth: 0 })).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, depth } = next;
    const { entry, children, label } = node;
    const mark = entry.id === leaf ? "*" : " ";
    lines.push(
      `${mark} ${entry.id}  ${"  ".repeat(Math.min(depth, 20))}${label ? `[${plainText(label)}] ` : ""}${
        describe(entry)
      }`,
    );
    // Only what branches off goes further in, so that a long conversation stays on the screen.
    const inner = children.length > 1 ? depth + 1 : depth;
    for (const child of children.toReversed()) stack.push({ node: child, depth: inner });
  }
  return lines.join("\n");
}

function describe(entry: SessionEntry): string {
  const message = messageOf(entry);
  if (message === undefined) return entry.type === "compaction" ? `compaction: ${short(entry.summary)}` : entry.type;
  if (message.role === "branchSummary") return `summary: ${short(message.summary)}`;
  if (message.role === "bashExecution" || message.role === "compactionSummary") return message.role;
  const calls = message.role === "assistant"
    ? message.content.flatMap((part) => part.type === "toolCall" ? [part.name] : []).join(", ")
    : "";
  return `${message.role}: ${short(textOf(message.content)) || calls}`;
}

function short(text: string): string {
  const line = plainText(text).replaceAll(/\s+/g, " ").trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
