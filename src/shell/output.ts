/**
 * What a Claude-style hook answered, by its exit code and what it printed.
 *
 * @module
 */

import type { ExecResult } from "../api.ts";
import { isRecord, kindOf } from "../values.ts";

/** An answer. */
export interface ShellAnswer {
  /** Why what was announced must not happen. */
  deny?: string;
  /** What a person must be asked before it happens. */
  ask?: string;
  /** Why the agent must stop altogether. */
  stop?: string;
  /** What the model shall read. */
  context?: string;
  /** What takes the place of the tool's output. */
  output?: unknown;
  /** What the person shall read. */
  systemMessage?: string;
  /** What it printed that is no JSON. */
  text?: string;
  /** What it printed around its JSON. */
  noise?: string;
}

/** An answer that cannot be read; the message says why. */
export class UnreadableAnswerError extends Error {
  /** Tells it from other errors. */
  override name = "UnreadableAnswerError";
}

const KEYS = ["hookSpecificOutput", "decision", "reason", "continue", "stopReason", "systemMessage", "suppressOutput"];
/** Names that nobody prints who does not mean to answer. */
const TELLING = /"(?:hookSpecificOutput|permissionDecision|decision|continue)"\s*:/;
const SHOWN = 300;

/**
 * Reads how a hook ended.
 *
 * @param result Its exit code and output; it must have ended by itself.
 * @returns Its answer.
 * @throws {UnreadableAnswerError} When it says neither yes nor no.
 */
export function readAnswer({ code, stdout, stderr }: ExecResult): ShellAnswer {
  const said = stderr.trim() || stdout.trim();
  if (code === 2) return { deny: said };
  if (code === 0) return readOutput(stdout);
  if (code === 126 || code === 127) throw new UnreadableAnswerError(`it could not be started: ${shown(said)}`);
  if (code > 128) throw new UnreadableAnswerError(`it was ended by signal ${code - 128}`);
  throw new UnreadableAnswerError(
    `it ended with exit code ${code}, which neither allows (0) nor denies (2)${said === "" ? "" : `: ${shown(said)}`}`,
  );
}

function readOutput(stdout: string): ShellAnswer {
  // Not by `trim`, which takes a byte order mark for a space.
  const text = stdout.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (text === "") return {};
  const answers = objectsIn(text);
  if (answers.length > 1) {
    throw new UnreadableAnswerError(
      `it printed ${answers.length} answers, and which one counts is not clear: ${shown(text)}`,
    );
  }
  const [answer] = answers;
  if (answer === undefined) {
    if (text.startsWith("{") || text.startsWith("\ufeff{") || TELLING.test(text)) {
      throw new UnreadableAnswerError(`it printed what looks like JSON and is none: ${shown(text)}`);
    }
    return { text };
  }
  const noise = text.slice(0, answer.from) + text.slice(answer.to);
  const read = fromObject(answer.value);
  return noise === "" ? read : { ...read, noise: shown(noise) };
}

interface Found {
  readonly value: Record<string, unknown>;
  readonly from: number;
  readonly to: number;
}

/** The JSON objects in a text that may be answers. */
function objectsIn(text: string): Found[] {
  const whole = parseObject(text);
  if (whole !== undefined) return [{ value: whole, from: 0, to: text.length }];
  const found: Found[] = [];
  for (let from = text.indexOf("{"); from !== -1; from = text.indexOf("{", from)) {
    const to = endOfObject(text, from);
    const value = to === undefined ? undefined : parseObject(text.slice(from, to));
    if (value !== undefined && KEYS.some((key) => Object.hasOwn(value, key))) found.push({ value, from, to: to! });
    // An object may stand in braces that are none.
    from = value === undefined ? from + 1 : to!;
  }
  return found;
}

function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let i = from; i < text.length; i++) {
    const char = text[i];
    if (quoted) {
      if (char === "\\") i++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return i + 1;
  }
  return undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const ALLOWING = ["allow", "approve"];
const DENYING = ["deny", "block"];

function fromObject(value: Record<string, unknown>): ShellAnswer {
  const answer: ShellAnswer = {};
  const { hookSpecificOutput: own = {} } = value;
  if (!isRecord(own)) throw wrong("hookSpecificOutput", own);
  const reason = string(own, "permissionDecisionReason") ?? string(value, "reason") ?? "";
  for (
    const [key, decision] of [["decision", value.decision], ["permissionDecision", own.permissionDecision]] as const
  ) {
    if (decision === undefined || decision === null || ALLOWING.includes(decision as string)) continue;
    if (DENYING.includes(decision as string)) answer.deny = reason;
    else if (decision === "ask") answer.ask = reason;
    else throw wrong(key, decision);
  }
  if (own.updatedInput !== undefined && own.updatedInput !== null && answer.deny === undefined) {
    // The tool would run with the arguments that the hook meant to mend.
    answer.deny = `${
      reason === "" ? "" : `${reason} `
    }(the hook wants to change the arguments, which hooks cannot do here)`;
  }
  if (value.continue === false) answer.stop = string(value, "stopReason") ?? reason;
  else if (value.continue !== undefined && value.continue !== true) throw wrong("continue", value.continue);
  const context = string(own, "additionalContext") ?? string(value, "additionalContext");
  if (context !== undefined && context !== "") answer.context = context;
  const output = own.updatedToolOutput ?? value.updatedToolOutput ?? own.updatedMCPToolOutput;
  if (output !== undefined && output !== null) answer.output = output;
  const systemMessage = string(value, "systemMessage");
  if (systemMessage !== undefined && systemMessage !== "") answer.systemMessage = systemMessage;
  return answer;
}

function string(value: Record<string, unknown>, key: string): string | undefined {
  const text = value[key];
  if (text === undefined || text === null) return undefined;
  if (typeof text !== "string") throw wrong(key, text);
  return text;
}

function wrong(key: string, value: unknown): UnreadableAnswerError {
  return new UnreadableAnswerError(`it answered with "${key}" as ${kindOf(value)}, which cannot be read`);
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}
