/** Makes recorded sessions: one script, written down in each format. */

/** A tool call and what came of it. */
export interface ScriptedCall {
  id: string;
  name: "bash" | "read" | "write" | "edit" | "grep" | "find" | "fetch";
  args: Record<string, unknown>;
  /** Absent for a call without a result. */
  result?: { text: string; isError?: boolean };
}

/** A prompt and the turns that it led to. */
export interface ScriptedRun {
  prompt: string;
  turns: { text?: string; calls: ScriptedCall[] }[];
}

export type Script = ScriptedRun[];

/** Formats that a script can be written in. */
export const FORMATS = ["pi 1", "pi 2", "pi 3", "claude", "claude, one part a line"] as const;
export type Format = typeof FORMATS[number];

const START = Date.parse("2026-01-01T00:00:00Z");
const CWD = "/home/ada/project";

export function recordScript(script: Script, format: Format): string[] {
  return format.startsWith("pi") ? recordPi(script, Number(format.at(-1))) : recordClaude(script, format !== "claude");
}

export function recordPi(script: Script, version: number): string[] {
  const lines: unknown[] = [{
    type: "session",
    ...(version === 1 ? {} : { version }),
    id: "session-1",
    timestamp: time(0),
    cwd: CWD,
  }];
  let parentId: string | null = null;
  const add = (message: Record<string, unknown>) => {
    const n = lines.length;
    const id: string = n.toString(16).padStart(8, "0");
    const place = version === 1 ? {} : { id, parentId };
    parentId = id;
    lines.push({ type: "message", ...place, timestamp: time(n), message: { ...message, timestamp: START + n * 1000 } });
  };
  for (const run of script) {
    add({ role: "user", content: [{ type: "text", text: run.prompt }] });
    for (const { text, calls } of run.turns) {
      add({
        role: "assistant",
        content: [
          ...(text === undefined ? [] : [{ type: "text", text }]),
          ...calls.map(({ id, name, args }) => ({ type: "toolCall", id, name, arguments: args })),
        ],
        provider: "acme",
        model: "m-1",
        stopReason: calls.length > 0 ? "toolUse" : "stop",
      });
      for (const { id, name, result } of calls) {
        if (result === undefined) continue;
        const content = [{ type: "text", text: result.text }];
        add({ role: "toolResult", toolCallId: id, toolName: name, content, isError: result.isError === true });
      }
    }
  }
  return lines.map((line) => JSON.stringify(line));
}

const CLAUDE_TOOLS = {
  bash: ["Bash", {}],
  read: ["Read", { path: "file_path" }],
  write: ["Write", { path: "file_path" }],
  edit: ["Edit", { path: "file_path", oldText: "old_string", newText: "new_string" }],
  grep: ["Grep", {}],
  find: ["Glob", {}],
  fetch: ["fetch", {}],
} as const;

export function recordClaude(script: Script, split: boolean): string[] {
  const lines: unknown[] = [{ type: "summary", summary: "A session", leafUuid: "u-1" }];
  let parentUuid: string | null = null;
  const add = (type: string, message: unknown) => {
    const n = lines.length;
    const uuid = `u-${n}`;
    lines.push({
      parentUuid,
      isSidechain: false,
      userType: "external",
      cwd: CWD,
      sessionId: "session-1",
      version: "2.0.0",
      type,
      message,
      uuid,
      timestamp: time(n),
    });
    parentUuid = uuid;
  };
  let answers = 0;
  for (const run of script) {
    add("user", { role: "user", content: run.prompt });
    for (const { text, calls } of run.turns) {
      const id = `msg_${answers++}`;
      const parts: unknown[] = [
        { type: "thinking", thinking: "hm", signature: "x" },
        ...(text === undefined ? [] : [{ type: "text", text }]),
        ...calls.map((call) => {
          const [name, names] = CLAUDE_TOOLS[call.name];
          const input = Object.entries(call.args).map((
            [key, value],
          ) => [(names as Record<string, string>)[key] ?? key, value]);
          return { type: "tool_use", id: call.id, name, input: Object.fromEntries(input) };
        }),
      ];
      for (const content of split ? parts.map((part) => [part]) : [parts]) {
        add("assistant", { id, type: "message", role: "assistant", model: "claude", content, stop_reason: null });
      }
      for (const { id, result } of calls) {
        if (result === undefined) continue;
        const isError = result.isError ? { is_error: true } : {};
        add("user", {
          role: "user",
          content: [{ tool_use_id: id, type: "tool_result", content: result.text, ...isError }],
        });
      }
    }
  }
  return lines.map((line) => JSON.stringify(line));
}

function time(n: number): string {
  return new Date(START + n * 1000).toISOString();
}

/** Bytes of lines, cut into chunks of any size. */
export async function* bytesOf(lines: readonly string[], chunk = 64): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  for (let from = 0; from < bytes.length; from += chunk) yield await Promise.resolve(bytes.slice(from, from + chunk));
}

/** Numbers that look random and are the same each time. */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (((t ^ (t >>> 14)) >>> 0) / 4294967296 * below) | 0;
  };
}

/** A script that nobody wrote. */
export function randomScript(seed: number): Script {
  const below = seeded(seed);
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
  let calls = 0;
  const call = (): ScriptedCall => {
    const name = pick(["bash", "read", "write", "edit", "grep", "find", "fetch"] as const);
    const path = pick(["a.ts", "src/ü.ts", ".env"]);
    const args: Record<ScriptedCall["name"], Record<string, unknown>> = {
      bash: { command: pick(["ls", "rm -rf build", "echo 😀", "cat .env"]) },
      read: { path },
      write: { path, content: "x\n" },
      edit: { path, oldText: "a", newText: "b" },
      grep: { pattern: "TODO", path: "." },
      find: { pattern: "**/*.ts" },
      fetch: { url: "https://example.com" },
    };
    const text = pick(["ok", "", "token SECRET1 and\nSECRET2\n", "käse", "error: SECRET3"]);
    const isError = below(5) === 0;
    return {
      id: `call-${calls++}`,
      name,
      args: args[name],
      ...(below(10) === 0 ? {} : { result: isError ? { text, isError } : { text } }),
    };
  };
  const list = <T>(most: number, make: () => T): T[] => Array.from({ length: below(most + 1) }, make);
  return Array.from({ length: 1 + below(4) }, () => ({
    prompt: pick(["go on", "mach weiter", "first\nsecond"]),
    turns: [...list(5, () => ({ text: "working", calls: list(3, call) })), { text: "done", calls: [] }],
  }));
}
