/**
 * How the answers of several handlers become one outcome: one {@linkcode Merge} for each rule of the event table.
 *
 * @module
 */

import type { EventRule, HookEvent, HookEventName, MergeRule, ToolResultEvent } from "./events.ts";
import { contentFault, contentJsonFault, jsonFault, messageFault, readParts, textFault } from "./message_check.ts";
import type { UserContent } from "./messages.ts";
import { deepCopy, isRecord, kindOf, sameData } from "./values.ts";

/** What an answer did: nothing, it counts, or it counts and no other handler runs. */
export type Effect = "none" | "counts" | "stops";

/** Merges the answers of one emission. `S` is what it has to remember. */
export interface Merge<S = unknown> {
  /** Whether all handlers get the event itself, so that one which answers nothing changes nothing. */
  readonly shared: boolean;
  /** Begins an emission. */
  begin(event: HookEvent, rule: EventRule): S;
  /** What the next handler gets. */
  payload(state: S): HookEvent;
  /** Takes a handler's answer. Throws when it is no answer to this event. */
  take(state: S, answer: unknown, payload: HookEvent): Effect;
  /** Takes out of the answers what no session can hold, and says what that was; for the emitter, not for an isolated hook's side. */
  clean?(state: S): string | undefined;
  /** What the emitter gets. */
  outcome(state: S): unknown;
}

/** The answers do not count. */
const ignore: Merge<HookEvent> = {
  shared: true,
  begin: (event) => event,
  payload: (event) => event,
  take: () => "none",
  outcome: () => undefined,
};

interface Latest {
  readonly event: HookEvent;
  readonly rule: EventRule;
  answer: Record<string, unknown> | undefined;
}

/** The last answer wins. */
const last: Merge<Latest> = {
  shared: true,
  begin: (event, rule) => ({ event, rule, answer: undefined }),
  payload: (state) => state.event,
  take(state, given) {
    const answer = readAnswer(given, state.event.type, state.rule);
    if (answer === undefined) return "none";
    checkEntering(state.event.type, answer);
    state.answer = answer;
    return state.rule.stop !== undefined && answer[state.rule.stop] ? "stops" : "counts";
  },
  outcome: (state) => state.answer,
};

/** The first answer wins, and every handler gets an event of its own; fields that are passed on are the last one's. */
const first: Merge<Latest> = {
  shared: false,
  begin: last.begin,
  payload: (state) => ({ ...state.event, ...passedOf(state) }),
  take(state, given) {
    const answer = readAnswer(given, state.event.type, state.rule);
    if (answer === undefined) return "none";
    checkEntering(state.event.type, answer);
    const passed = state.rule.passed ?? [];
    let counts = false;
    for (const field of state.rule.fields) {
      const isPassed = passed.includes(field);
      if (!answer[field] || state.answer?.[field] !== undefined && !isPassed) continue;
      state.answer = state.answer === undefined ? { ...answer } : { ...state.answer, [field]: answer[field] };
      counts = true;
    }
    return counts ? "counts" : "none";
  },
  outcome: (state) => state.answer,
};

function passedOf({ rule, answer }: Latest): Record<string, unknown> {
  return Object.fromEntries((rule.passed ?? []).flatMap((field) => answer?.[field] ? [[field, answer[field]]] : []));
}

/** Each handler gets the event as those before it left it, field by field. */
const pass: Merge<Latest> = {
  shared: false,
  begin: last.begin,
  payload: (state) => deepCopy({ ...state.event, ...state.answer }),
  take(state, given) {
    const answer = readAnswer(given, state.event.type, state.rule);
    if (answer === undefined) return "none";
    checkEntering(state.event.type, answer);
    const { fields, stop } = state.rule;
    const known = fields.filter((field) => answer[field] !== undefined);
    if (known.length === 0) return "none";
    state.answer = { ...state.answer, ...Object.fromEntries(known.map((field) => [field, answer[field]])) };
    return stop !== undefined && answer[stop] ? "stops" : "counts";
  },
  outcome: (state) => state.answer,
};

type ContextEvent = HookEvent<"context">;

interface Chained {
  readonly rule: EventRule;
  messages: ContextEvent["messages"];
}

/** Each handler gets a copy of what the one before it left or returned. */
const chain: Merge<Chained> = {
  shared: false,
  begin: (event, rule) => ({ messages: (event as ContextEvent).messages, rule }),
  payload: (state) => ({ type: "context", messages: deepCopy(state.messages) }),
  take(state, given, payload) {
    const answer = readAnswer(given, "context", state.rule);
    const messages = answer?.messages ?? (payload as ContextEvent).messages;
    if (!Array.isArray(messages)) {
      throw new TypeError(`a context handler left ${kindOf(messages)} for the messages, not an array`);
    }
    for (let i = 0; i < messages.length; i++) {
      const fault = messageFault(messages[i], `messages[${i}]`) ??
        contentJsonFault(messages[i].content, `messages[${i}].content`);
      if (fault !== undefined) throw new TypeError(`a context handler left a malformed message: ${fault}`);
    }
    const changed = messages !== (payload as ContextEvent).messages || !sameData(state.messages, messages);
    state.messages = messages;
    return changed ? "counts" : "none";
  },
  outcome: (state) => state.messages,
};

interface Fields {
  readonly event: ToolResultEvent;
  readonly rule: EventRule;
  content: UserContent[];
  details: unknown;
  readonly changed: { content?: UserContent[]; details?: unknown };
}

/** As `chain`, for the content and the details of a tool's result. */
const fields: Merge<Fields> = {
  shared: false,
  begin(event, rule) {
    const { content, details } = event as ToolResultEvent;
    return { event: event as ToolResultEvent, rule, content, details, changed: {} };
  },
  payload: (state) => ({ ...state.event, content: deepCopy(state.content), details: deepCopy(state.details) }),
  take(state, given, payload) {
    const answer = readAnswer(given, "tool_result", state.rule);
    const left = payload as ToolResultEvent;
    const content = answer?.content ?? left.content;
    const details = answer?.details ?? left.details;
    const newContent = !sameData(state.content, content);
    const newDetails = !sameData(state.details, details);
    // Read before either counts, and copied, since the hook may still hold what it returned.
    const copy = newContent ? readContent(deepCopy(content)) : state.content;
    if (newContent) state.content = state.changed.content = copy;
    if (newDetails) state.details = state.changed.details = deepCopy(details);
    return newContent || newDetails ? "counts" : "none";
  },
  clean(state) {
    const { content, details } = state.event;
    let fault: string | undefined;
    // What the tool itself answered is no fault of the hook.
    if (state.changed.content !== undefined && contentJsonFault(content) === undefined) {
      fault = contentJsonFault(state.content);
      if (fault !== undefined) state.content = state.changed.content = readParts(state.content).parts;
    }
    const badDetails = "details" in state.changed ? jsonFault(state.details, "details") : undefined;
    if (badDetails === undefined || jsonFault(details, "details") !== undefined) return fault;
    // The hook wanted the old ones gone, and may have had reason to.
    state.details = state.changed.details = {};
    return fault ?? badDetails;
  },
  outcome: (state) => Object.keys(state.changed).length === 0 ? undefined : state.changed,
};

/** The merge of each rule. */
export const MERGES: { readonly [R in MergeRule]: Merge } = { ignore, last, first, chain, fields, pass } as {
  readonly [R in MergeRule]: Merge;
};

/**
 * Reads an answer once, so that what was checked is what is used, whatever getters it has.
 *
 * @returns A copy, or `undefined` when there is no answer or none of its fields is known.
 */
function readAnswer(raw: unknown, event: HookEventName, rule: EventRule): Record<string, unknown> | undefined {
  // `condition && { block: true }` leaves `false`, `""` or 0: no answer.
  if (!raw) return undefined;
  const given = rule.read === undefined ? raw : rule.read(raw);
  if (given === undefined) return undefined;
  if (!isRecord(given)) {
    throw new TypeError(
      `a ${event} handler returned ${kindOf(given)}; it may return { ${rule.fields.join(", ")} } or nothing`,
    );
  }
  const answer: Record<string, unknown> = { ...given };
  let known = false;
  for (const field of rule.fields) {
    if (!(field in given)) continue;
    known = true;
    if (!Object.hasOwn(answer, field)) answer[field] = given[field];
  }
  return known ? answer : undefined;
}

function readContent(content: unknown): UserContent[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) {
    throw new TypeError(`a tool_result handler left ${kindOf(content)} for the content, not an array`);
  }
  for (const part of content) {
    if (!isRecord(part) || typeof part.type !== "string" || (part.type === "text" && typeof part.text !== "string")) {
      throw new TypeError(
        `a tool_result handler left ${kindOf(part)} in the content, not a part like { type: "text", text }`,
      );
    }
  }
  return content;
}

/** Refuses what cannot go into a session while it is still known whose it is. What is missing is the session's to fill in or refuse. */
function checkEntering(event: HookEventName, { message, images, summary }: Record<string, unknown>): void {
  let fault: string | undefined;
  if (event === "before_agent_start" && isRecord(message)) {
    fault = (message.content === undefined ? undefined : contentFault(message.content, "message.content")) ??
      contentJsonFault(message.content, "message.content") ?? jsonFault(message.details, "message.details");
  } else if (event === "input" && Array.isArray(images)) {
    fault = contentFault(images, "images", false) ?? contentJsonFault(images, "images");
  } else if (event === "session_before_tree" && isRecord(summary)) {
    fault = textFault(summary.summary, "summary.summary") ?? jsonFault(summary.details, "summary.details");
  }
  if (fault !== undefined) throw new TypeError(`a ${event} handler returned what a session cannot hold: ${fault}`);
}
