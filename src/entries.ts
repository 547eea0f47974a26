/**
 * What a session is made of: a header and a tree of entries, one JSON object a line.
 *
 * @module
 */

import type { AgentMessage, UserContent } from "./messages.ts";

/** First line of a session file. */
export interface SessionHeader {
  /** Discriminator. */
  type: "session";
  /** Version of the format; 1 when absent. */
  version?: number;
  /** Identifies the session. */
  id: string;
  /** When it began, ISO 8601. */
  timestamp: string;
  /** The folder it works in. */
  cwd: string;
  /** Its name, as people see it. */
  title?: string;
  /** Path of the session file that this one came from. */
  parentSession?: string;
  /** Path of the file of an older version that this one is the migrated copy of. */
  migratedFrom?: string;
}

/** What every entry has. */
export interface EntryBase {
  /** Unique in the session. */
  id: string;
  /** The entry before it on its branch; `null` at a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
}

/** A message. */
export interface MessageEntry extends EntryBase {
  /** Discriminator. */
  type: "message";
  /** The message. */
  message: AgentMessage;
}

/** A message of a hook; the model reads it. */
export interface CustomMessageEntry<T = unknown> extends EntryBase {
  /** Discriminator. */
  type: "custom_message";
  /** The hook's own name for this kind of message. */
  customType: string;
  /** What the model reads. */
  content: string | UserContent[];
  /** Whether people see it. */
  display: boolean;
  /** The hook's own data; the model never reads it. */
  details?: T;
  /** Who caused it; the agent when absent. */
  attribution?: "user" | "agent";
}

/** Data of a hook; the model never reads it. */
export interface CustomEntry<T = unknown> extends EntryBase {
  /** Discriminator. */
  type: "custom";
  /** The hook's own name for this kind of entry. */
  customType: string;
  /** The data, as JSON. */
  data?: T;
}

/** A summary that stands in for all before `firstKeptEntryId`. */
export interface CompactionEntry<T = unknown> extends EntryBase {
  /** Discriminator. */
  type: "compaction";
  /** The summary. */
  summary: string;
  /** One line of it. */
  shortSummary?: string;
  /** First entry that the context keeps whole. */
  firstKeptEntryId: string;
  /** Tokens in the context before. */
  tokensBefore: number;
  /** Data of whoever compacted. */
  details?: T;
  /** What hooks wanted to carry over to the next compaction. */
  preserveData?: Record<string, unknown>;
  /** Whether a hook made it. */
  fromExtension?: boolean;
}

/** A summary of a branch that was left. */
export interface BranchSummaryEntry<T = unknown> extends EntryBase {
  /** Discriminator. */
  type: "branch_summary";
  /** Entry at which the branch was left, or `"root"`. */
  fromId: string;
  /** The summary. */
  summary: string;
  /** Data of whoever summarised. */
  details?: T;
  /** Whether a hook made it. */
  fromExtension?: boolean;
}

/** Names another entry; an absent or empty label takes the name away. */
export interface LabelEntry extends EntryBase {
  /** Discriminator. */
  type: "label";
  /** The entry that is named. */
  targetId: string;
  /** The name. */
  label?: string;
}

/** The model was changed. */
export interface ModelChangeEntry extends EntryBase {
  /** Discriminator. */
  type: "model_change";
  /** `provider/id`. */
  model: string;
}

/** Stream rules have been shown to the model; each counts once in a session. */
export interface TtsrInjectionEntry extends EntryBase {
  /** Discriminator. */
  type: "ttsr_injection";
  /** Names of the rules. */
  injectedRules: string[];
}

/** The session got a name. */
export interface SessionInfoEntry extends EntryBase {
  /** Discriminator. */
  type: "session_info";
  /** The name. */
  name: string;
}

/**
 * Any line of a session file but the header. A file may hold entries of other types, written by another program or a
 * newer version: they are kept as they are, so check `type` before reading more.
 */
export type SessionEntry =
  | MessageEntry
  | CustomMessageEntry
  | CustomEntry
  | CompactionEntry
  | BranchSummaryEntry
  | LabelEntry
  | ModelChangeEntry
  | TtsrInjectionEntry
  | SessionInfoEntry;

/** An entry and what came after it. */
export interface SessionTreeNode {
  /** The entry. */
  entry: SessionEntry;
  /** Its children, oldest first. */
  children: SessionTreeNode[];
  /** Its label, if it has one. */
  label?: string;
}
