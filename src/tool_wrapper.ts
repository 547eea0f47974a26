/**
 * A tool behind gates.
 *
 * @module
 */

import type { UserContent } from "./messages.ts";
import { textOf } from "./messages.ts";
import type { HookRunner } from "./runner.ts";
import type { Tool, ToolResult, ToolUpdate } from "./tool.ts";
import { errorText, frozenCopy } from "./values.ts";

/** Options of {@linkcode HookToolWrapper}. */
export interface HookToolWrapperOptions {
  /**
   * Whether content that a `tool_result` handler returns for a failure becomes the text of the error, so that a secret in an
   * error can be redacted; default false.
   */
  redactErrors?: boolean;
}

/**
 * A tool that asks hooks before it runs and shows them what it answered. All else reads through to the tool.
 *
 * @example
 * ```ts
 * import { HookRunner, HookToolWrapper, type Tool } from "@xcsh/hooks";
 * import { createTestHook } from "@xcsh/hooks/testing";
 * import { SessionManager } from "@xcsh/hooks/session";
 * import { assertRejects } from "@std/assert";
 *
 * const hook = await createTestHook((pi) => {
 *   pi.on("tool_call", () => ({ block: true, reason: "not today" }));
 * });
 * const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
 * const runner = new HookRunner([hook], "/project", SessionManager.inMemory("/project"), models);
 * const tool: Tool = { name: "bash", execute: () => Promise.resolve({ content: [] }) };
 * await assertRejects(() => new HookToolWrapper(tool, runner).execute("1", { command: "ls" }), Error, "not today");
 * ```
 */
export class HookToolWrapper<P = Record<string, unknown>, R extends ToolResult = ToolResult> implements Tool<P, R> {
  /** Name by which the model calls it. */
  declare readonly name: string;
  /** Name for people. */
  declare readonly label?: string;
  /** What it does, for the model. */
  declare readonly description?: string;
  /** Its arguments as a JSON schema. */
  declare readonly parameters?: unknown;
  /**
   * Asks the hooks, runs the tool, and shows the hooks what it answered.
   *
   * @throws {Error} With the reason when a hook blocks the call; what a `tool_call` handler throws; the abort reason when
   *   `signal` aborts while handlers run; what the tool throws.
   */
  declare readonly execute: Tool<P, R>["execute"];

  /**
   * Wraps a tool.
   *
   * @param tool The tool.
   * @param runner Knows the hooks.
   * @param options See {@linkcode HookToolWrapperOptions}.
   */
  constructor(tool: Tool<P, R>, runner: HookRunner, options: HookToolWrapperOptions = {}) {
    const execute: Tool<P, R>["execute"] = (toolCallId, params, signal, onUpdate, context) =>
      executeGated(tool, runner, options.redactErrors ?? false, { toolCallId, params, signal, onUpdate, context });
    const bound = new Map<PropertyKey, { source: unknown; method: unknown }>();
    const read = (key: PropertyKey): unknown => {
      if (key === "execute") return execute;
      const value = Reflect.get(tool, key);
      if (typeof value !== "function" || key === "constructor") return value;
      // Bound to the tool, since its methods may reach for private members.
      const known = bound.get(key);
      if (known !== undefined && known.source === value) return known.method;
      const method: unknown = value.bind(tool);
      bound.set(key, { source: value, method });
      return method;
    };
    return new Proxy<this>(this, {
      get: (_self, key) => read(key),
      has: (_self, key) => key in tool,
      set: (_self, key, value) => key !== "execute" && Reflect.set(tool, key, value),
      deleteProperty: (_self, key) => key !== "execute" && Reflect.deleteProperty(tool, key),
      defineProperty: () => false,
      ownKeys: () => Reflect.ownKeys(tool),
      getOwnPropertyDescriptor(_self, key) {
        const descriptor = Reflect.getOwnPropertyDescriptor(tool, key);
        if (descriptor === undefined) return undefined;
        return { value: read(key), writable: true, enumerable: descriptor.enumerable ?? false, configurable: true };
      },
    });
  }
}

interface Call<P> {
  readonly toolCallId: string;
  readonly params: P;
  readonly signal: AbortSignal | undefined;
  readonly onUpdate: ToolUpdate | undefined;
  readonly context: unknown;
}

async function executeGated<P, R extends ToolResult>(
  tool: Tool<P, R>,
  runner: HookRunner,
  redactErrors: boolean,
  call: Call<P>,
): Promise<R> {
  const { toolCallId, signal } = call;
  // Made when first needed, and shared by all handlers of the call.
  let input: Record<string, unknown> | undefined;
  const event = () => ({
    toolName: tool.name,
    toolCallId,
    input: input ??= frozenCopy(call.params as Record<string, unknown>, "the input of a tool"),
  });

  if (runner.hasHandlers("tool_call")) {
    // An abort from before is the tool's to notice: it gets the signal.
    const watched = signal?.aborted ? undefined : signal;
    const asked = runner.emitToolCall({ type: "tool_call", ...event() });
    let answer: Awaited<typeof asked>;
    try {
      answer = await (watched === undefined ? asked : untilAborted(asked, watched));
    } catch (error) {
      watched?.throwIfAborted();
      throw error instanceof Error ? error : new Error(`Hook failed, blocking execution: ${errorText(error)}`);
    }
    if (answer?.block) throw new Error(blockReason(answer.reason));
    watched?.throwIfAborted();
  }

  let result: R;
  try {
    result = await tool.execute(toolCallId, call.params, signal, call.onUpdate, call.context);
    if (!runner.hasHandlers("tool_result")) return result;
    if (typeof result !== "object" || result === null) {
      throw new TypeError(`The tool ${tool.name} answered ${result} instead of { content }`);
    }
  } catch (error) {
    if (!runner.hasHandlers("tool_result")) throw error;
    const content: UserContent[] = [{ type: "text", text: errorText(error) }];
    const changed = await runner.emit({ type: "tool_result", ...event(), content, details: undefined, isError: true });
    throw redactErrors && changed?.content !== undefined ? new Error(textOf(changed.content)) : error;
  }
  const { content, details } = result;
  const changed = await runner.emit({ type: "tool_result", ...event(), content, details, isError: false });
  return changed === undefined ? result : { ...result, ...changed };
}

function blockReason(reason: unknown): string {
  return reason ? errorText(reason) : "Tool execution was blocked by a hook";
}

/** Stops waiting when a signal aborts, even if the hooks never answer. */
async function untilAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([pending, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
