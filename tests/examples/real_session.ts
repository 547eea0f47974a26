/**
 * Runs an example in a real session: loaded from its file, with real tools in a folder of its own.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import { loadHooks } from "@xcsh/hooks";
import { AgentSession, ScriptedModel, type ScriptedTurn, type SessionEvent, SessionManager } from "@xcsh/hooks/session";

export interface RealSession extends AsyncDisposable {
  cwd: string;
  session: AgentSession;
  model: ScriptedModel;
  events: SessionEvent[];
}

/** Begins a session with one example, and no other hook. */
export async function realSession(
  example: string,
  turns: ScriptedTurn[],
  files: Record<string, string> = {},
): Promise<RealSession> {
  // The real path, as a session that was started in it would have it.
  const cwd = await Deno.realPath(await Deno.makeTempDir({ prefix: "xcsh-example-" }));
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(join(cwd, name)), { recursive: true });
    await Deno.writeTextFile(join(cwd, name), text);
  }
  const path = fromFileUrl(new URL(`../../examples/hooks/${example}.ts`, import.meta.url));
  const { hooks, errors, warnings } = await loadHooks([path], cwd);
  assertEquals([errors, warnings], [[], []]);
  const model = new ScriptedModel({ turns });
  const sessionManager = SessionManager.create(cwd, join(cwd, ".sessions"));
  const session = new AgentSession({ cwd, model, hooks, sessionManager, handleSignals: false });
  const events: SessionEvent[] = [];
  session.subscribe((event) => events.push(event));
  return {
    cwd,
    session,
    model,
    events,
    async [Symbol.asyncDispose]() {
      await session.dispose();
      await Deno.remove(cwd, { recursive: true });
    },
  };
}

/** How the tools of a session ended. */
export function toolEnds(events: readonly SessionEvent[]): { blocked: boolean; text: string }[] {
  return events.flatMap((event) =>
    event.type === "tool_execution_end"
      ? [{
        blocked: event.blocked,
        text: event.content.map((part) => part.type === "text" ? part.text : "").join("\n"),
      }]
      : []
  );
}

/** Fails when a hook failed unseen. */
export function assertNoHookErrors(events: readonly SessionEvent[]): void {
  assertEquals(events.filter(({ type }) => type === "hook_error"), []);
}
