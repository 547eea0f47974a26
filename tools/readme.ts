/**
 * Writes the event table of README.md from the one in `src/events.ts`.
 *
 * @module
 */
import { EVENT_NAMES, EVENT_RULES, type EventRule, EXTENSION_EVENT_NAMES, type MergeRule } from "../src/events.ts";

const BEGIN = "<!-- events: made by tools/readme.ts -->";
const END = "<!-- /events -->";
const MERGES: Record<MergeRule, string> = {
  ignore: "",
  last: "the last answer wins",
  first: "the first answer wins",
  chain: "passed on",
  fields: "passed on, field by field",
  pass: "passed on, field by field",
};

/** Makes the table, laid out as `deno fmt` wants it. */
export function eventTable(): string {
  const rows = [...EVENT_NAMES, ...EXTENSION_EVENT_NAMES].map((name) => {
    const rule = EVENT_RULES[name];
    return [
      `\`${name}\``,
      rule.extension ? `${rule.when} _Extension._` : rule.when,
      rule.fields.map((field) => `\`${field}\``).join(", "),
      mergeOf(rule),
    ];
  });
  const head = ["event", "when", "a handler may answer", "several answers"];
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/**
 * Puts the table into the text of the README.
 *
 * @param readme The text.
 * @returns The text with the table of now.
 */
export function withEventTable(readme: string): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from === -1 || to < from) throw new Error(`README.md has no place for the table: ${BEGIN} … ${END}`);
  return `${readme.slice(0, from + BEGIN.length)}\n\n${eventTable()}\n\n${readme.slice(to)}`;
}

function mergeOf(rule: EventRule): string {
  return rule.stop === undefined ? MERGES[rule.merge] : `${MERGES[rule.merge]}; \`${rule.stop}\` ends it`;
}

if (import.meta.main) {
  const path = new URL("../README.md", import.meta.url);
  await Deno.writeTextFile(path, withEventTable(await Deno.readTextFile(path)));
}
