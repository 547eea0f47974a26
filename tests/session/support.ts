import type { HookFactory } from "../../src/api.ts";
import type { SessionEntry } from "../../src/entries.ts";
import type { AssistantMessage, UserMessage } from "../../src/messages.ts";
import { AgentSession, type AgentSessionOptions, type SessionEvent } from "../../src/session/mod.ts";
import { createTestHook } from "../../src/testing/mod.ts";

/** A folder that is there while a test runs. */
export async function withFolder(run: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await run(folder);
  } finally {
    await Deno.chmod(folder, 0o755);
    await Deno.remove(folder, { recursive: true });
  }
}

/** Something a person said. */
export function said(content: string): UserMessage {
  return { role: "user", content, timestamp: 1 };
}

/** Something the model said. */
export function answered(text: string): AssistantMessage {
  return { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", timestamp: 2 };
}

/** Types of entries, for comparing. */
export function typesOf(entries: readonly SessionEntry[]): string[] {
  return entries.map((entry) => entry.type);
}

/** A session with hooks made of factories, and what it told. */
export async function startSession(
  options: Omit<AgentSessionOptions, "hooks" | "cwd"> & { cwd?: string; hooks?: HookFactory[] },
): Promise<{ session: AgentSession; told: SessionEvent[] }> {
  const hooks = await Promise.all((options.hooks ?? []).map((factory) => createTestHook(factory)));
  const session = new AgentSession({ cwd: "/project", handleSignals: false, ...options, hooks });
  const told: SessionEvent[] = [];
  session.subscribe((event) => told.push(event));
  return { session, told };
}

/** Waits until something holds; fails after 10 s. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = Date.now() + 10_000;
  while (!await holds()) {
    if (Date.now() > limit) throw new Error(`Waited too long until ${what}`);
    await new Promise((done) => setTimeout(done, 5));
  }
}
