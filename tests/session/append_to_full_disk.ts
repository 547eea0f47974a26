// Appends more than fits, and says what came of it.
import { SessionManager } from "../../src/session/store.ts";

const session = SessionManager.create("/project", Deno.args[0]!);
let error: string | undefined;
session.onSaveError((problem) => error ??= problem?.message);
for (let i = 0; i < 40; i++) session.appendMessage({ role: "user", content: "x".repeat(5_000), timestamp: i });
const answer = { inMemory: session.getEntries().length, error, file: session.getSessionFile() };
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(answer)));
try {
  session.close();
} catch {
  // It says once more that not all is saved.
}
