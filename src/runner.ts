/**
 * An emission becomes one outcome.
 *
 * @module
 */

import { act, contextActions, type HookActions } from "./actions.ts";
import type {
  HookCommandContext,
  HookContext,
  HookFlag,
  HookMessageRenderer,
  HookTool,
  HookUIContext,
  Model,
  ModelRegistry,
  NewSessionOptions,
  ReadonlySessionManager,
  RegisteredCommand,
} from "./api.ts";
import { EVENT_RULES, type EventRule, type HookEvent, type HookEventName, type HookResult } from "./events.ts";
import {
  type AnyHookHandler,
  type AppendEntryHandler,
  HookBrokenError,
  type LoadedHook,
  type SendMessageHandler,
} from "./hook.ts";
import { type Effect, type Merge, MERGES } from "./merge.ts";
import { type AgentMessage, type ImageContent, textOf } from "./messages.ts";
import type { Tool } from "./tool.ts";
import { createNoOpUIContext } from "./ui/noop.ts";
import { errorText, isRecord, isThenable, kindOf } from "./values.ts";

/** A fault in a hook. */
export interface HookError {
  /** Path of the hook, as it was given. */
  hookPath: string;
  /** The event, or `command` for a slash command. */
  event: string;
  /** What it threw, as text. */
  error: string;
  /** Where it threw. */
  stack?: string;
}

/** Told of each fault. */
export type HookErrorListener = (error: HookError) => void;

/** Something that a hook brought about. */
export interface HookDecision {
  /** Path of the hook, as it was given. */
  hookPath: string;
  /** The payload that it decided on. */
  event: HookEvent;
  /** It stopped what the event announced, broke while it was asked, or changed the outcome. */
  effect: "block" | "cancel" | "broken" | "change";
  /** The hook's reason, or what broke. */
  reason?: string;
  /** What the emission has come to with this answer: the event's result, or the messages of `context`. Absent when it broke. */
  outcome?: unknown;
}

/** Told of each decision. */
export type HookDecisionListener = (decision: HookDecision) => void;

/** Begins a new session for `ctx.newSession`. */
export type NewSessionHandler = (options?: NewSessionOptions) => Promise<{ cancelled: boolean }>;

/** Branches for `ctx.branch`. */
export type BranchHandler = (entryId: string) => Promise<{ cancelled: boolean }>;

/** Moves in the tree for `ctx.navigateTree`. */
export type NavigateTreeHandler = (
  targetId: string,
  options?: { summarize?: boolean },
) => Promise<{ cancelled: boolean }>;

/** What a host tells the runner. */
export interface HookRunnerOptions {
  /** The model in use. */
  getModel: () => Model | undefined;
  /** Takes what hooks send. */
  sendMessageHandler: SendMessageHandler;
  /** Takes what hooks append. */
  appendEntryHandler: AppendEntryHandler;
  /** Begins a new session; kept from before when absent. */
  newSessionHandler?: NewSessionHandler;
  /** Branches; kept from before when absent. */
  branchHandler?: BranchHandler;
  /** Moves in the tree; kept from before when absent. */
  navigateTreeHandler?: NavigateTreeHandler;
  /** Whether the agent waits for a prompt; `true` when absent. */
  isIdle?: () => boolean;
  /** Resolves when it does; at once when absent. */
  waitForIdle?: () => Promise<void>;
  /** Stops the agent's run. */
  abort?: () => void;
  /** Whether messages wait to be delivered; `false` when absent. */
  hasQueuedMessages?: () => boolean;
  /** Ways to reach the person, or what makes them for a hook by its path, so that a dialog can name who asks; none when absent. */
  uiContext?: UIContextSource;
  /** Whether a person can answer; `false` when absent. */
  hasUI?: boolean;
  /** What the host does for hooks beyond the contract. */
  actions?: Partial<HookActions>;
}

/** Ways to reach the person: the same for all hooks, or made for a hook by its path; without one, for the session itself. */
export type UIContextSource = HookUIContext | ((hookPath?: string) => HookUIContext);

/** Events whose outcome `emit` gives; the others have a method of their own, or none. */
export type EmittedResult<N extends HookEventName> = N extends "tool_call" | "context" | "before_agent_start"
  ? undefined
  : HookResult<N> | undefined;

/** A handler and what it is called with. */
interface Bound {
  readonly hook: LoadedHook;
  readonly handler: AnyHookHandler;
  readonly context: HookContext;
}

/** The handlers of one event. */
interface Channel {
  /** What {@linkcode HookRunner.emit} goes by. */
  readonly rule: EventRule;
  readonly merge: Merge;
  bound: readonly Bound[];
  /** The lists that the handlers are from, and {@linkcode countRegistrations} of then. */
  lists: readonly (readonly AnyHookHandler[])[];
  registrations: number;
}

const NOTHING: Promise<undefined> = Promise.resolve(undefined);
const OWN_METHOD: ReadonlySet<string> = new Set<HookEventName>(["tool_call", "context", "before_agent_start"]);
const OBSERVED: EventRule = { merge: "ignore", fields: [], when: "" };

/**
 * Hands events to hooks. Handlers run one at a time, awaited, in the order of the hooks and then of registration; those that
 * were there when an emission began are the ones that run in it.
 *
 * @example
 * ```ts
 * import { HookRunner } from "@xcsh/hooks";
 * import { createTestHook } from "@xcsh/hooks/testing";
 * import { SessionManager } from "@xcsh/hooks/session";
 * import { assertEquals } from "@std/assert";
 *
 * const hook = await createTestHook((pi) => {
 *   pi.on("session_before_switch", () => ({ cancel: true }));
 * });
 * const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
 * const runner = new HookRunner([hook], "/project", SessionManager.inMemory("/project"), models);
 * assertEquals(await runner.emit({ type: "session_before_switch", reason: "new" }), { cancel: true });
 * ```
 */
export class HookRunner {
  readonly #hooks: readonly LoadedHook[];
  readonly #cwd: string;
  readonly #sessionManager: ReadonlySessionManager;
  readonly #modelRegistry: ModelRegistry;
  readonly #contexts = new Map<LoadedHook, HookContext>();
  readonly #channels = new Map<string, Channel>();
  readonly #disabled = new Set<LoadedHook>();
  readonly #errorListeners = new Set<HookErrorListener>();
  readonly #decisionListeners = new Set<HookDecisionListener>();
  #getModel: () => Model | undefined = () => undefined;
  #isIdle: () => boolean = () => true;
  #waitForIdle: () => Promise<void> = () => Promise.resolve();
  #abort: () => void = () => {};
  #hasQueuedMessages: () => boolean = () => false;
  #newSession: NewSessionHandler = () => Promise.resolve({ cancelled: false });
  #branch: BranchHandler = () => Promise.resolve({ cancelled: false });
  #navigateTree: NavigateTreeHandler = () => Promise.resolve({ cancelled: false });
  #ui: UIContextSource = createNoOpUIContext();
  /** What was made for each hook. */
  readonly #uis = new Map<string | undefined, HookUIContext>();
  #hasUI = false;
  #actions: Partial<HookActions> | undefined;
  readonly #tools = new WeakMap<HookTool, Tool>();

  /**
   * Makes a runner without UI.
   *
   * @param hooks The hooks, in the order in which they run.
   * @param cwd The folder that the session works in.
   * @param sessionManager The session.
   * @param modelRegistry The models that there are.
   */
  constructor(
    hooks: readonly LoadedHook[],
    cwd: string,
    sessionManager: ReadonlySessionManager,
    modelRegistry: ModelRegistry,
  ) {
    this.#hooks = hooks;
    this.#cwd = cwd;
    this.#sessionManager = sessionManager;
    this.#modelRegistry = modelRegistry;
    for (const hook of hooks) {
      hook.bus?.connect((channel, data) => {
        for (const other of this.#enabled()) if (other !== hook) other.bus?.deliver(channel, data);
      });
    }
  }

  /** Connects hooks to a host. Called again, it sets back what is absent, but keeps the three session handlers. */
  initialize(options: HookRunnerOptions): void {
    this.#getModel = options.getModel;
    this.#isIdle = options.isIdle ?? (() => true);
    this.#waitForIdle = options.waitForIdle ?? (() => Promise.resolve());
    this.#abort = options.abort ?? (() => {});
    this.#hasQueuedMessages = options.hasQueuedMessages ?? (() => false);
    this.#newSession = options.newSessionHandler ?? this.#newSession;
    this.#branch = options.branchHandler ?? this.#branch;
    this.#navigateTree = options.navigateTreeHandler ?? this.#navigateTree;
    this.#ui = options.uiContext ?? createNoOpUIContext();
    this.#uis.clear();
    this.#hasUI = options.hasUI ?? false;
    this.#actions = options.actions;
    for (const hook of this.#hooks) {
      hook.setActions?.(options.actions);
      hook.setSendMessageHandler(options.sendMessageHandler);
      hook.setAppendEntryHandler(options.appendEntryHandler);
    }
  }

  /**
   * Emits an event. A handler that throws is reported to the error listeners, and the emission goes on.
   *
   * @param event The payload.
   * @returns The outcome by the event's merge rule; `undefined` where answers do not count. `tool_call`, `context` and
   *   `before_agent_start` have methods of their own: emitted here, they are only observed.
   */
  emit<E extends HookEvent>(event: E): Promise<EmittedResult<E["type"]>> {
    const { bound, rule, merge } = this.#channel(event.type);
    return this.#emit(event, bound, rule, merge, false) as Promise<EmittedResult<E["type"]>>;
  }

  /**
   * Asks whether a tool may run. The first truthy `block` ends the emission, else the last answer wins.
   *
   * @param event The payload.
   * @returns The deciding answer.
   * @throws What a handler throws: whoever asks must then keep the tool from running.
   */
  emitToolCall(event: HookEvent<"tool_call">): Promise<HookResult<"tool_call"> | undefined> {
    const { bound } = this.#channel("tool_call");
    return this.#emit(event, bound, EVENT_RULES.tool_call, MERGES.last, true) as Promise<
      HookResult<"tool_call"> | undefined
    >;
  }

  /**
   * Lets hooks change what the model will read.
   *
   * @param messages The messages; never touched.
   * @returns What the last handler left; `messages` itself when there is no handler.
   */
  emitContext(messages: AgentMessage[]): Promise<AgentMessage[]> {
    const { bound } = this.#channel("context");
    if (bound.length === 0) return Promise.resolve(messages);
    return this.#emit({ type: "context", messages }, bound, EVENT_RULES.context, MERGES.chain, false) as Promise<
      AgentMessage[]
    >;
  }

  /**
   * Lets hooks add a message before the agent starts.
   *
   * @param prompt The prompt.
   * @param images Pictures that came with it.
   * @param systemPrompt What the model is told before all messages.
   * @returns The first answer with a message, and the last system prompt.
   */
  emitBeforeAgentStart(
    prompt: string,
    images?: ImageContent[],
    systemPrompt?: string,
  ): Promise<HookResult<"before_agent_start"> | undefined> {
    const event: HookEvent<"before_agent_start"> = {
      type: "before_agent_start",
      prompt,
      images,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
    };
    const { bound } = this.#channel("before_agent_start");
    return this.#emit(event, bound, EVENT_RULES.before_agent_start, MERGES.first, false) as Promise<
      HookResult<"before_agent_start"> | undefined
    >;
  }

  /** Whether any hook handles an event. */
  hasHandlers(event: HookEventName): boolean {
    return this.#channel(event).bound.length > 0;
  }

  /** The renderer of a `customType`; of several hooks, the first one's. */
  getMessageRenderer(customType: string): HookMessageRenderer | undefined {
    return this.#enabled().find((hook) => hook.messageRenderers.has(customType))?.messageRenderers.get(customType);
  }

  /** All slash commands, also those that another hook's command of the same name hides. */
  getRegisteredCommands(): RegisteredCommand[] {
    return this.#enabled().flatMap((hook) => [...hook.commands.values()]);
  }

  /** A slash command; of several hooks, the first one's. */
  getCommand(name: string): RegisteredCommand | undefined {
    return this.#enabled().find((hook) => hook.commands.has(name))?.commands.get(name);
  }

  /** The tools of hooks, behind no gates; of two with one name, the first hook's. */
  getRegisteredTools(): Tool[] {
    const tools = new Map<string, Tool>();
    for (const hook of this.#enabled()) {
      for (const tool of hook.tools?.values() ?? []) {
        if (!tools.has(tool.name)) tools.set(tool.name, this.#toolOf(hook, tool));
      }
    }
    return [...tools.values()];
  }

  /** The flags that hooks declare, by name; of two with one name, the first hook's. */
  getRegisteredFlags(): Map<string, HookFlag> {
    const flags = new Map<string, HookFlag>();
    for (const [name, flag] of this.#enabled().flatMap((hook) => [...hook.flags ?? []])) {
      if (!flags.has(name)) flags.set(name, flag);
    }
    return flags;
  }

  /** What keys of the chat do, by key; of two with one key, the first hook's. */
  getShortcuts(): Map<string, { description?: string; run: () => Promise<void> }> {
    const shortcuts = new Map<string, { description?: string; run: () => Promise<void> }>();
    for (const hook of this.#enabled()) {
      for (const [key, { description, handler }] of hook.shortcuts ?? []) {
        if (shortcuts.has(key)) continue;
        const run = async () => {
          try {
            await handler(this.#contextOf(hook));
          } catch (error) {
            const stack = error instanceof Error ? error.stack : undefined;
            this.emitError({
              hookPath: hook.path,
              event: "shortcut",
              error: errorText(error),
              ...(stack === undefined ? {} : { stack }),
            });
          }
        };
        shortcuts.set(key, { run, ...(description === undefined ? {} : { description }) });
      }
    }
    return shortcuts;
  }

  #toolOf(hook: LoadedHook, tool: HookTool): Tool {
    let made = this.#tools.get(tool);
    if (made === undefined) {
      const { name, label, description, parameters } = tool;
      made = {
        name,
        ...(label === undefined ? {} : { label }),
        ...(description === undefined ? {} : { description }),
        ...(parameters === undefined ? {} : { parameters }),
        execute: async (toolCallId, params, signal, onUpdate) => {
          const result = await tool.execute(toolCallId, params, signal, onUpdate, this.#contextOf(hook));
          if (!isRecord(result) || !Array.isArray(result.content)) {
            throw new TypeError(
              `The tool ${name} of ${hook.path} answered ${
                kindOf(result)
              }; it must return { content: [{ type: "text", text }] }`,
            );
          }
          if (result.isError) throw new Error(textOf(result.content));
          return result;
        },
      };
      this.#tools.set(tool, made);
    }
    return made;
  }

  /** What the handler of a slash command gets; with the hook that registered it, also what older hosts had. */
  createCommandContext(command?: RegisteredCommand): HookCommandContext {
    const hook = this.#enabled().find((one) => command !== undefined && one.commands.get(command.name) === command);
    const context = Object.defineProperties({
      waitForIdle: () => this.#waitForIdle(),
      newSession: (options?: NewSessionOptions) => this.#newSession(options),
      branch: (entryId: string) => this.#branch(entryId),
      navigateTree: (targetId: string, options?: { summarize?: boolean }) => this.#navigateTree(targetId, options),
    }, Object.getOwnPropertyDescriptors(this.#createContext(hook))) as HookCommandContext;
    return hook?.extendContext?.(context) ?? context;
  }

  /**
   * Listens for faults in hooks.
   *
   * @returns Ends the listening, and tells whether it had not ended before.
   */
  onError(listener: HookErrorListener): () => boolean {
    this.#errorListeners.add(listener);
    return () => this.#errorListeners.delete(listener);
  }

  /** Reports a fault in a hook. What a listener throws is dropped. */
  emitError(error: HookError): void {
    tell(this.#errorListeners, error);
  }

  /**
   * Listens for what hooks bring about: blocked calls, replaced results, cancelled switches.
   *
   * @returns Ends the listening, and tells whether it had not ended before.
   */
  onDecision(listener: HookDecisionListener): () => boolean {
    this.#decisionListeners.add(listener);
    return () => this.#decisionListeners.delete(listener);
  }

  /** Paths of all hooks, as they were given. */
  getHookPaths(): string[] {
    return this.#hooks.map((hook) => hook.path);
  }

  /** Ways to reach the person. */
  getUIContext(): HookUIContext {
    return this.#uiOf(undefined);
  }

  /** Whether a person can answer. */
  getHasUI(): boolean {
    return this.#hasUI;
  }

  /**
   * Leaves a hook out from now on: its handlers, commands and renderers.
   *
   * @param path Its path, as it was given.
   * @returns Whether there is such a hook.
   */
  disable(path: string): boolean {
    const found = this.#hooks.filter((hook) => hook.path === path);
    for (const hook of found) this.#disabled.add(hook);
    this.#channels.clear();
    return found.length > 0;
  }

  /** Whether a hook takes part; see {@linkcode HookRunner.disable}. */
  isEnabled(path: string): boolean {
    return this.#enabled().some((hook) => hook.path === path);
  }

  /**
   * Takes a hook in again.
   *
   * @param path Its path, as it was given.
   * @returns Whether there is such a hook.
   */
  enable(path: string): boolean {
    const found = this.#hooks.filter((hook) => hook.path === path);
    for (const hook of found) {
      this.#disabled.delete(hook);
      hook.revive?.();
    }
    this.#channels.clear();
    return found.length > 0;
  }

  /** Ends what hooks hold: the processes of isolated ones. Nothing of them is left when this resolves. */
  async dispose(): Promise<void> {
    await Promise.all(this.#hooks.map((hook) => hook.dispose?.()));
  }

  #enabled(): readonly LoadedHook[] {
    return this.#disabled.size === 0 ? this.#hooks : this.#hooks.filter((hook) => !this.#disabled.has(hook));
  }

  /** The handlers of an event as they are now; the array itself is never changed. */
  #channel(event: string): Channel {
    let channel = this.#channels.get(event);
    if (channel === undefined) {
      const rule = OWN_METHOD.has(event) ? OBSERVED : EVENT_RULES[event as HookEventName] ?? OBSERVED;
      channel = { rule, merge: MERGES[rule.merge], bound: [], lists: [], registrations: -1 };
      this.#channels.set(event, channel);
    }
    if (channel.registrations !== countRegistrations(this.#hooks, channel.lists)) this.#bind(event, channel);
    return channel;
  }

  #bind(event: string, channel: Channel): void {
    const bound: Bound[] = [];
    const lists: AnyHookHandler[][] = [];
    for (const hook of this.#hooks) {
      const handlers = hook.handlers.get(event);
      if (handlers === undefined || this.#disabled.has(hook)) continue;
      lists.push(handlers);
      const context = this.#contextOf(hook);
      for (const handler of handlers) bound.push({ hook, handler, context });
    }
    channel.bound = bound;
    channel.lists = lists;
    channel.registrations = countRegistrations(this.#hooks, lists);
  }

  #emit(
    event: HookEvent,
    bound: readonly Bound[],
    rule: EventRule,
    merge: Merge,
    throws: boolean,
  ): Promise<unknown> {
    if (bound.length === 0) return NOTHING;
    try {
      // Where handlers share the event, there is nothing to remember before one answers.
      const state = merge.shared ? undefined : merge.begin(event, rule);
      const outcome = this.#run({ event, rule, merge, throws, bound, state, token: {} });
      if (outcome === undefined) return NOTHING;
      return outcome instanceof Promise ? outcome : Promise.resolve(outcome);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Runs handlers for as long as they answer at once, which needs no promise. */
  #run(emission: Emission): unknown {
    const { bound, merge, event } = emission;
    for (let i = 0; i < bound.length; i++) {
      const { hook, handler, context } = bound[i]!;
      try {
        const payload = merge.shared ? event : merge.payload(emission.state);
        const answer: unknown = handler(payload as never, context, emission.token);
        if (answer === undefined && merge.shared) continue;
        if (isThenable(answer)) {
          const last = i === bound.length - 1 && answer instanceof Promise;
          return last ? this.#runOut(emission, hook, payload, answer) : this.#runOn(emission, i, payload, answer);
        }
        if (this.#take(emission, hook, payload, answer)) break;
      } catch (error) {
        if (this.#fail(emission, hook, error)) return closedGate(emission.rule, error);
      }
    }
    return outcomeOf(emission);
  }

  /** Goes on with an emission from a handler that answers later. */
  async #runOn(emission: Emission, from: number, payload: HookEvent, pending: unknown): Promise<unknown> {
    const { bound, merge, event } = emission;
    for (let i = from; i < bound.length; i++) {
      const { hook, handler, context } = bound[i]!;
      try {
        if (i > from) {
          payload = merge.shared ? event : merge.payload(emission.state);
          pending = handler(payload as never, context, emission.token);
        }
        const answer: unknown = pending === undefined ? undefined : await pending;
        if (answer === undefined && merge.shared) continue;
        if (this.#take(emission, hook, payload, answer)) break;
      } catch (error) {
        if (this.#fail(emission, hook, error)) return closedGate(emission.rule, error);
      }
    }
    return outcomeOf(emission);
  }

  /** Ends an emission with a handler that answers later. As `#runOn`, but the least that can be waited for. */
  #runOut(emission: Emission, hook: LoadedHook, payload: HookEvent, pending: Promise<unknown>): Promise<unknown> {
    const fail = (error: unknown) =>
      this.#fail(emission, hook, error) ? closedGate(emission.rule, error) : outcomeOf(emission);
    return pending.then((answer) => {
      if (answer === undefined && emission.merge.shared) return outcomeOf(emission);
      try {
        this.#take(emission, hook, payload, answer);
      } catch (error) {
        return fail(error);
      }
      return outcomeOf(emission);
    }, fail);
  }

  /** Whether an answer ends the emission. */
  #take(emission: Emission, hook: LoadedHook, payload: HookEvent, answer: unknown): boolean {
    const { merge, rule, event } = emission;
    let effect: Effect;
    try {
      effect = merge.take(emission.state ??= merge.begin(event, rule), answer, payload);
    } catch (error) {
      // The error listeners are told the hook; the emitter is not.
      throw emission.throws ? new TypeError(`${hook.path}: ${errorText(error)}`, { cause: error }) : error;
    }
    if (effect === "none") return false;
    const fault = merge.clean?.(emission.state);
    if (fault !== undefined) {
      const error = `a ${event.type} handler returned what a session cannot hold; the rest counts: ${fault}`;
      this.#fail(emission, hook, new TypeError(error));
    }
    const stops = effect === "stops";
    // An answer to a gate that does not stop it brings nothing about.
    if (this.#decisionListeners.size > 0 && (stops || rule.stop !== "block")) {
      const reason = isRecord(answer) ? answer.reason : undefined;
      tell(this.#decisionListeners, {
        hookPath: hook.path,
        event,
        effect: !stops ? "change" : rule.stop === "block" ? "block" : "cancel",
        ...(typeof reason === "string" ? { reason } : {}),
        outcome: merge.outcome(emission.state),
      });
    }
    return stops;
  }

  /** Reports what a handler threw. Whether that stops what the event announced: a gate that broke stays closed. */
  #fail({ event, rule, throws }: Emission, hook: LoadedHook, error: unknown): boolean {
    const closes = rule.stop !== undefined && error instanceof HookBrokenError;
    if ((throws || closes) && this.#decisionListeners.size > 0) {
      tell(this.#decisionListeners, { hookPath: hook.path, event, effect: "broken", reason: errorText(error) });
    }
    if (throws) throw error;
    const stack = error instanceof Error ? error.stack : undefined;
    this.emitError({
      hookPath: hook.path,
      event: event.type,
      error: errorText(error),
      ...(stack === undefined ? {} : { stack }),
    });
    return closes;
  }

  #contextOf(hook: LoadedHook): HookContext {
    let context = this.#contexts.get(hook);
    if (context === undefined) {
      const created = this.#createContext(hook);
      this.#contexts.set(hook, context = hook.extendContext?.(created) ?? created);
    }
    return context;
  }

  #uiOf(hookPath: string | undefined): HookUIContext {
    if (typeof this.#ui !== "function") return this.#ui;
    let ui = this.#uis.get(hookPath);
    if (ui === undefined) this.#uis.set(hookPath, ui = this.#ui(hookPath));
    return ui;
  }

  #createContext(hook: LoadedHook | undefined): HookContext {
    // deno-lint-ignore no-this-alias
    const runner = this;
    return {
      get ui() {
        return runner.#uiOf(hook?.path);
      },
      get hasUI() {
        return runner.#hasUI;
      },
      cwd: this.#cwd,
      sessionManager: this.#sessionManager,
      modelRegistry: this.#modelRegistry,
      get model() {
        return runner.#getModel();
      },
      isIdle: () => runner.#isIdle(),
      abort: () => runner.#abort(),
      hasQueuedMessages: () => runner.#hasQueuedMessages(),
      ...contextActions((name, args) => act(runner.#actions, name, args)),
    };
  }
}

/** One event on its way through the handlers that were there when it was emitted. */
interface Emission {
  readonly event: HookEvent;
  readonly rule: EventRule;
  readonly merge: Merge;
  /** What the merge remembers; `undefined` until there is something. */
  state: unknown;
  readonly bound: readonly Bound[];
  /** Whether what a handler throws reaches the emitter. */
  readonly throws: boolean;
  /** Stands for the emission: handlers that share a time limit know each other by it. */
  readonly token: object;
}

/** Counts what hooks have registered; since they only ever add to it, an equal count says that nothing has come. */
function countRegistrations(hooks: readonly LoadedHook[], lists: readonly (readonly AnyHookHandler[])[]): number {
  let count = hooks.length;
  for (const hook of hooks) count += hook.handlers.size;
  for (const list of lists) count += list.length;
  return count;
}

function outcomeOf({ merge, state }: Emission): unknown {
  return state === undefined ? undefined : merge.outcome(state);
}

function closedGate(rule: EventRule, error: unknown): Record<string, unknown> {
  return { [rule.stop!]: true, reason: errorText(error) };
}

function tell<T>(listeners: ReadonlySet<(value: T) => void>, value: NoInfer<T>): void {
  for (const listener of listeners) {
    // A listener watches; it must not change what it watches.
    try {
      const answer: unknown = listener(value);
      if (isThenable(answer)) answer.then(undefined, () => {});
    } catch {
      // See above.
    }
  }
}
