/**
 * What hooks of other hosts ask of a session beyond the contract: one table, from which the API of a hook, its contexts, and the
 * checks of what an isolated hook asks derive. A new one is one entry in {@linkcode HookActions} and one in {@linkcode ACTIONS}.
 *
 * @module
 */

import type { UserContent } from "./messages.ts";
import type { CompactOptions, Component, Model, SendMessageOptions } from "./api.ts";
import { isRecord, kindOf } from "./values.ts";

/** How full the context is. */
export interface ContextUsage {
  /** Tokens in it, by the provider's count where there is one. */
  tokens: number;
  /** Tokens that the model takes. */
  contextWindow: number;
  /** The one of the other, from 0 to 100. */
  percent: number;
}

/** A tool, as hooks see it. */
export interface ToolInfo {
  /** Name by which the model calls it. */
  name: string;
  /** What it does. */
  description: string;
  /** Its arguments as a JSON schema. */
  parameters?: unknown;
}

/** A slash command, as hooks see it. */
export interface CommandInfo {
  /** Name without the slash. */
  name: string;
  /** One line for the list of commands. */
  description?: string;
  /** Where it comes from. */
  source: "extension";
}

/** Where `ui.setWidget` shows its lines. */
export interface WidgetOptions {
  /** Above or below the editor; above when absent. */
  placement?: "aboveEditor" | "belowEditor";
}

/** Lines of a widget, or what draws them. */
export type WidgetContent = string[] | ((tui: unknown, theme: unknown) => Component) | undefined;

/** What a host does for hooks beyond the contract. Absent members are what {@linkcode ACTIONS} says. */
export interface HookActions {
  /** Says something as the person: `deliverAs` when the agent is at work; else the agent runs. */
  sendUserMessage(content: string | UserContent[], options?: SendMessageOptions): void;
  /** Names of the tools that the model may call now. */
  getActiveTools(): string[];
  /** Says which tools the model may call from its next turn on; names that there are not are left out. */
  setActiveTools(names: string[]): void;
  /** All tools. */
  getAllTools(): ToolInfo[];
  /** The slash commands of hooks. */
  getCommands(): CommandInfo[];
  /** Names an entry, or takes its name away. */
  setLabel(entryId: string, label: string | undefined): void;
  /** Uses another model from the next turn on; `false` when the session cannot call it. */
  setModel(model: Pick<Model, "provider" | "id">): Promise<boolean>;
  /** How much the model thinks. */
  getThinkingLevel(): string;
  /** Asks for more or less of it; what the model cannot do it does not. */
  setThinkingLevel(level: string): void;
  /** What the person gave for a flag. */
  getFlag(name: string): boolean | string | undefined;
  /** Names the session. */
  setSessionName(name: string): void;
  /** The session's name. */
  getSessionName(): string | undefined;
  /** How full the context is; `undefined` while it is not known. */
  getContextUsage(): ContextUsage | undefined;
  /** What the model is told before all messages. */
  getSystemPrompt(): string;
  /** Compacts the context, as soon as the agent is idle. */
  compact(customInstructions?: string): Promise<void>;
}

/** What is known of an action. */
export interface Action {
  /** Whether hooks find it in `pi` or in `ctx`. */
  readonly on: "pi" | "ctx";
  /** Makes its arguments of what a hook gave. Throws where it cannot. */
  readonly read: (args: readonly unknown[]) => readonly unknown[];
  /** What it answers where no session is; it throws when absent. */
  readonly otherwise?: () => unknown;
  /** Whether it takes time. */
  readonly slow?: true;
}

const nothing = (): readonly unknown[] => [];

/** Every action. */
export const ACTIONS: { readonly [N in keyof HookActions]: Action } = {
  sendUserMessage: { on: "pi", read: ([content, options]) => [userContent(content), deliveryOf(options)] },
  getActiveTools: { on: "pi", read: nothing, otherwise: () => [] },
  setActiveTools: { on: "pi", read: ([names]) => [namesOf(names)] },
  getAllTools: { on: "pi", read: nothing, otherwise: () => [] },
  getCommands: { on: "pi", read: nothing, otherwise: () => [] },
  setLabel: {
    on: "pi",
    read: ([id, label]) => [
      textOf("setLabel", "entryId", id),
      label === undefined || label === null ? undefined : textOf("setLabel", "label", label),
    ],
  },
  setModel: { on: "pi", slow: true, read: ([model]) => [modelOf(model)] },
  getThinkingLevel: { on: "pi", read: nothing, otherwise: () => "off" },
  setThinkingLevel: {
    on: "pi",
    read: ([level]) => [textOf("setThinkingLevel", "level", level)],
    otherwise: () => undefined,
  },
  getFlag: { on: "pi", read: ([name]) => [textOf("getFlag", "name", name)], otherwise: () => undefined },
  setSessionName: { on: "pi", read: ([name]) => [textOf("setSessionName", "name", name)] },
  getSessionName: { on: "pi", read: nothing, otherwise: () => undefined },
  getContextUsage: { on: "ctx", read: nothing, otherwise: () => undefined },
  getSystemPrompt: { on: "ctx", read: nothing, otherwise: () => "" },
  compact: {
    on: "ctx",
    slow: true,
    read: ([instructions]) => instructions === undefined ? [] : [textOf("compact", "customInstructions", instructions)],
  },
};

/** Names of the actions that hooks find in one place. */
export function actionNames(on: Action["on"]): (keyof HookActions)[] {
  return (Object.keys(ACTIONS) as (keyof HookActions)[]).filter((name) => ACTIONS[name].on === on);
}

/** Whether a string names an action. */
export function isActionName(name: unknown): name is keyof HookActions {
  return typeof name === "string" && Object.hasOwn(ACTIONS, name);
}

/**
 * Does what a hook asks.
 *
 * @param actions What the host does; absent before there is a session.
 * @param name The action.
 * @param args What the hook gave.
 * @returns What the host answers.
 * @throws {TypeError} When the arguments are none.
 * @throws {Error} When no host does it.
 */
export function act(
  actions: Partial<HookActions> | undefined,
  name: keyof HookActions,
  args: readonly unknown[],
): unknown {
  const { read, otherwise } = ACTIONS[name];
  const given = read(args);
  const action = actions?.[name] as ((...args: readonly unknown[]) => unknown) | undefined;
  if (action !== undefined) return action(...given);
  if (otherwise !== undefined) return otherwise();
  throw new Error(`${name} handler not initialized`);
}

function textOf(action: string, argument: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new TypeError(`${action} needs a ${argument} that is a string, not ${kindOf(value)}`);
  }
  return value;
}

function modelOf(value: unknown): Pick<Model, "provider" | "id"> {
  if (isRecord(value) && typeof value.provider === "string" && typeof value.id === "string") {
    return { provider: value.provider, id: value.id };
  }
  throw new TypeError(
    `setModel needs a model, not ${kindOf(value)}: pi.setModel(ctx.modelRegistry.find("provider", "id"))`,
  );
}

function namesOf(value: unknown): string[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`setActiveTools needs an array of names, not ${kindOf(value)}: pi.setActiveTools(["read"])`);
  }
  return value.map(String);
}

function userContent(value: unknown): string | UserContent[] {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) {
    throw new TypeError(`sendUserMessage needs a text or a list of parts, not ${kindOf(value)}`);
  }
  for (const part of value) {
    if (isRecord(part) && (part.type === "text" && typeof part.text === "string" || part.type === "image")) continue;
    throw new TypeError('sendUserMessage needs parts like { type: "text", text }');
  }
  return value as UserContent[];
}

function deliveryOf(value: unknown): SendMessageOptions {
  const deliverAs = isRecord(value) ? value.deliverAs : undefined;
  return deliverAs === "steer" || deliverAs === "followUp" ? { deliverAs } : {};
}

/** What {@linkcode contextActions} makes: the actions that hooks find in `ctx`. */
export interface ContextActions {
  /** See {@linkcode HookActions.getContextUsage}. */
  getContextUsage(): ContextUsage | undefined;
  /** See {@linkcode HookActions.getSystemPrompt}. */
  getSystemPrompt(): string;
  /** See {@linkcode HookActions.compact}. */
  compact(options?: CompactOptions): void;
}

/**
 * Makes the actions that hooks find in `ctx`.
 *
 * @param ask Does what a hook asks.
 */
export function contextActions(ask: (name: keyof HookActions, args: readonly unknown[]) => unknown): ContextActions {
  return {
    getContextUsage: () => ask("getContextUsage", []) as ContextUsage | undefined,
    getSystemPrompt: () => ask("getSystemPrompt", []) as string,
    compact(options = {}) {
      const { customInstructions, onComplete, onError } = options;
      // Later, since whoever asks may be what the compaction has to wait for.
      Promise.resolve()
        .then(() => ask("compact", customInstructions === undefined ? [] : [customInstructions]))
        .then(() => onComplete?.(), (error) => onError?.(error instanceof Error ? error : new Error(String(error))));
    },
  };
}
