/**
 * Sessions: a tree of entries that is never lost, an agent that works on it behind hooks, its tools and its models.
 *
 * @module
 */

export * from "./agent_session.ts";
export { type CompactionSettings, NothingToCompactError, prepareCompaction, shouldCompact } from "./compaction.ts";
export { CompactionCancelledError } from "./compactor.ts";
export { type RetrySettings } from "./retry.ts";
export {
  loadRules,
  parseRule,
  type RuleMatch,
  StreamRules,
  type StreamRuleSettings,
  type StreamSource,
} from "./stream_rules.ts";
export { type TodoSettings } from "./todos.ts";
export { contextTokens, estimateTokens } from "./tokens.ts";
export { buildSessionContext, type ModelMessage, type SessionContext, toModelMessages } from "./context.ts";
export * from "./errors.ts";
export { sessionDirectory, type SessionInfo } from "./list.ts";
export * from "./session_events.ts";
export {
  type NewSessionFileOptions,
  type OpenSessionOptions,
  type SaveListener,
  SessionManager,
  type UsageStatistics,
} from "./store.ts";
export * from "../models/ai_sdk.ts";
export * from "../models/model.ts";
export { ModelList } from "../models/registry.ts";
export * from "../models/scripted.ts";
export * from "../tools/mod.ts";
export { readSessionFile, SESSION_VERSION, type SessionFileContent, type TornTail } from "./reader.ts";
