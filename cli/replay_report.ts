/**
 * What `replay` prints.
 *
 * @module
 */

import type { ReplayDecision, ReplayRecord, ReplaySummary } from "../src/replay/mod.ts";
import { plainText, truncateToCells } from "../src/ui/text.ts";
import type { Output } from "./output.ts";

/** Takes what a replay tells. */
export interface ReplayReport {
  /** A decision, or the summary. */
  record(record: ReplayRecord): void;
  /** A program that a hook wanted to run. */
  refused(hookPath: string, command: string, args: readonly string[]): void;
  /** A hook could not be loaded. */
  loadError(path: string, error: string): void;
  /** A hook is odd. */
  loadWarning(path: string, warning: string): void;
  /** Something failed where nobody waited for it. */
  lostError(error: string, hookPath: string | undefined): void;
}

/** One JSON record a line. */
export class JsonReplayReport implements ReplayReport {
  readonly #output: Output;

  /** @param output Where to. */
  constructor(output: Output) {
    this.#output = output;
  }

  /** As {@linkcode ReplayReport.record}. */
  record(record: ReplayRecord): void {
    this.#output.record(record);
  }

  /** As {@linkcode ReplayReport.refused}. */
  refused(hookPath: string, command: string, args: readonly string[]): void {
    this.#output.record({ type: "exec_refused", hookPath, command, args });
  }

  /** As {@linkcode ReplayReport.loadError}. */
  loadError(path: string, error: string): void {
    this.#output.record({ type: "hook_load_error", path, error });
  }

  /** As {@linkcode ReplayReport.loadWarning}. */
  loadWarning(path: string, warning: string): void {
    this.#output.record({ type: "hook_load_warning", path, warning });
  }

  /** As {@linkcode ReplayReport.lostError}. */
  lostError(error: string, hookPath: string | undefined): void {
    this.#output.record({ type: "hook_error", hookPath: hookPath ?? null, event: null, error });
  }
}

/** What belongs together: one hook, one kind of decision, one reason. */
interface Group {
  readonly hookPath: string;
  readonly reason: string;
  readonly examples: string[];
  count: number;
}

const TITLES: readonly (readonly [type: ReplayDecision["type"] | "exec", title: string])[] = [
  ["broken", "Gates that broke, which blocks the call"],
  ["block", "Blocked"],
  ["redact", "Redacted"],
  ["message", "Messages added"],
  ["entry", "Entries appended"],
  ["context", "Context changed"],
  ["failure", "Failures"],
  ["exec", "Programs that were not run; --allow-exec runs them"],
];
const MAX_GROUPS = 50;
const MAX_NAMED_LINES = 10;
const EXAMPLE_CELLS = 110;
const LINE_CELLS = 400;

/** A summary for people. */
export class TextReplayReport implements ReplayReport {
  readonly #output: Output;
  readonly #name: string;
  readonly #examples: number;
  readonly #groups = new Map<string, Map<string, Group>>();

  /**
   * Begins without decisions.
   *
   * @param output Where to.
   * @param name What is replayed.
   * @param examples How many places to show for each reason.
   */
  constructor(output: Output, name: string, examples: number) {
    this.#output = output;
    this.#name = name;
    this.#examples = examples;
  }

  /** A decision, or the summary, which prints all. */
  record(record: ReplayRecord): void {
    switch (record.type) {
      case "block":
      case "broken":
        return this.#add(record, record.reason, `${record.toolName}  ${record.subject}`);
      case "redact": {
        const what = [
          ...(record.parts > 0 ? [`${count(record.chars, "character")} in ${count(record.parts, "part")}`] : []),
          ...(record.details ? ["details"] : []),
        ].join(", ");
        const hints = `${record.isError ? ", of a failure" : ""}${record.blocked ? ", of a call that is blocked" : ""}`;
        return this.#add(record, "", `${record.toolName}  ${what}${hints}`);
      }
      case "message":
        return this.#add(record, `${record.customType} by ${record.via}`, record.text);
      case "entry":
        return this.#add(record, record.customType, "");
      case "context":
        return this.#add(
          record,
          "",
          record.before === record.after
            ? `${count(record.before, "message")}, not all as they were`
            : `${count(record.before, "message")} became ${record.after}`,
        );
      case "failure":
        return this.#add(record, `${record.event}: ${record.error}`, "");
      case "summary":
        return this.#print(record);
    }
  }

  /** As {@linkcode ReplayReport.refused}. */
  refused(hookPath: string, command: string, args: readonly string[]): void {
    this.#add({ type: "exec", hookPath }, [command, ...args].join(" "), "");
  }

  /** As {@linkcode ReplayReport.loadError}. */
  loadError(path: string, error: string): void {
    this.#note("error", `${path}: ${error}`);
  }

  /** As {@linkcode ReplayReport.loadWarning}. */
  loadWarning(path: string, warning: string): void {
    this.#note("warning", `${path}: ${warning}`);
  }

  /** As {@linkcode ReplayReport.lostError}. */
  lostError(error: string, hookPath: string | undefined): void {
    this.#note("error", `${hookPath ?? "A hook"} failed where nobody waited for it: ${error}`);
  }

  #note(level: "error" | "warning", text: string): void {
    this.#output.note(`${this.#output.noteTheme.fg(level, `${level}:`)} ${plainText(text)}`);
  }

  #add(of: { type: string; hookPath: string; line?: number }, reason: string, example: string): void {
    const groups = this.#groups.get(of.type) ?? new Map<string, Group>();
    this.#groups.set(of.type, groups);
    const key = groups.size < MAX_GROUPS || groups.has(`${of.hookPath}\0${reason}`) ? reason : "other reasons";
    const group: Group = groups.get(`${of.hookPath}\0${key}`) ??
      { hookPath: of.hookPath, reason: key, examples: [], count: 0 };
    groups.set(`${of.hookPath}\0${key}`, group);
    group.count++;
    if (group.examples.length < this.#examples && of.line !== undefined) {
      group.examples.push(`line ${of.line}  ${example}`);
    }
  }

  #print(summary: ReplaySummary): void {
    const version = summary.version === undefined ? "" : ` version ${summary.version}`;
    const origin = summary.format === "pi" ? "session" : "Claude Code transcript";
    this.#line(`${this.#name}: ${origin}${version}, ${count(summary.lines, "line")}, working in ${summary.cwd}`);
    const tools = Object.entries(summary.tools).sort(([, a], [, b]) => b - a).map(([name, n]) => `${name} ${n}`);
    const odd = [
      ...(summary.failedResults > 0 ? [`${summary.failedResults} of failures`] : []),
      ...(summary.unanswered > 0 ? [`none for ${count(summary.unanswered, "call")}`] : []),
      ...(summary.orphans > 0 ? [`${summary.orphans} without a call`] : []),
      ...(summary.duplicates > 0 ? [`${summary.duplicates} recorded twice`] : []),
    ];
    this.#row("prompts", summary.prompts, "");
    this.#row("tool calls", summary.calls, tools.join(", "));
    this.#row("tool results", summary.results, odd.join(", "));
    this.#row("blocked", summary.blocked, "", summary.blocked > 0);
    this.#row("gates broken", summary.broken, "", summary.broken > 0);
    this.#row("redacted", summary.redacted, "");
    this.#row("messages", summary.messages, "");
    this.#row("failures", summary.failures, "", summary.failures > 0);
    if (summary.damaged > 0) this.#row("damaged lines", summary.damaged, "", true);
    for (const [type, title] of TITLES) this.#printGroups(title, [...this.#groups.get(type)?.values() ?? []]);
    this.#printDamage(summary);
  }

  #printGroups(title: string, groups: readonly Group[]): void {
    if (groups.length === 0) return;
    this.#title(title);
    for (const group of groups.toSorted((a, b) => b.count - a.count)) {
      const reason = group.reason === "" ? "" : `: ${oneLine(group.reason)}`;
      this.#line(`  ${String(group.count).padStart(5)}  ${oneLine(group.hookPath)}${reason}`);
      for (const example of group.examples) this.#example(example);
      const more = group.count - group.examples.length;
      if (more > 0 && group.examples.length > 0) this.#example(`… ${more} more`);
    }
  }

  #printDamage({ damaged, damagedLines }: ReplaySummary): void {
    if (damaged === 0) return;
    this.#title("Damaged lines");
    for (const { line, cause } of damagedLines.slice(0, MAX_NAMED_LINES)) this.#line(`  line ${line} ${cause}`);
    const more = damaged - Math.min(damagedLines.length, MAX_NAMED_LINES);
    if (more > 0) this.#line(`  … ${more} more`);
  }

  #row(name: string, value: number, note: string, alarm = false): void {
    this.#line(
      `  ${name.padEnd(14)}${String(value).padStart(7)}${note === "" ? "" : `   ${note}`}`,
      alarm ? "error" : undefined,
    );
  }

  #title(text: string): void {
    this.#output.line();
    this.#output.line(this.#output.theme.bold(text));
  }

  #example(text: string): void {
    this.#output.line(this.#output.theme.fg("muted", `         ${truncateToCells(oneLine(text), EXAMPLE_CELLS)}`));
  }

  /** Prints a line; recorded text cannot move the cursor or colour what follows. */
  #line(text: string, colour?: string): void {
    const line = truncateToCells(oneLine(text), LINE_CELLS);
    this.#output.line(colour === undefined ? line : this.#output.theme.fg(colour, line));
  }
}

function oneLine(text: string): string {
  return plainText(text).replaceAll(/[\n\t]+/g, " ").trimEnd();
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
