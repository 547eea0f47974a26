// A session whose tool runs until a signal ends the process.
import { AgentSession, ScriptedModel, SessionManager } from "../../src/session/mod.ts";
import { createTestHook } from "../../src/testing/mod.ts";

const folder = Deno.args[0]!;
const say = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
const hook = await createTestHook((pi) => {
  pi.on("tool_call", () => say("tool_call"));
  pi.on("session_shutdown", () => say("session_shutdown"));
});
const model = new ScriptedModel({ turns: [{ toolCalls: [{ name: "bash", arguments: { command: "sleep 60" } }] }] });
const session = new AgentSession({
  cwd: folder,
  model,
  hooks: [hook],
  sessionManager: SessionManager.create(folder, folder),
});
await session.prompt("go");
