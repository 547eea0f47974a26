import type {
  HookCommandContext,
  HookFactory,
  HookMessageInput,
  Model,
  ModelRegistry,
  SendMessageOptions,
} from "../api.ts";
import { EVENT_RULES, type HookEvent, type HookEventName, type HookResult } from "../events.ts";
import type { LoadedHook } from "../hook.ts";
import type { AgentMessage } from "../messages.ts";
import { type HookDecision, type HookError, HookRunner } from "../runner.ts";
import { SessionManager } from "../session/store.ts";
import type { Tool, ToolResult, ToolUpdate } from "../tool.ts";
import { HookToolWrapper } from "../tool_wrapper.ts";
import { nearest } from "../values.ts";
import { createTestHook } from "./create_test_hook.ts";
import { type EventPayload, makeEvent } from "./default_events.ts";
import { type ExecAnswers, type RecordedExec, recordedExec } from "./recorded_exec.ts";
import { type AskedQuestion, type Notification, scriptedUI, type UIAnswers, type UIRecord } from "./scripted_ui.ts";

/** Options of {@linkcode testHook}. */
export interface TestHookOptions {
  /** The folder that the session works in; `/project` when absent. Nothing reads it but the hook. */
  cwd?: string;
  /** What the person answers. */
  ui?: UIAnswers;
  /** Whether a person is there; when absent, whether `ui` is given. */
  hasUI?: boolean;
  /** The programs that `pi.exec` finds; none when absent. */
  exec?: ExecAnswers;
  /** The model in use; none when absent. */
  model?: Model;
  /** The models that there are; `model` alone when absent. */
  models?: readonly Model[];
  /** Messages that the session begins with. */
  messages?: readonly AgentMessage[];
  /** The session; an empty one in memory when absent. */
  session?: SessionManager;
  /**
   * What becomes of an error of a handler that a session would only report: it is thrown at the test (`throw`, the default), or
   * is found in `errors` alone (`collect`).
   */
  onError?: "throw" | "collect";
}

/** What an emission gives. */
export type FireOutcome<N extends HookEventName> = N extends "context" ? AgentMessage[] : HookResult<N> | undefined;

/** A tool that there is only in a test. */
export interface FakeTool {
  /** Its name. */
  name: string;
  /** What it answers: text, a result, or an error that it fails with; no content when absent. */
  result?: string | ToolResult | Error;
}

/** Options of {@linkcode TestHook.runTool}. */
export interface RunToolOptions {
  /** Identifies the call; made up when absent. */
  toolCallId?: string;
  /** Aborted when the call should end. */
  signal?: AbortSignal;
  /** Told while the tool runs. */
  onUpdate?: ToolUpdate;
  /** Whether hooks redact errors, as they do in a session; default true. */
  redactErrors?: boolean;
}

/** A message that a hook sent. */
export interface SentMessage {
  /** The message. */
  message: HookMessageInput;
  /** How it is to be delivered. */
  options: SendMessageOptions;
}

/** An entry that a hook appended. */
export interface AppendedEntry {
  /** The hook's own name for this kind of entry. */
  customType: string;
  /** The data. */
  data: unknown;
}

/** A session that a hook's command began. */
export interface BegunSession {
  /** File of the session that it comes from. */
  parentSession: string | undefined;
  /** The session, as the command has set it up. */
  session: SessionManager;
}

/** A move in the session's tree by a hook's command. */
export interface Navigation {
  /** Where to. */
  targetId: string;
  /** Whether what is left was to be summarised. */
  summarize: boolean;
}

/**
 * Puts a hook into a session that is not there: events are fired by hand, questions have scripted answers, programs do not
 * run, and all that the hook does is written down. The runner and the wrapper are the real ones, so that answers are merged
 * and calls are blocked as in a session.
 *
 * @param factory The default export of a hook module, or several, in the order in which they are loaded.
 * @param options See {@linkcode TestHookOptions}.
 * @returns The hook under test.
 * @throws What a factory throws.
 *
 * @example A gate
 * ```ts
 * import { testHook } from "@xcsh/hooks/testing";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const t = await testHook((pi) => {
 *   pi.on("tool_call", async (event, ctx) => {
 *     if (event.toolName === "bash" && !(await ctx.ui.confirm("Run?", String(event.input.command)))) {
 *       return { block: true, reason: "denied" };
 *     }
 *   });
 * }, { ui: { confirm: [true, false] } });
 *
 * assertEquals(await t.fire("tool_call", { input: { command: "ls" } }), undefined);
 * await assertRejects(() => t.runTool({ name: "bash", result: "gone" }, { command: "rm -r x" }), Error, "denied");
 * assertEquals(t.asked.map((question) => question.message), ["ls", "rm -r x"]);
 * ```
 *
 * @example A command
 * ```ts
 * import { testHook } from "@xcsh/hooks/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const t = await testHook((pi) => {
 *   pi.registerCommand("branch", {
 *     async handler(args, ctx) {
 *       const { stdout } = await pi.exec("git", ["branch", "--show-current"]);
 *       ctx.ui.notify(`${args}: ${stdout.trim()}`);
 *     },
 *   });
 * }, { exec: { "git branch --show-current": "main\n" } });
 *
 * await t.runCommand("/branch now");
 * assertEquals(t.notifications, [{ message: "now: main", type: "info" }]);
 * ```
 */
export async function testHook(
  factory: HookFactory | readonly HookFactory[],
  options: TestHookOptions = {},
): Promise<TestHook> {
  const record = new TestRecord();
  const exec = recordedExec(options.exec ?? {}, record.execs, (message) => record.fault(message));
  const factories = typeof factory === "function" ? [factory] : factory;
  const hooks: LoadedHook[] = [];
  for (const [i, make] of factories.entries()) {
    const path = factories.length === 1 ? "test-hook" : `test-hook-${i + 1}`;
    hooks.push(await createTestHook(make, { path, exec, warn: (warning) => record.warnings.push(warning) }));
  }
  record.throwFault();
  return new TestHook(hooks, options, record);
}

/** What the hook did, and what the test did not foresee. */
class TestRecord {
  readonly execs: RecordedExec[] = [];
  readonly warnings: string[] = [];
  readonly faults: Error[] = [];

  /** Makes an error that reaches the test even when the hook catches it. */
  fault(message: string): Error {
    const error = new Error(message);
    this.faults.push(error);
    return error;
  }

  throwFault(): void {
    const fault = this.faults.shift();
    this.faults.length = 0;
    if (fault !== undefined) throw fault;
  }
}

/** A hook under test; {@linkcode testHook} makes one. */
export class TestHook {
  /** The hooks. */
  readonly hooks: readonly LoadedHook[];
  /** The runner that events go through. */
  readonly runner: HookRunner;
  /** The session. What the hook sends and appends is in it too. */
  readonly session: SessionManager;
  /** Messages that the hook sent. */
  readonly messages: readonly SentMessage[];
  /** Entries that the hook appended. */
  readonly entries: readonly AppendedEntry[];
  /** Questions that the hook asked. */
  readonly asked: readonly AskedQuestion[];
  /** Notes that the hook showed. */
  readonly notifications: readonly Notification[];
  /** Status texts that the hook has set, by key. */
  readonly statuses: ReadonlyMap<string, string>;
  /** Lines of widgets that the hook has set, by key. */
  readonly widgets: ReadonlyMap<string, readonly string[]>;
  /** Programs that the hook ran. */
  readonly execs: readonly RecordedExec[];
  /** What the hook's handlers and commands threw. */
  readonly errors: readonly HookError[];
  /** What the hook blocked, cancelled and changed. */
  readonly decisions: readonly HookDecision[];
  /** What the hook's author should know, for example an event that does not exist. */
  readonly warnings: readonly string[];
  /** Sessions that the hook's commands began. */
  readonly newSessions: readonly BegunSession[];
  /** User messages at which the hook's commands branched. */
  readonly branches: readonly string[];
  /** Moves of the hook's commands in the tree. */
  readonly navigations: readonly Navigation[];
  /** Whether the agent waits for a prompt, as the hook sees it; commands that wait for it make it so. */
  idle = true;
  /** How often the hook stopped the agent. */
  aborts = 0;
  readonly #record: TestRecord;
  readonly #ui: UIRecord;
  readonly #throws: boolean;
  #calls = 0;

  /** @internal Use {@linkcode testHook}. */
  constructor(hooks: readonly LoadedHook[], options: TestHookOptions, record: object) {
    const cwd = options.cwd ?? "/project";
    const session = options.session ?? SessionManager.inMemory(cwd);
    for (const message of options.messages ?? []) session.appendMessage(message);
    const models = options.models ?? (options.model === undefined ? [] : [options.model]);
    const hasUI = options.hasUI ?? options.ui !== undefined;

    this.#record = record as TestRecord;
    this.#ui = {
      asked: [],
      notifications: [],
      statuses: new Map(),
      widgets: new Map(),
      editorText: options.ui?.editorText ?? "",
    };
    this.#throws = options.onError !== "collect";
    this.hooks = hooks;
    this.session = session;
    this.runner = new HookRunner(hooks, cwd, session, modelRegistry(models));
    this.asked = this.#ui.asked;
    this.notifications = this.#ui.notifications;
    this.statuses = this.#ui.statuses;
    this.widgets = this.#ui.widgets;
    this.execs = this.#record.execs;
    this.warnings = this.#record.warnings;

    const messages: SentMessage[] = this.messages = [];
    const entries: AppendedEntry[] = this.entries = [];
    const errors: HookError[] = this.errors = [];
    const decisions: HookDecision[] = this.decisions = [];
    const newSessions: BegunSession[] = this.newSessions = [];
    const branches: string[] = this.branches = [];
    const navigations: Navigation[] = this.navigations = [];
    this.runner.onError((error) => errors.push(error));
    this.runner.onDecision((decision) => decisions.push(decision));
    this.runner.initialize({
      getModel: () => options.model,
      sendMessageHandler(message, sendOptions = {}) {
        messages.push({ message, options: sendOptions });
        const { customType, content, display, details, attribution } = message;
        session.appendCustomMessageEntry(customType, content, display, details, attribution);
      },
      appendEntryHandler(customType, data) {
        entries.push({ customType, data });
        session.appendCustomEntry(customType, data);
      },
      newSessionHandler: async ({ parentSession, setup } = {}) => {
        const answer = await this.runner.emit({ type: "session_before_switch", reason: "new" });
        if (answer?.cancel) return { cancelled: true };
        const next = SessionManager.inMemory(cwd);
        await setup?.(next);
        newSessions.push({ parentSession, session: next });
        await this.runner.emit({
          type: "session_switch",
          reason: "new",
          previousSessionFile: session.getSessionFile(),
        });
        return { cancelled: false };
      },
      branchHandler: async (entryId) => {
        const answer = await this.runner.emit({ type: "session_before_branch", entryId });
        if (answer?.cancel) return { cancelled: true };
        branches.push(entryId);
        await this.runner.emit({ type: "session_branch", previousSessionFile: session.getSessionFile() });
        return { cancelled: false };
      },
      navigateTreeHandler: (targetId, { summarize = false } = {}) => {
        navigations.push({ targetId, summarize });
        return Promise.resolve({ cancelled: false });
      },
      isIdle: () => this.idle,
      waitForIdle: () => {
        this.idle = true;
        return Promise.resolve();
      },
      abort: () => {
        this.aborts++;
      },
      uiContext: scriptedUI(hasUI ? options.ui ?? {} : undefined, this.#ui, (message) => this.#record.fault(message)),
      hasUI,
    });
  }

  /** The text of the prompt editor, as the hook left it. */
  get editorText(): string {
    return this.#ui.editorText;
  }

  /**
   * Fires an event.
   *
   * @param name Its name.
   * @param payload What the test is about; the rest is filled in.
   * @returns The outcome by the event's merge rule: for `context` the messages, for others an answer, or `undefined` when the
   *   hook changes nothing.
   * @throws What a handler throws.
   */
  async fire<N extends HookEventName>(name: N, payload: Partial<EventPayload<N>> = {}): Promise<FireOutcome<N>> {
    if (!Object.hasOwn(EVENT_RULES, name)) {
      const near = nearest(String(name), Object.keys(EVENT_RULES));
      throw new TypeError(
        `There is no event ${JSON.stringify(name)}${near === undefined ? "" : `; did you mean "${near}"?`}`,
      );
    }
    const event: HookEvent = makeEvent(name, payload, this.session, ++this.#calls);
    return await this.#watch(() => this.#emit(event)) as FireOutcome<N>;
  }

  /**
   * Runs a tool behind the hook.
   *
   * @param tool The tool, or the name and the answer of one.
   * @param params Its arguments.
   * @param options See {@linkcode RunToolOptions}.
   * @returns What the model would read.
   * @throws With the reason when the hook blocks the call; what the tool throws, as the hook redacted it.
   */
  runTool(tool: FakeTool, params?: Record<string, unknown>, options?: RunToolOptions): Promise<ToolResult>;
  /** As above, for a tool that does run. */
  runTool<P, R extends ToolResult>(tool: Tool<P, R>, params: P, options?: RunToolOptions): Promise<R>;
  async runTool<P, R extends ToolResult>(
    tool: Tool<P, R> | FakeTool,
    params?: P,
    options: RunToolOptions = {},
  ): Promise<R | ToolResult> {
    const { toolCallId = `call_${++this.#calls}`, signal, onUpdate, redactErrors = true } = options;
    const real = "execute" in tool ? tool : fakeTool<P>(tool);
    const wrapped = new HookToolWrapper<P, R | ToolResult>(real, this.runner, { redactErrors });
    return await this.#watch(() => wrapped.execute(toolCallId, params ?? {} as P, signal, onUpdate));
  }

  /**
   * Runs a slash command of the hook.
   *
   * @param line The command as a person types it, for example `/handoff to Ann`; the slash may be absent.
   * @throws What the command throws; an error with the names that there are when there is no such command.
   */
  async runCommand(line: string): Promise<void> {
    const [, name, args] = /^\/?([^ ]*) ?([^]*)$/.exec(line)!;
    const command = this.runner.getCommand(name!);
    if (command === undefined) {
      const names = this.runner.getRegisteredCommands().map((known) => `/${known.name}`).join(", ") || "none";
      throw new Error(`The hook has no command /${name}; it has ${names}`);
    }
    const context: HookCommandContext = this.runner.createCommandContext();
    await this.#watch(async () => await command.handler(args!, context));
  }

  /**
   * Draws a message with the hook's renderer.
   *
   * @param message The message; `display` may be absent.
   * @param options `width` in cells, default 80; `expanded`, default false.
   * @returns The lines; `undefined` when the hook leaves it to the default.
   */
  render(
    message: Omit<HookMessageInput, "display"> & { display?: boolean },
    options: { width?: number; expanded?: boolean } = {},
  ): string[] | undefined {
    const { width = 80, expanded = false } = options;
    const full = { role: "custom" as const, display: true, timestamp: Date.now(), ...message };
    const renderer = this.runner.getMessageRenderer(message.customType);
    return renderer?.(full, { expanded }, this.runner.getUIContext().theme)?.render(width);
  }

  #emit(event: HookEvent): Promise<unknown> {
    switch (event.type) {
      case "tool_call":
        return this.runner.emitToolCall(event);
      case "context":
        return this.runner.emitContext(event.messages);
      case "before_agent_start":
        return this.runner.emitBeforeAgentStart(event.prompt, event.images);
      default:
        return this.runner.emit(event);
    }
  }

  /** Lets nothing pass unseen that a session would only report. */
  async #watch<T>(run: () => Promise<T>): Promise<T> {
    const before = this.errors.length;
    const [outcome] = await Promise.allSettled([run()]);
    // The test's own faults come first: what the hook made of them says less.
    this.#record.throwFault();
    const error = this.errors[before];
    if (this.#throws && error !== undefined) throw handlerError(error);
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  }
}

function handlerError(error: HookError): Error {
  const thrown = new Error(`${error.hookPath} failed in ${error.event}: ${error.error}`);
  if (error.stack !== undefined) thrown.stack = error.stack;
  return thrown;
}

function fakeTool<P>({ name, result }: FakeTool): Tool<P, ToolResult> {
  return {
    name,
    execute() {
      if (result instanceof Error) return Promise.reject(result);
      if (result === undefined) return Promise.resolve({ content: [] });
      if (typeof result === "string") return Promise.resolve({ content: [{ type: "text", text: result }] });
      return Promise.resolve(result);
    },
  };
}

function modelRegistry(models: readonly Model[]): ModelRegistry {
  return {
    getAvailable: () => [...models],
    find: (provider, id) => models.find((model) => model.provider === provider && model.id === id),
    getApiKey: () => Promise.resolve(undefined),
  };
}
