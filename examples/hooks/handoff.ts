/**
 * `/handoff [goal]` goes on in a new session that knows what matters of this one: what was asked, which files were touched,
 * and where the work stands. With a person there, the text is theirs to edit before it is sent.
 *
 * Needs no permission.
 *
 * @module
 */
import type { HookAPI, SessionEntry } from "@xcsh/hooks";

/** Registers `/handoff`. */
export default function handoff(pi: HookAPI): void {
  pi.registerCommand("handoff", {
    description: "Go on in a new session with a summary of this one",
    async handler(goal, ctx) {
      await ctx.waitForIdle();
      const summary = summarize(ctx.sessionManager.getBranch(), goal.trim());
      if (summary === undefined) return ctx.ui.notify("There is nothing to hand off yet", "warning");
      const text = ctx.hasUI ? await ctx.ui.editor("Hand off to a new session", summary) : summary;
      if (text === undefined || text.trim() === "") return ctx.ui.notify("Handoff cancelled");
      const parentSession = ctx.sessionManager.getSessionFile();
      const { cancelled } = await ctx.newSession({
        ...(parentSession === undefined ? {} : { parentSession }),
        setup: (session) => void session.appendMessage({ role: "user", content: text, timestamp: Date.now() }),
      });
      ctx.ui.notify(cancelled ? "Another hook keeps this session open" : "Handed off to a new session");
    },
  });
}

function summarize(branch: readonly SessionEntry[], goal: string): string | undefined {
  const prompts: string[] = [];
  const files = new Set<string>();
  let last = "";
  for (const entry of branch) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") prompts.push(textOf(message.content));
    if (message.role !== "assistant") continue;
    last = textOf(message.content) || last;
    for (const part of message.content) {
      if (part.type === "toolCall" && typeof part.arguments.path === "string") files.add(part.arguments.path);
    }
  }
  if (prompts.length === 0) return undefined;
  return [
    "Continue from a previous session.",
    section("Goal", goal),
    section("What was asked", prompts.map((prompt) => `- ${prompt.replaceAll(/\s+/g, " ").slice(0, 500)}`).join("\n")),
    section("Files", [...files].map((file) => `- ${file}`).join("\n")),
    section("Where it stands", last),
  ].filter((text) => text !== "").join("\n\n");
}

function section(title: string, text: string): string {
  return text === "" ? "" : `## ${title}\n\n${text}`;
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n").trim();
}
