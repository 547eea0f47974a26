import type { CompactionEntry } from "../entries.ts";
import type { HookEvent, HookEventName } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type { SessionManager } from "../session/store.ts";

/** The payload of an event without its name. */
export type EventPayload<N extends HookEventName> = Omit<HookEvent<N>, "type">;

/** A payload for each event in which nothing is missing, for a test that names only what it is about. */
const DEFAULTS: { readonly [N in HookEventName]: (session: SessionManager, count: number) => EventPayload<N> } = {
  session_start: () => ({}),
  session_before_switch: () => ({ reason: "new" }),
  session_switch: () => ({ reason: "new", previousSessionFile: undefined }),
  session_before_branch: (session) => ({ entryId: session.getLeafId() ?? "00000000" }),
  session_branch: () => ({ previousSessionFile: undefined }),
  session_before_compact: (session) => ({
    preparation: {
      firstKeptEntryId: session.getLeafId() ?? "00000000",
      messagesToSummarize: messagesOf(session),
      turnPrefixMessages: [],
      recentMessages: [],
      isSplitTurn: false,
      tokensBefore: 100_000,
      fileOps: { read: new Set(), written: new Set(), edited: new Set() },
      settings: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 },
    },
    branchEntries: session.getBranch(),
    signal: new AbortController().signal,
  }),
  "session.compacting": (session) => ({ sessionId: session.getSessionId(), messages: messagesOf(session) }),
  session_compact: (session) => ({ compactionEntry: compactionEntry(session), fromExtension: false }),
  session_before_tree: (session) => ({
    preparation: {
      targetId: session.getBranch()[0]?.id ?? "00000000",
      oldLeafId: session.getLeafId(),
      commonAncestorId: session.getBranch()[0]?.id ?? null,
      entriesToSummarize: session.getBranch().slice(1),
      userWantsSummary: false,
    },
    signal: new AbortController().signal,
  }),
  session_tree: (session) => ({ newLeafId: session.getBranch()[0]?.id ?? null, oldLeafId: session.getLeafId() }),
  session_shutdown: () => ({}),
  context: (session) => ({ messages: messagesOf(session) }),
  before_agent_start: () => ({ prompt: "hello", images: undefined }),
  agent_start: () => ({}),
  agent_end: (session) => ({ messages: messagesOf(session) }),
  turn_start: () => ({ turnIndex: 0, timestamp: Date.now() }),
  turn_end: () => ({ turnIndex: 0, message: answer(), toolResults: [] }),
  auto_compaction_start: () => ({ reason: "threshold", action: "context-full" }),
  auto_compaction_end: () => ({ action: "context-full", result: undefined, aborted: false, willRetry: false }),
  auto_retry_start: () => ({ attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "overloaded" }),
  auto_retry_end: () => ({ success: true, attempt: 1 }),
  ttsr_triggered: () => ({ rules: [{ name: "rule", path: "/project/rule.md", content: "Mind the rule." }] }),
  todo_reminder: () => ({
    todos: [{ id: "1", content: "write tests", status: "pending" }],
    attempt: 1,
    maxAttempts: 3,
  }),
  tool_call: (_session, count) => ({ toolName: "bash", toolCallId: `call_${count}`, input: {} }),
  tool_result: (_session, count) => ({
    toolName: "bash",
    toolCallId: `call_${count}`,
    input: {},
    content: [],
    details: undefined,
    isError: false,
  }),
  input: () => ({ text: "hello", images: undefined, source: "interactive" }),
  user_bash: () => ({ command: "ls", excludeFromContext: false, cwd: "/project" }),
  message_start: () => ({ message: answer() }),
  message_update: () => ({
    message: answer(),
    assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "Done." },
  }),
  message_end: () => ({ message: answer() }),
  tool_execution_start: (_session, count) => ({ toolName: "bash", toolCallId: `call_${count}`, args: {} }),
  tool_execution_update: (_session, count) => ({
    toolName: "bash",
    toolCallId: `call_${count}`,
    args: {},
    partialResult: { content: [] },
  }),
  tool_execution_end: (_session, count) => ({
    toolName: "bash",
    toolCallId: `call_${count}`,
    result: { content: [] },
    isError: false,
  }),
  model_select: () => ({ model: { provider: "test", id: "next" }, previousModel: undefined, source: "set" }),
  before_provider_request: (session) => ({
    payload: { systemPrompt: "You are a coding agent.", messages: messagesOf(session), tools: [] },
  }),
  session_stop: (session) => ({ messages: messagesOf(session), continuations: 0 }),
};

/**
 * Makes an event.
 *
 * @param name Its name.
 * @param payload What the test is about; the rest is filled in.
 * @param session Gives messages and ids.
 * @param count Makes ids of tool calls unique.
 */
export function makeEvent<N extends HookEventName>(
  name: N,
  payload: Partial<EventPayload<N>>,
  session: SessionManager,
  count: number,
): HookEvent<N> {
  return { type: name, ...DEFAULTS[name](session, count), ...payload } as unknown as HookEvent<N>;
}

function messagesOf(session: SessionManager) {
  return session.buildContext().messages;
}

function answer(): AssistantMessage {
  return { role: "assistant", content: [{ type: "text", text: "Done." }], stopReason: "stop", timestamp: Date.now() };
}

function compactionEntry(session: SessionManager): CompactionEntry {
  return {
    type: "compaction",
    id: "00000001",
    parentId: session.getLeafId(),
    timestamp: new Date().toISOString(),
    summary: "What happened before.",
    firstKeptEntryId: session.getLeafId() ?? "00000000",
    tokensBefore: 100_000,
  };
}
