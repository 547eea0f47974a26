/**
 * Makes room in the model's context: messages that are for people alone are left out, and long results of tools that lie
 * some turns back are cut. The session keeps everything: what a `context` handler returns counts for one call of the model.
 *
 * Needs no permission.
 *
 * @module
 */
import type { AgentMessage, HookAPI } from "@xcsh/hooks";

/** Types of hook messages that the model need not read. */
const FOR_PEOPLE = new Set(["debug-only"]);
/** How many of the newest tool results stay whole. */
const KEEP = 10;
/** How many characters stay at each end of an older one. */
const ENDS = 500;

/** Filters what the model reads. */
export default function filterContext(pi: HookAPI): void {
  pi.on("context", (event) => {
    const messages = event.messages.filter((message) =>
      message.role !== "custom" || !FOR_PEOPLE.has(message.customType)
    );
    let results = 0;
    for (let i = messages.length - 1; i >= 0; i--) {
      const message = messages[i]!;
      if (message.role === "toolResult" && ++results > KEEP) messages[i] = shorten(message);
    }
    return { messages };
  });
}

/** The message itself stays, since a provider wants a result for each call. */
function shorten(message: Extract<AgentMessage, { role: "toolResult" }>): AgentMessage {
  const content = message.content.map((part) => {
    if (part.type === "image") return { type: "text" as const, text: "[a picture from earlier]" };
    const left = part.text.length - 2 * ENDS;
    if (left <= 100) return part;
    const text = `${part.text.slice(0, ENDS)}\n[… ${left} characters of an old result …]\n${part.text.slice(-ENDS)}`;
    return { ...part, text };
  });
  return { ...message, content };
}
