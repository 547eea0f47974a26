/**
 * Finds out what a hook needs by running it.
 *
 * @module
 */

export { EventsError, readEvents, type RecordedEvent } from "./events.ts";
export type { RecordedRequest } from "./policy.ts";
export type { Proposal } from "./proposal.ts";
export { recordHook, type Recording, type RecordOptions } from "./record_hook.ts";
