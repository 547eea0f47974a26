/**
 * What a hook registers, and the API by which it does.
 *
 * @module
 */

import type {
  ExecOptions,
  ExecResult,
  HookAPI,
  HookCommand,
  HookContext,
  HookFlag,
  HookLogger,
  HookMessageInput,
  HookMessageRenderer,
  HookShortcut,
  HookTool,
  RegisteredCommand,
  SendMessageOptions,
} from "./api.ts";
import { act, actionNames, type HookActions } from "./actions.ts";
import { BusEnd } from "./bus.ts";
import { OldForms } from "./compat/old_forms.ts";
import { typeboxOf } from "./compat/typebox_slot.ts";
import type { HookPermissions } from "./isolation/grants.ts";
import { EVENT_NAMES, EXTENSION_EVENT_NAMES, type HookEventName, isHookEventName } from "./events.ts";
import { kindOf, nearest } from "./values.ts";

/** Takes what a hook sends; set by the runner. */
export type SendMessageHandler = (message: HookMessageInput, options?: SendMessageOptions) => void;

/** Takes what a hook appends; set by the runner. */
export type AppendEntryHandler = (customType: string, data?: unknown) => void;

/** A handler of whichever event; its answer is checked by the event's merge rule. */
export type AnyHookHandler = (event: never, ctx: HookContext, emission: object) => unknown;

/** A hook that has been loaded: all that it registered. */
export interface LoadedHook {
  /** Its path, as it was given. */
  path: string;
  /** Its absolute path. */
  resolvedPath: string;
  /** Its handlers by event, in the order of registration. */
  handlers: Map<string, AnyHookHandler[]>;
  /** Its renderers by `customType`. */
  messageRenderers: Map<string, HookMessageRenderer>;
  /** Its slash commands by name. */
  commands: Map<string, RegisteredCommand>;
  /** Says where `pi.sendMessage` goes. */
  setSendMessageHandler(handler: SendMessageHandler): void;
  /** Says where `pi.appendEntry` goes. */
  setAppendEntryHandler(handler: AppendEntryHandler): void;
  /** Its tools by name; absent where a hook has none. */
  readonly tools?: ReadonlyMap<string, HookTool>;
  /** Its flags by name. */
  readonly flags?: ReadonlyMap<string, HookFlag>;
  /** What its keys do, by key. */
  readonly shortcuts?: ReadonlyMap<string, HookShortcut>;
  /** Its end of the bus between hooks. */
  readonly bus?: HookBusEnd;
  /** Says what the host does beyond the contract. */
  setActions?(actions: Partial<HookActions> | undefined): void;
  /** Adds what only older hosts had to a context that its handlers get. */
  extendContext?<C extends HookContext>(context: C): C;
  /** What it may do, when it runs in a process of its own; absent when it runs in this one. */
  readonly isolation?: HookIsolation;
  /** Lets it run again after it broke for good. */
  revive?(): void;
  /** Ends what it holds: its process. Nothing of it is left when this resolves. */
  dispose?(): Promise<void>;
}

/** Where the messages of other hooks reach a hook, and its own leave it. */
export interface HookBusEnd {
  /** Takes what another hook said. */
  deliver(channel: string, data: unknown): void;
  /** Says where the hook's own messages go. */
  connect(publish: (channel: string, data: unknown) => void): void;
}

/** What an isolated hook may do. */
export interface HookIsolation {
  /** The grants, as they were given. */
  readonly permissions: HookPermissions;
  /** The grants, as Deno's flags enforce them. */
  readonly flags: readonly string[];
}

/** What {@linkcode createHook} needs. */
export interface CreateHookOptions {
  /** Path, as it was given. */
  path: string;
  /** Absolute path. */
  resolvedPath: string;
  /** Runs programs for `pi.exec`. */
  exec: (command: string, args: string[], options?: ExecOptions) => Promise<ExecResult>;
  /** Where `pi.logger` writes. */
  logger: HookLogger;
  /** Gets what the author should know. */
  warn: (warning: string) => void;
  /** Does what the hook asks beyond the contract; what {@linkcode LoadedHook.setActions} was given, when absent. */
  act?: (name: keyof HookActions, args: readonly unknown[]) => unknown;
  /** Told of each handler. */
  registered?: (event: string, handler: AnyHookHandler) => void;
}

/**
 * A hook could not be asked at all: it died, hung, or answered what cannot be read. Gates stay closed on it, and the text says
 * that the hook is broken and what to do, not that it denied anything.
 */
export class HookBrokenError extends Error {
  /** Tells it from other errors. */
  override name = "HookBrokenError";
}

/** A {@linkcode HookLogger} that writes nowhere. */
export const silentLogger: HookLogger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Makes an empty hook and the API that fills it.
 *
 * @param options See {@linkcode CreateHookOptions}.
 * @returns The hook, and what its factory is to be called with.
 */
export function createHook(options: CreateHookOptions): { hook: LoadedHook; api: HookAPI } {
  let sendMessage: SendMessageHandler = () => {
    throw new Error("sendMessage handler not initialized");
  };
  let appendEntry: AppendEntryHandler = () => {
    throw new Error("appendEntry handler not initialized");
  };
  let actions: Partial<HookActions> | undefined;
  const ask = options.act ?? ((name, args) => act(actions, name, args));
  const tools = new Map<string, HookTool>();
  const flags = new Map<string, HookFlag>();
  const shortcuts = new Map<string, HookShortcut>();
  const bus = new BusEnd(options.logger);
  const old = new OldForms(options.warn, options.exec);
  const hook: LoadedHook = {
    path: options.path,
    resolvedPath: options.resolvedPath,
    handlers: new Map(),
    messageRenderers: new Map(),
    commands: new Map(),
    tools,
    flags,
    shortcuts,
    bus,
    setSendMessageHandler: (handler) => void (sendMessage = handler),
    setAppendEntryHandler: (handler) => void (appendEntry = handler),
    setActions: (given) => void (actions = given),
    extendContext: (context) => old.extendContext(context),
  };
  const register = (event: HookEventName, handler: AnyHookHandler) => {
    const handlers = hook.handlers.get(event);
    if (handlers === undefined) hook.handlers.set(event, [handler]);
    else handlers.push(handler);
    options.registered?.(event, handler);
  };
  const api: HookAPI = {
    on(event, handler) {
      requireFunction(handler, `pi.on(${JSON.stringify(event)}, handler)`);
      const translated = old.translate(event, handler as AnyHookHandler);
      if (translated === undefined && !isHookEventName(event)) options.warn(unknownEvent(event));
      for (const [name, translation] of translated ?? [[event, handler as AnyHookHandler]] as const) {
        register(name, translation);
      }
    },
    sendMessage: (message, sendOptions) => sendMessage(message, old.sendOptions(sendOptions)),
    appendEntry: (customType, data) => appendEntry(customType, data),
    registerMessageRenderer(customType, renderer) {
      requireFunction(renderer, `pi.registerMessageRenderer(${JSON.stringify(customType)}, renderer)`);
      hook.messageRenderers.set(customType, renderer as HookMessageRenderer);
    },
    registerCommand(name: string, command: HookCommand) {
      requireFunction(command?.handler, `pi.registerCommand(${JSON.stringify(name)}, { handler })`);
      hook.commands.set(name, { ...command, name });
    },
    exec: options.exec,
    logger: options.logger,
    registerTool(tool) {
      if (typeof tool?.name !== "string" || tool.name === "") {
        throw new TypeError("pi.registerTool({ name, description, parameters, execute }) needs a name");
      }
      requireFunction(tool.execute, `pi.registerTool({ name: ${JSON.stringify(tool.name)}, execute })`);
      tools.set(tool.name, old.tool(tool) as unknown as HookTool);
    },
    registerFlag: (name, flag) => void flags.set(String(name), flag),
    getFlag: (name) => ask("getFlag", [name]) as boolean | string | undefined ?? flags.get(name)?.default,
    registerShortcut(key, shortcut) {
      requireFunction(shortcut?.handler, `pi.registerShortcut(${JSON.stringify(key)}, { handler })`);
      shortcuts.set(key, shortcut);
    },
    events: bus,
    ...Object.fromEntries(
      actionNames("pi").filter((name) => name !== "getFlag").map((name) => [
        name,
        (...args: unknown[]) => ask(name, args),
      ]),
    ) as Pick<
      HookAPI,
      Exclude<keyof HookActions & keyof HookAPI, "getFlag">
    >,
  };
  Object.defineProperty(api, "typebox", { get: typeboxOf, configurable: true });
  old.extendApi(api);
  return { hook, api };
}

function requireFunction(value: unknown, call: string): void {
  if (typeof value !== "function") throw new TypeError(`${call} needs a function, not ${kindOf(value)}`);
}

function unknownEvent(event: string): string {
  const near = nearest(String(event), [...EVENT_NAMES, ...EXTENSION_EVENT_NAMES]);
  const hint = near === undefined
    ? `the events are ${EVENT_NAMES.join(", ")}`
    : `did you mean ${JSON.stringify(near)}?`;
  return `There is no event ${JSON.stringify(event)}, so this handler never runs; ${hint}`;
}
