/**
 * Says what an approval would cover, so that a person can decide.
 *
 * @module
 */

import { canonicalJson } from "./approval.ts";
import { sha256 } from "./approval.ts";
import { IN_PROCESS } from "./rights.ts";
import type { FileChange, TrustRequest } from "./trust.ts";

/** A line of a description: what it says, and how it differs from what was approved. */
export interface DescribedLine {
  /** The line. Nothing in it can reach a terminal as anything but text. */
  text: string;
  /** Whether it came, went, heads a part, or warns. */
  kind: "plain" | "added" | "removed" | "title" | "warning";
}

/** Lines of a file that are shown; a reviewer opens a longer one in an editor. */
const MAX_LINES = 400;
const CONTEXT = 3;

/**
 * Describes a request.
 *
 * @param request The request.
 * @returns What the hook is and may do, what the approval leaves open, and its code, or what changed in it.
 */
export function describeRequest(request: TrustRequest): DescribedLine[] {
  const { subject, previous, hook, rights, code, faults } = request;
  const lines: DescribedLine[] = [];
  const line = (text: string, kind: DescribedLine["kind"] = "plain") => void lines.push({ text: visible(text), kind });
  line(`${subject.path}  (${hook._source.providerName ?? hook._source.provider}, ${hook.type} ${hook.tool})`, "title");
  line(previous === undefined ? "never approved" : `approved before, on ${previous.approvedAt.slice(0, 10)}`);
  if (subject.command !== undefined) {
    const { event, matcher, command, args = [], timeout } = subject.command;
    line(`runs at ${event}${matcher === "" ? "" : ` of ${matcher}`}: ${[command, ...args].join(" ")}`);
    if (timeout !== undefined) line(`for at most ${timeout} s`);
  }
  line(`may do: ${rightsText(subject.grants)}`);
  for (const path of subject.replaces) line(`takes the place of your ${path}`, "warning");
  for (const name of subject.externals) line(`takes from elsewhere: ${name}`);
  for (const text of subject.uncovered) line(`not covered: ${text}`, "warning");
  for (const text of faults) line(`cannot be approved: ${text}`, "warning");
  for (const text of rights) line(`changed: ${text}`, "warning");
  for (const change of code) {
    line(
      `${change.path}${change.after === undefined ? " (no longer used)" : change.before === undefined ? " (new)" : ""}`,
      "title",
    );
    lines.push(...describeChange(change));
  }
  return lines;
}

function rightsText(grants: unknown): string {
  if (grants === IN_PROCESS) return "whatever this program may";
  const text = canonicalJson(grants);
  return text === "{}" ? "nothing but think" : typeof grants === "string" ? `whatever you may (${grants})` : text;
}

function describeChange({ before, after }: FileChange): DescribedLine[] {
  const bytes = after ?? before!;
  if (isBinary(before) || isBinary(after)) return [plain(`binary, ${bytes.length} bytes, SHA-256 ${sha256(bytes)}`)];
  if (after === undefined) return [];
  const all = diff(linesOf(before), linesOf(after));
  const shown = before === undefined ? all : nearChanges(all);
  if (shown.length <= MAX_LINES) return shown;
  return [...shown.slice(0, MAX_LINES), {
    text: `… ${shown.length - MAX_LINES} more lines: look at the file`,
    kind: "warning",
  }];
}

function isBinary(bytes: Uint8Array | undefined): boolean {
  return bytes?.subarray(0, 8_000).includes(0) ?? false;
}

function linesOf(bytes: Uint8Array | undefined): string[] {
  if (bytes === undefined) return [];
  const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Lines that stay, came and went: the longest row that both have in common stays. */
function diff(before: string[], after: string[]): DescribedLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const middle = old.length * now.length > 4_000_000 ? [...old.map(removed), ...now.map(added)] : shortest(old, now);
  return [...before.slice(0, start).map(plain), ...middle, ...(end === 0 ? [] : before.slice(-end).map(plain))];
}

function shortest(old: string[], now: string[]): DescribedLine[] {
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === now[j]
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: DescribedLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(plain(old[i]!));
      [i, j] = [i + 1, j + 1];
    } else if (j === now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      lines.push(removed(old[i++]!));
    } else lines.push(added(now[j++]!));
  }
  return lines;
}

/** Leaves out lines that are far from any change. */
function nearChanges(lines: DescribedLine[]): DescribedLine[] {
  const shown: DescribedLine[] = [];
  let skipped = false;
  for (const [i, line] of lines.entries()) {
    const near = lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ kind }) => kind !== "plain");
    if (near) {
      if (skipped) shown.push(plain("…"));
      shown.push(line);
    }
    skipped = !near;
  }
  return shown;
}

const plain = (text: string): DescribedLine => ({ text: `  ${visible(text)}`, kind: "plain" });
const added = (text: string): DescribedLine => ({ text: `+ ${visible(text)}`, kind: "added" });
const removed = (text: string): DescribedLine => ({ text: `- ${visible(text)}`, kind: "removed" });

/** Shows characters that would hide, move or colour others by their codes: a reviewer must see what will run. */
function visible(text: string): string {
  return text.replaceAll(
    // deno-lint-ignore no-control-regex -- they are what this is about
    /[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`,
  );
}
