/**
 * Writes the tables of README.md from those in the code: events, and what a program says over `--rpc`.
 *
 * @module
 */
import { EVENT_NAMES, EVENT_RULES, type EventRule, EXTENSION_EVENT_NAMES, type MergeRule } from "../src/events.ts";
import { CLIENT_MESSAGES, SERVER_RECORDS } from "../src/rpc/protocol.ts";

const MERGES: Record<MergeRule, string> = {
  ignore: "",
  last: "the last answer wins",
  first: "the first answer wins",
  chain: "passed on",
  fields: "passed on, field by field",
  pass: "passed on, field by field",
};

/** The tables by the name that marks their place. */
const TABLES: Readonly<Record<string, () => string[][]>> = {
  events: () => [
    ["event", "when", "a handler may answer", "several answers"],
    ...[...EVENT_NAMES, ...EXTENSION_EVENT_NAMES].map((name) => {
      const rule = EVENT_RULES[name];
      return [
        `\`${name}\``,
        rule.extension ? `${rule.when} _Extension._` : rule.when,
        rule.fields.map((field) => `\`${field}\``).join(", "),
        mergeOf(rule),
      ];
    }),
  ],
  "rpc client": () => [
    ["the other program says", "with", "which does"],
    ...Object.entries(CLIENT_MESSAGES).map(([type, { id, fields, does }]) => [
      `\`${type}\``,
      [
        ...id === "none" ? [] : ["`id`"],
        ...Object.entries(fields).map(([name, kind]) => `\`${name}${kind.endsWith("?") ? "?" : ""}\``),
      ].join(", "),
      does,
    ]),
  ],
  "rpc server": () => [
    ["`xcsh-hooks` says", "with", "when"],
    ...Object.entries(SERVER_RECORDS).map(([type, { fields, when }]) => [
      `\`${type}\``,
      fields.map((field) => `\`${field}\``).join(", "),
      when,
    ]),
  ],
};

/**
 * Puts the tables into the text of the README.
 *
 * @param readme The text.
 * @returns The text with the tables of now.
 */
export function withTables(readme: string): string {
  return Object.entries(TABLES).reduce((text, [name, rows]) => {
    const begin = `<!-- ${name}: made by tools/readme.ts -->`;
    const from = text.indexOf(begin);
    const to = text.indexOf(`<!-- /${name} -->`);
    if (from === -1 || to < from) throw new Error(`README.md has no place for the table: ${begin} … <!-- /${name} -->`);
    return `${text.slice(0, from + begin.length)}\n\n${drawTable(rows())}\n\n${text.slice(to)}`;
  }, readme);
}

/** Lays a table out as `deno fmt` wants it. */
function drawTable(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [line(rows[0]!), line(widths.map((width) => "-".repeat(width))), ...rows.slice(1).map(line)].join("\n");
}

function mergeOf(rule: EventRule): string {
  return rule.stop === undefined ? MERGES[rule.merge] : `${MERGES[rule.merge]}; \`${rule.stop}\` ends it`;
}

if (import.meta.main) {
  const path = new URL("../README.md", import.meta.url);
  await Deno.writeTextFile(path, withTables(await Deno.readTextFile(path)));
}
