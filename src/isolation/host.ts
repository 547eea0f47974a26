/**
 * A hook in a process of its own, to everyone else a {@linkcode LoadedHook} like any other.
 *
 * @module
 */

import { toFileUrl } from "@std/path";
import type { HookActions } from "../actions.ts";
import type {
  HookAPI,
  HookContext,
  HookFlag,
  HookLogger,
  HookMessageRenderer,
  HookShortcut,
  HookTool,
  RegisteredCommand,
} from "../api.ts";
import {
  type AnyHookHandler,
  type AppendEntryHandler,
  HookBrokenError,
  type HookBusEnd,
  type HookIsolation,
  type LoadedHook,
  type SendMessageHandler,
} from "../hook.ts";
import { HookLoadFailure } from "../import_hook.ts";
import { textOf } from "../messages.ts";
import { errorText, isRecord, kindOf, LONGEST_DELAY } from "../values.ts";
import { Child } from "./child.ts";
import { Desk, linesOf, RemoteComponent } from "./desk.ts";
import { denoFlags, type EffectiveGrants, type HookPermissions } from "./grants.ts";
import { frame, fromFault, ProtocolError, readFrame, toFault, type ToolCallParts } from "./protocol.ts";

/** Limits of isolated hooks. */
export interface IsolationLimits {
  /** How long a handler may take for one event, in ms; time in a dialog that it opened does not count. Default 10 000. */
  budget: number;
  /** How long the isolated handlers of one emission may take together, in ms. Default 30 000. */
  emissionBudget: number;
  /** Most MiB of a hook's heap. Default 256. */
  heapLimit: number;
  /** Most bytes that a hook may send at once, beyond the size of what it was sent. Default 8 MiB. */
  frameLimit: number;
}

/** What {@linkcode IsolatedHook.load} needs. */
export interface IsolatedHookOptions {
  /** Path, as it was given. */
  path: string;
  /** Absolute path. */
  resolvedPath: string;
  /** The file that is imported. */
  entry: string;
  /** Where the session works. */
  cwd: string;
  /** What `ctx.cwd` names, where it is another folder. */
  contextCwd?: string;
  /** Variables that its process gets beside those that it was granted. */
  environment?: Readonly<Record<string, string>>;
  /** The grants, as they were given. */
  permissions: HookPermissions;
  /** The grants, as they are enforced. */
  grants: EffectiveGrants;
  /** Whether it imports what Deno does not find by itself. */
  needsCompat: boolean;
  /** Modules of packages from npm, where it needs any. */
  packages?: Readonly<Record<string, string>>;
  /** The limits. */
  limits: IsolationLimits;
  /** How long loading may take, in ms. */
  timeout: number;
  /** Where `pi.logger` writes. */
  logger: HookLogger;
  /** Gets what the hook prints, in pieces. */
  print: (text: string) => void;
  /** Gets what the author should know. */
  warn: (warning: string) => void;
  /** Asked before it is started again: throws when its code is no longer what it was, or its grants can no longer be enforced. */
  recheck: () => Promise<void>;
  /** What `pi.exec` does, instead of running what was granted. */
  exec?: HookAPI["exec"];
}

/** How long a handler that is over its budget may take to give up, in ms. */
const GRACE = 250;
/** How many deaths within {@linkcode DEATH_WINDOW} make a hook broken for good. */
const MAX_DEATHS = 3;
const DEATH_WINDOW = 60_000;
const MAX_OUTSTANDING = 256;
/** Messages to other hooks that are kept until there are any. */
const MAX_EARLY = 1_000;
const MAX_REGISTRATIONS = 10_000;
const MAX_WARNINGS = 100;
/** Most characters of a frame that the host remembers for as long as the hook is loaded. */
const MAX_REMEMBERED = 4_096;
/** Most characters of a tool's description and schema. */
const MAX_TOOL = 256 * 1024;
/** Methods by which a hook has the host keep something. */
const KEPT: ReadonlySet<unknown> = new Set([
  "sendMessage",
  "appendEntry",
  "setup",
  "ui.setStatus",
  "ui.setEditorText",
  "ui.setWidget",
  "ui.setHeader",
  "ui.setFooter",
  "ui.setTitle",
  "ui.setWorkingMessage",
  "ui.notify",
  "action",
  "bus",
]);
/** Most bytes of answers that a child may leave unread. */
const MAX_UNREAD = 64 * 1024 * 1024;

/** Time limits of one emission, shared by all isolated hooks that take part in it. */
interface EmissionClock {
  startedAt: number;
  /** Time spent in dialogs, in ms. */
  paused: number;
}

const clocks = new WeakMap<object, EmissionClock>();

interface Call {
  readonly what: string;
  readonly clock: EmissionClock;
  /** What its end undoes. */
  readonly undo: (() => void)[];
  readonly size: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** Time left, in ms; infinite for what a person started. */
  left: number;
  /** Whether its time is over: what it opens now no longer stops the clock. */
  over: boolean;
  runningSince: number;
  dialogs: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** A hook in a process of its own. */
export class IsolatedHook implements LoadedHook {
  readonly path: string;
  readonly resolvedPath: string;
  readonly handlers = new Map<string, AnyHookHandler[]>();
  readonly messageRenderers = new Map<string, HookMessageRenderer>();
  readonly commands = new Map<string, RegisteredCommand>();
  readonly tools = new Map<string, HookTool>();
  readonly flags = new Map<string, HookFlag>();
  readonly shortcuts = new Map<string, HookShortcut>();
  readonly bus: HookBusEnd;
  readonly isolation: HookIsolation;

  readonly #options: IsolatedHookOptions;
  readonly #bucket = new Bucket(2_000, 500);
  readonly #bytes = new Bucket(128 * 1024 * 1024, 16 * 1024 * 1024);
  /** For what the host keeps: messages, entries, status texts, log records. */
  readonly #kept = new Bucket(64 * 1024 * 1024, 1024 * 1024);
  #child: Child | undefined;
  /** Children whose death has been dealt with; the process itself may take a moment longer. */
  readonly #buried = new WeakSet<Child>();
  /** Children that are not gone yet. */
  readonly #ending = new Set<Promise<string>>();
  #starting: Promise<Child> | undefined;
  /** Numbers of the handlers that the running child has registered, by event. */
  #registered = new Map<string, number[]>();
  #registrations = 0;
  #warnings = 0;
  #loaded: PromiseWithResolvers<void> | undefined;
  readonly #deaths: number[] = [];
  #lastDeath = "";
  #disposed = false;
  /** Whether its process imports the way other hosts do. */
  #compat: boolean;
  readonly #calls = new Map<number, Call>();
  #lastId = 0;
  #lastSignal = 0;
  readonly #outstanding = new Map<number, AbortController>();
  readonly #desk: Desk;
  /** What it told other hooks before there were any. */
  readonly #early: [channel: string, data: unknown][] = [];

  private constructor(options: IsolatedHookOptions) {
    this.#options = options;
    this.#compat = options.needsCompat;
    this.path = options.path;
    this.resolvedPath = options.resolvedPath;
    this.isolation = { permissions: options.permissions, flags: denoFlags(options.grants) };
    this.#desk = new Desk(options.cwd, options.grants, {
      tell: (fields) => this.#child?.send(frame(fields)),
      ask: (fields) => this.#callForDrawing(fields),
    });
    this.bus = {
      deliver: (channel, data) => {
        const child = this.#child;
        if (child === undefined) return;
        if (child.unread > MAX_UNREAD + this.#sizeOutstanding()) {
          child.kill("it does not read what other hooks tell it");
        } else child.send(frame({ t: "bus", channel }, "data", data));
      },
      connect: (publish) => {
        this.#desk.publish = publish;
        for (const [channel, data] of this.#early.splice(0)) publish(channel, data);
      },
    };
    this.#desk.publish = (channel, data) => {
      if (this.#early.length < MAX_EARLY) this.#early.push([channel, data]);
    };
  }

  /**
   * Starts the hook's process and loads the hook in it.
   *
   * @param options See {@linkcode IsolatedHookOptions}.
   * @returns The hook.
   * @throws {HookLoadFailure} When it could not be loaded; its process is gone then.
   */
  static async load(options: IsolatedHookOptions): Promise<IsolatedHook> {
    const hook = new IsolatedHook(options);
    try {
      await hook.#start();
      return hook;
    } catch (error) {
      await hook.dispose();
      throw error;
    }
  }

  setSendMessageHandler(handler: SendMessageHandler): void {
    this.#desk.sendMessage = handler;
  }

  setAppendEntryHandler(handler: AppendEntryHandler): void {
    this.#desk.appendEntry = handler;
  }

  setActions(actions: Partial<HookActions> | undefined): void {
    this.#desk.actions = actions;
  }

  revive(): void {
    this.#deaths.length = 0;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    const child = this.#child ?? await this.#starting?.catch(() => undefined);
    await child?.close(GRACE);
    await Promise.all(this.#ending);
  }

  // ——— Life and death ———

  /** The running child, started again when it has died. */
  #running(): Child | Promise<Child> {
    if (this.#child !== undefined && !this.#child.over) return this.#child;
    return this.#starting ??= this.#restart().finally(() => this.#starting = undefined);
  }

  async #restart(): Promise<Child> {
    // The last one's end must not be taken for this one's.
    await this.#child?.ended;
    if (this.#disposed) throw this.#broken("the session has ended");
    const now = Date.now();
    const recent = this.#deaths.filter((death) => now - death < DEATH_WINDOW);
    if (recent.length >= MAX_DEATHS) {
      throw this.#broken(`it died ${recent.length} times within a minute, last because ${this.#lastDeath}`);
    }
    if (recent.length > 1) await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** (recent.length - 1)));
    try {
      await this.#options.recheck();
      return await this.#start();
    } catch (error) {
      throw this.#broken(`it died, because ${this.#lastDeath}, and could not be loaded again: ${errorText(error)}`);
    }
  }

  async #start(): Promise<Child> {
    const { grants, limits, cwd, contextCwd, environment, packages, path, resolvedPath, entry, timeout } =
      this.#options;
    this.#registered = new Map();
    this.#registrations = 0;
    const loaded = this.#loaded = Promise.withResolvers<void>();
    const child = await Child.start({
      grants,
      config: {
        url: toFileUrl(entry).href,
        path,
        resolvedPath,
        cwd: contextCwd ?? cwd,
        run: grants.allow.run !== undefined,
      },
      ...(environment === undefined ? {} : { environment }),
      folder: cwd,
      compat: this.#compat,
      ...(packages === undefined ? {} : { packages }),
      heapLimit: limits.heapLimit,
      frameLimit: () => limits.frameLimit + this.#sizeOutstanding(),
      onFrame: (line) => this.#take(line),
      onOutput: this.#options.print,
    });
    this.#child = child;
    if (this.#disposed) child.kill("it was closed");
    this.#ending.add(child.ended);
    void child.ended.then((reason) => {
      this.#ending.delete(child.ended);
      this.#died(child, reason);
    });
    const timer = setTimeout(
      () => child.kill(`${resolvedPath} did not finish loading within ${timeout} ms`),
      Math.min(timeout, LONGEST_DELAY),
    );
    try {
      await loaded.promise;
      return child;
    } catch (error) {
      child.kill(errorText(error));
      await child.ended;
      if (!(error instanceof CompatNeeded) || this.#compat) throw error;
    } finally {
      clearTimeout(timer);
      this.#loaded = undefined;
    }
    // Its text did not show it, its import did.
    this.#compat = true;
    return await this.#start();
  }

  #died(child: Child, reason: string): void {
    if (this.#buried.has(child)) return;
    this.#buried.add(child);
    if (this.#child === child) this.#child = undefined;
    if (!this.#disposed) {
      this.#deaths.push(Date.now());
      this.#lastDeath = reason;
    }
    for (const controller of this.#outstanding.values()) controller.abort();
    this.#outstanding.clear();
    this.#desk.close();
    const calls = [...this.#calls];
    for (const [id, call] of calls) {
      this.#settle(id, () => call.reject(this.#broken(`${reason} while it was asked for ${call.what}`)));
    }
    this.#loaded?.reject(new HookLoadFailure(`Failed to load hook: ${reason}`));
  }

  #broken(why: string): HookBrokenError {
    return new HookBrokenError(
      `The hook ${this.path} is broken, it did not deny anything: ${why}. Mend it, or leave it out with /hooks disable ${this.path}`,
    );
  }

  // ——— Calls to the child ———

  async #handle(
    event: string,
    ordinal: number,
    payload: unknown,
    context: HookContext,
    emission: object,
  ): Promise<unknown> {
    const live = this.#running();
    const child = live instanceof Child ? live : await live;
    this.#desk.context = context;
    const h = this.#registered.get(event)?.[ordinal];
    if (h === undefined) {
      throw this.#broken(`it was started again after it died, and has not registered this ${event} handler since`);
    }
    const { budget, emissionBudget } = this.#options.limits;
    let clock = clocks.get(emission);
    if (clock === undefined) clocks.set(emission, clock = { startedAt: performance.now(), paused: 0 });
    const left = Math.min(budget, emissionBudget - (performance.now() - clock.startedAt - clock.paused));
    return await this.#call(child, event, left, clock, { t: "event", h }, "e", payload);
  }

  /** Asks for what a person waits for: it takes as long as it takes. */
  async #callForPerson(fields: Record<string, unknown>, key?: string, value?: unknown): Promise<unknown> {
    const child = await this.#running();
    return await this.#call(child, String(fields.t), Infinity, { startedAt: 0, paused: 0 }, fields, key, value);
  }

  /** Asks for what is to be there at once: lines to show, the filling of a new session. */
  async #callForDrawing(fields: Record<string, unknown>, key?: string, value?: unknown): Promise<unknown> {
    const child = await this.#running();
    const clock = { startedAt: 0, paused: 0 };
    return await this.#call(child, String(fields.t), this.#options.limits.budget, clock, fields, key, value);
  }

  #call(
    child: Child,
    what: string,
    left: number,
    clock: EmissionClock,
    fields: Record<string, unknown>,
    key?: string,
    value?: unknown,
  ): Promise<unknown> {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const undo: (() => void)[] = [];
    const text = frame({ ...fields, id }, key, value, (signal) => this.#follow(child, signal, undo));
    const call: Call = {
      what,
      clock,
      undo,
      resolve,
      reject,
      left,
      over: false,
      size: text.length * 4,
      runningSince: 0,
      dialogs: 0,
      timer: undefined,
    };
    if (this.#calls.size === 0) child.hold(true);
    this.#calls.set(id, call);
    this.#resume(id, call, child);
    child.send(text);
    return promise;
  }

  /** Passes the abort of a signal on, for as long as the call lasts. */
  #follow(child: Child, signal: AbortSignal, undo: (() => void)[]): number {
    const number = ++this.#lastSignal;
    const pass = () => child.send(frame({ t: "signal", signal: number }));
    signal.addEventListener("abort", pass, { once: true });
    undo.push(() => signal.removeEventListener("abort", pass));
    return number;
  }

  #resume(id: number, call: Call, child: Child | undefined): void {
    if (call.left === Infinity) {
      // Nothing else may keep the program alive until the answer comes.
      call.timer ??= setTimeout(() => {}, LONGEST_DELAY);
      return;
    }
    clearTimeout(call.timer);
    call.runningSince = performance.now();
    call.timer = setTimeout(() => {
      call.over = true;
      child?.send(frame({ t: "abort", id }));
      call.timer = setTimeout(() => {
        if (child === undefined) return;
        const reason = `it did not answer within its time limit of ${this.#options.limits.budget} ms`;
        child.kill(reason);
        // Whoever asked need not wait until it is gone.
        this.#died(child, reason);
      }, GRACE);
    }, Math.min(Math.max(0, call.left), LONGEST_DELAY));
  }

  #pause(call: Call): void {
    if (call.left === Infinity) return;
    clearTimeout(call.timer);
    call.timer = setTimeout(() => {}, LONGEST_DELAY);
    call.left -= performance.now() - call.runningSince;
    call.runningSince = performance.now();
  }

  #settle(id: number, how: () => void): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    if (this.#calls.size === 0) this.#child?.hold(false);
    clearTimeout(call.timer);
    for (const undo of call.undo) undo();
    how();
  }

  #sizeOutstanding(): number {
    let size = 0;
    for (const call of this.#calls.values()) size += call.size;
    return size;
  }

  // ——— Frames of the child: nothing in them is to be trusted ———

  #take(line: string): void {
    if (!this.#bytes.take(line.length)) throw new ProtocolError("it sent more than a host can take");
    const given = readFrame(line);
    if ((given.t === "log" || KEPT.has(given.method)) && !this.#kept.take(line.length)) {
      throw new ProtocolError("it has the host keep more than it can take");
    }
    switch (given.t) {
      case "result":
        return this.#takeResult(given);
      case "sync":
        return this.#takeSync(given);
      case "ask":
        return void this.#takeAsk(given, methodOf(given), argsOf(given));
      case "cancel":
        return this.#outstanding.get(given.id as number)?.abort();
    }
    if (!this.#bucket.take(1)) throw new ProtocolError("it sent more messages a second than a host can take");
    switch (given.t) {
      case "tell":
        return this.#desk.tell(methodOf(given), argsOf(given));
      case "log":
        return this.#log(given);
      case "tool":
        if (line.length > MAX_TOOL) throw new ProtocolError(`it registered a tool of more than ${MAX_TOOL} characters`);
        return this.#registerTool(wordOf(given, "name"), given.spec);
      case "ready":
        return this.#loaded?.resolve();
      case "failed":
        return this.#loaded?.reject(
          new (given.compat === true ? CompatNeeded : HookLoadFailure)(wordOf(given, "error")),
        );
    }
    if (line.length > MAX_REMEMBERED) {
      throw new ProtocolError(`it registered something under a name of more than ${MAX_REMEMBERED} characters`);
    }
    switch (given.t) {
      case "warn":
        if (this.#warnings++ < MAX_WARNINGS) this.#options.warn(wordOf(given, "warning"));
        return;
      case "on":
        return this.#register(wordOf(given, "event"));
      case "command":
        return this.#registerCommand(given);
      case "renderer":
        return this.#registerRenderer(wordOf(given, "customType"));
      case "flag":
        return this.#registerFlag(wordOf(given, "name"), given.spec);
      case "shortcut":
        return this.#registerShortcut(given);
      default:
        throw new ProtocolError(`it sent a frame of the unknown kind ${JSON.stringify(given.t)}`);
    }
  }

  #takeResult(given: Record<string, unknown>): void {
    const id = given.id as number;
    const call = this.#calls.get(id);
    if (call === undefined) throw new ProtocolError(`it answered ${kindOf(id)}, which it was not asked`);
    if (given.error === undefined) this.#settle(id, () => call.resolve(given.v));
    else {
      const error = fromFault(given.error);
      this.#settle(id, () => call.reject(error));
    }
  }

  #takeSync(given: Record<string, unknown>): void {
    const child = this.#child;
    if (child === undefined) return;
    if (child.unread > MAX_UNREAD + this.#sizeOutstanding()) {
      throw new ProtocolError("it asks without reading the answers");
    }
    let answer: string;
    try {
      answer = frame({ t: "answer" }, "v", this.#desk.sync(methodOf(given), argsOf(given)));
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      answer = frame({ t: "answer", error: toFault(error) });
    }
    child.answer(answer);
  }

  async #answer(method: string, args: readonly unknown[], id: number, signal: AbortSignal): Promise<unknown> {
    const { exec } = this.#options;
    if (method !== "exec" || exec === undefined) return await this.#desk.ask(method, args, id, signal);
    const [command, given] = args;
    return await exec(errorText(command), Array.isArray(given) ? given.map(errorText) : []);
  }

  async #takeAsk(given: Record<string, unknown>, method: string, args: readonly unknown[]): Promise<void> {
    const child = this.#child;
    const id = given.id;
    if (child === undefined) return;
    if (typeof id !== "number" || this.#outstanding.has(id)) {
      return child.kill("it asked under a number that is in use");
    }
    if (this.#outstanding.size >= MAX_OUTSTANDING) {
      return child.kill(`it asked for more than ${MAX_OUTSTANDING} things at once`);
    }
    if (child.unread > MAX_UNREAD + this.#sizeOutstanding()) return child.kill("it asks without reading the answers");
    const controller = new AbortController();
    this.#outstanding.set(id, controller);
    const call = typeof given.for === "number" ? this.#calls.get(given.for) : undefined;
    const dialog = call !== undefined && !call.over && method.startsWith("ui.");
    if (dialog && call.dialogs++ === 0) this.#pause(call);
    let reply: string;
    try {
      reply = frame(
        { t: "reply", id },
        "v",
        await this.#answer(method, args, id, controller.signal),
      );
    } catch (error) {
      if (error instanceof ProtocolError) return child.kill(error.message);
      reply = frame({ t: "reply", id, error: toFault(error) });
    } finally {
      this.#outstanding.delete(id);
      if (dialog && --call.dialogs === 0) {
        call.clock.paused += performance.now() - call.runningSince;
        if (this.#calls.has(given.for as number)) this.#resume(given.for as number, call, child);
      }
    }
    child.send(reply);
  }

  #log({ level, message, context }: Record<string, unknown>): void {
    if (level !== "debug" && level !== "info" && level !== "warn" && level !== "error") {
      throw new ProtocolError("it sent a log record of no level");
    }
    this.#options.logger[level](errorText(message), isRecord(context) ? context : undefined);
  }

  // ——— Registrations ———

  #countRegistration(): void {
    if (++this.#registrations > MAX_REGISTRATIONS) throw new ProtocolError("it registers without end");
  }

  /** The k-th handler of an event stays the k-th when the child is started again. */
  #register(event: string): void {
    const number = this.#registrations;
    this.#countRegistration();
    const numbers = this.#registered.get(event) ?? [];
    this.#registered.set(event, numbers);
    const ordinal = numbers.push(number) - 1;
    const handlers = this.handlers.get(event) ?? [];
    this.handlers.set(event, handlers);
    if (ordinal < handlers.length) return;
    handlers.push((payload, context, emission) => this.#handle(event, ordinal, payload, context, emission));
  }

  #registerCommand(given: Record<string, unknown>): void {
    this.#countExtra(this.commands);
    const name = wordOf(given, "name");
    this.commands.set(name, {
      name: wordOf(given, "shown"),
      ...(given.description === undefined ? {} : { description: wordOf(given, "description") }),
      handler: async (args, context) => {
        this.#desk.context = context;
        await this.#desk.duringCommand(context, () => this.#callForPerson({ t: "command", name, args: String(args) }));
      },
    });
  }

  #registerRenderer(customType: string): void {
    this.#countExtra(this.messageRenderers);
    this.messageRenderers.set(customType, (message, { expanded }, theme) => {
      this.#desk.theme = theme;
      return new RemoteComponent(async (width) => {
        const lines = await this.#callForDrawing({ t: "render", customType, expanded, width }, "message", message);
        return linesOf(lines) ?? [`[${customType}]`, "", ...textOf(message.content).split("\n")];
      });
    });
  }

  #registerTool(name: string, spec: unknown): void {
    this.#countExtra(this.tools);
    const { label, description, parameters } = isRecord(spec) ? spec : {};
    const tool: HookTool = {
      name,
      ...(typeof label === "string" ? { label } : {}),
      ...(typeof description === "string" ? { description } : {}),
      ...(parameters === undefined ? {} : { parameters }),
      execute: async (toolCallId, params, signal, onUpdate, context) => {
        const child = await this.#running();
        this.#desk.context = context;
        const parts: ToolCallParts = { toolCallId, params, signal, updates: onUpdate !== undefined };
        const id = this.#lastId + 1;
        if (onUpdate !== undefined) this.#desk.updates.set(id, onUpdate);
        try {
          const unbounded = { startedAt: 0, paused: 0 };
          return await this.#call(
            child,
            `the tool ${name}`,
            Infinity,
            unbounded,
            { t: "tool", name },
            "p",
            parts,
          ) as never;
        } finally {
          this.#desk.updates.delete(id);
        }
      },
    };
    this.tools.set(name, tool);
  }

  #registerFlag(name: string, spec: unknown): void {
    this.#countExtra(this.flags);
    const { description, type, default: otherwise } = isRecord(spec) ? spec : {};
    this.flags.set(name, {
      type: type === "boolean" ? "boolean" : "string",
      ...(typeof description === "string" ? { description } : {}),
      ...(typeof otherwise === "boolean" || typeof otherwise === "string" ? { default: otherwise } : {}),
    });
  }

  #registerShortcut(given: Record<string, unknown>): void {
    this.#countExtra(this.shortcuts);
    const key = wordOf(given, "key");
    this.shortcuts.set(key, {
      ...(given.description === undefined ? {} : { description: wordOf(given, "description") }),
      handler: async (context) => {
        this.#desk.context = context;
        await this.#callForPerson({ t: "shortcut", key });
      },
    });
  }

  #countExtra(registered: ReadonlyMap<string, unknown>): void {
    if (registered.size > MAX_REGISTRATIONS) throw new ProtocolError("it registers without end");
  }
}

/** The hook could not be loaded, and might be the way other hosts import. */
class CompatNeeded extends HookLoadFailure {}

function methodOf({ method }: Record<string, unknown>): string {
  if (typeof method !== "string") throw new ProtocolError("it asked for nothing");
  return method;
}

function wordOf(given: Record<string, unknown>, key: string): string {
  const word = given[key];
  if (typeof word !== "string") {
    throw new ProtocolError(`it sent ${kindOf(word)} as the ${key} of a frame of the kind ${JSON.stringify(given.t)}`);
  }
  return word;
}

function argsOf({ args }: Record<string, unknown>): readonly unknown[] {
  if (!Array.isArray(args)) throw new ProtocolError("it asked without arguments");
  return args;
}

/** Bounds a rate: so much at once, and so much more each second. */
class Bucket {
  #left: number;
  #filledAt = performance.now();

  constructor(readonly burst: number, readonly perSecond: number) {
    this.#left = burst;
  }

  take(amount: number): boolean {
    const now = performance.now();
    this.#left = Math.min(this.burst, this.#left + (now - this.#filledAt) / 1000 * this.perSecond);
    this.#filledAt = now;
    this.#left -= amount;
    return this.#left >= 0;
  }
}
