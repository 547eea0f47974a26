/**
 * Which failures of a model are tried again, and when.
 *
 * @module
 */

import type { ModelErrorEvent } from "../models/model.ts";

/** How failed requests are sent again. */
export interface RetrySettings {
  /** Whether they are; default true. */
  enabled: boolean;
  /** How often at most; default 3. */
  maxRetries: number;
  /** Time before the first one in ms, doubled each time; default 2000. */
  baseDelayMs: number;
  /** Longest time that a provider may ask to be left alone, in ms, before the request counts as failed; default 5 minutes. */
  maxDelayMs: number;
}

/** What holds when nothing is set. */
export const DEFAULT_RETRY: RetrySettings = { enabled: true, maxRetries: 3, baseDelayMs: 2_000, maxDelayMs: 300_000 };

/** Part of the delay that is left to chance, so that many sessions do not come back at the same moment. */
const JITTER = 0.25;

const RETRYABLE_STATUS = new Set([408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529]);
const RETRYABLE_TEXT = new RegExp(
  [
    "overloaded",
    "rate.?limit",
    "too many requests",
    "service.?unavailable",
    "(?:internal|server|network|connection) error",
    "connection (?:refused|reset|closed|aborted)",
    "ECONN(?:REFUSED|RESET|ABORTED)",
    "EPIPE",
    "ETIMEDOUT",
    "other side closed",
    "fetch failed",
    "upstream connect",
    "reset before headers",
    "socket hang up",
    "timed? ?out",
    "terminated",
    "stream (?:stall|ended|closed)",
    "ended before it was whole",
    "error reading a body",
    "(?:status|code|http)\\W{0,3}(?:408|429|50[0234]|529)\\b",
    "^(?:429|50[0234]|529)\\b",
  ].join("|"),
  "i",
);
const OVERFLOW_TEXT = new RegExp(
  [
    "context.?(?:length|window).{0,40}(?:exceed|too|larger|long|limit)",
    "exceeds? .{0,30}context",
    "maximum context length",
    "prompt is too long",
    "input is too long",
    "input token count.{0,20}exceeds",
    "too many tokens",
    "request_too_large",
    "reduce the length of the messages",
    "maximum prompt length",
    "context_length_exceeded",
    "available context size",
    "token limit exceeded",
    "^(?:400|413)(?: status code)? \\(no body\\)",
  ].join("|"),
  "i",
);

/**
 * Whether a failure means that the conversation is too long for the model.
 *
 * @param failure The failure.
 */
export function isOverflow(failure: ModelErrorEvent): boolean {
  return failure.overflow ?? (failure.status !== 429 && OVERFLOW_TEXT.test(failure.message));
}

/**
 * Whether the same request may succeed later.
 *
 * @param failure The failure.
 */
export function isRetryable(failure: ModelErrorEvent): boolean {
  if (isOverflow(failure)) return false;
  if (failure.retryable !== undefined) return failure.retryable;
  if (failure.status !== undefined) return RETRYABLE_STATUS.has(failure.status);
  return RETRYABLE_TEXT.test(failure.message);
}

/**
 * How long to wait before an attempt.
 *
 * @param attempt Counts from 1.
 * @param failure What went wrong before.
 * @param settings The settings.
 * @param random Gives chance, from 0 to 1.
 * @returns Time in ms: the doubled base with some chance in it, or what the provider asked for if that is longer.
 */
export function retryDelay(
  attempt: number,
  failure: ModelErrorEvent,
  settings: RetrySettings,
  random: () => number = Math.random,
): number {
  const backoff = settings.baseDelayMs * 2 ** (attempt - 1);
  const jittered = backoff * (1 - JITTER + 2 * JITTER * random());
  return Math.round(Math.max(jittered, failure.retryAfterMs ?? retryAfterIn(failure.message) ?? 0));
}

/** Reads a `retry-after` out of a text, in ms. */
function retryAfterIn(text: string): number | undefined {
  const match = /retry[- ]after(-ms)?["']?\s*[:=]?\s*["']?(\d+(?:\.\d+)?)(ms)?/i.exec(text);
  if (match === null) return undefined;
  return Number(match[2]) * (match[1] ?? match[3] ? 1 : 1_000);
}
