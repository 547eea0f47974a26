/**
 * What `--help` prints. The generator of Cliffy draws tables that know no width, so that a terminal breaks their lines anywhere.
 *
 * @module
 */

import type { Command } from "@cliffy/command";
import { wrapToCells } from "../src/ui/text.ts";
import type { Output } from "./output.ts";

/** Cells of the left column at most; what is longer has a line of its own. */
const LEFT = 27;
/** Longer lines are hard to read, however wide a terminal is. */
const WIDEST = 100;

/** The parts of a command that its help shows. */
export type Helped = Pick<
  Command,
  "getCommands" | "getDescription" | "getExamples" | "getOptions" | "getPath" | "getUsage" | "getVersion"
>;

/**
 * Says how a command is used.
 *
 * @param command The command.
 * @param output Where it is printed: how wide it is, and whether it shows colours.
 * @returns The text; no line is wider than the output, unless it is one word.
 */
export function helpOf(command: Helped, { width, theme }: Pick<Output, "width" | "theme">): string {
  const cells = Math.min(width, WIDEST);
  const title = (text: string) => ["", theme.bold(`${text}:`), ""];
  const usage = withoutTypes(`${command.getPath()} ${command.getUsage()}`.trim());
  const lines = ["", `${theme.bold("Usage:")}   ${theme.fg("accent", usage)}`];
  const version = command.getVersion();
  if (version !== undefined) lines.push(`${theme.bold("Version:")} ${version}`);
  lines.push(...title("Description"), ...indented(unindented(command.getDescription()), 2, cells));
  const options = command.getOptions(false);
  if (options.length > 0) {
    lines.push(
      ...title("Options"),
      ...table(
        options.map((option) => ({
          left: withoutTypes(`${option.flags.join(", ")} ${option.typeDefinition ?? ""}`.trim()),
          right: [option.description, ...hintsOf(option)].join(" "),
        })),
        cells,
        theme,
      ),
    );
  }
  // Eight more lines would say no more than this one.
  if (command.getOptions(true).some(({ name }) => name.startsWith("deny-"))) {
    const text = "What --allow-… grants, --deny-… takes away again, whatever else is granted: --deny-read=secrets.";
    lines.push("", ...indented(text, 2, cells));
  }
  const commands = command.getCommands(false);
  if (commands.length > 0) {
    lines.push(
      ...title("Commands"),
      ...table(
        commands.map((each) => ({
          left: withoutTypes(`${each.getName()} ${each.getArgsDefinition() ?? ""}`.trim()),
          right: each.getShortDescription(),
        })),
        cells,
        theme,
      ),
    );
  }
  const examples = command.getExamples();
  if (examples.length > 0) lines.push(...title("Examples"));
  for (const { name, description } of examples) {
    lines.push(
      `  ${theme.fg("muted", `${name}:`)}`,
      ...commandLine(description, cells - 4).map((line) => `    ${line}`),
    );
  }
  return `${lines.join("\n")}\n`;
}

function table(rows: { left: string; right: string }[], cells: number, theme: Output["theme"]): string[] {
  const column = Math.max(...rows.map(({ left }) => left.length).filter((length) => length <= LEFT), 0);
  return rows.flatMap(({ left, right }) => {
    const [first = "", ...more] = indented(right, column + 4, cells);
    const shown = `  ${theme.fg("accent", left)}`;
    return left.length > column ? [shown, first, ...more] : [shown + first.slice(left.length + 2), ...more];
  });
}

function indented(text: string, indent: number, cells: number): string[] {
  return text.split("\n").flatMap((line) => wrapToCells(line, Math.max(20, cells - indent)))
    .map((line) => line === "" ? "" : " ".repeat(indent) + line);
}

/** Takes away how far a text was indented as a whole. */
function unindented(text: string): string {
  const lines = text.replace(/^\n+/, "").trimEnd().split("\n");
  const indent = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent)).join("\n");
}

/** Breaks a command line where a shell reads on, so that it can be copied as it stands. */
function commandLine(text: string, cells: number): string[] {
  const lines: string[] = [];
  for (const word of text.match(/(?:--[a-z-]+ (?!-))?(?:"[^"]*"|\S)+/g) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 3 <= cells) lines.push(`${lines.pop()} ${word}`);
    else lines.push(last === undefined ? word : `  ${word}`);
  }
  return lines.map((line, i) => i < lines.length - 1 ? `${line} \\` : line);
}

function hintsOf({ required, default: absent, conflicts = [] }: ReturnType<Helped["getOptions"]>[number]): string[] {
  return [
    ...required ? ["(required)"] : [],
    ...absent === undefined ? [] : [`(default: ${absent})`],
    ...conflicts.length === 0 ? [] : [`(not with ${conflicts.map((name) => `--${name}`).join(", ")})`],
  ];
}

function withoutTypes(text: string): string {
  return text.replaceAll(/(?<=[<[][^>\]]*):[^>\]]*/g, "");
}
