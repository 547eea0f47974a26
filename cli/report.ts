/**
 * What happens in a session, for people and for programs.
 *
 * @module
 */

import type { HookLogger, Theme } from "../src/api.ts";
import { type AgentMessage, type CustomMessage, textOf, type UserContent } from "../src/messages.ts";
import type { HookDecision, HookRunner } from "../src/runner.ts";
import type { SessionEvent, ToolEndNotice } from "../src/session/session_events.ts";
import { keepColours, plainText, truncateToCells } from "../src/ui/text.ts";
import { errorText } from "../src/values.ts";
import type { Output } from "./output.ts";

/** Tells what happens. Text of hooks, tools and models may hold anything. */
export interface Reporter {
  /** The colours in use. */
  readonly theme: Theme;
  /** A hook could not be loaded. */
  loadError(path: string, error: string): void;
  /** A hook is odd. */
  loadWarning(path: string, warning: string): void;
  /** A hook decided something. */
  decision(decision: HookDecision): void;
  /** The session tells something. Where showing it takes a moment, a promise says when it is shown. */
  event(event: SessionEvent, runner: HookRunner): void | Promise<void>;
  /** A hook tells the person something. */
  notify(message: string, type: "info" | "warning" | "error"): void;
  /** A hook sets a status text. */
  status(key: string, text: string | undefined): void;
  /** A hook sets the lines of a widget. */
  widget(key: string, lines: string[] | undefined): void;
  /** Something failed where nobody waited for it. */
  lostError(error: string, hookPath: string | undefined): void;
  /** The command ends here, and why. */
  failure(message: string): void;
}

/** What hooks log with `pi.logger`: warnings and errors are for the person. */
export function loggerOf({ notify }: Pick<Reporter, "notify">): HookLogger {
  return {
    debug() {},
    info() {},
    warn: (message) => notify(message, "warning"),
    error: (message) => notify(message, "error"),
  };
}

/** One JSON record a line. */
export class JsonReporter implements Reporter {
  /** A program reads it: no colours. */
  readonly theme: Theme;
  readonly #output: Output;

  /** @param output Where to. */
  constructor(output: Output) {
    this.#output = output;
    this.theme = output.theme;
  }

  /** As {@linkcode Reporter.loadError}. */
  loadError(path: string, error: string): void {
    this.#output.record({ type: "hook_load_error", path, error });
  }

  /** As {@linkcode Reporter.loadWarning}. */
  loadWarning(path: string, warning: string): void {
    this.#output.record({ type: "hook_load_warning", path, warning });
  }

  /** As {@linkcode Reporter.decision}. */
  decision({ hookPath, event, effect, reason }: HookDecision): void {
    const call = "toolCallId" in event ? { toolCallId: event.toolCallId, toolName: event.toolName } : {};
    this.#output.record({ type: "hook_decision", hookPath, event: event.type, effect, reason, ...call });
  }

  /** As {@linkcode Reporter.event}. */
  event(event: SessionEvent): void {
    this.#output.record(event);
  }

  /** As {@linkcode Reporter.notify}. */
  notify(message: string, level: string): void {
    this.#output.record({ type: "notify", level, message: plainText(message) });
  }

  /** As {@linkcode Reporter.status}. */
  status(key: string, text: string | undefined): void {
    this.#output.record({ type: "status", key, text: text ?? null });
  }

  /** As {@linkcode Reporter.widget}. */
  widget(key: string, lines: string[] | undefined): void {
    this.#output.record({ type: "widget", key, lines: lines ?? null });
  }

  /** As {@linkcode Reporter.lostError}. */
  lostError(error: string, hookPath: string | undefined): void {
    this.#output.record({ type: "hook_error", hookPath: hookPath ?? null, event: null, error });
  }

  /** As {@linkcode Reporter.failure}. */
  failure(message: string): void {
    this.#output.note(message);
  }
}

/** Lines of a tool's output that are shown. */
const SHOWN_LINES = 12;

/** Text for people. */
export class TextReporter implements Reporter {
  /** The colours of the terminal. */
  readonly theme: Theme;
  readonly #output: Output;
  readonly #broken = new Set<string>();
  /** What the newest block of lines is, so that blocks of another kind stand apart. */
  #block: "text" | "thinking" | "tool" | "note" | undefined;

  /** @param output Where to. */
  constructor(output: Output) {
    this.#output = output;
    this.theme = output.theme;
  }

  /** As {@linkcode Reporter.loadError}. */
  loadError(path: string, error: string): void {
    this.#note("error", `${path}: ${error}`);
  }

  /** As {@linkcode Reporter.loadWarning}. */
  loadWarning(path: string, warning: string): void {
    this.#note("warning", `${path}: ${warning}`);
  }

  /** As {@linkcode Reporter.decision}. */
  decision({ event, effect, hookPath, reason }: HookDecision): void {
    if (effect === "broken" && event.type === "tool_call") this.#broken.add(event.toolCallId);
    if (effect === "cancel") this.#note("warning", `${hookPath} cancelled ${event.type}${reason ? `: ${reason}` : ""}`);
  }

  /** As {@linkcode Reporter.event}. */
  event(event: SessionEvent, runner: HookRunner): void | Promise<void> {
    const { theme } = this;
    switch (event.type) {
      case "message_update":
        if (event.delta.type === "toolCallDelta") break;
        this.#begin(event.delta.type);
        this.#output.write(
          event.delta.type === "thinking"
            ? theme.fg("muted", plainText(event.delta.delta))
            : plainText(event.delta.delta),
        );
        break;
      case "message_end":
        return this.#message(event.message, runner);
      case "tool_execution_start":
        this.#begin("tool");
        this.#output.line(
          `${theme.fg("accent", "●")} ${theme.bold(plainText(event.toolName))} ${
            summaryOf(event.args, this.#output.width)
          }`,
        );
        break;
      case "tool_execution_end":
        this.#toolEnd(event);
        break;
      case "command":
        this.#begin("tool");
        this.#output.line(`${theme.fg("accent", "/")}${theme.bold(plainText(event.name))} ${oneLine(event.args)}`);
        break;
      case "session_switch":
      case "session_branch":
        this.#begin("note");
        this.#output.line(theme.fg("muted", `→ now in session ${plainText(event.sessionFile ?? event.sessionId)}`));
        break;
      case "hook_error":
        this.#note("error", `${event.hookPath} failed in ${event.event}: ${event.error}`);
        break;
      case "notice":
        this.#note(event.level, event.message);
        break;
      case "auto_retry_start":
        this.#note("info", `${event.errorMessage}; trying again in ${event.delayMs / 1000} s`);
        break;
      case "session_compact":
        this.#note("info", "The conversation was compacted");
        break;
    }
  }

  /** As {@linkcode Reporter.notify}. */
  notify(message: string, type: "info" | "warning" | "error"): void {
    this.#note(type, message);
  }

  /** There is no line for it where the output is a stream. */
  status(): void {}

  /** There is no place for it either. */
  widget(): void {}

  /** As {@linkcode Reporter.lostError}. */
  lostError(error: string, hookPath: string | undefined): void {
    this.#note("error", `${hookPath ?? "A hook or a tool"} failed where nobody waited for it: ${error}`);
  }

  /** As {@linkcode Reporter.failure}. */
  failure(message: string): void {
    this.#note("error", message);
  }

  #begin(block: "text" | "thinking" | "tool" | "note"): void {
    if (this.#block === block) return;
    if (this.#block !== undefined || !this.#output.isEmpty) this.#output.line();
    this.#block = block;
  }

  #note(level: "info" | "warning" | "error", text: string): void {
    const { noteTheme } = this.#output;
    const colour = level === "info" ? "accent" : level;
    this.#output.note(`${noteTheme.fg(colour, `${level}:`)} ${plainText(text).replaceAll("\n", "\n  ")}`);
  }

  #message(message: AgentMessage, runner: HookRunner): void | Promise<void> {
    if (message.role === "custom" && message.display) {
      this.#block = undefined;
      this.#begin("note");
      return this.#draw(message, runner);
    } else if (message.role === "assistant") {
      this.#output.endLine();
      if (message.errorMessage !== undefined && message.stopReason === "error") {
        this.#note("error", `The model failed: ${message.errorMessage}`);
      }
    }
  }

  /** Draws a hook's message; a component of an isolated hook takes a moment. */
  #draw(message: CustomMessage, runner: HookRunner): void | Promise<void> {
    const { width } = this.#output;
    const show = (lines: string[]) => {
      for (const line of lines) this.#output.line(keepColours(line).replaceAll(/[\r\n]/g, " "));
    };
    const failed = (error: unknown) => {
      this.#note("error", `The renderer of ${message.customType} failed: ${errorText(error)}`);
      show(this.#plain(message));
    };
    try {
      const component = runner.getMessageRenderer(message.customType)?.(message, { expanded: false }, this.theme);
      if (component === undefined) return show(this.#plain(message));
      const finish = () => {
        show(component.render(width));
        component.dispose?.();
      };
      return component.whenDrawn === undefined ? finish() : component.whenDrawn(width).then(finish).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #plain(message: CustomMessage): string[] {
    const title = this.theme.fg("accent", `[${plainText(message.customType)}]`);
    return plainText(textOf(message.content)).split("\n").map((line, i) => i === 0 ? `${title} ${line}` : line);
  }

  #toolEnd(event: ToolEndNotice): void {
    const { theme } = this;
    if (event.blocked) {
      const what = this.#broken.has(event.toolCallId) ? "the gate broke, and stays closed" : "blocked";
      const why = plainText(event.reason ?? "no reason given").split("\n");
      this.#output.line(
        `  ${theme.fg("error", `✗ ${what}`)} ${theme.fg("muted", `by ${plainText(event.hook ?? "a hook")}`)}`,
      );
      for (const line of why) this.#output.line(`    ${line}`);
      return;
    }
    const changed = event.changedBy?.length
      ? theme.fg("warning", `, changed by ${event.changedBy.map(plainText).join(", ")}`)
      : "";
    this.#output.line(`  ${event.isError ? theme.fg("error", "✗ failed") : theme.fg("success", "✓ done")}${changed}`);
    const lines = shownLines(event.content);
    for (const line of lines.slice(0, SHOWN_LINES)) this.#output.line(`    ${theme.fg("muted", line)}`);
    if (lines.length > SHOWN_LINES) {
      this.#output.line(`    ${theme.fg("muted", `… ${lines.length - SHOWN_LINES} more lines`)}`);
    }
  }
}

/** The arguments of a call on one line. */
export function summaryOf(args: Record<string, unknown>, width: number): string {
  const values = Object.entries(args).map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    return ["command", "path", "pattern"].includes(key) ? text : `${key}=${text}`;
  });
  return truncateToCells(oneLine(values.join("  ")), Math.max(20, width - 20));
}

/** What a tool answered, as lines that a terminal may get. */
export function shownLines(content: readonly UserContent[]): string[] {
  return content.flatMap((part) =>
    part.type === "text" ? plainText(part.text).trimEnd().split("\n") : [`[picture, ${plainText(part.mimeType)}]`]
  );
}

/** Text on one line. */
export function oneLine(text: string): string {
  return plainText(text.slice(0, 2_000)).replaceAll(/\s+/g, " ");
}
