/**
 * Every event: what it carries, what a handler may answer, and how the answers of several handlers are merged.
 *
 * {@linkcode HookEvents} and {@linkcode EVENT_RULES} are the whole of it: types, runner, wrapper, documentation and the
 * isolation derive from them. A new event is one entry in each.
 *
 * @module
 */

import type {
  AgentMessage,
  AssistantMessage,
  CustomMessage,
  ImageContent,
  ToolResultMessage,
  UserContent,
} from "./messages.ts";
import type { Model } from "./api.ts";
import type { BranchSummaryEntry, CompactionEntry, SessionEntry } from "./entries.ts";

/** Why a session is left for another one. */
export type SwitchReason = "new" | "resume" | "fork";

/** The session has begun; emitted once, before the first prompt. */
export interface SessionStartEvent {
  /** Discriminator. */
  type: "session_start";
}

/** Another session is about to take this one's place; nothing has changed yet. */
export interface SessionBeforeSwitchEvent {
  /** Discriminator. */
  type: "session_before_switch";
  /** Why. */
  reason: SwitchReason;
  /** File that will be opened, for `resume`. */
  targetSessionFile?: string;
}

/** Another session has taken the place of the one before. */
export interface SessionSwitchEvent {
  /** Discriminator. */
  type: "session_switch";
  /** Why. */
  reason: SwitchReason;
  /** File of the session that was left, if it had one. */
  previousSessionFile: string | undefined;
}

/** A branch is about to be made at an entry; nothing has changed yet. */
export interface SessionBeforeBranchEvent {
  /** Discriminator. */
  type: "session_before_branch";
  /** The user message to branch at. */
  entryId: string;
}

/** A branch has been made, and the session goes on in it. */
export interface SessionBranchEvent {
  /** Discriminator. */
  type: "session_branch";
  /** File of the session that was left, if it had one. */
  previousSessionFile: string | undefined;
}

/** What a compaction would do. */
export interface CompactionPreparation {
  /** First entry that stays whole. */
  firstKeptEntryId: string;
  /** Messages that the summary will stand in for. */
  messagesToSummarize: AgentMessage[];
  /** Messages before the cut of a turn that is cut in two. */
  turnPrefixMessages: AgentMessage[];
  /** Messages that stay whole. */
  recentMessages: AgentMessage[];
  /** Whether the cut goes through a turn. */
  isSplitTurn: boolean;
  /** Tokens in the context now. */
  tokensBefore: number;
  /** Summary of the compaction before. */
  previousSummary?: string;
  /** What hooks carried over from the compaction before. */
  previousPreserveData?: Record<string, unknown>;
  /** Files that the summarised messages touched. */
  fileOps: {
    /** Files read. */
    read: Set<string>;
    /** Files written. */
    written: Set<string>;
    /** Files edited. */
    edited: Set<string>;
  };
  /** The settings in force. */
  settings: {
    /** Whether compaction happens by itself. */
    enabled: boolean;
    /** Tokens kept free for the answer. */
    reserveTokens: number;
    /** Tokens of recent messages that stay whole. */
    keepRecentTokens: number;
  };
}

/** A finished compaction. */
export interface CompactionResult {
  /** The summary. */
  summary: string;
  /** One line of it. */
  shortSummary?: string;
  /** First entry that stays whole. */
  firstKeptEntryId: string;
  /** Tokens in the context before. */
  tokensBefore: number;
  /** Data of whoever compacted. */
  details?: unknown;
  /** What is carried over to the next compaction. */
  preserveData?: Record<string, unknown>;
}

/** The context is about to be compacted; nothing has changed yet. */
export interface SessionBeforeCompactEvent {
  /** Discriminator. */
  type: "session_before_compact";
  /** What it would do. */
  preparation: CompactionPreparation;
  /** The branch, root first. */
  branchEntries: SessionEntry[];
  /** What the person asked the summary to mind. */
  customInstructions?: string;
  /** Aborted when the compaction is. */
  signal: AbortSignal;
}

/** The model is about to be asked for a summary. */
export interface SessionCompactingEvent {
  /** Discriminator. */
  type: "session.compacting";
  /** The session. */
  sessionId: string;
  /** The messages that will be summarised. */
  messages: AgentMessage[];
}

/** The context has been compacted. */
export interface SessionCompactEvent {
  /** Discriminator. */
  type: "session_compact";
  /** The entry that was appended. */
  compactionEntry: CompactionEntry;
  /** Whether a hook made it. */
  fromExtension: boolean;
}

/** What a move in the tree would do. */
export interface TreePreparation {
  /** Where to. */
  targetId: string;
  /** Where from. */
  oldLeafId: string | null;
  /** Deepest entry that both share. */
  commonAncestorId: string | null;
  /** What is left behind, oldest first. */
  entriesToSummarize: SessionEntry[];
  /** Whether the person asked for a summary of it. */
  userWantsSummary: boolean;
}

/** The session is about to move to another entry of its tree; nothing has changed yet. */
export interface SessionBeforeTreeEvent {
  /** Discriminator. */
  type: "session_before_tree";
  /** What it would do. */
  preparation: TreePreparation;
  /** Aborted when the move is. */
  signal: AbortSignal;
}

/** The session has moved to another entry of its tree. */
export interface SessionTreeEvent {
  /** Discriminator. */
  type: "session_tree";
  /** Where it is now. */
  newLeafId: string | null;
  /** Where it was. */
  oldLeafId: string | null;
  /** The summary of what was left, if one was made. */
  summaryEntry?: BranchSummaryEntry;
  /** Whether a hook made that summary. */
  fromExtension?: boolean;
}

/** The session ends, also by SIGINT or SIGTERM. */
export interface SessionShutdownEvent {
  /** Discriminator. */
  type: "session_shutdown";
}

/** The model is about to be called. */
export interface ContextEvent {
  /** Discriminator. */
  type: "context";
  /** What it will read; a copy, for this call alone. */
  messages: AgentMessage[];
}

/** A person's prompt is about to start the agent. */
export interface BeforeAgentStartEvent {
  /** Discriminator. */
  type: "before_agent_start";
  /** The prompt. */
  prompt: string;
  /** Pictures that came with it. */
  images: ImageContent[] | undefined;
  /** What the model is told before all messages, as earlier handlers left it; absent where nobody knows it. */
  systemPrompt?: string;
}

/** The agent's loop begins. */
export interface AgentStartEvent {
  /** Discriminator. */
  type: "agent_start";
}

/** The agent's loop has ended. */
export interface AgentEndEvent {
  /** Discriminator. */
  type: "agent_end";
  /** All messages of this run, the prompt first. */
  messages: AgentMessage[];
}

/** A turn begins: one answer of the model and its tool calls. */
export interface TurnStartEvent {
  /** Discriminator. */
  type: "turn_start";
  /** Counts from 0 in each run. */
  turnIndex: number;
  /** Unix time in ms. */
  timestamp: number;
}

/** A turn has ended. */
export interface TurnEndEvent {
  /** Discriminator. */
  type: "turn_end";
  /** Counts from 0 in each run. */
  turnIndex: number;
  /** The model's answer. */
  message: AssistantMessage;
  /** What its tools answered. */
  toolResults: ToolResultMessage[];
}

/** The agent compacts by itself. */
export interface AutoCompactionStartEvent {
  /** Discriminator. */
  type: "auto_compaction_start";
  /** The context is nearly full, did overflow, or the person is away. */
  reason: "threshold" | "overflow" | "idle";
  /** What will be done. */
  action: "context-full" | "handoff";
}

/** The agent has compacted by itself, or has not. */
export interface AutoCompactionEndEvent {
  /** Discriminator. */
  type: "auto_compaction_end";
  /** What was to be done. */
  action: "context-full" | "handoff";
  /** The compaction, if it was made. */
  result: CompactionResult | undefined;
  /** Whether it was stopped. */
  aborted: boolean;
  /** Whether the failed request is sent again. */
  willRetry: boolean;
  /** Why it failed. */
  errorMessage?: string;
  /** Whether there was nothing to do. */
  skipped?: boolean;
}

/** A failed request will be sent again. */
export interface AutoRetryStartEvent {
  /** Discriminator. */
  type: "auto_retry_start";
  /** Counts from 1. */
  attempt: number;
  /** How many there will be at most. */
  maxAttempts: number;
  /** Time until then in ms. */
  delayMs: number;
  /** Why the request failed. */
  errorMessage: string;
}

/** Retrying has ended. */
export interface AutoRetryEndEvent {
  /** Discriminator. */
  type: "auto_retry_end";
  /** Whether a request went through. */
  success: boolean;
  /** The last attempt. */
  attempt: number;
  /** Why the last attempt failed. */
  finalError?: string;
}

/** A rule that watches the model's stream. */
export interface Rule {
  /** Its name, unique among rules. */
  name: string;
  /** The file it came from. */
  path: string;
  /** What the model is told when the rule matches. */
  content: string;
  /** Files that it is for. */
  globs?: string[];
  /** What it is about. */
  description?: string;
  /** Regular expressions; one that matches is enough. */
  condition?: string[];
  /** Which streams it watches. */
  scope?: string[];
  /** Whether a match stops the stream. */
  interruptMode?: "never" | "prose-only" | "tool-only" | "always";
}

/** Rules have matched the model's stream. */
export interface TtsrTriggeredEvent {
  /** Discriminator. */
  type: "ttsr_triggered";
  /** The rules that matched just now. */
  rules: Rule[];
}

/** One thing to do. */
export interface TodoItem {
  /** Unique in the list. */
  id: string;
  /** What to do. */
  content: string;
  /** How far it is. */
  status: "pending" | "in_progress" | "completed" | "abandoned";
}

/** The agent stopped with things left to do, and is reminded. */
export interface TodoReminderEvent {
  /** Discriminator. */
  type: "todo_reminder";
  /** What is left. */
  todos: TodoItem[];
  /** Counts from 1. */
  attempt: number;
  /** How many reminders there are at most. */
  maxAttempts: number;
}

/** Arguments of the tools that come with the session, by tool. */
export interface ToolInputs {
  /** Runs a command line. */
  bash: {
    /** The command line. */
    command: string;
    /** Time limit in seconds. */
    timeout?: number;
  };
  /** Reads a file. */
  read: {
    /** The file. */
    path: string;
    /** First line, counted from 1. */
    offset?: number;
    /** How many lines. */
    limit?: number;
  };
  /** Writes a file. */
  write: {
    /** The file. */
    path: string;
    /** All that it will hold. */
    content: string;
  };
  /** Replaces text in a file. */
  edit: {
    /** The file. */
    path: string;
    /** Text that stands there once. */
    oldText: string;
    /** Text that takes its place. */
    newText: string;
  };
  /** Searches in files. */
  grep: {
    /** A regular expression. */
    pattern: string;
    /** File or folder. */
    path?: string;
  };
  /** Searches for files. */
  find: {
    /** A glob. */
    pattern: string;
    /** Folder. */
    path?: string;
  };
}

/** A tool is about to run. The first handler that answers `block: true` stops it. */
export interface ToolCallEvent {
  /** Discriminator. */
  type: "tool_call";
  /** Name of the tool. */
  toolName: string;
  /** Identifies the call. */
  toolCallId: string;
  /** The arguments; frozen, since hooks cannot change them. */
  input: Record<string, unknown>;
}

/** A tool has run, or has failed. */
export interface ToolResultEvent {
  /** Discriminator. */
  type: "tool_result";
  /** Name of the tool. */
  toolName: string;
  /** Identifies the call. */
  toolCallId: string;
  /** The arguments. */
  input: Record<string, unknown>;
  /** What the model will read, as earlier handlers left it. */
  content: UserContent[];
  /** What programs will read, as earlier handlers left it. */
  details: unknown;
  /** Whether the tool failed. */
  isError: boolean;
  /** Never set by the wrapper; here for hooks that read it. */
  isWarning?: boolean;
}

/** Answer of a `session_before_*` handler. */
export interface CancelResult {
  /** Stops what was about to happen. */
  cancel?: boolean;
}

/** Answer to `session_before_branch`. */
export interface SessionBeforeBranchResult extends CancelResult {
  /** Keep the conversation in memory as it is. */
  skipConversationRestore?: boolean;
}

/** Answer to `session_before_compact`. */
export interface SessionBeforeCompactResult extends CancelResult {
  /** Takes the place of the built-in compaction. */
  compaction?: CompactionResult;
}

/** Answer to `session.compacting`. */
export interface SessionCompactingResult {
  /** Lines that the summary must mind. */
  context?: string[];
  /** Takes the place of the built-in prompt. */
  prompt?: string;
  /** Carried over to the next compaction. */
  preserveData?: Record<string, unknown>;
}

/** Answer to `session_before_tree`. */
export interface SessionBeforeTreeResult extends CancelResult {
  /** Takes the place of the built-in summary. */
  summary?: {
    /** The summary. */
    summary: string;
    /** Data of the hook. */
    details?: unknown;
  };
}

/** Answer to `context`. */
export interface ContextResult {
  /** What the model will read instead. */
  messages?: AgentMessage[];
}

/** Answer to `before_agent_start`. */
export interface BeforeAgentStartResult {
  /** A message to add after the prompt. */
  message?: Pick<CustomMessage, "customType" | "content" | "display" | "details" | "attribution">;
  /** Takes the place of the system prompt until the agent has stopped; later handlers see it. */
  systemPrompt?: string;
}

/** Answer to `tool_call`. */
export interface ToolCallResult {
  /** Keeps the tool from running. */
  block?: boolean;
  /** Why; the model reads it. */
  reason?: string;
}

/** Answer to `tool_result`. */
export interface ToolResultResult {
  /** Takes the place of what the model reads. */
  content?: UserContent[];
  /** Takes the place of what programs read. */
  details?: unknown;
  /** Not applied; here for hooks that return it. */
  isError?: boolean;
  /** Not applied; here for hooks that return it. */
  isWarning?: boolean;
}

/** A person or a program has said something; it is not in the session yet. */
export interface InputEvent {
  /** Discriminator. */
  type: "input";
  /** What was said. */
  text: string;
  /** Pictures that came with it. */
  images: ImageContent[] | undefined;
  /** Who said it: the person, or a hook by `sendUserMessage`. */
  source: "interactive" | "extension";
}

/** The person is about to run a command line by hand. */
export interface UserBashEvent {
  /** Discriminator. */
  type: "user_bash";
  /** The command line. */
  command: string;
  /** Whether the model shall not read of it. */
  excludeFromContext: boolean;
  /** Where it runs. */
  cwd: string;
}

/** A message begins; an answer of the model is still empty. */
export interface MessageStartEvent {
  /** Discriminator. */
  type: "message_start";
  /** The message. */
  message: AgentMessage;
}

/** A piece of the model's answer has come. */
export interface MessageUpdateEvent {
  /** Discriminator. */
  type: "message_update";
  /** The answer so far. */
  message: AssistantMessage;
  /** The piece. */
  assistantMessageEvent: {
    /** What it is a piece of. */
    type: "text_delta" | "thinking_delta" | "toolcall_delta";
    /** The part of the answer that it belongs to, counted from 0. */
    contentIndex: number;
    /** The piece. */
    delta: string;
  };
}

/** A message is whole and in the session. */
export interface MessageEndEvent {
  /** Discriminator. */
  type: "message_end";
  /** The message. */
  message: AgentMessage;
}

/** A call of a tool is about to be handled: before gates are asked. */
export interface ToolExecutionStartEvent {
  /** Discriminator. */
  type: "tool_execution_start";
  /** Identifies the call. */
  toolCallId: string;
  /** Name of the tool. */
  toolName: string;
  /** The arguments. */
  args: Record<string, unknown>;
}

/** A tool tells how far it is. Not emitted where `tool_result` handlers may still redact what it tells. */
export interface ToolExecutionUpdateEvent extends Omit<ToolExecutionStartEvent, "type"> {
  /** Discriminator. */
  type: "tool_execution_update";
  /** All that there is so far. */
  partialResult: {
    /** What the model would read. */
    content: UserContent[];
    /** What programs would read. */
    details?: unknown;
  };
}

/** A call of a tool is over: the tool ran, failed, or was blocked. */
export interface ToolExecutionEndEvent {
  /** Discriminator. */
  type: "tool_execution_end";
  /** Identifies the call. */
  toolCallId: string;
  /** Name of the tool. */
  toolName: string;
  /** What is in the session. */
  result: {
    /** What the model reads. */
    content: UserContent[];
    /** What programs read. */
    details?: unknown;
  };
  /** Whether it failed or was blocked. */
  isError: boolean;
}

/** Another model is in use. */
export interface ModelSelectEvent {
  /** Discriminator. */
  type: "model_select";
  /** The model. */
  model: Model;
  /** The one before. */
  previousModel: Model | undefined;
  /** How it came about. */
  source: "set" | "cycle" | "restore";
}

/** A request is about to be sent to the model. */
export interface BeforeProviderRequestEvent {
  /** Discriminator. */
  type: "before_provider_request";
  /** What will be sent; a copy, for this request alone. */
  payload: {
    /** Told before all messages. */
    systemPrompt: string;
    /** The conversation, as providers take it. */
    messages: unknown[];
    /** What the model may call. */
    tools: unknown[];
    /** Most tokens of the answer. */
    maxTokens?: number;
  };
}

/** The agent has nothing left to do and is about to stop. */
export interface SessionStopEvent {
  /** Discriminator. */
  type: "session_stop";
  /** All messages of this run. */
  messages: AgentMessage[];
  /** How often this event has kept the agent going since the last prompt. */
  continuations: number;
}

/** Answer to `input`. */
export interface InputResult {
  /** What is said instead. */
  text?: string;
  /** Pictures that go with it instead. */
  images?: ImageContent[];
  /** The hook has dealt with it: the agent never hears of it. */
  handled?: boolean;
  /** The same in one word. */
  action?: "continue" | "transform" | "handled";
}

/** Answer to `user_bash`. */
export interface UserBashResult {
  /** Takes the place of running the command. */
  result?: {
    /** Its output. */
    output: string;
    /** Its exit code. */
    exitCode?: number;
    /** Whether it was stopped. */
    cancelled?: boolean;
    /** Whether `output` was cut. */
    truncated?: boolean;
  };
}

/** Answer to `before_provider_request`: `{ payload }`, or the payload itself. */
export interface BeforeProviderRequestResult {
  /** What is sent instead. */
  payload?: unknown;
}

/** Answer to `session_stop`. */
export interface SessionStopResult {
  /** Keeps the agent going, with `reason` as what it reads next. */
  continue?: boolean;
  /** What it reads next. */
  reason?: string;
  /** As `reason`. */
  additionalContext?: string;
  /** `block` is another word for `continue: true`. */
  decision?: "block" | "approve";
}

/** Event name to payload and result: the one map that all types derive from. */
export interface HookEvents {
  /** The session has begun. */
  session_start: { event: SessionStartEvent; result: undefined };
  /** Another session is about to take over. */
  session_before_switch: { event: SessionBeforeSwitchEvent; result: CancelResult };
  /** Another session has taken over. */
  session_switch: { event: SessionSwitchEvent; result: undefined };
  /** A branch is about to be made. */
  session_before_branch: { event: SessionBeforeBranchEvent; result: SessionBeforeBranchResult };
  /** A branch has been made. */
  session_branch: { event: SessionBranchEvent; result: undefined };
  /** The context is about to be compacted. */
  session_before_compact: { event: SessionBeforeCompactEvent; result: SessionBeforeCompactResult };
  /** The model is about to be asked for a summary. */
  "session.compacting": { event: SessionCompactingEvent; result: SessionCompactingResult };
  /** The context has been compacted. */
  session_compact: { event: SessionCompactEvent; result: undefined };
  /** The session is about to move in its tree. */
  session_before_tree: { event: SessionBeforeTreeEvent; result: SessionBeforeTreeResult };
  /** The session has moved in its tree. */
  session_tree: { event: SessionTreeEvent; result: undefined };
  /** The session ends. */
  session_shutdown: { event: SessionShutdownEvent; result: undefined };
  /** The model is about to be called. */
  context: { event: ContextEvent; result: ContextResult };
  /** A prompt is about to start the agent. */
  before_agent_start: { event: BeforeAgentStartEvent; result: BeforeAgentStartResult };
  /** The agent's loop begins. */
  agent_start: { event: AgentStartEvent; result: undefined };
  /** The agent's loop has ended. */
  agent_end: { event: AgentEndEvent; result: undefined };
  /** A turn begins. */
  turn_start: { event: TurnStartEvent; result: undefined };
  /** A turn has ended. */
  turn_end: { event: TurnEndEvent; result: undefined };
  /** The agent compacts by itself. */
  auto_compaction_start: { event: AutoCompactionStartEvent; result: undefined };
  /** The agent has compacted by itself, or has not. */
  auto_compaction_end: { event: AutoCompactionEndEvent; result: undefined };
  /** A failed request will be sent again. */
  auto_retry_start: { event: AutoRetryStartEvent; result: undefined };
  /** Retrying has ended. */
  auto_retry_end: { event: AutoRetryEndEvent; result: undefined };
  /** Rules have matched the model's stream. */
  ttsr_triggered: { event: TtsrTriggeredEvent; result: undefined };
  /** The agent is reminded of what is left to do. */
  todo_reminder: { event: TodoReminderEvent; result: undefined };
  /** A tool is about to run. */
  tool_call: { event: ToolCallEvent; result: ToolCallResult };
  /** A tool has run. */
  tool_result: { event: ToolResultEvent; result: ToolResultResult };
  /** Something was said. */
  input: { event: InputEvent; result: InputResult };
  /** The person runs a command line by hand. */
  user_bash: { event: UserBashEvent; result: UserBashResult };
  /** A message begins. */
  message_start: { event: MessageStartEvent; result: undefined };
  /** A piece of an answer has come. */
  message_update: { event: MessageUpdateEvent; result: undefined };
  /** A message is in the session. */
  message_end: { event: MessageEndEvent; result: undefined };
  /** A call of a tool is about to be handled. */
  tool_execution_start: { event: ToolExecutionStartEvent; result: undefined };
  /** A tool tells how far it is. */
  tool_execution_update: { event: ToolExecutionUpdateEvent; result: undefined };
  /** A call of a tool is over. */
  tool_execution_end: { event: ToolExecutionEndEvent; result: undefined };
  /** Another model is in use. */
  model_select: { event: ModelSelectEvent; result: undefined };
  /** A request is about to be sent. */
  before_provider_request: { event: BeforeProviderRequestEvent; result: BeforeProviderRequestResult };
  /** The agent is about to stop. */
  session_stop: { event: SessionStopEvent; result: SessionStopResult };
}

/** Name of an event. */
export type HookEventName = keyof HookEvents;

/** Payload of an event. */
export type HookEvent<N extends HookEventName = HookEventName> = HookEvents[N]["event"];

/** What a handler of an event may answer. */
export type HookResult<N extends HookEventName = HookEventName> = HookEvents[N]["result"];

/**
 * How the answers of several handlers become one outcome:
 *
 * - `ignore`: answers do not count.
 * - `last`: the last answer wins; a truthy `stop` field ends the emission.
 * - `first`: the first answer wins; later handlers still run.
 * - `chain`: each handler gets what the one before it left or returned.
 * - `fields`: as `chain`, field by field.
 * - `pass`: each handler gets the event with the fields that those before it answered; a truthy `stop` field ends the emission.
 */
export type MergeRule = "ignore" | "last" | "first" | "chain" | "fields" | "pass";

/** What the runner must know of an event. */
export interface EventRule {
  /** How answers are merged. */
  readonly merge: MergeRule;
  /** The fields that an answer may have; one without any of them is no answer. */
  readonly fields: readonly string[];
  /** The field that ends the emission at once when it is truthy. Such an event is a gate: it stays closed when a hook breaks. */
  readonly stop?: "block" | "cancel" | "handled";
  /** Fields of the answers that later handlers find in the event, where the first answer wins. */
  readonly passed?: readonly string[];
  /** Puts an answer that other hosts take as well into the form that `fields` names. */
  readonly read?: (answer: unknown) => unknown;
  /** Fields of an answer that `read` knows as well. */
  readonly also?: readonly string[];
  /** Whether it is an extension of the contract, for hooks written for other hosts. */
  readonly extension?: true;
  /** Whether what a handler throws reaches the emitter instead of the error listeners. */
  readonly throws?: true;
  /** When it is emitted, in one sentence. */
  readonly when: string;
}

const observed = (when: string): EventRule => ({ merge: "ignore", fields: [], when });
const extension = (when: string): EventRule => ({ ...observed(when), extension: true });
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The rule of every event. */
export const EVENT_RULES: { readonly [N in HookEventName]: EventRule } = {
  session_start: observed("Once, before the first prompt."),
  session_before_switch: {
    merge: "last",
    fields: ["cancel"],
    stop: "cancel",
    when: "Before a new, resumed or forked session takes over.",
  },
  session_switch: observed("After a new, resumed or forked session took over."),
  session_before_branch: {
    merge: "last",
    fields: ["cancel", "skipConversationRestore"],
    stop: "cancel",
    when: "Before a branch is made at a user message.",
  },
  session_branch: observed("After a branch was made."),
  session_before_compact: {
    merge: "last",
    fields: ["cancel", "compaction"],
    stop: "cancel",
    when: "Before the context is compacted.",
  },
  "session.compacting": {
    merge: "last",
    fields: ["context", "prompt", "preserveData"],
    when: "Before the model is asked for a summary.",
  },
  session_compact: observed("After the context was compacted."),
  session_before_tree: {
    merge: "last",
    fields: ["cancel", "summary"],
    stop: "cancel",
    when: "Before the session moves in its tree.",
  },
  session_tree: observed("After the session moved in its tree."),
  session_shutdown: observed("When the session ends, also by SIGINT or SIGTERM."),
  context: { merge: "chain", fields: ["messages"], when: "Before every call of the model." },
  before_agent_start: {
    merge: "first",
    fields: ["message", "systemPrompt"],
    passed: ["systemPrompt"],
    when: "After a prompt came in, before the agent starts.",
  },
  agent_start: observed("When the agent's loop begins."),
  agent_end: observed("When the agent's loop has ended."),
  turn_start: observed("Before each answer of the model."),
  turn_end: observed("After an answer and its tool calls."),
  auto_compaction_start: observed("When the agent compacts by itself."),
  auto_compaction_end: observed("When that is done, skipped, stopped or failed."),
  auto_retry_start: observed("Before a failed request is sent again."),
  auto_retry_end: observed("When retrying is over."),
  ttsr_triggered: observed("When stream rules match what the model writes."),
  todo_reminder: observed("When the agent stops with things left to do."),
  tool_call: { merge: "last", fields: ["block", "reason"], stop: "block", throws: true, when: "Before a tool runs." },
  tool_result: {
    merge: "fields",
    fields: ["content", "details"],
    also: ["result"],
    when: "After a tool ran or failed.",
  },
  input: {
    merge: "pass",
    fields: ["text", "images", "handled"],
    stop: "handled",
    also: ["action"],
    read: (answer) => isObject(answer) && answer.action === "handled" ? { ...answer, handled: true } : answer,
    extension: true,
    when: "When a prompt came in, before slash commands and the agent see it.",
  },
  user_bash: {
    merge: "first",
    fields: ["result"],
    extension: true,
    when: "Before a command line of the person runs.",
  },
  message_start: extension("When a message begins."),
  message_update: extension("For each piece of the model's answer."),
  message_end: extension("When a message is whole and in the session."),
  tool_execution_start: extension("Before a call of a tool is handled."),
  tool_execution_update: extension("While a tool runs, unless `tool_result` handlers may still redact what it tells."),
  tool_execution_end: extension("When a call of a tool is over."),
  model_select: extension("When another model is put to use."),
  before_provider_request: {
    merge: "pass",
    fields: ["payload"],
    also: ["systemPrompt", "messages", "tools", "maxTokens"],
    read: (answer) => isObject(answer) && !("payload" in answer) ? { payload: answer } : answer,
    extension: true,
    when: "Before a request is sent to the model, after `context`.",
  },
  session_stop: {
    merge: "last",
    fields: ["continue", "reason"],
    also: ["decision", "additionalContext"],
    // Only an answer that keeps the agent going is one.
    read: (answer) =>
      isObject(answer) && (answer.continue === true || answer.decision === "block")
        ? { continue: true, reason: answer.reason ?? answer.additionalContext }
        : undefined,
    extension: true,
    when: "When the agent has nothing left to do, before it stops.",
  },
};

const ALL_NAMES = Object.keys(EVENT_RULES) as HookEventName[];

/** Names of the contract's events. */
export const EVENT_NAMES: readonly HookEventName[] = ALL_NAMES.filter((name) => !EVENT_RULES[name].extension);

/** Names of the events that there are beyond the contract, for hooks written for other hosts. */
export const EXTENSION_EVENT_NAMES: readonly HookEventName[] = ALL_NAMES.filter((name) => EVENT_RULES[name].extension);

/** Whether a string is the name of an event. */
export function isHookEventName(name: string): name is HookEventName {
  return Object.hasOwn(EVENT_RULES, name);
}
