/**
 * What replaying a session tells.
 *
 * @module
 */

import type { HookEventName } from "../events.ts";
import type { RecordedFormat } from "./format.ts";

/** Where something happened, and by which hook. */
export interface ReplayPlace {
  /** Line of the file, counted from 1. */
  line: number;
  /** Path of the hook, as it was given. */
  hookPath: string;
}

/** A tool call would have been blocked. */
export interface BlockDecision extends ReplayPlace {
  /** Discriminator. */
  type: "block";
  /** Name of the tool. */
  toolName: string;
  /** Identifies the call. */
  toolCallId: string;
  /** The call in short: a command, a path or a pattern. */
  subject: string;
  /** What the hook says, or the text that stands in for nothing. */
  reason: string;
}

/** A hook broke while it was asked about a tool call, which blocks the call. */
export interface BrokenDecision extends Omit<BlockDecision, "type"> {
  /** Discriminator. */
  type: "broken";
}

/** A tool's result would have been changed. What was taken out is never told. */
export interface RedactDecision extends ReplayPlace {
  /** Discriminator. */
  type: "redact";
  /** Name of the tool. */
  toolName: string;
  /** Identifies the call. */
  toolCallId: string;
  /** Whether the tool had failed. */
  isError: boolean;
  /** Parts of the content that were changed, added or taken away. */
  parts: number;
  /** Characters of text that were replaced or taken away. */
  chars: number;
  /** Whether the details were changed. */
  details: boolean;
  /** Whether the call would have been blocked, so that there would be no result. */
  blocked: boolean;
}

/** A message would have been added. */
export interface MessageDecision extends ReplayPlace {
  /** Discriminator. */
  type: "message";
  /** An answer to the event `before_agent_start`, or `pi.sendMessage`. */
  via: "before_agent_start" | "sendMessage";
  /** The hook's own name for this kind of message. */
  customType: string;
  /** Whether people would see it. */
  display: boolean;
  /** How it begins. */
  text: string;
  /** How long it is, in characters. */
  chars: number;
}

/** Data would have been appended to the session. */
export interface EntryDecision extends ReplayPlace {
  /** Discriminator. */
  type: "entry";
  /** The hook's own name for this kind of data. */
  customType: string;
}

/** The model would have read something else. */
export interface ContextDecision extends ReplayPlace {
  /** Discriminator. */
  type: "context";
  /** How many messages there were. */
  before: number;
  /** How many the hook left. */
  after: number;
}

/** A hook failed at an event that goes on without it. */
export interface FailureDecision extends ReplayPlace {
  /** Discriminator. */
  type: "failure";
  /** The event. */
  event: HookEventName | "command";
  /** What it threw, as text. */
  error: string;
}

/** What a hook would have brought about. */
export type ReplayDecision =
  | BlockDecision
  | BrokenDecision
  | RedactDecision
  | MessageDecision
  | EntryDecision
  | ContextDecision
  | FailureDecision;

/** A line that could not be read, or not wholly. */
export interface DamagedLine {
  /** Counts from 1. */
  line: number;
  /** What is wrong with it, as the end of a sentence that begins with the line. */
  cause: string;
}

/** What replaying a session came to. */
export interface ReplaySummary {
  /** Discriminator. */
  type: "summary";
  /** The format. */
  format: RecordedFormat;
  /** Version of the format, as far as it has one. */
  version?: number;
  /** The session's own name for itself. */
  sessionId: string;
  /** The folder that `ctx.cwd` named. */
  cwd: string;
  /** Lines in the file. */
  lines: number;
  /** Prompts that a person sent. */
  prompts: number;
  /** Tool calls. */
  calls: number;
  /** Tool calls by tool. */
  tools: Record<string, number>;
  /** Tool results. */
  results: number;
  /** Tool results that were failures. */
  failedResults: number;
  /** Calls that would have been blocked, those by a broken hook left out. */
  blocked: number;
  /** Calls blocked since a hook broke. */
  broken: number;
  /** Results that would have been changed. */
  redacted: number;
  /** Messages that would have been added. */
  messages: number;
  /** Entries that would have been appended. */
  entries: number;
  /** Faults in hooks, broken gates left out. */
  failures: number;
  /** Calls without a result, as when a session was aborted. */
  unanswered: number;
  /** Results without a call, as when the line of the call is damaged. */
  orphans: number;
  /** Calls and results that were recorded twice. */
  duplicates: number;
  /** How many lines are damaged. */
  damaged: number;
  /** The first of them. */
  damagedLines: DamagedLine[];
}

/** One record of a replay: the decisions in the order in which they fell, and the summary as the last one. */
export type ReplayRecord = ReplayDecision | ReplaySummary;
