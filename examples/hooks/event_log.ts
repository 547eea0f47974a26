/**
 * Tells every event with a few words about it: to see what a session does, and when.
 *
 * Needs no permission.
 *
 * @module
 */
import { EVENT_NAMES, type HookAPI } from "@xcsh/hooks";

/** Registers one handler for each event there is. */
export default function eventLog(pi: HookAPI): void {
  for (const name of EVENT_NAMES) {
    pi.on(name, (event, ctx) => {
      const { type, ...payload } = event as unknown as Record<string, unknown>;
      const words = Object.entries(payload).flatMap(([key, value]) =>
        ["string", "number", "boolean"].includes(typeof value) ? [`${key}=${String(value)}`] : []
      );
      ctx.ui.notify([type, ...words].join(" ").replaceAll(/\s+/g, " "));
    });
  }
}
