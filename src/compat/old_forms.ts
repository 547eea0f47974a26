/**
 * Forms of older hosts: each still works, and says once what to write today.
 *
 * @module
 */

import type { ExecOptions, ExecResult, HookAPI, HookContext, HookTool, SendMessageOptions } from "../api.ts";
import type { HookEvent, HookEventName } from "../events.ts";
import { otherUI } from "./other_ui.ts";

type Handler = (event: never, ctx: HookContext, emission: object) => unknown;
type Exec = (command: string, args: string[], options?: ExecOptions) => Promise<ExecResult>;

/** Reasons of the older `session` event, by today's event. */
const SESSION_REASONS: Readonly<Record<string, (event: { reason?: string }) => string>> = {
  session_start: () => "start",
  session_before_switch: ({ reason }) => reason === "new" ? "before_new" : "before_switch",
  session_switch: ({ reason }) => reason === "new" ? "new" : "switch",
  session_before_branch: () => "before_branch",
  session_branch: () => "branch",
  session_before_compact: () => "before_compact",
  session_compact: () => "compact",
  session_before_tree: () => "before_tree",
  session_tree: () => "tree",
  session_shutdown: () => "shutdown",
};

/** Events that are called otherwise elsewhere, by the name that they have there. */
const OTHER_NAMES: Readonly<Record<string, "session_before_branch" | "session_branch">> = {
  session_before_fork: "session_before_branch",
  session_fork: "session_branch",
};

/** Whether an event is called that elsewhere, or was once, so that it is translated. */
export function isOldEventName(name: string): boolean {
  return name === "session" || name === "branch" || Object.hasOwn(OTHER_NAMES, name);
}

/** Translates the older forms that one hook uses. */
export class OldForms {
  readonly #warn: (warning: string) => void;
  readonly #exec: Exec;
  readonly #said = new Set<string>();

  /**
   * @param warn Gets one warning for each form.
   * @param exec Runs programs for `ctx.exec`.
   */
  constructor(warn: (warning: string) => void, exec: Exec) {
    this.#warn = warn;
    this.#exec = exec;
  }

  #deprecate(form: string, today: string): void {
    if (this.#said.has(form)) return;
    this.#said.add(form);
    this.#warn(`${form} is an older form, and works; write ${today} instead`);
  }

  /**
   * Translates a subscription.
   *
   * @param event The name that the hook gave.
   * @param handler The hook's handler.
   * @returns Events and handlers of today, or `undefined` where there is nothing to translate.
   */
  translate(event: string, handler: Handler): [HookEventName, Handler][] | undefined {
    switch (event) {
      case "session":
        this.#deprecate(
          'pi.on("session")',
          'pi.on("session_start"), pi.on("session_shutdown") and the other session events',
        );
        return Object.entries(SESSION_REASONS).map(([name, reason]) => [
          name as HookEventName,
          (today: HookEvent, ctx, emission) => {
            const { sessionManager } = ctx;
            const previous = "previousSessionFile" in today ? today.previousSessionFile : undefined;
            const event = {
              ...today,
              type: "session",
              reason: reason(today as { reason?: string }),
              // The header was an entry then.
              entries: [sessionManager.getHeader(), ...sessionManager.getEntries()].filter((entry) => entry !== null),
              sessionId: sessionManager.getSessionId(),
              sessionManager,
              sessionFile: sessionManager.getSessionFile() ?? null,
              previousSessionFile: previous ?? null,
              ...(today.type === "session_before_compact" ? olderCompaction(today) : {}),
            };
            return (handler as (event: unknown, ctx: HookContext, emission: object) => unknown)(event, ctx, emission);
          },
        ]);
      case "branch":
        this.#deprecate('pi.on("branch")', 'pi.on("session_before_branch")');
        return [["session_before_branch", (today: HookEvent<"session_before_branch">, ctx, emission) => {
          const entries = ctx.sessionManager.getBranch();
          const before = entries.slice(0, Math.max(0, entries.findIndex(({ id }) => id === today.entryId)));
          const turns = before.filter((entry) => entry.type === "message" && entry.message?.role === "user").length;
          const event = { ...today, type: "branch", targetTurnIndex: turns, entries };
          return (handler as (event: unknown, ctx: HookContext, emission: object) => unknown)(event, ctx, emission);
        }]];
      case "session_before_fork":
      case "session_fork":
        return [[
          OTHER_NAMES[event]!,
          (today: HookEvent, ctx, emission) =>
            (handler as (event: unknown, ctx: HookContext, emission: object) => unknown)(
              { ...today, type: event },
              ctx,
              emission,
            ),
        ]];
      case "tool_result":
        return [["tool_result", this.#withResult(handler)]];
      default:
        return undefined;
    }
  }

  /** Gives the event of a result the text that older hosts had as `result`, and takes `{ result }` for an answer. */
  #withResult(handler: Handler): Handler {
    const deprecate = () =>
      this.#deprecate("event.result", 'event.content, a list of parts like { type: "text", text }');
    const descriptor: PropertyDescriptor = {
      get(this: HookEvent<"tool_result">) {
        deprecate();
        return textOf(this.content);
      },
      set(this: HookEvent<"tool_result">, text: unknown) {
        deprecate();
        this.content = [{ type: "text", text: String(text) }];
      },
      configurable: true,
      enumerable: false,
    };
    const answered = (answer: unknown): unknown => {
      if (typeof answer !== "object" || answer === null || !("result" in answer) || "content" in answer) return answer;
      if (typeof answer.result !== "string") return answer;
      deprecate();
      return { ...answer, content: [{ type: "text", text: answer.result }] };
    };
    return (event: never, ctx, emission) => {
      Object.defineProperty(event, "result", descriptor);
      const answer = handler(event, ctx, emission);
      if (typeof answer !== "object" || answer === null) return answer;
      return answer instanceof Promise ? answer.then(answered) : answered(answer);
    };
  }

  /** Gives a tool what it asks for in the order of once, which the names of its parameters tell. */
  tool<P>(tool: HookTool<P>): HookTool<P> {
    const [, , third = "", fourth = "", fifth = ""] = parametersOf(tool.execute);
    if (!/update/i.test(third) || !/ctx|context/i.test(fourth) && !/signal/i.test(fifth)) return tool;
    this.#deprecate(
      "execute(toolCallId, params, onUpdate, ctx, signal)",
      "execute(toolCallId, params, signal, onUpdate, ctx)",
    );
    const execute = tool.execute as unknown as (...args: unknown[]) => ReturnType<HookTool<P>["execute"]>;
    return {
      ...tool,
      execute: (id, params, signal, onUpdate, ctx) => execute.call(tool, id, params, onUpdate, ctx, signal),
    };
  }

  /** Reads the second argument of `sendMessage`, which was a boolean once. */
  sendOptions(options: unknown): SendMessageOptions | undefined {
    if (typeof options !== "boolean") return options as SendMessageOptions | undefined;
    this.#deprecate(`sendMessage(message, ${options})`, `sendMessage(message, { triggerTurn: ${options} })`);
    return { triggerTurn: options };
  }

  /** Adds the members of `pi` that there were once. */
  extendApi(api: HookAPI): void {
    Object.assign(api, {
      send: (text: unknown) => {
        this.#deprecate("pi.send(text)", "pi.sendUserMessage(text)");
        api.sendUserMessage(String(text), { deliverAs: "followUp" });
      },
      log: (...words: unknown[]) => {
        this.#deprecate("pi.log(…)", "pi.logger.info(message)");
        api.logger.info(words.map(String).join(" "));
      },
    });
  }

  /** Adds the members of `ctx` that there were once, and those that are called otherwise elsewhere. */
  extendContext<C extends HookContext>(context: C): C {
    // It may be another one each time that it is asked for.
    const { get, value } = Object.getOwnPropertyDescriptor(context, "ui") ?? { value: context.ui };
    return Object.defineProperties(context, {
      ui: {
        configurable: true,
        enumerable: true,
        get: () => otherUI(get === undefined ? value : get.call(context)),
      },
      mode: { configurable: true, get: () => context.hasUI ? context.ui.mode ?? "tui" : "print" },
      ...("branch" in context ? { fork: { configurable: true, value: context.branch } } : {}),
      hasPendingMessages: { configurable: true, value: () => context.hasQueuedMessages() },
      exec: {
        configurable: true,
        get: () => {
          this.#deprecate("ctx.exec", "pi.exec");
          return this.#exec;
        },
      },
      sessionFile: {
        configurable: true,
        get: () => {
          this.#deprecate("ctx.sessionFile", "ctx.sessionManager.getSessionFile()");
          return context.sessionManager.getSessionFile() ?? null;
        },
      },
    });
  }
}

/** What the older event told of a compaction beside what today's tells. */
function olderCompaction({ preparation, branchEntries }: HookEvent<"session_before_compact">): Record<string, unknown> {
  const firstKeptEntryIndex = branchEntries.findIndex(({ id }) => id === preparation.firstKeptEntryId);
  return {
    preparation: {
      ...preparation,
      messagesToKeep: preparation.recentMessages,
      // Counted in `entries`, which begins with the header.
      cutPoint: { firstKeptEntryIndex: firstKeptEntryIndex + 1 },
    },
    previousCompactions: branchEntries.filter((entry) => entry.type === "compaction").reverse(),
  };
}

/** The names of a function's parameters, as far as they are names. */
function parametersOf(callee: unknown): string[] {
  const list = /^[^(]{0,100}\(([^()]{0,500})\)/.exec(Function.prototype.toString.call(callee))?.[1] ?? "";
  return list.split(",").map((parameter) => parameter.trim());
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => part?.type === "text" ? [String(part.text)] : []).join("\n");
}
