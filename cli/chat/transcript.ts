/**
 * What was said and done, on the screen of the chat.
 *
 * @module
 */

import type { Theme } from "../../src/api.ts";
import { type AgentMessage, type CustomMessage, textOf, type UserContent } from "../../src/messages.ts";
import type { HookDecision, HookRunner } from "../../src/runner.ts";
import type { SessionEvent, ToolEndNotice } from "../../src/session/session_events.ts";
import { keepColours, plainText } from "../../src/ui/text.ts";
import { fitted } from "../../src/ui/tui/fit.ts";
import type { Guard } from "../../src/ui/tui/guard.ts";
import { markdownTheme } from "../../src/ui/tui/look.ts";
import type { PiTui } from "../../src/ui/tui/pi_tui.ts";
import type { Screen } from "../../src/ui/tui/screen.ts";
import { errorText } from "../../src/values.ts";
import { oneLine, type Reporter, shownLines, summaryOf } from "../report.ts";

/** Lines of a tool's output that are shown while it is collapsed, and while it is not. */
const TOOL_LINES = { collapsed: 6, expanded: 500 };
/** Lines of a hook's message that are shown while it is collapsed. */
const MESSAGE_LINES = 5;
/** Most characters of a text that are shown, but for what the model says. */
const MAX_TEXT = 100_000;
/** The newest messages that are drawn by components, which may change; older ones are not asked any more. */
const LIVE_MESSAGES = 50;

type Level = "info" | "warning" | "error";

/** What a tool call has come to. */
interface ToolCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  content: readonly UserContent[];
  state: "running" | "done" | "failed" | "blocked" | "broken";
  end?: ToolEndNotice;
}

/** Shows what happens in a session. */
export class Transcript implements Reporter {
  /** The colours in use. */
  readonly theme: Theme;
  readonly #lib: PiTui;
  readonly #screen: Screen;
  readonly #calls = new Map<string, { call: ToolCall; block: Block }>();
  /** Messages that are drawn whenever the screen is. */
  readonly #live: Block[] = [];
  /** Calls whose gate broke. */
  readonly #broken = new Set<string>();
  #expanded = false;
  /** The answer that is coming in. */
  #answer: { kind: "text" | "thinking"; text: string; show: (text: string) => void } | undefined;

  /**
   * @param lib The terminal library.
   * @param screen Where to.
   */
  constructor(lib: PiTui, screen: Screen) {
    this.#lib = lib;
    this.#screen = screen;
    this.theme = screen.theme;
  }

  /** As {@linkcode Reporter.loadError}. */
  loadError(path: string, error: string): void {
    this.notify(`${path}: ${error}`, "error");
  }

  /** As {@linkcode Reporter.loadWarning}. */
  loadWarning(path: string, warning: string): void {
    this.notify(`${path}: ${warning}`, "warning");
  }

  /** As {@linkcode Reporter.decision}. */
  decision({ event, effect, hookPath, reason }: HookDecision): void {
    if (effect === "broken" && event.type === "tool_call") this.#broken.add(event.toolCallId);
    if (effect === "cancel") {
      this.notify(`${hookPath} cancelled ${event.type}${reason ? `: ${reason}` : ""}`, "warning");
    }
  }

  /** As {@linkcode Reporter.event}. */
  event(event: SessionEvent, runner: HookRunner): void {
    switch (event.type) {
      case "agent_start":
      case "turn_start":
        this.#screen.setActivity("Working…");
        break;
      case "agent_end":
      case "auto_compaction_end":
        this.#screen.setActivity(undefined);
        break;
      case "message_update":
        if (event.delta.type !== "toolCallDelta") this.#stream(event.delta.type, event.delta.delta);
        break;
      case "message_end":
        this.#message(event.message, runner);
        break;
      case "tool_execution_start":
        this.#callTool(event.toolCallId, event.toolName, event.args);
        break;
      case "tool_execution_update":
        this.#updateTool(event.toolCallId, (call) => call.content = event.content);
        break;
      case "tool_execution_end":
        this.#updateTool(event.toolCallId, (call) => {
          this.#calls.delete(event.toolCallId);
          call.content = event.content;
          call.end = event;
          call.state = event.blocked
            ? this.#broken.has(event.toolCallId) ? "broken" : "blocked"
            : event.isError
            ? "failed"
            : "done";
        });
        break;
      case "command":
        this.#show(
          () => [`${this.theme.fg("accent", "/")}${this.theme.bold(plainText(event.name))} ${oneLine(event.args)}`],
        );
        break;
      case "session_switch":
      case "session_branch":
        this.#say("muted", `→ now in session ${event.sessionFile ?? event.sessionId}`);
        break;
      case "hook_error":
        this.notify(`${event.hookPath} failed in ${event.event}: ${event.error}`, "error");
        break;
      case "notice":
        this.notify(event.message, event.level);
        break;
      case "auto_retry_start":
        this.notify(`${event.errorMessage}; trying again in ${event.delayMs / 1000} s`, "info");
        break;
      case "auto_compaction_start":
        this.#screen.setActivity("Compacting…");
        break;
      case "session_compact":
        this.notify("The conversation was compacted", "info");
        break;
    }
  }

  /** As {@linkcode Reporter.notify}. */
  notify(message: string, level: Level): void {
    this.#say(level === "info" ? "accent" : level, message, `${level}: `);
  }

  /** Shows what a command has to say. */
  say(text: string): void {
    this.#say("muted", text);
  }

  /** As {@linkcode Reporter.status}. */
  status(key: string, text: string | undefined): void {
    this.#screen.setStatus(key, text);
  }

  /** As {@linkcode Reporter.widget}. */
  widget(key: string, lines: string[] | undefined): void {
    this.#screen.setWidget(key, lines);
  }

  /** As {@linkcode Reporter.lostError}. */
  lostError(error: string, hookPath: string | undefined): void {
    this.notify(`${hookPath ?? "A hook or a tool"} failed where nobody waited for it: ${error}`, "error");
  }

  /** As {@linkcode Reporter.failure}. */
  failure(message: string): void {
    this.notify(message, "error");
  }

  /** Shows the messages of a session that goes on, in place of all that was shown. */
  restore(messages: readonly AgentMessage[], runner: HookRunner): void {
    this.#calls.clear();
    this.#live.length = 0;
    this.#screen.clear();
    for (const message of messages) {
      this.#message(message, runner);
      if (message.role === "assistant") {
        for (const part of message.content) {
          if (part.type === "text") this.#stream("text", part.text);
          if (part.type === "toolCall") this.#callTool(part.id, part.name, part.arguments);
        }
        this.#answer = undefined;
      } else if (message.role === "toolResult") {
        this.#updateTool(message.toolCallId, (call) => {
          call.content = message.content;
          call.state = message.isError ? "failed" : "done";
        });
      }
    }
  }

  /** Shows the output of tools and the messages of hooks whole, or their beginnings. */
  toggleExpanded(): void {
    this.#expanded = !this.#expanded;
    this.#screen.redrawAll();
  }

  #message(message: AgentMessage, runner: HookRunner): void {
    switch (message.role) {
      case "user":
        this.#show((width) =>
          indented(this.theme.fg("accent", "> "), shownText(textOf(message.content)), width, this.#lib)
        );
        break;
      case "custom":
        if (message.display) this.#custom(message, runner);
        break;
      case "assistant":
        this.#answer = undefined;
        if (message.stopReason === "error") {
          this.notify(`The model failed: ${message.errorMessage ?? "no reason given"}`, "error");
        }
        if (message.stopReason === "aborted") this.#say("muted", "Stopped");
        break;
      case "bashExecution":
        this.#show(() => [`${this.theme.fg("accent", "!")} ${this.theme.bold(oneLine(message.command))}`]);
        this.say(message.output.trimEnd() + (message.exitCode === 0 ? "" : `\n(exit code ${message.exitCode})`));
        break;
      case "compactionSummary":
      case "branchSummary":
        this.#say("muted", message.summary);
        break;
    }
  }

  /** More of what the model says. */
  #stream(kind: "text" | "thinking", delta: string): void {
    if (this.#answer?.kind !== kind) {
      const show = kind === "text" ? this.#markdown() : this.#thinking();
      this.#answer = { kind, text: "", show };
    }
    this.#answer.text += delta;
    this.#answer.show(this.#answer.text);
    this.#screen.redraw();
  }

  #markdown(): (text: string) => void {
    const markdown = new this.#lib.Markdown("", 0, 0, markdownTheme(this.theme));
    let shown = "";
    const block = this.#show((width) => {
      // Cleaned as a whole: what steers a terminal may come in pieces.
      markdown.setText(plainText(shown));
      return markdown.render(width);
    });
    return (text) => {
      shown = text;
      block.invalidate();
    };
  }

  #thinking(): (text: string) => void {
    let shown = "";
    const block = this.#show((width) =>
      this.#lib.wrapTextWithAnsi(plainText(shown), width).map((line) => this.theme.fg("muted", this.theme.italic(line)))
    );
    return (text) => {
      shown = text;
      block.invalidate();
    };
  }

  #callTool(id: string, name: string, args: Record<string, unknown>): void {
    const call: ToolCall = { name, args, content: [], state: "running" };
    this.#calls.set(id, { call, block: this.#show((width) => this.#drawTool(call, width)) });
  }

  #updateTool(id: string, update: (call: ToolCall) => void): void {
    const known = this.#calls.get(id);
    if (known === undefined) return;
    update(known.call);
    known.block.invalidate();
    this.#screen.redraw();
  }

  #drawTool({ name, args, content, state, end }: ToolCall, width: number): string[] {
    const { theme } = this;
    const head = `${theme.fg("accent", "●")} ${theme.bold(plainText(name))} ${summaryOf(args, width)}`;
    if (state === "blocked" || state === "broken") {
      const what = state === "broken" ? "the gate broke, and stays closed" : "blocked";
      const by = `  ${theme.fg("error", `✗ ${what}`)} ${theme.fg("muted", `by ${plainText(end?.hook ?? "a hook")}`)}`;
      return [head, by, ...indented("    ", shownText(end?.reason ?? "no reason given"), width, this.#lib)];
    }
    const changed = end?.changedBy?.length
      ? theme.fg("warning", `, changed by ${end.changedBy.map(plainText).join(", ")}`)
      : "";
    const marks = {
      running: theme.fg("muted", "…"),
      done: theme.fg("success", "✓ done"),
      failed: theme.fg("error", "✗ failed"),
    };
    const lines = shownLines(content).filter((line, i) => line !== "" || i > 0);
    const shown = lines.slice(0, this.#expanded ? TOOL_LINES.expanded : TOOL_LINES.collapsed);
    const more = lines.length - shown.length;
    return [
      head,
      `  ${marks[state]}${changed}`,
      ...shown.map((line) => `    ${theme.fg("muted", this.#lib.truncateToWidth(line, Math.max(1, width - 4), "…"))}`),
      ...more > 0 ? [`    ${theme.fg("muted", `… ${more} more lines${this.#expanded ? "" : " · Ctrl+O"}`)}`] : [],
    ];
  }

  /** A hook's message: as its renderer draws it, or as text. */
  #custom(message: CustomMessage, runner: HookRunner): void {
    let drawn: { part: Guard | undefined; expanded: boolean } | undefined;
    const failed = (error: unknown) => {
      drawn = { part: undefined, expanded: this.#expanded };
      block.invalidate();
      this.notify(`The renderer of ${message.customType} failed: ${errorText(error)}`, "error");
    };
    const partNow = (): Guard | undefined => {
      if (drawn?.expanded === this.#expanded) return drawn.part;
      drawn?.part?.dispose();
      drawn = { part: undefined, expanded: this.#expanded };
      try {
        const component = runner.getMessageRenderer(message.customType)?.(
          message,
          { expanded: this.#expanded },
          this.theme,
        );
        if (component === undefined) block.keep = true;
        else drawn.part = this.#screen.guard(component, failed, () => block.invalidate());
      } catch (error) {
        failed(error);
      }
      return drawn.part;
    };
    // What a renderer draws may look like anything; the label tells that it is a message.
    const label = this.theme.bold(this.theme.fg("accent", `[${plainText(message.customType)}]`));
    const block: Block = this.#show(
      (width) => [label, ...partNow()?.render(width) ?? this.#plainMessage(message, width)],
      false,
    );
    this.#live.push(block);
    if (this.#live.length > LIVE_MESSAGES) this.#live.shift()!.keep = true;
  }

  #plainMessage(message: CustomMessage, width: number): string[] {
    const lines = this.#lib.wrapTextWithAnsi(shownText(textOf(message.content)), width);
    const shown = lines.slice(0, this.#expanded ? TOOL_LINES.expanded : MESSAGE_LINES);
    return [...shown, ...shown.length < lines.length ? [this.theme.fg("muted", "… Ctrl+O")] : []];
  }

  #say(colour: string, text: string, label = ""): void {
    this.#show((width) =>
      indented(
        this.theme.fg(colour, label),
        this.theme.fg(label === "" ? colour : "", shownText(text)),
        width,
        this.#lib,
      )
    );
  }

  #show(draw: (width: number) => string[], keep = true): Block {
    const block = new Block(this.#lib, draw, keep);
    this.#screen.add(block);
    return block;
  }
}

/** Lines that are drawn once for a width, until they change. A blank line stands above them. */
class Block {
  #lines: string[] | undefined;
  #width = 0;

  /**
   * @param lib The terminal library.
   * @param draw Makes its lines.
   * @param keep Whether they are kept.
   */
  constructor(readonly lib: PiTui, readonly draw: (width: number) => string[], public keep: boolean) {}

  render(width: number): string[] {
    if (this.#lines !== undefined && this.#width === width) return this.#lines;
    const lines = fitted(this.lib, { render: this.draw }).render(width);
    this.#width = width;
    lines.unshift("");
    if (this.keep) this.#lines = lines;
    return lines;
  }

  invalidate(): void {
    this.#lines = undefined;
  }
}

/** Text that a terminal may get, and not more of it than anybody reads. */
function shownText(text: string): string {
  return plainText(
    text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length - MAX_TEXT} more characters)` : text,
  );
}

/** Text with something before its first line, and as much room before the others. */
function indented(before: string, text: string, width: number, { visibleWidth, wrapTextWithAnsi }: PiTui): string[] {
  const room = visibleWidth(before);
  return wrapTextWithAnsi(keepColours(text), Math.max(1, width - room)).map((line, i) =>
    (i === 0 ? before : " ".repeat(room)) + line
  );
}
