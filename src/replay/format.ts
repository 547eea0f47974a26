/**
 * What a reader of a recorded format gives: one stream of steps, whatever the format.
 *
 * @module
 */

import type { SessionEntry, SessionHeader } from "../entries.ts";
import { isRecord } from "../values.ts";
import { ClaudeReader } from "./claude.ts";
import { PiReader } from "./pi.ts";

/** Who recorded a session: pi, oh-my-pi and xcsh share one format. */
export type RecordedFormat = "pi" | "claude";

/** One entry of a recorded session, in the form of version 3. */
export interface RecordedStep {
  /** The entry. */
  entry: SessionEntry;
  /** Whether it is a user message that a person sent. */
  prompt: boolean;
  /** Names the answer of the model that an assistant message is part of; each message is one of its own when absent. */
  turn?: string;
  /** Whether it belongs to a subagent that was recorded in the same file: its tools pass the hooks, its turns do not. */
  side: boolean;
}

/** What one line held. */
export interface RecordedLine {
  /** What the session says of itself. */
  header?: Partial<SessionHeader>;
  /** The entries. */
  steps: readonly RecordedStep[];
  /** What is wrong with the line, as the end of a sentence that begins with it. */
  problem?: string;
}

/** Reads the lines of one format, in order. */
export interface SessionReader {
  /** The format. */
  readonly format: RecordedFormat;
  /** Version of the format, as far as it has one. */
  readonly version: number | undefined;
  /** Reads one line. */
  read(record: Record<string, unknown>): RecordedLine;
}

/**
 * Finds the reader for a recorded line by what is in it.
 *
 * @param record The line.
 * @returns `undefined` when the line is of no known format.
 */
export function readerFor(record: unknown): SessionReader | undefined {
  if (!isRecord(record)) return undefined;
  if (PiReader.knows(record)) return new PiReader();
  if (ClaudeReader.knows(record)) return new ClaudeReader();
  return undefined;
}
