/**
 * The entry of the child process that runs one isolated hook. It is started with the hook's permissions and nothing else, and
 * imports the hook by a computed specifier, so that the hook's whole module graph is checked against them.
 *
 * @module
 */

import { readSync, writeSync } from "node:fs";
import { ACTIONS, contextActions, type HookActions, type WidgetContent } from "../actions.ts";
import type {
  Component,
  CustomFactory,
  DialogOptions,
  ExecOptions,
  ExecResult,
  HookAPI,
  HookCommandContext,
  HookContext,
  HookLogger,
  HookUIContext,
  Model,
  ModelRegistry,
  NewSessionOptions,
  Theme,
  WritableSessionManager,
} from "../api.ts";
import { EVENT_RULES, type HookEvent, type HookEventName } from "../events.ts";
import { type AnyHookHandler, createHook } from "../hook.ts";
import { compatMayHelp, importHook, loadFailure } from "../import_hook.ts";
import { type Effect, MERGES } from "../merge.ts";
import { errorText, frozenTree, isRecord } from "../values.ts";
import {
  ANSWERS_FD,
  type ChildConfig,
  frame,
  FRAMES_FD,
  fromFault,
  type HostFrame,
  LineReader,
  readFrame,
  toFault,
} from "./protocol.ts";
import { SessionMirror } from "./session_mirror.ts";

const config: ChildConfig = JSON.parse(Deno.args[0] ?? "{}");

// ——— The wire ———

const encoder = new TextEncoder();

function write(text: string): void {
  let bytes = encoder.encode(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(FRAMES_FD, bytes));
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function send(fields: Record<string, unknown>, key?: string, value?: unknown): void {
  write(frame(fields, key, value));
}

const answers = new LineReader(() => Infinity);
const answerBuffer = new Uint8Array(64 * 1024);

/** Asks the host and waits: what `ctx` offers without a promise is a question like this. */
function sync(method: string, args: unknown[], event: number | null = null): unknown {
  send({ t: "sync", for: event, method }, "args", args);
  for (;;) {
    let length: number;
    try {
      length = readSync(ANSWERS_FD, answerBuffer);
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      continue;
    }
    if (length === 0) Deno.exit(0);
    for (const line of answers.push(answerBuffer.subarray(0, length))) {
      const answer = readFrame(line);
      if ("error" in answer) throw fromFault(answer.error);
      return answer.v;
    }
  }
}

interface Asked {
  readonly event: number | null;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

const asked = new Map<number, Asked>();
let lastId = 0;

/** Asks the host for something that takes time. */
function ask(method: string, args: unknown[], event: number | null = null, id = ++lastId): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  asked.set(id, { event, resolve, reject });
  try {
    send({ t: "ask", id, for: event, method }, "args", args);
  } catch (error) {
    asked.delete(id);
    reject(error);
  }
  return promise;
}

function tell(method: string, args: unknown[]): void {
  send({ t: "tell", method }, "args", args);
}

const signals = new Map<number, AbortController>();

function signalOf(number: number, aborted: boolean): AbortSignal {
  let controller = signals.get(number);
  if (controller === undefined) signals.set(number, controller = new AbortController());
  if (aborted) controller.abort();
  return controller.signal;
}

// ——— What the hook gets ———

const logger: HookLogger = Object.fromEntries(
  (["debug", "info", "warn", "error"] as const).map((level) => [
    level,
    (message: string, context?: Record<string, unknown>) =>
      send({ t: "log", level, message: String(message) }, context === undefined ? undefined : "context", context),
  ]),
) as unknown as HookLogger;

async function exec(command: string, args: string[], options: ExecOptions = {}): Promise<ExecResult> {
  const { signal, ...rest } = options;
  const id = ++lastId;
  const cancel = () => send({ t: "cancel", id });
  const result = ask("exec", [command, args, rest], null, id);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    return await result as ExecResult;
  } catch (error) {
    if (!config.run || (error as Error).name !== "GrantError") throw error;
    const { runProgram } = await import("../exec.ts");
    // In this process group, so that what it starts ends with it.
    return await runProgram(command, args, { ...options, cwd: options.cwd ?? config.cwd, detached: false });
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

const theme: Theme = Object.fromEntries(
  ["fg", "bg", "bold", "italic", "underline", "strikethrough", "inverse"].map((style) => [
    style,
    (...args: string[]) => String(sync("theme", [style, ...args.map(String)])),
  ]),
) as unknown as Theme;

/** Asks the person; the abort of the hook's signal closes the question. */
async function question(
  method: string,
  args: unknown[],
  { timeout, signal }: DialogOptions = {},
  event: number | null,
  id: number = ++lastId,
): Promise<unknown> {
  if (timeout === undefined && signal === undefined) return await ask(method, args, event, id);
  const cancel = () => send({ t: "cancel", id });
  const answer = ask(method, [...args, { timeout }], event, id);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    return await answer;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** Parts of the screen that a component of the hook draws, by what they are. */
const parts = new Map<string, number>();

/** Sets a part of the screen: lines, or a component that the child draws whenever the host wants to see it. */
function setPart(method: string, name: readonly string[], content: WidgetContent, ...options: unknown[]): void {
  const part = JSON.stringify([method, ...name]);
  const before = parts.get(part);
  if (before !== undefined) void closeCustom(before);
  parts.delete(part);
  if (typeof content !== "function") return tell(method, [...name, content, ...options]);
  const id = ++lastId;
  parts.set(part, id);
  customs.set(id, { factory: content, columns: 80, rows: 24 });
  tell(method, [...name, { drawn: id }, ...options]);
}

function createUI(event: number | null): HookUIContext {
  return {
    select: (title, options, dialog) =>
      question("ui.select", [title, options], dialog, event) as Promise<string | undefined>,
    confirm: (title, message, dialog) => question("ui.confirm", [title, message], dialog, event) as Promise<boolean>,
    input: (title, placeholder, dialog) =>
      question("ui.input", [title, placeholder], dialog, event) as Promise<string | undefined>,
    editor: (title, prefill, dialog) =>
      question("ui.editor", [title, prefill], dialog, event) as Promise<string | undefined>,
    setWidget: (key, content, options) => setPart("ui.setWidget", [String(key)], content, options),
    setHeader: (content) => setPart("ui.setHeader", [], content),
    setFooter: (content) => setPart("ui.setFooter", [], content),
    setTitle: (title) => tell("ui.setTitle", [title]),
    setWorkingMessage: (message) => tell("ui.setWorkingMessage", [message]),
    notify: (message, type) => tell("ui.notify", [message, type]),
    setStatus: (key, text) => tell("ui.setStatus", [key, text]),
    setEditorText: (text) => tell("ui.setEditorText", [text]),
    getEditorText: () => String(sync("ui.getEditorText", [])),
    custom: <T>(factory: CustomFactory<T>, dialog?: DialogOptions) =>
      openCustom(factory, dialog, event) as Promise<T | undefined>,
    theme,
    get mode() {
      return sync("ui.mode", []) === "rpc" ? "rpc" as const : "tui" as const;
    },
  };
}

/** Asks for what hosts do beyond the contract. */
function request(name: keyof HookActions, args: readonly unknown[]): unknown {
  const { read, slow } = ACTIONS[name];
  const given = read(args);
  return slow ? ask("action", [name, given]) : sync("action", [name, given]);
}

const session = new SessionMirror((have, last, id) => sync("session", [have, last, id]));

const modelRegistry: ModelRegistry = {
  getAvailable: () => sync("models", []) as Model[],
  find: (provider, id) => sync("model.find", [provider, id]) as Model | undefined,
  // Keys stay with the session.
  getApiKey: () => Promise.resolve(undefined),
};

function createContext(event: number | null): HookContext {
  return {
    ui: createUI(event),
    get hasUI() {
      return sync("hasUI", []) === true;
    },
    cwd: config.cwd,
    sessionManager: session,
    modelRegistry,
    get model() {
      return sync("model", []) as Model | undefined;
    },
    isIdle: () => sync("isIdle", []) === true,
    abort: () => tell("abort", []),
    hasQueuedMessages: () => sync("hasQueuedMessages", []) === true,
    ...contextActions(request),
  };
}

/** The context of an event, with what older hosts had. */
function contextOf(event: number | null): HookContext {
  return hook.extendContext!(createContext(event));
}

const setups = new Map<number, NonNullable<NewSessionOptions["setup"]>>();

async function newSession({ setup, ...options }: NewSessionOptions = {}): Promise<{ cancelled: boolean }> {
  const id = ++lastId;
  if (setup !== undefined) setups.set(id, setup);
  try {
    return await ask("newSession", [options, setup !== undefined], null, id) as { cancelled: boolean };
  } finally {
    setups.delete(id);
  }
}

function createCommandContext(): HookCommandContext {
  const context = Object.defineProperties({
    waitForIdle: () => ask("waitForIdle", []),
    newSession,
    branch: (entryId: string) => ask("branch", [entryId]),
    navigateTree: (targetId: string, options?: unknown) => ask("navigateTree", [targetId, options]),
  }, Object.getOwnPropertyDescriptors(createContext(null))) as HookCommandContext;
  return hook.extendContext!(context);
}

function writableSession(setup: number): WritableSessionManager {
  const call = (method: string) => (...args: unknown[]) => sync("setup", [setup, method, args]) as string;
  const mirror = new SessionMirror((have, last, id) => sync("setup", [setup, "session", [have, last, id]]));
  return Object.assign(mirror, {
    appendMessage: call("appendMessage"),
    appendCustomEntry: call("appendCustomEntry"),
    appendCustomMessageEntry: call("appendCustomMessageEntry"),
    appendLabelChange: call("appendLabelChange"),
  });
}

// ——— Components: the child draws, the host shows ———

interface Custom {
  factory: CustomFactory<unknown>;
  component?: Promise<Component>;
  columns: number;
  rows: number;
}

const customs = new Map<number, Custom>();

async function openCustom(
  factory: CustomFactory<unknown>,
  dialog: DialogOptions | undefined,
  event: number | null,
): Promise<unknown> {
  const id = ++lastId;
  customs.set(id, { factory, columns: 80, rows: 24 });
  try {
    return await question("ui.custom", [], dialog, event, id);
  } finally {
    await closeCustom(id);
  }
}

async function closeCustom(id: number): Promise<void> {
  const custom = customs.get(id);
  customs.delete(id);
  try {
    (await custom?.component)?.dispose?.();
  } catch (error) {
    logger.error(`dispose of a component threw: ${errorText(error)}`);
  }
}

/** Makes the component when it is first drawn: where there is no UI, the factory is never called. */
function componentOf(id: number, custom: Custom): Promise<Component> {
  const tui = {
    requestRender: () => tell("ui.invalidate", [id]),
    terminal: {
      get columns() {
        return custom.columns;
      },
      get rows() {
        return custom.rows;
      },
    },
  };
  return custom.component ??= Promise.try(
    custom.factory,
    tui,
    theme,
    (result: unknown) => tell("ui.done", [id, result]),
  );
}

async function drawCustom(id: number, width: number, rows: number): Promise<string[] | undefined> {
  const custom = customs.get(id);
  if (custom === undefined) return undefined;
  custom.columns = width;
  custom.rows = rows;
  return linesOf(await componentOf(id, custom), width);
}

async function handleInput(id: number, data: string): Promise<void> {
  const custom = customs.get(id);
  if (custom === undefined) return;
  try {
    // The host asks for new lines by itself.
    (await componentOf(id, custom)).handleInput?.(data);
  } catch (error) {
    tell("ui.failed", [id, errorText(error)]);
  }
}

function drawMessage(given: HostFrame & { t: "render" }): string[] | undefined {
  const renderer = hook.messageRenderers.get(given.customType);
  const component = renderer?.(given.message as never, { expanded: given.expanded }, theme);
  return component && linesOf(component, given.width);
}

function linesOf(component: Component, width: number): string[] {
  return Array.from(component.render(width), String);
}

// ——— The hook ———

const handlers: AnyHookHandler[] = [];
const { hook, api } = createHook({
  path: config.path,
  resolvedPath: config.resolvedPath,
  exec,
  logger,
  warn: (warning) => send({ t: "warn", warning }),
  act: request,
  registered(event, handler) {
    handlers.push(handler);
    send({ t: "on", event: String(event) });
  },
});
hook.setSendMessageHandler((message, options) => void sync("sendMessage", [message, options]));
hook.setAppendEntryHandler((customType, data) => void sync("appendEntry", [customType, data]));

/** The API, with the host told of each registration: also those of a handler that runs later. */
const announcing: HookAPI = Object.assign(api, {
  registerCommand: after(api.registerCommand, (name) => {
    const { name: shown, description } = hook.commands.get(name)!;
    send({ t: "command", name: String(name), shown: String(shown), ...described(description) });
  }),
  registerMessageRenderer: after(
    api.registerMessageRenderer,
    (customType) => send({ t: "renderer", customType: String(customType) }),
  ) as HookAPI["registerMessageRenderer"],
  registerTool: after(api.registerTool, ({ name, label, description, parameters }) => {
    send({ t: "tool", name }, "spec", { label, description, parameters });
  }) as HookAPI["registerTool"],
  registerFlag: after(api.registerFlag, (name, flag) => send({ t: "flag", name: String(name) }, "spec", flag)),
  registerShortcut: after(api.registerShortcut, (key, { description }) => {
    send({ t: "shortcut", key: String(key), ...described(description) });
  }),
});

function after<A extends unknown[]>(register: (...args: A) => void, announce: (...args: A) => void) {
  return (...args: A): void => {
    register(...args);
    announce(...args);
  };
}

function described(description: unknown): { description?: string } {
  return description === undefined ? {} : { description: String(description) };
}

hook.bus!.connect((channel, data) => tell("bus", [channel, data]));

/** Runs a tool of the hook. */
function runTool({ id, name, p }: HostFrame & { t: "tool" }): unknown {
  const tool = hook.tools!.get(name);
  if (tool === undefined) throw new Error(`The hook has no tool ${JSON.stringify(name)} any more`);
  const onUpdate = p.updates ? (partial: unknown) => tell("tool.update", [id, partial]) : undefined;
  return tool.execute(p.toolCallId, p.params, p.signal, onUpdate, contextOf(id));
}

/** Runs one handler by the event's own merge rule: what comes of it is what the host's runner merges with the other hooks'. */
async function handle(id: number, handler: AnyHookHandler, event: HookEvent): Promise<unknown> {
  const rule = EVENT_RULES[event.type];
  const merge = MERGES[rule.merge];
  if ("input" in event) event.input = frozenTree(event.input, "the input of a tool");
  const state = merge.begin(event, rule);
  const payload = merge.payload(state);
  const answer = await handler(payload as never, contextOf(id), payload);
  let effect: Effect;
  try {
    effect = merge.take(state, answer, payload);
  } catch (error) {
    // As the runner says it.
    throw rule.throws ? new TypeError(`${config.path}: ${errorText(error)}`) : error;
  }
  if (effect === "none") return undefined;
  const outcome = merge.outcome(state);
  if (rule.merge === "chain") return { messages: outcome };
  const { stop } = rule;
  // Whatever it is that closes a gate, a function forgotten to be called for one, it arrives.
  if (stop !== undefined && isRecord(outcome) && stop in outcome) outcome[stop] = Boolean(outcome[stop]);
  return outcome;
}

async function run(id: number, work: () => unknown, type?: HookEventName): Promise<void> {
  let value: unknown;
  try {
    value = await work();
  } catch (error) {
    return send({ t: "result", id, error: toFault(error) });
  }
  try {
    send({ t: "result", id }, value === undefined ? undefined : "v", value);
  } catch (error) {
    // What the event knows may be fine where the rest is not.
    const fields = type === undefined ? [] : EVENT_RULES[type].fields;
    const known = isRecord(value)
      ? Object.fromEntries(fields.filter((key) => key in value).map((key) => [key, value[key]]))
      : {};
    try {
      send({ t: "result", id }, "v", known);
    } catch {
      send({
        t: "result",
        id,
        error: toFault(new TypeError(`the answer to ${type} cannot be used: ${errorText(error)}`)),
      });
    }
  }
}

function take(given: HostFrame): void {
  switch (given.t) {
    case "event": {
      const event = given.e as HookEvent;
      return void run(given.id, () => handle(given.id, handlers[given.h]!, event), event.type);
    }
    case "command":
      return void run(given.id, () => hook.commands.get(given.name)?.handler(given.args, createCommandContext()));
    case "tool":
      return void run(given.id, () => runTool(given));
    case "shortcut":
      return void run(given.id, () => hook.shortcuts!.get(given.key)?.handler(contextOf(null)));
    case "bus":
      return hook.bus!.deliver(given.channel, given.data);
    case "setup":
      return void run(given.id, () => setups.get(given.of)?.(writableSession(given.of)));
    case "render":
      return void run(given.id, () => drawMessage(given));
    case "frame":
      return void run(given.id, () => drawCustom(given.ui, given.width, given.rows));
    case "input":
      return void handleInput(given.ui, given.data);
    case "close":
      return void closeCustom(given.ui);
    case "signal":
      return signals.get(given.signal)?.abort();
    case "reply": {
      const pending = asked.get(given.id);
      asked.delete(given.id);
      if (given.error !== undefined) return pending?.reject(fromFault(given.error));
      return pending?.resolve(given.v);
    }
    case "abort":
      // Whoever waits for the host on behalf of this event need not wait any longer.
      for (const [id, { event, reject }] of asked) {
        if (event !== given.id) continue;
        asked.delete(id);
        reject(new DOMException("The time for this event is over", "AbortError"));
      }
  }
}

async function listen(): Promise<never> {
  const lines = new LineReader(() => Infinity);
  const buffer = new Uint8Array(256 * 1024);
  for (;;) {
    const length = await Deno.stdin.read(buffer);
    // The host has closed the pipe, or is gone.
    if (length === null) Deno.exit(0);
    for (const line of lines.push(buffer.subarray(0, length))) take(readFrame(line, signalOf) as unknown as HostFrame);
    // The rest of a long frame is on its way: waiting for it here takes less than coming back for each piece.
    while (lines.open) {
      const more = Deno.stdin.readSync(buffer);
      if (more === null) Deno.exit(0);
      for (const line of lines.push(buffer.subarray(0, more))) take(readFrame(line, signalOf) as unknown as HostFrame);
    }
  }
}

// What a hook leaves unhandled must not end the gate that it is: it is told, and the next event is answered.
for (const type of ["unhandledrejection", "error"] as const) {
  globalThis.addEventListener(type, (event) => {
    event.preventDefault();
    const thrown = "reason" in event ? event.reason : (event as ErrorEvent).error;
    logger.error(`${config.path} failed where nobody waited for it: ${errorText(thrown)}`);
  });
}

void listen();
try {
  await importHook(config.url, announcing);
  send({ t: "ready" });
} catch (error) {
  send({ t: "failed", error: loadFailure(error), ...(compatMayHelp(error) ? { compat: true } : {}) });
}
