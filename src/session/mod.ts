/**
 * Sessions: a tree of entries that is never lost, an agent that works on it behind hooks, its tools and its models.
 *
 * @module
 */

export * from "./agent_session.ts";
export { buildSessionContext, type ModelMessage, type SessionContext, toModelMessages } from "./context.ts";
export * from "./errors.ts";
export * from "./session_events.ts";
export {
  type NewSessionFileOptions,
  type OpenSessionOptions,
  type SaveListener,
  sessionDirectory,
  type SessionInfo,
  SessionManager,
  type UsageStatistics,
} from "./store.ts";
export * from "../models/model.ts";
export * from "../models/scripted.ts";
export * from "../tools/mod.ts";
export { readSessionFile, SESSION_VERSION, type SessionFileContent, type TornTail } from "./reader.ts";
