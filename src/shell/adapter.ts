/**
 * Shell hooks become hooks: scripts in `pre/` and `post/`, and the commands of Claude-style settings.
 *
 * @module
 */

import type { ExecResult, HookAPI, HookContext, HookLogger } from "../api.ts";
import type { Approved } from "../discovery/discover.ts";
import type { HookEvent, HookEventName, HookResult } from "../events.ts";
import { createHook, HookBrokenError, type LoadedHook } from "../hook.ts";
import { execCommand } from "../exec.ts";
import type { UserContent } from "../messages.ts";
import { errorText, isRecord } from "../values.ts";
import { shellInput } from "./input.ts";
import { parseMatcher } from "./matcher.ts";
import { readAnswer, type ShellAnswer } from "./output.ts";
import { runShellProgram, type ShellProgram } from "./program.ts";
import { SHELL_EVENTS, type ShellEventName } from "./settings.ts";
import { namesOf } from "./tools.ts";

/** What {@linkcode createShellHook} needs. */
export interface ShellHookOptions {
  /** What the hook is called. */
  path: string;
  /** Absolute path of the script, or of the settings file. */
  resolvedPath: string;
  /** When it runs. */
  event: ShellEventName;
  /** Which tools, or reasons, it is for, as a matcher. */
  matcher: string;
  /** What is started. */
  program: ShellProgram;
  /** Time limit in seconds; 60 when absent. */
  timeout?: number;
  /** Whether it also sees results of tools that failed. */
  seesErrors?: boolean;
  /** The project's folder. */
  cwd: string;
  /** Root of the plugin that it belongs to. */
  pluginRoot?: string;
  /** The approval that lets it run; absent for a hook of the person. */
  approval?: Approved;
  /** Where it is logged what the hook prints beside its answer. */
  logger: HookLogger;
}

const DEFAULT_TIMEOUT = 60;
/** How often in a row a hook may make the agent go on that wants to stop. */
const MAX_CONTINUATIONS = 8;
const CUSTOM_TYPE = "shell-hook";

/**
 * Makes a hook that starts a program for each event and does what the program answers.
 *
 * @param options See {@linkcode ShellHookOptions}.
 * @returns The hook.
 */
export function createShellHook(options: ShellHookOptions): LoadedHook {
  const { path, resolvedPath, cwd, logger, event } = options;
  const { hook, api } = createHook({
    path,
    resolvedPath,
    logger,
    warn: (warning) => logger.warn(warning),
    exec: (command, args, execOptions) => execCommand(command, args, execOptions?.cwd ?? cwd, execOptions),
  });
  const shell = new Shell(options, api);
  const register = <N extends HookEventName>(
    name: N,
    handler: (event: HookEvent<N>, ctx: HookContext) => Promise<HookResult<N> | void>,
  ) => {
    // Each event of Claude Code is handled by one of ours, whose name the table has.
    if (SHELL_EVENTS[event] === name) api.on(name, handler);
  };
  register("tool_call", (payload, ctx) => shell.beforeTool(payload, ctx));
  register("tool_result", (payload, ctx) => shell.afterTool(payload, ctx));
  register("before_agent_start", (payload, ctx) => shell.onPrompt(payload, ctx));
  register("session_start", (payload, ctx) => shell.onStart(payload, ctx));
  register("session_shutdown", async (payload, ctx) => void await shell.ask(payload, ctx));
  register("agent_end", (payload, ctx) => shell.onStop(payload, ctx));
  register("session_before_compact", (payload, ctx) => shell.onCompact(payload, ctx));
  // A new prompt of the person begins a new row of continuations.
  if (event === "Stop") api.on("before_agent_start", () => void (shell.continuations = 0));
  return hook;
}

class Shell {
  continuations = 0;
  readonly #matches: (names: readonly string[]) => boolean;
  readonly #timeout: number;
  readonly #env: Record<string, string>;

  constructor(readonly options: ShellHookOptions, readonly api: HookAPI) {
    this.#matches = parseMatcher(options.matcher);
    this.#timeout = options.timeout ?? DEFAULT_TIMEOUT;
    this.#env = {
      CLAUDE_PROJECT_DIR: options.cwd,
      ...(options.pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: options.pluginRoot }),
    };
  }

  /**
   * Starts the program for an event.
   *
   * @throws {HookBrokenError} When it says neither yes nor no.
   */
  async ask(event: HookEvent, ctx: HookContext, more: Record<string, unknown> = {}): Promise<ShellAnswer> {
    const { program, cwd, approval } = this.options;
    let answer: ShellAnswer;
    try {
      const input = shellInput(this.options.event, event, ctx, more);
      const result: ExecResult = await runShellProgram(program, {
        cwd,
        env: this.#env,
        timeout: this.#timeout,
        input,
        ...(approval === undefined ? {} : { approval }),
      });
      answer = readAnswer(result);
    } catch (error) {
      throw new HookBrokenError(this.#broken(errorText(error)));
    }
    if (answer.noise !== undefined) {
      const warning =
        `${this.options.path} printed more than its answer, which may be what a shell's profile prints: ${answer.noise}`;
      this.api.logger.warn(warning);
      ctx.ui.notify(warning, "warning");
    }
    if (answer.systemMessage !== undefined) ctx.ui.notify(answer.systemMessage, "warning");
    if (answer.stop !== undefined) ctx.abort();
    return answer;
  }

  async beforeTool(event: HookEvent<"tool_call">, ctx: HookContext): Promise<HookResult<"tool_call"> | void> {
    if (!this.#matches(namesOf(event.toolName))) return;
    const { deny, ask, stop, context } = await this.ask(event, ctx);
    if (deny !== undefined || stop !== undefined) return { block: true, reason: this.#reason(deny || stop) };
    if (ask !== undefined) {
      const reason = this.#reason(ask);
      if (!ctx.hasUI) return { block: true, reason: `${reason} (nobody is there to be asked)` };
      if (!await ctx.ui.confirm(`Run ${event.toolName}?`, reason)) return { block: true, reason };
    }
    if (context !== undefined) this.#tell(context);
  }

  async afterTool(event: HookEvent<"tool_result">, ctx: HookContext): Promise<HookResult<"tool_result"> | void> {
    if (event.isError && !this.options.seesErrors) return;
    if (!this.#matches(namesOf(event.toolName))) return;
    const { deny, context, output } = await this.ask(event, ctx);
    const more = [deny, context].filter((text) => text !== undefined && text !== "");
    if (output === undefined && more.length === 0) return;
    const content = output === undefined ? event.content : contentOf(output);
    return { content: [...content, ...more.map((text): UserContent => ({ type: "text", text: text! }))] };
  }

  async onPrompt(
    event: HookEvent<"before_agent_start">,
    ctx: HookContext,
  ): Promise<HookResult<"before_agent_start"> | void> {
    const { deny, stop, context, text } = await this.ask(event, ctx);
    if (deny !== undefined) {
      ctx.ui.notify(this.#reason(deny), "error");
      ctx.abort();
    }
    const content = deny === undefined && stop === undefined ? context ?? text : undefined;
    if (content !== undefined) return { message: { customType: CUSTOM_TYPE, content, display: false } };
  }

  async onStart(event: HookEvent<"session_start">, ctx: HookContext): Promise<void> {
    if (!this.#matches(["startup"])) return;
    const { context, text } = await this.ask(event, ctx);
    const content = context ?? text;
    if (content !== undefined) this.#tell(content);
  }

  async onStop(event: HookEvent<"agent_end">, ctx: HookContext): Promise<void> {
    const { deny, stop } = await this.ask(event, ctx, { stop_hook_active: this.continuations > 0 });
    if (deny === undefined || stop !== undefined) return void (this.continuations = 0);
    if (++this.continuations > MAX_CONTINUATIONS) {
      const warning =
        `${this.options.path} kept the agent from stopping ${MAX_CONTINUATIONS} times in a row; it may stop now`;
      this.continuations = 0;
      this.api.logger.warn(warning);
      return ctx.ui.notify(warning, "warning");
    }
    const content = this.#reason(deny);
    this.api.sendMessage({ customType: CUSTOM_TYPE, content, display: true, attribution: "agent" }, {
      triggerTurn: true,
      deliverAs: "followUp",
    });
  }

  async onCompact(
    event: HookEvent<"session_before_compact">,
    ctx: HookContext,
  ): Promise<HookResult<"session_before_compact"> | void> {
    if (!this.#matches(["manual", "auto"])) return;
    const { deny, stop } = await this.ask(event, ctx);
    if (deny !== undefined || stop !== undefined) {
      ctx.ui.notify(this.#reason(deny || stop), "warning");
      return { cancel: true };
    }
  }

  /** Gives the model something to read, where there is a session. */
  #tell(content: string): void {
    try {
      this.api.sendMessage({ customType: CUSTOM_TYPE, content, display: false, attribution: "agent" });
    } catch (error) {
      this.api.logger.warn(`What ${this.options.path} has for the model is lost: ${errorText(error)}`);
    }
  }

  #reason(text: string | undefined): string {
    return text || `Denied by ${this.options.path}`;
  }

  #broken(why: string): string {
    const { path } = this.options;
    return `The hook ${path} is broken, it did not deny anything: ${why}. Mend it, or leave it out with /hooks disable ${path}`;
  }
}

/** What the model reads in the place of a tool's output. */
function contentOf(output: unknown): UserContent[] {
  const parts = Array.isArray(output)
    ? output
    : isRecord(output) && Array.isArray(output.content)
    ? output.content
    : [];
  const whole = parts.length > 0 && parts.every((part): part is UserContent =>
    isRecord(part) &&
    (part.type === "text" ? typeof part.text === "string" : part.type === "image" && typeof part.data === "string")
  );
  if (whole) return parts;
  if (isRecord(output) && typeof output.stdout === "string") {
    const stderr = typeof output.stderr === "string" ? output.stderr : "";
    return [{ type: "text", text: output.stdout + stderr }];
  }
  return [{ type: "text", text: typeof output === "string" ? output : JSON.stringify(output) }];
}
