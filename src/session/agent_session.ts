/**
 * A coding session: a model, tools and hooks around one tree of entries.
 *
 * @module
 */

import type { HookActions } from "../actions.ts";
import type { HookMessageInput, Model, ModelRegistry, NewSessionOptions, SendMessageOptions } from "../api.ts";
import type { CompactionResult, HookEvent, HookEventName, HookResult, Rule, TodoItem } from "../events.ts";
import { execCommand } from "../exec.ts";
import type { LoadedHook } from "../hook.ts";
import {
  type AgentMessage,
  type BashExecutionMessage,
  type CustomMessage,
  type ImageContent,
  textOf,
  type UserContent,
  type UserMessage,
} from "../messages.ts";
import type { LanguageModel } from "../models/model.ts";
import { describeModel, ModelList } from "../models/registry.ts";
import { HookRunner, type UIContextSource } from "../runner.ts";
import { HookToolWrapper } from "../tool_wrapper.ts";
import type { Tool } from "../tool.ts";
import { withDialogLimits } from "../ui/dialogs.ts";
import { createTools, type SessionTool } from "../tools/mod.ts";
import { errorText, kindOf, nearest } from "../values.ts";
import { AgentLoop, type Answer, type LoopHost, type LoopOutcome } from "./agent_loop.ts";
import { type CompactionSettings, DEFAULT_COMPACTION } from "./compaction.ts";
import { Compactor } from "./compactor.ts";
import { contentFault } from "../message_check.ts";
import { buildSessionContext, messageOf } from "./context.ts";
import { SessionMoves } from "./moves.ts";
import { Retrier } from "./retrier.ts";
import { DEFAULT_RETRY, isOverflow, type RetrySettings } from "./retry.ts";
import { customMessage, defaultSystemPrompt, userMessage } from "./input.ts";
import type { SessionEvent, SessionIdentity, SessionListener } from "./session_events.ts";
import { onTermination } from "./signals.ts";
import { SessionManager } from "./store.ts";
import {
  injectionText,
  loadRules,
  type RuleMatch,
  StreamRules,
  type StreamRuleSettings,
  TTSR_MESSAGE,
} from "./stream_rules.ts";
import { createTodoTool, DEFAULT_TODOS, reminderText, TodoList, type TodoSettings } from "./todos.ts";
import { contextTokens } from "./tokens.ts";
import { SessionView } from "./view.ts";
import { settle } from "./wait.ts";

/** How long handlers may go on once what they belong to was aborted, in ms. */
const HANDLER_GRACE = 1_000;
/** How long handlers may hold up the end of a session, in ms. */
const SHUTDOWN_GRACE = 3_000;
/** What a message of a hook is that does not say it. */
const UNNAMED = { attribution: "user", customType: "before_agent_start" } as const;
/** How often in a row hooks may keep the agent going that has nothing left to do. */
const MAX_CONTINUATIONS = 8;

/** Options of {@linkcode AgentSession}. */
export interface AgentSessionOptions {
  /** The folder that it works in. */
  cwd: string;
  /** The model that answers; without one, prompts fail. */
  model?: LanguageModel;
  /** The hooks, in the order in which they run. */
  hooks?: readonly LoadedHook[];
  /** Where it is kept; in memory when absent. The session closes it. */
  sessionManager?: SessionManager;
  /** What the model may call; bash, read, write, edit, grep and find when absent. */
  tools?: readonly SessionTool[];
  /** Told to the model before all messages; a short one about the folder and the tools when absent. */
  systemPrompt?: string;
  /** The models that there are; the one in use when absent. */
  modelRegistry?: ModelRegistry;
  /** Ways to reach the person, the same for all hooks or made for one by its path; none when absent. */
  uiContext?: UIContextSource;
  /** Whether a person can answer; default false. */
  hasUI?: boolean;
  /** When the context is compacted. */
  compaction?: Partial<CompactionSettings>;
  /** How failed requests are sent again. */
  retry?: Partial<RetrySettings>;
  /** How rules watch the model's stream. */
  streamRules?: Partial<StreamRuleSettings>;
  /** The rules; those of `.xcsh/rules` in the folder when absent. */
  rules?: readonly Rule[];
  /** Whether the agent keeps a list of what there is to do, and is reminded of it. */
  todos?: Partial<TodoSettings>;
  /** What the person gave for the flags that hooks declare, by name. */
  flags?: Readonly<Record<string, boolean | string>>;
  /** Whether SIGINT, SIGTERM and SIGHUP end the session in order, and then the process; default true. */
  handleSignals?: boolean;
}

/** Options of {@linkcode AgentSession.prompt}. */
export interface PromptOptions {
  /** Pictures that go with it. */
  images?: ImageContent[];
  /** What to do while the agent works: read it before the next turn, or when the agent would stop. Refused when absent. */
  deliverAs?: "steer" | "followUp";
}

/** How a prompt was taken. */
export interface PromptOutcome {
  /** It was a slash command, it ran the agent, it waits until the agent reads it, or a hook has dealt with it. */
  handledAs: "command" | "run" | "queued" | "hook";
}

/** A prompt that came while the agent works. */
export class AgentBusyError extends Error {
  /** Tells it from other errors. */
  override name = "AgentBusyError";
}

/** A slash command that no hook registered. */
export class UnknownCommandError extends Error {
  /** Tells it from other errors. */
  override name = "UnknownCommandError";
}

type Phase = "idle" | "starting" | "running" | "ending";

/**
 * A session that a person can drive. It emits every event to its hooks and waits for them, keeps each message before it
 * goes on, and tells listeners what happens.
 *
 * @example A prompt, and a hook that keeps a command from running
 * ```ts
 * import { AgentSession, ScriptedModel } from "@xcsh/hooks/session";
 * import { createTestHook } from "@xcsh/hooks/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const gate = await createTestHook((pi) => {
 *   pi.on("tool_call", () => ({ block: true, reason: "not today" }));
 * });
 * const model = new ScriptedModel({
 *   turns: [{ toolCalls: [{ name: "bash", arguments: { command: "rm -rf ." } }] }, { text: "I may not." }],
 * });
 * await using session = new AgentSession({ cwd: "/project", model, hooks: [gate], handleSignals: false });
 * const blocked: string[] = [];
 * session.subscribe((event) => {
 *   if (event.type === "tool_execution_end" && event.blocked) blocked.push(event.reason ?? "");
 * });
 * await session.prompt("clean up");
 * assertEquals(blocked, ["not today"]);
 * ```
 */
export class AgentSession {
  /** Hands events to the hooks. */
  readonly runner: HookRunner;
  readonly #cwd: string;
  readonly #tools: ReadonlyMap<string, SessionTool>;
  readonly #systemPrompt: string;
  /** What hooks made of the system prompt, until the agent has stopped. */
  #promptOfRun: string | undefined;
  /** The tools of hooks behind their gates. */
  readonly #hookTools = new WeakMap<Tool, SessionTool>();
  /** Names of the tools that the model may call; all when absent. */
  #activeTools: ReadonlySet<string> | undefined;
  /** What hooks have said as the person, and the agent has not dealt with. */
  readonly #said = new Set<Promise<unknown>>();
  /** How often hooks have kept the agent going since the last prompt. */
  #continuations = 0;
  readonly #listeners = new Set<SessionListener>();
  readonly #loop: AgentLoop;
  readonly #moves: SessionMoves;
  readonly #options: AgentSessionOptions;
  readonly #compaction: CompactionSettings;
  readonly #compactor: Compactor;
  readonly #retrier: Retrier;
  readonly #todos: TodoSettings;
  readonly #todoList = new TodoList();
  #rules: StreamRules | undefined;
  /** Rules that matched and that the model has not been told of. */
  #matchedRules: Rule[] = [];
  #reminders = 0;
  /** What has been tried since the last prompt and is not tried again. */
  #compactionFailed = false;
  #overflowTried = false;
  #model: LanguageModel | undefined;
  #manager: SessionManager;
  #messages: AgentMessage[] = [];
  #steering: AgentMessage[] = [];
  #followUps: AgentMessage[] = [];
  #phase: Phase = "idle";
  /** Ends when hooks have seen what nobody waits for. */
  #observed: Promise<void> | undefined;
  #controller: AbortController | undefined;
  #asking = new AbortController();
  #idle: Promise<void> = Promise.resolve();
  #started: Promise<void> | undefined;
  #disposed: Promise<void> | undefined;
  #removeSignals: (() => void) | undefined;
  #flushWanted = false;
  #flushing: Promise<void> | undefined;

  /**
   * Puts a session together. Nothing happens before {@linkcode AgentSession.start} or the first prompt.
   *
   * @param options See {@linkcode AgentSessionOptions}.
   */
  constructor(options: AgentSessionOptions) {
    this.#cwd = options.cwd;
    this.#model = options.model;
    this.#options = options;
    this.#compaction = { ...DEFAULT_COMPACTION, ...options.compaction };
    this.#todos = { ...DEFAULT_TODOS, ...options.todos };
    this.#manager = options.sessionManager ?? SessionManager.inMemory(options.cwd);
    const registry = options.modelRegistry ?? new ModelList(() => this.#model === undefined ? [] : [this.#model]);
    this.runner = new HookRunner(options.hooks ?? [], options.cwd, new SessionView(() => this.#manager), registry);
    const tools = [
      ...this.#todos.enabled ? [createTodoTool(this.#todoList)] : [],
      ...options.tools ?? createTools(options.cwd),
    ];
    this.#tools = new Map(
      tools.map((tool) => [tool.name, new HookToolWrapper(tool, this.runner, { redactErrors: true })]),
    );
    this.#systemPrompt = options.systemPrompt ?? defaultSystemPrompt(options.cwd, tools);
    this.#adopt(this.#manager);
    this.runner.initialize({
      getModel: () => this.model,
      sendMessageHandler: (message, sendOptions) => this.sendMessage(message, sendOptions),
      appendEntryHandler: (customType, data) => void this.appendEntry(customType, data),
      newSessionHandler: (newOptions) => this.newSession(newOptions),
      branchHandler: (entryId) => this.branch(entryId),
      navigateTreeHandler: (targetId, navigateOptions) => this.navigateTree(targetId, navigateOptions),
      isIdle: () => this.isIdle,
      waitForIdle: () => this.waitForIdle(),
      abort: () => void this.abort(),
      hasQueuedMessages: () => this.#steering.length + this.#followUps.length > 0,
      ...options.uiContext && { uiContext: this.#limitedUI(options.uiContext) },
      hasUI: options.hasUI ?? false,
      actions: this.#actions(),
    });
    this.runner.onError(({ hookPath, event, error }) => this.#tell({ type: "hook_error", hookPath, event, error }));
    const emit: LoopHost["emit"] = (event, signal) => this.#emit(event, signal);
    const tell = (event: SessionEvent) => this.#tell(event);
    const observe: LoopHost["observe"] = (name, payload) => this.#observe(name, payload);
    const retry = { ...DEFAULT_RETRY, ...options.retry };
    this.#retrier = new Retrier({ emit, tell }, retry);
    this.#compactor = new Compactor(
      {
        runner: this.runner,
        manager: () => this.#manager,
        messages: () => this.#messages,
        model: () => this.#model,
        restore: () => this.#restore(),
        emit,
        tell,
      },
      this.#compaction,
      retry,
    );
    this.#moves = new SessionMoves({
      runner: this.runner,
      cwd: options.cwd,
      reserveTokens: this.#compaction.reserveTokens,
      manager: () => this.#manager,
      model: () => this.#model,
      identity: () => this.#identity(),
      signal: () => this.#asking.signal,
      abort: () => this.abort(),
      alone: (act) => this.#alone(act),
      replace: (next, keepMemory) => this.#replace(next, keepMemory),
      restore: () => this.#restore(),
      emit,
      tell,
    });
    this.#loop = new AgentLoop({
      runner: this.runner,
      rules: () => this.#rules,
      tools: () => this.#callable(),
      model: () => this.#requireModel(),
      systemPrompt: () => this.#promptOfRun ?? this.#systemPrompt,
      messages: () => this.#messages,
      append: (message) => this.#append(message),
      takeSteering: () => this.#steering.splice(0),
      takeFollowUps: () => this.#followUps.splice(0),
      emit,
      tell,
      observe,
      ruleMatched: (match, signal) => this.#ruleMatched(match, signal),
      answered: (answer, signal) => this.#answered(answer, signal),
      turnEnded: () => {
        this.#rules?.turnEnded();
        this.#flush();
      },
      isFull: () => !this.#compactionFailed && this.#compactor.isDue(),
    });
  }

  /** The session's entries. Another object after a new, resumed, forked or branched session took over. */
  get sessionManager(): SessionManager {
    return this.#manager;
  }

  /** What the agent remembers: what the model would read now, before hooks and conversion. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** The model in use. */
  get model(): Model | undefined {
    return this.#model && describeModel(this.#model);
  }

  /** Whether the agent waits for a prompt. */
  get isIdle(): boolean {
    return this.#phase === "idle";
  }

  /** Names of the tools that the model may call now. */
  get toolNames(): readonly string[] {
    return [...this.#callable().keys()];
  }

  /**
   * Watches the session.
   *
   * @param listener Told of each event, after the hooks.
   * @returns Ends the watching.
   */
  subscribe(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Emits `session_start`, once. The first prompt does it too. */
  start(): Promise<void> {
    return this.#started ??= this.#start();
  }

  /**
   * Takes a prompt. A slash command of a hook runs at once, also while the agent works; anything else runs the agent until
   * it has nothing left to do.
   *
   * @param text The prompt, or `/name args`.
   * @param options See {@linkcode PromptOptions}.
   * @returns How it was taken.
   * @throws {UnknownCommandError} For a slash command that nobody registered.
   * @throws {AgentBusyError} While the agent works, when `deliverAs` is absent.
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<PromptOutcome> {
    return await this.#take(text, options, "interactive");
  }

  /**
   * Runs a command line of the person by hand, as `!command` does. Hooks may answer in its place.
   *
   * @param command The command line.
   * @param options `excludeFromContext` keeps it from the model.
   * @returns What is in the session now.
   */
  async runBash(command: string, options: { excludeFromContext?: boolean } = {}): Promise<BashExecutionMessage> {
    this.#requireOpen();
    await this.start();
    const excludeFromContext = options.excludeFromContext ?? false;
    const { signal } = this.#asking;
    const asked = this.runner.emit({ type: "user_bash", command, excludeFromContext, cwd: this.#cwd });
    const answer = await settle(asked, signal);
    let message: BashExecutionMessage;
    if (answer?.result === undefined) {
      const { stdout, stderr, code, killed } = await execCommand("bash", ["-c", command], this.#cwd, { signal });
      message = { role: "bashExecution", command, output: stdout + stderr, exitCode: code, timestamp: Date.now() };
      if (killed) message.cancelled = true;
    } else {
      const { output, exitCode, cancelled, truncated } = answer.result;
      message = {
        role: "bashExecution",
        command,
        output: String(output),
        exitCode: typeof exitCode === "number" ? exitCode : 0,
        ...cancelled && { cancelled },
        ...truncated && { truncated },
        timestamp: Date.now(),
      };
    }
    if (excludeFromContext) message.excludeFromContext = true;
    return this.#append(message) as BashExecutionMessage;
  }

  /** What hooks make of what was said; an abort while they are asked keeps it from the agent. */
  async #askAboutInput(
    text: string,
    images: ImageContent[] | undefined,
    source: "interactive" | "extension",
  ): Promise<(HookResult<"input"> & { reason?: unknown }) | undefined> {
    if (!this.runner.hasHandlers("input")) return undefined;
    const { signal } = this.#asking;
    try {
      return await settle(this.runner.emit({ type: "input", text, images, source }), signal);
    } catch (error) {
      if (signal.aborted) return { handled: true };
      throw error;
    }
  }

  async #take(given: string, options: PromptOptions, source: "interactive" | "extension"): Promise<PromptOutcome> {
    this.#requireOpen();
    await this.start();
    const input = await this.#askAboutInput(given, options.images, source);
    if (input?.handled) {
      if (input.reason !== undefined) this.#notice("error", `The prompt was kept back: ${input.reason}`);
      return { handledAs: "hook" };
    }
    const text = input?.text === undefined ? given : String(input.text);
    const images = Array.isArray(input?.images) ? input.images : options.images;
    // A hook may not run the commands of others, which may have other rights.
    const command = source === "extension" ? null : /^\/([^\s/]+)(?: ([\s\S]*))?$/.exec(text);
    if (command !== null) {
      await this.#runCommand(command[1]!, command[2] ?? "");
      return { handledAs: "command" };
    }
    const message = userMessage(text, images);
    if (!this.isIdle) {
      if (options.deliverAs === undefined) {
        throw new AgentBusyError("The agent is at work; wait until it is idle, or say how to deliver the prompt");
      }
      (options.deliverAs === "steer" ? this.#steering : this.#followUps).push(message);
      return { handledAs: "queued" };
    }
    this.#requireModel();
    await this.#work((signal) => this.#beginWithPrompt(message, text, images, signal));
    return { handledAs: "run" };
  }

  /**
   * Adds a message of a hook. While the agent works it waits to be read: before the next turn, or with `deliverAs: "followUp"`
   * when the agent would stop. While it is idle, `triggerTurn` runs the agent; otherwise the message is appended. So it is in handlers of
   * `agent_end`, where `deliverAs` runs the agent once more as well.
   *
   * @param message The message.
   * @param options How it is delivered.
   * @throws {TypeError} When the message is malformed or cannot be written as JSON.
   */
  sendMessage(message: HookMessageInput, options: SendMessageOptions = {}): void {
    this.#requireOpen();
    const custom = customMessage(message);
    if (this.#phase === "starting" || this.#phase === "running") {
      (options?.deliverAs === "followUp" ? this.#followUps : this.#steering).push(custom);
    } else if (this.#phase === "ending" && (options?.triggerTurn || options?.deliverAs !== undefined)) {
      this.#followUps.push(custom);
    } else if (this.#phase === "idle" && options?.triggerTurn) {
      this.#requireModel();
      this.#work(() => Promise.resolve([custom])).catch((error) => this.#notice("error", errorText(error)));
    } else this.#append(custom);
  }

  /**
   * Appends data that the model never reads.
   *
   * @param customType The hook's own name for it.
   * @param data The data, as JSON.
   * @returns The id of the entry.
   * @throws {TypeError} When it cannot be written as JSON.
   */
  appendEntry(customType: string, data?: unknown): string {
    this.#requireOpen();
    if (typeof customType !== "string") {
      throw new TypeError(`appendEntry needs a customType, not ${kindOf(customType)}`);
    }
    return this.#manager.appendCustomEntry(customType, data);
  }

  /** Stops what the agent does; resolves when it is idle. What waited to be read is appended, so that it is not lost. */
  async abort(): Promise<void> {
    const reason = new DOMException("The run was aborted", "AbortError");
    this.#controller?.abort(reason);
    // Whatever hooks are being asked outside of a run ends as well; what is asked from now on does not.
    this.#asking.abort(reason);
    this.#asking = new AbortController();
    await this.#idle;
  }

  /** Resolves when the agent waits for a prompt. */
  async waitForIdle(): Promise<void> {
    while (!this.isIdle || this.#said.size > 0) await (this.isIdle ? Promise.all(this.#said) : this.#idle);
  }

  /** Uses another model from the next turn on. */
  setModel(model: LanguageModel): void {
    const previousModel = this.model;
    this.#model = model;
    this.#manager.appendModelChange(`${model.provider}/${model.id}`);
    this.#observe("model_select", () => ({ model: describeModel(model), previousModel, source: "set" as const }));
  }

  /**
   * Compacts the context: what is old becomes a summary. What the agent does is stopped first.
   *
   * @param customInstructions What the summary should mind.
   * @returns The compaction.
   * @throws {import("./compaction.ts").NothingToCompactError} When there is too little.
   * @throws {import("./compactor.ts").CompactionCancelledError} When a hook stops it.
   * @throws {Error} When the model fails. The context stays as it is then.
   */
  async compact(customInstructions?: string): Promise<CompactionResult> {
    this.#requireOpen();
    await this.start();
    let result: CompactionResult | undefined;
    await this.#alone(async (signal) => {
      result = await this.#compactor.compact(customInstructions, signal);
      const queued = this.#takeQueued();
      if (queued.length > 0) await this.#run(queued, signal);
    });
    return result!;
  }

  /**
   * Compacts the context if it is nearly full, because the person is away.
   *
   * @returns Whether it was compacted.
   */
  async compactWhileIdle(): Promise<boolean> {
    this.#requireOpen();
    if (!this.isIdle || !this.#compactor.isDue()) return false;
    let compacted = false;
    await this.#exclusively(async (signal) => {
      this.#phase = "ending";
      compacted = await this.#compactor.autoCompact("idle", false, signal);
    });
    return compacted;
  }

  /** What the agent has set out to do. */
  get todos(): readonly TodoItem[] {
    return this.#todoList.items;
  }

  /**
   * Begins a new session; the one before is closed.
   *
   * @param options `parentSession`, and `setup` that fills it before it is used.
   * @returns Whether a hook kept it from happening.
   */
  newSession(options: NewSessionOptions = {}): Promise<{ cancelled: boolean }> {
    return this.#move(() => this.#moves.newSession(options));
  }

  /**
   * Goes on with another session file; nothing happens when it is the one in use.
   *
   * @param file The file.
   * @returns Whether a hook kept it from happening.
   * @throws {import("./errors.ts").SessionFileError} When it cannot be opened; the session then stays as it is.
   */
  switchSession(file: string): Promise<{ cancelled: boolean }> {
    return this.#move(() => this.#moves.switchSession(file));
  }

  /**
   * Goes on in a copy of the session.
   *
   * @returns Whether a hook kept it from happening.
   * @throws {Error} For a session in memory, before any hook is asked.
   */
  fork(): Promise<{ cancelled: boolean }> {
    return this.#move(() => this.#moves.fork());
  }

  /**
   * Makes the branch before a user message a session of its own and goes on there.
   *
   * @param entryId The user message.
   * @returns Its text, to be edited, and whether a hook kept it from happening.
   * @throws {Error} When the entry is no user message, before any hook is asked.
   */
  branch(entryId: string): Promise<{ cancelled: boolean; selectedText: string }> {
    return this.#move(() => this.#moves.branch(entryId));
  }

  /**
   * Moves to another entry of the tree. A message of the person is moved before, so that it can be said again.
   *
   * @param targetId Where to.
   * @param options Whether what is left behind is summarised.
   * @returns Whether a hook kept it from happening, and the text of a message that can be said again.
   * @throws {Error} When there is no such entry, before any hook is asked.
   */
  navigateTree(
    targetId: string,
    options: { summarize?: boolean } = {},
  ): Promise<{ cancelled: boolean; editorText?: string }> {
    return this.#move(() => this.#moves.navigateTree(targetId, options.summarize ?? false));
  }

  /** Names an entry, or takes its name away. */
  label(entryId: string, label: string | undefined): void {
    this.#requireOpen();
    this.#manager.appendLabelChange(entryId, label);
  }

  /**
   * Ends the session: stops the agent, emits `session_shutdown`, ends the processes of isolated hooks, and closes the file. May be called again, and does it once.
   */
  dispose(): Promise<void> {
    return this.#disposed ??= this.#dispose();
  }

  /** As {@linkcode AgentSession.dispose}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Questions are closed when the agent is stopped. */
  #limitedUI(source: UIContextSource): UIContextSource {
    const stopped = () => this.#asking.signal;
    return typeof source === "function"
      ? (hookPath) => withDialogLimits(source(hookPath), stopped)
      : withDialogLimits(source, stopped);
  }

  async #start(): Promise<void> {
    const { signal } = this.#asking;
    if (this.#options.handleSignals ?? true) this.#removeSignals = onTermination(() => this.dispose());
    for (const warning of this.#manager.warnings) this.#notice("warning", warning);
    const saveError = this.#manager.getSaveError();
    if (saveError !== undefined) this.#notice("warning", saveError.message);
    await this.#startRules();
    await this.#emit({ type: "session_start" }, signal);
    const model = this.#model;
    this.#tell({
      type: "session_start",
      ...this.#identity(),
      ...model !== undefined && { model: `${model.provider}/${model.id}` },
    });
  }

  async #dispose(): Promise<void> {
    await this.abort();
    const gone = AbortSignal.abort(new Error("a handler did not end"));
    if (this.#observed !== undefined) await settle(this.#observed, gone, HANDLER_GRACE).catch(() => {});
    let emitted: Promise<unknown> | undefined;
    try {
      if (this.#started !== undefined) {
        await this.#started.catch(() => {});
        const ended = AbortSignal.abort(new Error("a handler of session_shutdown did not end"));
        emitted = this.runner.emit({ type: "session_shutdown" });
        await settle(emitted, ended, SHUTDOWN_GRACE);
      }
    } catch (error) {
      this.#notice("warning", `Shutting down: ${errorText(error)}`);
    } finally {
      await this.runner.dispose();
      // A hook whose process had to be ended has failed; that is told before the end.
      if (emitted !== undefined) await settle(emitted, AbortSignal.abort()).catch(() => {});
      if (this.#started !== undefined) this.#tell({ type: "session_shutdown" });
      this.#removeSignals?.();
      await this.#flushing;
      try {
        this.#manager.close();
      } catch (error) {
        this.#notice("error", errorText(error));
      }
      this.#listeners.clear();
    }
  }

  /** Makes the batch that begins a run out of a prompt and what hooks add to it. */
  async #beginWithPrompt(
    message: UserMessage,
    text: string,
    images: ImageContent[] | undefined,
    signal: AbortSignal,
  ): Promise<AgentMessage[]> {
    await this.#compactIfDue(signal);
    const answer = await settle(
      this.runner.emitBeforeAgentStart(text, images, this.#systemPrompt),
      signal,
      0,
    );
    if (typeof answer?.systemPrompt === "string") this.#promptOfRun = answer.systemPrompt;
    if (answer?.message === undefined) return [message];
    try {
      return [message, customMessage(Object.assign({ ...UNNAMED }, answer.message))];
    } catch (error) {
      this.#notice("error", `The message that a hook gave before_agent_start was left out: ${errorText(error)}`);
      return [message];
    }
  }

  /** Runs the agent until it has nothing left to do. */
  #work(begin: (signal: AbortSignal) => Promise<AgentMessage[]>): Promise<void> {
    this.#retrier.reset();
    this.#reminders = 0;
    this.#continuations = 0;
    this.#promptOfRun = undefined;
    this.#compactionFailed = false;
    this.#overflowTried = false;
    return this.#exclusively(async (signal) => {
      let batch: AgentMessage[];
      try {
        batch = await begin(signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      await this.#run(batch, signal);
    });
  }

  /** Stops what goes on, and keeps the session busy with something else: two at once would each count as idle for the other. */
  async #alone(act: (signal: AbortSignal) => void | Promise<void>): Promise<void> {
    // What waited for the same end may have begun meanwhile.
    do await this.abort(); while (!this.isIdle);
    await this.#exclusively(async (signal) => {
      this.#phase = "ending";
      await act(signal);
    });
  }

  /** Keeps the session busy while something goes on that `abort` can end. Only to be called while it is idle. */
  #exclusively(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    // It may have ended while hooks were asked.
    this.#requireOpen();
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#controller = controller;
    this.#idle = promise;
    this.#phase = "starting";
    return act(controller.signal).finally(async () => {
      await this.#retrier.end("The run was aborted", controller.signal);
      await this.#flushing;
      this.#keepQueued();
      this.#phase = "idle";
      this.#controller = undefined;
      resolve();
    });
  }

  async #run(first: AgentMessage[], signal: AbortSignal): Promise<void> {
    let batch: AgentMessage[] | undefined = first;
    while (batch !== undefined && !signal.aborted) {
      this.#phase = "running";
      const outcome: LoopOutcome = await this.#loop.run(batch, signal);
      this.#phase = "ending";
      await this.#loop.end(outcome, signal);
      batch = signal.aborted ? undefined : await this.#continuation(outcome, signal);
    }
  }

  /** What the agent goes on with after a run, or `undefined` when it is done. */
  async #continuation(outcome: LoopOutcome, signal: AbortSignal): Promise<AgentMessage[] | undefined> {
    if (outcome.interruptedBy !== undefined) return [this.#injection(), ...this.#takeQueued()];
    if (outcome.failure !== undefined) {
      const again = isOverflow(outcome.failure)
        ? await this.#recoverFromOverflow(signal)
        : await this.#retrier.wait(outcome.failure, signal);
      return again && !signal.aborted ? this.#takeQueued() : undefined;
    }
    if (outcome.isFull) {
      await this.#compactIfDue(signal);
      return signal.aborted ? undefined : this.#takeQueued();
    }
    await this.#compactIfDue(signal);
    const queued = signal.aborted ? [] : this.#takeQueued();
    if (queued.length > 0) return queued;
    return await this.#remind(outcome, signal) ?? await this.#askToStop(outcome, signal);
  }

  /** Lets hooks keep the agent going that has nothing left to do. */
  async #askToStop({ messages, last }: LoopOutcome, signal: AbortSignal): Promise<AgentMessage[] | undefined> {
    if (signal.aborted || last?.stopReason !== "stop" || !this.runner.hasHandlers("session_stop")) return undefined;
    const event = { type: "session_stop" as const, messages, continuations: this.#continuations };
    const answer = await settle(this.runner.emit(event), signal, 0);
    if (!answer?.continue) return undefined;
    if (++this.#continuations > MAX_CONTINUATIONS) {
      this.#notice(
        "warning",
        `Hooks kept the agent going ${MAX_CONTINUATIONS} times, and it has not settled; it stops now`,
      );
      return undefined;
    }
    return [customMessage({
      customType: "session-stop",
      content: answer.reason === undefined ? "Go on." : String(answer.reason),
      display: true,
      attribution: "agent",
    })];
  }

  /** What hooks may ask beyond the contract. */
  #actions(): HookActions {
    return {
      sendUserMessage: (content, options) => this.#say(content, options),
      getActiveTools: () => [...this.#callable().keys()],
      setActiveTools: (names) => void (this.#activeTools = new Set(names)),
      getAllTools: () =>
        [...this.#allTools().values()].map(({ name, description = "", parameters }) => ({
          name,
          description,
          ...parameters !== undefined && { parameters },
        })),
      getCommands: () =>
        this.runner.getRegisteredCommands().map(({ name, description }) => ({
          name,
          ...description !== undefined && { description },
          source: "extension" as const,
        })),
      setLabel: (entryId, label) => void this.#manager.appendLabelChange(entryId, label),
      setModel: ({ provider, id }) => {
        if (this.model?.provider === provider && this.model.id === id) return Promise.resolve(true);
        const model = ModelList.callable(this.#options.modelRegistry ?? {}, provider, id);
        if (model !== undefined) this.setModel(model);
        return Promise.resolve(model !== undefined);
      },
      // No model is asked to think more or less than it does.
      getThinkingLevel: () => "off",
      setThinkingLevel() {},
      getFlag: (name) => this.#options.flags?.[name],
      setSessionName: (name) => void this.#manager.appendSessionName(name),
      getSessionName: () => this.#manager.getSessionName(),
      getContextUsage: () => {
        const contextWindow = this.#model?.contextWindow;
        if (contextWindow === undefined) return undefined;
        const tokens = contextTokens(this.#messages);
        return { tokens, contextWindow, percent: tokens / contextWindow * 100 };
      },
      getSystemPrompt: () => this.#promptOfRun ?? this.#systemPrompt,
      compact: async (customInstructions) => {
        await this.waitForIdle();
        await this.compact(customInstructions);
      },
    };
  }

  /** Says something as the person. */
  #say(content: string | UserContent[], { deliverAs }: SendMessageOptions = {}): void {
    this.#requireOpen();
    const fault = contentFault(content);
    if (fault !== undefined) throw new TypeError(`What is said as the person is malformed: ${fault}`);
    const said = typeof content === "string" ? content : textOf(content);
    const images = typeof content === "string" ? [] : content.filter((part) => part.type === "image");
    const options = { deliverAs: deliverAs ?? "steer", ...images.length > 0 && { images } };
    const taken: Promise<unknown> = this.#take(said, options, "extension")
      .catch((error) => this.#notice("error", errorText(error)))
      .finally(() => this.#said.delete(taken));
    this.#said.add(taken);
  }

  /** All tools by name: the session's own, and those of hooks that have another name. */
  #allTools(): ReadonlyMap<string, SessionTool> {
    const registered = this.runner.getRegisteredTools();
    if (registered.length === 0) return this.#tools;
    const all = new Map(this.#tools);
    for (const tool of registered) {
      if (all.has(tool.name)) continue;
      let gated = this.#hookTools.get(tool);
      if (gated === undefined) {
        this.#hookTools.set(tool, gated = new HookToolWrapper(tool, this.runner, { redactErrors: true }));
      }
      all.set(tool.name, gated);
    }
    return all;
  }

  /** The tools that the model may call. */
  #callable(): ReadonlyMap<string, SessionTool> {
    const all = this.#allTools();
    const active = this.#activeTools;
    return active === undefined ? all : new Map([...all].filter(([name]) => active.has(name)));
  }

  /** Tells hooks of something that nobody waits for, in order. */
  #observe<N extends HookEventName>(name: N, payload: () => Omit<HookEvent<N>, "type">): void {
    if (!this.runner.hasHandlers(name)) return;
    const event = { type: name, ...payload() } as unknown as HookEvent;
    const observed = (this.#observed ?? Promise.resolve()).then(() => this.runner.emit(event)).then(() => {
      if (this.#observed === observed) this.#observed = undefined;
    });
    this.#observed = observed;
  }

  #takeQueued(): AgentMessage[] {
    return [...this.#steering.splice(0), ...this.#followUps.splice(0)];
  }

  async #compactIfDue(signal: AbortSignal): Promise<void> {
    if (this.#compactionFailed || !this.#compactor.isDue()) return;
    this.#compactionFailed = !await this.#compactor.autoCompact("threshold", false, signal);
  }

  async #recoverFromOverflow(signal: AbortSignal): Promise<boolean> {
    // A context that does not fit even after it was compacted will not fit the next time either.
    if (this.#overflowTried || !this.#compaction.enabled) return false;
    this.#overflowTried = true;
    return await this.#compactor.autoCompact("overflow", true, signal);
  }

  async #remind({ last }: LoopOutcome, signal: AbortSignal): Promise<AgentMessage[] | undefined> {
    const { enabled, reminders, maxReminders } = this.#todos;
    const todos = this.#todoList.open();
    if (!enabled || !reminders || signal.aborted || last?.stopReason !== "stop") return undefined;
    if (todos.length === 0) {
      this.#reminders = 0;
      return undefined;
    }
    if (this.#reminders >= maxReminders) return undefined;
    const event = { type: "todo_reminder" as const, todos, attempt: ++this.#reminders, maxAttempts: maxReminders };
    await this.#emit(event, signal);
    this.#tell(event);
    return [{ role: "developer", content: reminderText(todos), attribution: "agent", timestamp: Date.now() }];
  }

  async #startRules(): Promise<void> {
    const warn = (warning: string) => this.#notice("warning", warning);
    if (this.#options.streamRules?.enabled === false) return;
    try {
      const rules = this.#options.rules ?? await loadRules(this.#cwd, warn);
      if (rules.length === 0) return;
      this.#rules = await StreamRules.create(rules, this.#cwd, this.#options.streamRules, warn);
      this.#rules.restore(this.#manager.buildContext().injectedRules);
    } catch (error) {
      warn(`Stream rules are off: ${errorText(error)}`);
    }
  }

  async #ruleMatched({ rules }: RuleMatch, signal: AbortSignal): Promise<void> {
    this.#matchedRules.push(...rules);
    const event = { type: "ttsr_triggered" as const, rules };
    await this.#emit(event, signal);
    this.#tell(event);
  }

  async #answered({ message, failure, interruptedBy }: Answer, signal: AbortSignal): Promise<void> {
    const gone = signal.aborted ? "The run was aborted" : failure?.message;
    await this.#retrier.end(gone, signal);
    if (gone !== undefined) this.#matchedRules = [];
    else if (interruptedBy === undefined && this.#matchedRules.length > 0 && message.stopReason !== "aborted") {
      this.#steering.push(this.#injection());
    }
  }

  /** Tells the model of the rules that matched. */
  #injection(): AgentMessage {
    const rules = this.#matchedRules.splice(0);
    const names = rules.map((rule) => rule.name);
    this.#rules?.markInjected(rules);
    this.#manager.appendTtsrInjection(names);
    return customMessage({
      customType: TTSR_MESSAGE,
      content: injectionText(rules),
      display: false,
      details: { rules: names },
      attribution: "agent",
    });
  }

  async #emit(event: Parameters<HookRunner["emit"]>[0], signal: AbortSignal): Promise<void> {
    try {
      // What came before is seen before.
      const emitted = this.#observed === undefined
        ? this.runner.emit(event)
        : this.#observed.then(() => this.runner.emit(event));
      await settle(emitted, signal, HANDLER_GRACE);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.#notice("warning", `A handler of ${event.type} went on after the run was aborted, and was left behind`);
    }
  }

  /** Appends what nobody will read in this run any more. */
  #keepQueued(): void {
    for (const message of this.#takeQueued()) this.#append(message);
  }

  async #runCommand(name: string, args: string): Promise<void> {
    const command = this.runner.getCommand(name);
    if (command === undefined) {
      const names = this.runner.getRegisteredCommands().map((registered) => registered.name);
      const near = nearest(name, names);
      const hint = near !== undefined
        ? `did you mean /${near}?`
        : names.length > 0
        ? `there are ${names.map((known) => `/${known}`).join(", ")}`
        : "no hook registered a command";
      throw new UnknownCommandError(`There is no command /${name}; ${hint}`);
    }
    this.#tell({ type: "command", name, args });
    try {
      await command.handler(args, this.runner.createCommandContext(command));
    } catch (error) {
      const stack = error instanceof Error ? error.stack : undefined;
      this.runner.emitError({
        hookPath: `command:${name}`,
        event: "command",
        error: errorText(error),
        ...stack !== undefined && { stack },
      });
    }
  }

  #replace(next: SessionManager, keepMemory: boolean): void {
    const previous = this.#manager;
    const messages = this.#messages;
    this.#adopt(next);
    if (keepMemory) this.#messages = messages;
    for (const warning of next.warnings) this.#notice("warning", warning);
    try {
      previous.close();
    } catch (error) {
      this.#notice("error", errorText(error));
    }
  }

  #adopt(manager: SessionManager): void {
    this.#manager = manager;
    manager.onSaveError((error) => {
      if (error === undefined) this.#notice("info", "The session is saved again, with all that was missing");
      else this.#notice("error", `${error.message}; the conversation goes on in memory`);
    });
    this.#steering = [];
    this.#followUps = [];
    this.#restore();
  }

  #restore(): void {
    const branch = this.#manager.getBranch();
    const { messages, injectedRules } = buildSessionContext(branch);
    this.#messages = messages;
    this.#todoList.restore(branch);
    this.#rules?.restore(injectedRules);
  }

  #append(message: AgentMessage): AgentMessage {
    if (message.role !== "assistant") {
      this.#tell({ type: "message_start", role: message.role });
      this.#observe("message_start", () => ({ message }));
    }
    const entryId = message.role === "custom" ? this.#appendCustom(message) : this.#appendMessage(message);
    const appended = messageOf(this.#manager.getEntry(entryId)!)!;
    this.#messages.push(appended);
    this.#tell({ type: "message_end", message: appended, entryId });
    this.#observe("message_end", () => ({ message: appended }));
    return appended;
  }

  #appendCustom({ customType, content, display, details, attribution }: CustomMessage): string {
    return this.#manager.appendCustomMessageEntry(customType, content, display, details, attribution);
  }

  #appendMessage(message: AgentMessage): string {
    try {
      return this.#manager.appendMessage(message);
    } catch (error) {
      if (message.role !== "toolResult" || message.details === undefined) throw error;
      this.#notice("warning", `The details of ${message.toolName} were left out: ${errorText(error)}`);
      const { details: _, ...rest } = message;
      return this.#manager.appendMessage(rest);
    }
  }

  /** Makes what was appended outlast a power failure while the agent goes on; turns that end meanwhile share the next one. */
  #flush(): void {
    this.#flushWanted = true;
    this.#flushing ??= this.#flushAll().finally(() => this.#flushing = undefined);
  }

  async #flushAll(): Promise<void> {
    while (this.#flushWanted) {
      this.#flushWanted = false;
      try {
        await this.#manager.flushSoon();
      } catch (error) {
        this.#notice("error", errorText(error));
      }
    }
  }

  #identity(): SessionIdentity {
    const sessionFile = this.#manager.getSessionFile();
    return {
      sessionId: this.#manager.getSessionId(),
      ...sessionFile !== undefined && { sessionFile },
      cwd: this.#cwd,
    };
  }

  #requireModel(): LanguageModel {
    if (this.#model === undefined) throw new Error("No model to answer; name one with --model or --script");
    return this.#model;
  }

  /** Rejects rather than throws when the session has ended. */
  async #move<T>(act: () => Promise<T>): Promise<T> {
    this.#requireOpen();
    return await act();
  }

  #requireOpen(): void {
    if (this.#disposed !== undefined) throw new Error("The session has ended");
  }

  #notice(level: "info" | "warning" | "error", message: string): void {
    this.#tell({ type: "notice", level, message });
  }

  #tell(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        // A listener watches; it must not change what it watches.
      }
    }
  }
}
