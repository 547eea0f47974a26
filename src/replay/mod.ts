/**
 * Recorded sessions, replayed through hooks: what would have been blocked, redacted and added, and which hook failed.
 *
 * @module
 */

export type { RecordedFormat } from "./format.ts";
export * from "./records.ts";
export {
  recordedFolder,
  refuseExec,
  type ReplayOptions,
  type ReplayProgress,
  replaySession,
  ReplayTimeoutError,
} from "./replay.ts";
export { ReplaySourceError } from "./source.ts";
