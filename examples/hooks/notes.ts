/**
 * `/note <text>` leaves a note in the conversation: the model reads it with the next prompt, and people see it with a bar
 * and a title of its own.
 *
 * Needs no permission.
 *
 * @module
 */
import type { HookAPI } from "@xcsh/hooks";

interface NoteDetails {
  at: string;
}

/** Registers `/note` and how a note is drawn. */
export default function notes(pi: HookAPI): void {
  pi.registerCommand("note", {
    description: "Leave a note that the model reads with the next prompt",
    handler(text, ctx) {
      if (text.trim() === "") return ctx.ui.notify("Say what to note: /note <text>", "warning");
      const details: NoteDetails = { at: new Date().toISOString() };
      pi.sendMessage({ customType: "note", content: text.trim(), display: true, details, attribution: "user" });
    },
  });

  pi.registerMessageRenderer<NoteDetails>("note", (message, { expanded }, theme) => ({
    render(width) {
      const bar = theme.fg("accent", "┃");
      const title = expanded && message.details ? `Note, ${message.details.at}` : "Note";
      const text = typeof message.content === "string" ? message.content : "";
      return [`${bar} ${theme.bold(title)}`, ...wrap(text, Math.max(1, width - 2)).map((line) => `${bar} ${line}`)];
    },
  }));
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (let word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      for (; word.length > width; word = word.slice(width)) lines.push(word.slice(0, width));
      line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}
