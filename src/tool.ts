/**
 * What a tool is, to the wrapper and to a session.
 *
 * @module
 */

import type { UserContent } from "./messages.ts";

/** What a tool answers. */
export interface ToolResult {
  /** What the model reads. */
  content: UserContent[];
  /** What programs read. */
  details?: unknown;
}

/** Told while a tool runs; each time all that there is so far. */
export type ToolUpdate = (partial: ToolResult) => void;

/** Something that a model may call. */
export interface Tool<P = Record<string, unknown>, R extends ToolResult = ToolResult> {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Name for people. */
  readonly label?: string;
  /** What it does, for the model. */
  readonly description?: string;
  /** Its arguments as a JSON schema. */
  readonly parameters?: unknown;
  /**
   * Runs it.
   *
   * @param toolCallId Identifies the call.
   * @param params The arguments.
   * @param signal Aborted when the call should end.
   * @param onUpdate Told while it runs.
   * @param context Whatever the caller hands through.
   * @returns What it answers; a failure rejects.
   */
  execute(
    toolCallId: string,
    params: P,
    signal?: AbortSignal,
    onUpdate?: ToolUpdate,
    context?: unknown,
  ): Promise<R>;
}
