/**
 * What a session needs of a model: one function that streams an answer.
 *
 * @module
 */

import type { Model } from "../api.ts";
import type { StopReason, Usage } from "../messages.ts";
import type { ModelMessage } from "../session/context.ts";

/** A tool, as a model sees it. */
export interface ModelTool {
  /** Name by which the model calls it. */
  name: string;
  /** What it does. */
  description: string;
  /** Its arguments as a JSON schema. */
  parameters: unknown;
}

/** What a model is asked. */
export interface ModelRequest {
  /** What the model is to be, told before all messages; nothing when empty. */
  systemPrompt: string;
  /** The conversation. */
  messages: ModelMessage[];
  /** What it may call. */
  tools: ModelTool[];
  /** Most tokens of the answer; the model's own limit when absent. */
  maxTokens?: number;
  /** Aborted when the answer is no longer wanted; the stream then ends soon, by itself or by throwing. */
  signal: AbortSignal;
}

/** One step of an answer. */
export type ModelEvent =
  | {
    /** More text. */
    type: "text";
    /** The piece. */
    delta: string;
  }
  | {
    /** More reasoning. */
    type: "thinking";
    /** The piece; may be empty when only the signature came. */
    delta: string;
    /** Opaque proof that the provider wants back. */
    signature?: string;
  }
  | {
    /** More of the arguments of a call that is still being written. */
    type: "toolCallDelta";
    /** The call. */
    id: string;
    /** The tool. */
    name: string;
    /** A piece of the arguments' JSON. */
    delta: string;
  }
  | {
    /** A whole call. */
    type: "toolCall";
    /** Unique in the conversation. */
    id: string;
    /** The tool. */
    name: string;
    /** The arguments. */
    arguments: Record<string, unknown>;
  }
  | {
    /** Tokens so far; the last one counts. */
    type: "usage";
    /** The tokens. */
    usage: Usage;
  }
  | ModelErrorEvent
  | {
    /** The answer is whole. Nothing comes after it. */
    type: "done";
    /** Why it ended. */
    stopReason: Extract<StopReason, "stop" | "length" | "toolUse">;
  };

/** The answer failed. Nothing comes after it. */
export interface ModelErrorEvent {
  /** Discriminator. */
  type: "error";
  /** What a person should read. */
  message: string;
  /** HTTP status, when one came. */
  status?: number;
  /** Whether the same request may succeed later; told from `status` and `message` when absent. */
  retryable?: boolean;
  /** Time that the provider wants to be left alone, in ms. */
  retryAfterMs?: number;
  /** Whether the conversation is too long for the model; told from `message` when absent. */
  overflow?: boolean;
}

/**
 * A model that a session can talk to.
 *
 * @example A model that repeats the last prompt
 * ```ts
 * import type { LanguageModel } from "@xcsh/hooks/session";
 *
 * const echo: LanguageModel = {
 *   provider: "test",
 *   id: "echo",
 *   async *stream({ messages }) {
 *     yield { type: "text", delta: JSON.stringify(messages.at(-1)?.content) };
 *     yield { type: "done", stopReason: "stop" };
 *   },
 * };
 * ```
 */
export interface LanguageModel extends Model {
  /**
   * Streams an answer.
   *
   * @param request What the model is asked.
   * @returns The steps of the answer. What it throws counts as an `error` step.
   */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}
