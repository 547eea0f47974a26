/**
 * What a hook gets to work with: the API of its factory, and the contexts of its handlers and commands.
 *
 * @module
 */

import type { ContextUsage, HookActions, WidgetContent, WidgetOptions } from "./actions.ts";
import type { HookEventBus } from "./bus.ts";
import type { HookEvent, HookEventName, HookResult } from "./events.ts";
import type { CustomMessage, UserContent } from "./messages.ts";
import type { AgentMessage } from "./messages.ts";
import type { ToolResult, ToolUpdate } from "./tool.ts";
import type { SessionEntry, SessionHeader, SessionTreeNode } from "./entries.ts";

/** Handles one event. What it may return is told by the event. */
export type HookHandler<N extends HookEventName = HookEventName> = (
  event: HookEvent<N>,
  ctx: HookContext,
) => HookResult<N> | void | Promise<HookResult<N> | void>;

/** Default export of a hook module. */
export type HookFactory = (pi: HookAPI) => void | Promise<void>;

/** How {@linkcode HookAPI.sendMessage} delivers. */
export interface SendMessageOptions {
  /** Start a turn when the agent is idle; default false. */
  triggerTurn?: boolean;
  /** While the agent works: before its next turn (`steer`, the default) or when it would stop (`followUp`). */
  deliverAs?: "steer" | "followUp";
}

/** What a hook hands to {@linkcode HookAPI.sendMessage}. */
export type HookMessageInput<T = unknown> = Pick<
  CustomMessage<T>,
  "customType" | "content" | "display" | "details" | "attribution"
>;

/** A message of a hook, as renderers get it. */
export type HookMessage<T = unknown> = CustomMessage<T>;

/** Options of {@linkcode HookAPI.exec}. */
export interface ExecOptions {
  /** Time limit in ms; none when absent, 0 or less. */
  timeout?: number;
  /** Ends the program and all that it started. */
  signal?: AbortSignal;
  /** Working directory; the session's when absent. */
  cwd?: string;
  /** Variables that are set on top of the host's environment. */
  env?: Record<string, string>;
  /** Most bytes kept of each stream; default 50 MiB. */
  maxOutputBytes?: number;
}

/** How a program ended. */
export interface ExecResult {
  /** Its standard output, as UTF-8. */
  stdout: string;
  /** Its standard error, as UTF-8. */
  stderr: string;
  /** Its exit code; 128 + signal number when a signal ended it. */
  code: number;
  /** Whether we ended it, by time limit, abort or output limit. */
  killed: boolean;
}

/** What a slash command does. */
export interface HookCommand {
  /** One line for the list of commands. */
  description?: string;
  /** Runs it; `args` is all after the command's name. */
  handler: (args: string, ctx: HookCommandContext) => void | Promise<void>;
}

/** A slash command and its name. */
export interface RegisteredCommand extends HookCommand {
  /** Name without the slash. */
  name: string;
}

/** Something that draws itself as lines. */
export interface Component {
  /** Lines for a width in terminal cells. */
  render(width: number): string[];
  /** Takes raw keyboard input. */
  handleInput?(data: string): void;
  /** Forgets what was drawn. */
  invalidate?(): void;
  /** Resolves when {@linkcode Component.render} has its lines for a width; a component that draws at once has no need of it. */
  whenDrawn?(width: number): Promise<void>;
  /** Wants key releases too. */
  wantsKeyRelease?: boolean;
  /** Called when it is closed. */
  dispose?(): void;
}

/** Draws messages of one `customType`; `undefined` leaves it to the default. */
export type HookMessageRenderer<T = unknown> = (
  message: HookMessage<T>,
  options: { expanded: boolean },
  theme: Theme,
) => Component | undefined;

/** Colours and styles. Text comes back as it is where there is no colour. */
export interface Theme {
  /** Foreground colour by name, for example `error`, `warning`, `muted`. */
  fg(color: string, text: string): string;
  /** Background colour by name. */
  bg(color: string, text: string): string;
  /** Bold text. */
  bold(text: string): string;
  /** Slanted text. */
  italic(text: string): string;
  /** Underlined text. */
  underline(text: string): string;
  /** Struck-out text. */
  strikethrough(text: string): string;
  /** Text with its colours swapped. */
  inverse(text: string): string;
}

/** Makes the component that {@linkcode HookUIContext.custom} shows; `done` closes it with a result. */
export type CustomFactory<T> = (
  tui: unknown,
  theme: Theme,
  done: (result: T) => void,
) => Component | Promise<Component>;

/** How long a question stays open. */
export interface DialogOptions {
  /** Closes it after this time, in ms. */
  timeout?: number;
  /** Closes it when it aborts. */
  signal?: AbortSignal;
}

/**
 * Ways to ask and tell the person. Safe to call where nobody is: see each member. Questions are shown one at a time, with the
 * path of the hook that asks; text may hold line ends, but nothing else that controls a terminal.
 */
export interface HookUIContext {
  /** Lets the person choose; `undefined` when closed or without UI. */
  select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
  /** Asks yes or no; `false` when closed or without UI. */
  confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
  /** Asks for one line; `undefined` when closed or without UI. */
  input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
  /** Asks for text; `undefined` when closed or without UI. */
  editor(title: string, prefill?: string, options?: DialogOptions): Promise<string | undefined>;
  /** Shows a note; nothing without UI. */
  notify(message: string, type?: "info" | "warning" | "error"): void;
  /** Sets this key's text in the status line; `undefined` clears it. */
  setStatus(key: string, text: string | undefined): void;
  /** Extension: shows lines beside the editor until they are replaced; `undefined` takes them away. Nothing without UI. */
  setWidget(key: string, content: WidgetContent, options?: WidgetOptions): void;
  /** Extension: names the window of the terminal. Nothing without UI, or where it has no window. */
  setTitle?(title: string): void;
  /** Extension: what stands above the conversation; `undefined` brings back the host's own. Nothing where no chat is. */
  setHeader?(content: WidgetContent): void;
  /** Extension: what stands below the editor; `undefined` brings back the host's own. Nothing where no chat is. */
  setFooter?(content: WidgetContent): void;
  /** Extension: how the person is reached, which hooks read as `ctx.mode`; `tui` when absent. */
  readonly mode?: "tui" | "rpc";
  /** Extension: what is said while the agent works; the host's own words when absent. Nothing where no chat is. */
  setWorkingMessage?(message?: string): void;
  /**
   * Shows a component until it calls `done`; `undefined` without UI and where nothing can be drawn, such as between plain
   * prompts, and then the factory is never called.
   */
  custom<T>(factory: CustomFactory<T>, dialog?: DialogOptions): Promise<T | undefined>;
  /** Replaces the text of the prompt editor; nothing where there is none. */
  setEditorText(text: string): void;
  /** The text of the prompt editor; `""` where there is none. */
  getEditorText(): string;
  /** The colours in use. */
  readonly theme: Theme;
}

/** A model, as hooks see it. */
export interface Model {
  /** Its id at the provider. */
  id: string;
  /** Who serves it. */
  provider: string;
  /** Its name, as people say it. */
  name?: string;
  /** How many tokens it reads and writes at most. */
  contextWindow?: number;
  /** How many tokens it writes at most. */
  maxTokens?: number;
}

/** The models that there are. */
export interface ModelRegistry {
  /** All that can be used now. */
  getAvailable(): Model[];
  /** One of them. */
  find(provider: string, id: string): Model | undefined;
  /** Always `undefined` for hooks: keys stay with the session. */
  getApiKey(model: Model, sessionId?: string): Promise<string | undefined>;
}

/** The session, for reading. */
export interface ReadonlySessionManager {
  /** The folder it works in. */
  getCwd(): string;
  /** Folder of the session files; `""` for a session in memory. */
  getSessionDir(): string;
  /** Identifies the session. */
  getSessionId(): string;
  /** Its file; `undefined` for a session in memory. */
  getSessionFile(): string | undefined;
  /** Its name, if it has one. */
  getSessionName(): string | undefined;
  /** Its header. */
  getHeader(): SessionHeader | null;
  /** All entries in the order in which they were appended. */
  getEntries(): SessionEntry[];
  /** As `getEntries().slice(index)`, without a copy of what comes before; where it is absent, that is what it means. */
  getEntriesFrom?(index: number): SessionEntry[];
  /** One entry. */
  getEntry(id: string): SessionEntry | undefined;
  /** The path from the root to an entry, or to the leaf. */
  getBranch(fromId?: string): SessionEntry[];
  /** Where the next entry is appended; `null` at the root. */
  getLeafId(): string | null;
  /** The entry there. */
  getLeafEntry(): SessionEntry | undefined;
  /** The label of an entry. */
  getLabel(id: string): string | undefined;
  /** All roots with their children. */
  getTree(): SessionTreeNode[];
}

/** The session, for writing: what `setup` of a new session gets. */
export interface WritableSessionManager extends ReadonlySessionManager {
  /** Appends a message. */
  appendMessage(message: AgentMessage): string;
  /** Appends data that the model never reads. */
  appendCustomEntry(customType: string, data?: unknown): string;
  /** Appends a message of a hook. */
  appendCustomMessageEntry(
    customType: string,
    content: string | UserContent[],
    display: boolean,
    details?: unknown,
    attribution?: "user" | "agent",
  ): string;
  /** Names an entry, or takes its name away. */
  appendLabelChange(targetId: string, label: string | undefined): string;
}

/** What every handler gets as its second argument. Its values are those of the moment at which they are read. */
export interface HookContext {
  /** Ways to ask and tell the person; always there. */
  readonly ui: HookUIContext;
  /** Whether a person can answer. */
  readonly hasUI: boolean;
  /** The folder that the session works in. */
  readonly cwd: string;
  /** The session. */
  readonly sessionManager: ReadonlySessionManager;
  /** The models that there are. */
  readonly modelRegistry: ModelRegistry;
  /** The model in use. */
  readonly model: Model | undefined;
  /** Whether the agent waits for a prompt. */
  isIdle(): boolean;
  /** Stops the agent's run. */
  abort(): void;
  /** Whether messages wait to be delivered. */
  hasQueuedMessages(): boolean;
  /** Extension: how full the context is; `undefined` while it is not known. */
  getContextUsage(): ContextUsage | undefined;
  /** Extension: what the model is told before all messages. */
  getSystemPrompt(): string;
  /** Extension: compacts the context as soon as the agent is idle, and does not wait for it. */
  compact(options?: CompactOptions): void;
}

/** Options of {@linkcode HookContext.compact}. */
export interface CompactOptions {
  /** What the summary should mind. */
  customInstructions?: string;
  /** Called when it is done. */
  onComplete?: () => void;
  /** Called when it failed, or was stopped. */
  onError?: (error: Error) => void;
}

/** Options of {@linkcode HookCommandContext.newSession}. */
export interface NewSessionOptions {
  /** File of the session that it comes from. */
  parentSession?: string;
  /** Fills the new session before it is used. */
  setup?: (session: WritableSessionManager) => void | Promise<void>;
}

/** What a slash command gets: also what would deadlock inside the agent's loop. */
export interface HookCommandContext extends HookContext {
  /** Resolves when the agent waits for a prompt. */
  waitForIdle(): Promise<void>;
  /** Begins a new session. */
  newSession(options?: NewSessionOptions): Promise<{ cancelled: boolean }>;
  /** Branches at a user message. */
  branch(entryId: string): Promise<{ cancelled: boolean }>;
  /** Moves to another entry of the tree. */
  navigateTree(targetId: string, options?: { summarize?: boolean }): Promise<{ cancelled: boolean }>;
}

/** Writes to the host's log, never to the protocol or the screen of the session. */
export interface HookLogger {
  /** Details for whoever looks for a fault. */
  debug(message: string, context?: Record<string, unknown>): void;
  /** What happened. */
  info(message: string, context?: Record<string, unknown>): void;
  /** What may be a fault. */
  warn(message: string, context?: Record<string, unknown>): void;
  /** What is a fault. */
  error(message: string, context?: Record<string, unknown>): void;
}

/** A tool of a hook: the model may call it, and it goes through the gates like any other. */
export interface HookTool<P = Record<string, unknown>> {
  /** Name by which the model calls it. */
  name: string;
  /** Name for people. */
  label?: string;
  /** What it does, for the model. */
  description?: string;
  /** Its arguments as a JSON schema, which a schema of typebox is. */
  parameters?: unknown;
  /**
   * Runs it.
   *
   * @param toolCallId Identifies the call.
   * @param params The arguments, checked against the schema.
   * @param signal Aborted when the call should end.
   * @param onUpdate Told while it runs, each time all that there is so far.
   * @param ctx As handlers get it.
   * @returns What it answers; a failure throws, or has `isError: true`.
   */
  execute(
    toolCallId: string,
    params: P,
    signal: AbortSignal | undefined,
    onUpdate: ToolUpdate | undefined,
    ctx: HookContext,
  ): HookToolResult | Promise<HookToolResult>;
}

/** What a tool of a hook answers. */
export interface HookToolResult extends ToolResult {
  /** Whether it failed. */
  isError?: boolean;
}

/** A flag that the person may set on the command line. */
export interface HookFlag {
  /** One line for the help. */
  description?: string;
  /** Whether it is there or not, or holds a text. */
  type: "boolean" | "string";
  /** What it is when nobody sets it. */
  default?: boolean | string;
}

/** A key that does something in the chat. */
export interface HookShortcut {
  /** One line for the help. */
  description?: string;
  /** Does it. */
  handler: (ctx: HookContext) => void | Promise<void>;
}

/**
 * What the factory of a hook gets.
 *
 * @example A hook that keeps `rm -rf` from running
 * ```ts
 * import type { HookAPI } from "@xcsh/hooks";
 *
 * export default function noRecursiveRemoval(pi: HookAPI): void {
 *   pi.on("tool_call", (event) => {
 *     if (event.toolName === "bash" && String(event.input.command).includes("rm -rf")) {
 *       return { block: true, reason: "rm -rf is not allowed" };
 *     }
 *   });
 * }
 * ```
 */
export interface HookAPI {
  /** Subscribes to an event. Also later, from inside a handler: it then counts from the event's next emission. */
  on<N extends HookEventName>(event: N, handler: HookHandler<N>): void;
  /** Adds a message that the model reads. Throws before the runner is initialised. */
  sendMessage<T = unknown>(message: HookMessageInput<T>, options?: SendMessageOptions): void;
  /** Appends data that the model never reads. Throws before the runner is initialised. */
  appendEntry<T = unknown>(customType: string, data?: T): void;
  /** Registers how messages of a `customType` are drawn. */
  registerMessageRenderer<T = unknown>(customType: string, renderer: HookMessageRenderer<T>): void;
  /** Registers a slash command. */
  registerCommand(name: string, command: HookCommand): void;
  /** Runs a program, without a shell. */
  exec(command: string, args: string[], options?: ExecOptions): Promise<ExecResult>;
  /** The host's log. */
  readonly logger: HookLogger;
  /** Extension: adds a tool for the model. */
  registerTool<P = Record<string, unknown>>(tool: HookTool<P>): void;
  /** Extension: declares a flag. */
  registerFlag(name: string, flag: HookFlag): void;
  /** Extension: what the person gave for a flag, else its default. */
  getFlag(name: string): boolean | string | undefined;
  /** Extension: makes a key of the chat do something. */
  registerShortcut(key: string, shortcut: HookShortcut): void;
  /** Extension: messages of hooks to each other. */
  readonly events: HookEventBus;
  /** Extension: says something as the person; see {@linkcode HookActions.sendUserMessage}. */
  sendUserMessage: HookActions["sendUserMessage"];
  /** Extension: names of the tools that the model may call now. */
  getActiveTools: HookActions["getActiveTools"];
  /** Extension: says which tools the model may call from its next turn on. */
  setActiveTools: HookActions["setActiveTools"];
  /** Extension: all tools. */
  getAllTools: HookActions["getAllTools"];
  /** Extension: the slash commands of hooks. */
  getCommands: HookActions["getCommands"];
  /** Extension: names an entry of the session; `undefined` takes its name away. */
  setLabel: HookActions["setLabel"];
  /** Extension: uses another model; see {@linkcode HookActions.setModel}. */
  setModel: HookActions["setModel"];
  /** Extension: how much the model thinks: `off`, since no model is asked to. */
  getThinkingLevel: HookActions["getThinkingLevel"];
  /** Extension: asks for more or less of it, and gets what the model can do, which is `off`. */
  setThinkingLevel: HookActions["setThinkingLevel"];
  /** Extension: names the session. */
  setSessionName: HookActions["setSessionName"];
  /** Extension: the session's name. */
  getSessionName: HookActions["getSessionName"];
}
