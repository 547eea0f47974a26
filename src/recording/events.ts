/**
 * Events in a file, one JSON object a line.
 *
 * @module
 */

import { EVENT_NAMES, type HookEvent, isHookEventName } from "../events.ts";
import type { SessionManager } from "../session/store.ts";
import { makeEvent } from "../testing/default_events.ts";
import { errorText, isRecord, kindOf, nearest } from "../values.ts";

/** A file of events that cannot be used; its text names file and line. */
export class EventsError extends Error {
  /** Tells it from other errors. */
  override name = "EventsError";
}

/** An event, and the line that it came from. */
export interface RecordedEvent {
  /** The event. */
  event: HookEvent;
  /** The line, counted from 1. */
  line: number;
}

const MAX_BYTES = 256 * 1024 * 1024;
/** Faults that are shown. */
const SHOWN = 10;

/**
 * Reads events. What a line leaves out is filled in.
 *
 * @param path The file.
 * @param name How errors name it.
 * @param session Gives messages and ids to what is filled in.
 * @returns The events.
 * @throws {EventsError} When the file cannot be read or holds something else; all faults are named, with their lines.
 */
export async function readEvents(path: string, name: string, session: SessionManager): Promise<RecordedEvent[]> {
  const lines = (await readText(path, name)).split("\n");
  if (lines[0]?.startsWith("\ufeff")) lines[0] = lines[0].slice(1);
  const events: RecordedEvent[] = [];
  const faults: string[] = [];
  lines.forEach((text, i) => {
    if (text.trim() === "") return;
    try {
      events.push({ event: readEvent(text, session, events.length), line: i + 1 });
    } catch (error) {
      faults.push(`${name}:${i + 1}: ${errorText(error)}`);
    }
  });
  if (faults.length > 0) {
    const more = faults.length > SHOWN ? [`… and ${faults.length - SHOWN} more lines`] : [];
    throw new EventsError([...faults.slice(0, SHOWN), ...more].join("\n"));
  }
  if (events.length === 0) {
    throw new EventsError(
      `${name} holds no event; write one a line, such as {"type":"tool_call","toolName":"bash","input":{"command":"ls"}}`,
    );
  }
  return events;
}

async function readText(path: string, name: string): Promise<string> {
  try {
    const info = await Deno.stat(path);
    if (info.isDirectory) throw new EventsError(`${name} is a directory; name a file with one event a line`);
    if (info.isFile && info.size > MAX_BYTES) {
      throw new EventsError(`${name} is larger than ${MAX_BYTES} bytes; cut it into parts`);
    }
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await Deno.readFile(path));
  } catch (error) {
    if (error instanceof EventsError) throw error;
    if (error instanceof Deno.errors.NotFound) throw new EventsError(`${name} does not exist; name a file of events`);
    if (error instanceof TypeError) throw new EventsError(`${name} is no text; write one JSON object a line`);
    throw new EventsError(`${name} cannot be read: ${errorText(error)}`);
  }
}

function readEvent(text: string, session: SessionManager, count: number): HookEvent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new TypeError(`this is no JSON: ${errorText(error)}`);
  }
  if (!isRecord(value)) throw new TypeError(`this is ${kindOf(value)}, not an event like {"type":"tool_call"}`);
  const { type, ...payload } = value;
  if (typeof type !== "string") throw new TypeError(`its type is ${kindOf(type)}, not the name of an event`);
  if (!isHookEventName(type)) {
    const near = nearest(type, EVENT_NAMES);
    const hint = near === undefined ? `the events are ${EVENT_NAMES.join(", ")}` : `did you mean ${near}?`;
    throw new TypeError(`there is no event ${JSON.stringify(type)}; ${hint}`);
  }
  requireShape(type, payload);
  return makeEvent(type, payload as never, session, count);
}

/** What handlers rely on; the rest is theirs to check. */
function requireShape(type: string, payload: Record<string, unknown>): void {
  const require = (key: string, fits: boolean, what: string) => {
    if (payload[key] !== undefined && !fits) throw new TypeError(`its ${key} is ${kindOf(payload[key])}, not ${what}`);
  };
  if (type === "tool_call" || type === "tool_result") {
    require("toolName", typeof payload.toolName === "string", "a string");
    require("toolCallId", typeof payload.toolCallId === "string", "a string");
    require("input", isRecord(payload.input), "an object");
  }
  if (type === "tool_result") require("content", Array.isArray(payload.content), "a list of parts");
  if (type === "context" || type === "agent_end") {
    require("messages", Array.isArray(payload.messages), "a list of messages");
  }
  if (type === "before_agent_start") require("prompt", typeof payload.prompt === "string", "a string");
}
