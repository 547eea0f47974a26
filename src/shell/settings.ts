/**
 * The hooks that a settings file of Claude Code names.
 *
 * @module
 */

import type { HookEventName } from "../events.ts";
import { errorText, isRecord, kindOf, nearest } from "../values.ts";
import { oddMatcher, parseMatcher } from "./matcher.ts";

/** Name of an event of Claude Code that exists here. */
export type ShellEventName =
  | "PreToolUse"
  | "PostToolUse"
  | "UserPromptSubmit"
  | "SessionStart"
  | "SessionEnd"
  | "Stop"
  | "PreCompact";

/** The events that those of Claude Code are run by. */
export const SHELL_EVENTS: Readonly<Record<ShellEventName, HookEventName>> = {
  PreToolUse: "tool_call",
  PostToolUse: "tool_result",
  UserPromptSubmit: "before_agent_start",
  SessionStart: "session_start",
  SessionEnd: "session_shutdown",
  Stop: "agent_end",
  PreCompact: "session_before_compact",
};

const OTHER_EVENTS = [
  "Notification",
  "PermissionRequest",
  "PermissionDenied",
  "PostToolUseFailure",
  "SubagentStart",
  "SubagentStop",
  "PostCompact",
  "Setup",
];

/** One command that a settings file names. */
export interface CommandHook {
  /** When it runs. */
  event: ShellEventName;
  /** Which tools, or reasons, it is for; `""` for all. */
  matcher: string;
  /** A line for the shell; a program when there are `args`. */
  command: string;
  /** Arguments of the program, which then runs without a shell. */
  args?: string[];
  /** Time limit in seconds. */
  timeout?: number;
}

/** One command, and where in the file it stands. */
export interface PlacedCommand {
  /** For example `PreToolUse[0].hooks[1]`. */
  place: string;
  /** The command; absent when it cannot be used. */
  hook?: CommandHook;
  /** Why it cannot be used. */
  fault?: string;
}

/** What a settings file says of hooks. */
export interface HookSettings {
  /** The commands, in the order of the file. */
  commands: PlacedCommand[];
  /** What the person should know. */
  warnings: string[];
  /** Whether the file switches its hooks off. */
  off: boolean;
}

/** Longest time limit in seconds. A file cannot raise it. */
export const MAX_TIMEOUT = 600;

/**
 * Reads the hooks of a settings file.
 *
 * @param text What it holds.
 * @returns Its commands. What is wrong with one leaves the others as they are.
 * @throws {Error} When the file cannot be read at all.
 */
export function readHookSettings(text: string): HookSettings {
  const settings: HookSettings = { commands: [], warnings: [], off: false };
  const root = parse(text, settings.warnings);
  if (!isRecord(root)) throw new Error(`holds ${kindOf(root)} instead of an object, so none of its hooks is used`);
  settings.off = root.disableAllHooks === true;
  const { hooks = {} } = root;
  if (!isRecord(hooks)) throw new Error(`"hooks" is ${kindOf(hooks)} instead of an object, so none of them is used`);
  for (const [event, groups] of Object.entries(hooks)) {
    const fault = eventFault(event) ?? (Array.isArray(groups) ? undefined : `"${event}" must be an array`);
    if (fault !== undefined) settings.warnings.push(fault);
    else {(groups as unknown[]).forEach((group, i) =>
        readGroup(event as ShellEventName, group, `${event}[${i}]`, settings)
      );}
  }
  return settings;
}

function parse(text: string, warnings: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const bare = withoutComments(text);
    try {
      const value: unknown = JSON.parse(bare);
      warnings.push("holds comments or trailing commas, which JSON does not allow; they were skipped");
      return value;
    } catch {
      throw new Error(`is no JSON (${errorText(error)}), so none of its hooks is used`);
    }
  }
}

/** Blanks comments, commas before a closing bracket, and a byte order mark. */
function withoutComments(text: string): string {
  return text
    .replace(/^\ufeff/, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) => part.startsWith('"') ? part : " ")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[\]}])/g, (part) => part === "," ? " " : part);
}

function eventFault(event: string): string | undefined {
  if (Object.hasOwn(SHELL_EVENTS, event)) return undefined;
  if (OTHER_EVENTS.includes(event)) return `"${event}" is an event that does not exist here, so its hooks never run`;
  const near = nearest(event, Object.keys(SHELL_EVENTS));
  const hint = near === undefined
    ? `the events are ${Object.keys(SHELL_EVENTS).join(", ")}`
    : `did you mean "${near}"?`;
  return `there is no event "${event}", so its hooks never run; ${hint}`;
}

function readGroup(event: ShellEventName, group: unknown, place: string, settings: HookSettings): void {
  if (!isRecord(group) || !Array.isArray(group.hooks)) {
    settings.commands.push({ place, fault: 'must be an object with an array "hooks"' });
    return;
  }
  const { matcher = "" } = group;
  for (const [i, hook] of group.hooks.entries()) {
    const own = `${place}.hooks[${i}]`;
    try {
      const command = readCommand(event, matcher, hook, (warning) => settings.warnings.push(`${own}: ${warning}`));
      settings.commands.push({ place: own, hook: command });
    } catch (error) {
      settings.commands.push({ place: own, fault: errorText(error) });
    }
  }
}

const FIELDS = ["type", "command", "args", "timeout", "statusMessage", "async", "suppressOutput", "description"];

function readCommand(
  event: ShellEventName,
  matcher: unknown,
  hook: unknown,
  warn: (warning: string) => void,
): CommandHook {
  if (typeof matcher !== "string") throw new Error(`"matcher" must be a string, not ${kindOf(matcher)}`);
  if (!isRecord(hook)) throw new Error(`must be an object, not ${kindOf(hook)}`);
  const { type, command, args, timeout } = hook;
  if (type !== "command") {
    throw new Error(`"type" is ${kindOf(type)}; only hooks of type "command" run here`);
  }
  if (typeof command !== "string" || command.trim() === "") throw new Error('"command" must be a line for the shell');
  if (command.includes("\0")) throw new Error('"command" holds a NUL byte');
  if (args !== undefined && !(Array.isArray(args) && args.every((arg) => typeof arg === "string"))) {
    throw new Error('"args" must be an array of strings');
  }
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0)) {
    throw new Error(`"timeout" must be a number of seconds above 0, not ${kindOf(timeout)}`);
  }
  parseMatcher(matcher);
  const odd = event === "PreToolUse" || event === "PostToolUse" ? oddMatcher(matcher) : undefined;
  if (odd !== undefined) warn(odd);
  if (timeout !== undefined && timeout > MAX_TIMEOUT) {
    warn(`"timeout" is in seconds and is ${timeout}; ${MAX_TIMEOUT} is the most`);
  }
  const unknown = Object.keys(hook).filter((key) => !FIELDS.includes(key));
  if (unknown.length > 0) warn(`${unknown.map((key) => JSON.stringify(key)).join(", ")} does nothing here`);
  return {
    event,
    matcher,
    command,
    ...(args === undefined ? {} : { args: args as string[] }),
    ...(timeout === undefined ? {} : { timeout: Math.min(timeout, MAX_TIMEOUT) }),
  };
}
