// Appends entries and reports each id once it is in the file, until it is killed.
import { SessionManager } from "../../src/session/store.ts";

const session = SessionManager.open(Deno.args[0]!, { cwd: "/project" });
const encoder = new TextEncoder();
for (let i = 0;; i++) {
  const id = session.appendMessage({ role: "user", content: `entry ${i} ${"x".repeat(i % 5000)}`, timestamp: i });
  Deno.stdout.writeSync(encoder.encode(`${id}\n`));
}
