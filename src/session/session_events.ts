/**
 * What a session tells those who watch it.
 *
 * @module
 */

import type { BranchSummaryEntry, CompactionEntry } from "../entries.ts";
import type {
  AutoCompactionEndEvent,
  AutoCompactionStartEvent,
  AutoRetryEndEvent,
  AutoRetryStartEvent,
  SwitchReason,
  TodoReminderEvent,
  TtsrTriggeredEvent,
} from "../events.ts";
import type { AgentMessage, UserContent } from "../messages.ts";
import type { ModelEvent } from "../models/model.ts";

/** Which session it is. */
export interface SessionIdentity {
  /** Identifies the session. */
  sessionId: string;
  /** Its file, if it has one. */
  sessionFile?: string;
  /** The folder it works in. */
  cwd: string;
}

/** The session has begun, after its hooks have heard of it. */
export interface SessionStartNotice extends SessionIdentity {
  /** Discriminator. */
  type: "session_start";
  /** The model in use, as `provider/id`. */
  model?: string;
}

/** Another session has taken over. */
export interface SessionSwitchNotice extends SessionIdentity {
  /** Discriminator. */
  type: "session_switch";
  /** Why. */
  reason: SwitchReason;
  /** File of the session that was left. */
  previousSessionFile?: string;
}

/** A branch has become a session of its own, and goes on. */
export interface SessionBranchNotice extends SessionIdentity {
  /** Discriminator. */
  type: "session_branch";
  /** File of the session that was left. */
  previousSessionFile?: string;
}

/** The session has moved in its tree. */
export interface SessionTreeNotice {
  /** Discriminator. */
  type: "session_tree";
  /** Where it is now. */
  newLeafId: string | null;
  /** Where it was. */
  oldLeafId: string | null;
  /** The summary of what was left. */
  summaryEntry?: BranchSummaryEntry;
}

/** The context has been compacted. */
export interface SessionCompactNotice {
  /** Discriminator. */
  type: "session_compact";
  /** The entry that was appended. */
  compactionEntry: CompactionEntry;
  /** Whether a hook made it. */
  fromExtension: boolean;
}

/** The session has ended. */
export interface SessionShutdownNotice {
  /** Discriminator. */
  type: "session_shutdown";
}

/** The agent's loop begins or ends. */
export interface AgentNotice {
  /** Discriminator. */
  type: "agent_start" | "agent_end";
}

/** A turn begins or ends. */
export interface TurnNotice {
  /** Discriminator. */
  type: "turn_start" | "turn_end";
  /** Counts from 0 in each run. */
  turnIndex: number;
}

/** A message begins; for an answer, nothing is in it yet. */
export interface MessageStartNotice {
  /** Discriminator. */
  type: "message_start";
  /** Whose it is. */
  role: AgentMessage["role"];
}

/** More of the model's answer. */
export interface MessageUpdateNotice {
  /** Discriminator. */
  type: "message_update";
  /** What came. */
  delta: Extract<ModelEvent, { type: "text" | "thinking" | "toolCallDelta" }>;
}

/** A message is whole and in the session. */
export interface MessageEndNotice {
  /** Discriminator. */
  type: "message_end";
  /** The message. */
  message: AgentMessage;
  /** Its entry. */
  entryId: string;
}

/** A tool is about to be asked for; its hooks have not run yet. */
export interface ToolStartNotice {
  /** Discriminator. */
  type: "tool_execution_start";
  /** The call. */
  toolCallId: string;
  /** The tool. */
  toolName: string;
  /** Its arguments. */
  args: Record<string, unknown>;
}

/** A tool tells how far it is. Never told while hooks may redact what tools answer. */
export interface ToolUpdateNotice {
  /** Discriminator. */
  type: "tool_execution_update";
  /** The call. */
  toolCallId: string;
  /** The tool. */
  toolName: string;
  /** All that there is so far. */
  content: UserContent[];
}

/** A tool has answered, failed or been blocked. */
export interface ToolEndNotice {
  /** Discriminator. */
  type: "tool_execution_end";
  /** The call. */
  toolCallId: string;
  /** The tool. */
  toolName: string;
  /** What the model reads, as hooks left it. */
  content: UserContent[];
  /** What programs read, as hooks left it. */
  details?: unknown;
  /** Whether it failed or was blocked. */
  isError: boolean;
  /** Whether a hook kept it from running. */
  blocked: boolean;
  /** The hook that did. */
  hook?: string;
  /** Why. */
  reason?: string;
  /** Hooks that changed what it answered. */
  changedBy?: string[];
}

/** A hook failed. */
export interface HookErrorNotice {
  /** Discriminator. */
  type: "hook_error";
  /** Path of the hook, or `command:` and a name. */
  hookPath: string;
  /** The event, or `command`. */
  event: string;
  /** What it threw, as text. */
  error: string;
}

/** A slash command of a hook is about to run. */
export interface CommandNotice {
  /** Discriminator. */
  type: "command";
  /** Its name without the slash. */
  name: string;
  /** All after the name. */
  args: string;
}

/** Something that a person should know. */
export interface TextNotice {
  /** Discriminator. */
  type: "notice";
  /** How much it matters. */
  level: "info" | "warning" | "error";
  /** What it is. */
  message: string;
}

/** All that a session tells those who watch it; each is plain data, fit to be printed as a line of JSON. */
export type SessionEvent =
  | SessionStartNotice
  | SessionSwitchNotice
  | SessionBranchNotice
  | SessionTreeNotice
  | SessionCompactNotice
  | SessionShutdownNotice
  | AgentNotice
  | TurnNotice
  | MessageStartNotice
  | MessageUpdateNotice
  | MessageEndNotice
  | ToolStartNotice
  | ToolUpdateNotice
  | ToolEndNotice
  | AutoCompactionStartEvent
  | AutoCompactionEndEvent
  | AutoRetryStartEvent
  | AutoRetryEndEvent
  | TtsrTriggeredEvent
  | TodoReminderEvent
  | HookErrorNotice
  | CommandNotice
  | TextNotice;

/** Watches a session. What it throws is dropped. */
export type SessionListener = (event: SessionEvent) => void;
