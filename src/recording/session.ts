/**
 * Recorded sessions as a source of events.
 *
 * @module
 */

import type { LoadedHook } from "../hook.ts";
import { recordedFolder, replaySession, ReplaySourceError } from "../replay/mod.ts";
import { isHookEventName } from "../events.ts";
import { isRecord } from "../values.ts";
import { EventsError } from "./events.ts";
import type { RecordOptions } from "./record_hook.ts";

/** How much of a file is looked at to tell what it is. */
const LOOK = 64 * 1024;

/**
 * Whether a file is a recorded session and no list of events.
 *
 * @param path The file.
 * @returns Whether its first line is an object that is no event.
 */
export async function isSession(path: string): Promise<boolean> {
  let text: string;
  try {
    using file = await Deno.open(path);
    const buffer = new Uint8Array(LOOK);
    text = new TextDecoder().decode(buffer.subarray(0, await file.read(buffer) ?? 0));
  } catch {
    return false; // Who reads it says what is wrong.
  }
  const [first = ""] = text.split("\n").filter((line) => line.trim() !== "");
  try {
    const value: unknown = JSON.parse(first);
    return isRecord(value) && !isHookEventName(String(value.type)) && LOOKS_RECORDED.some((key) => key in value);
  } catch {
    return /^\{"(?:type":"session"|sessionId"|parentUuid")/.test(first);
  }
}

/** Fields that first lines of sessions have and events have not. */
const LOOKS_RECORDED = ["cwd", "sessionId", "parentUuid", "uuid", "leafUuid", "version"];

/**
 * Feeds a recorded session to the hook that is recorded.
 *
 * @param path The file of the session.
 * @returns Options for `recordHook`.
 * @throws {EventsError} When it cannot be read.
 */
export async function sessionEvents(path: string): Promise<Pick<RecordOptions, "events" | "contextCwd">> {
  try {
    const contextCwd = await recordedFolder(path);
    const events = async (hook: LoadedHook): Promise<number> => {
      let count = 0;
      for await (const record of replaySession(path, [hook], contextCwd === undefined ? {} : { cwd: contextCwd })) {
        if (record.type === "summary") count = record.prompts + record.calls + record.results;
      }
      return count;
    };
    return { events, ...(contextCwd === undefined ? {} : { contextCwd }) };
  } catch (error) {
    throw error instanceof ReplaySourceError ? new EventsError(error.message) : error;
  }
}
