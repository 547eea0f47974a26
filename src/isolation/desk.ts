/**
 * What an isolated hook may ask of its host. Every argument comes from the hook's process and is checked here.
 *
 * @module
 */

import { act, ACTIONS, type HookActions, isActionName, type WidgetContent } from "../actions.ts";
import type {
  Component,
  DialogOptions,
  HookCommandContext,
  HookContext,
  HookMessageInput,
  HookUIContext,
  ReadonlySessionManager,
  SendMessageOptions,
  Theme,
  WritableSessionManager,
} from "../api.ts";
import type { AppendEntryHandler, SendMessageHandler } from "../hook.ts";
import { contentFault } from "../message_check.ts";
import type { ToolUpdate } from "../tool.ts";
import { OutputBudget } from "../exec.ts";
import { errorText, isRecord, kindOf } from "../values.ts";
import { runGranted } from "./exec_gate.ts";
import type { EffectiveGrants } from "./grants.ts";
import { ProtocolError } from "./protocol.ts";
import type { SessionNews } from "./session_mirror.ts";

/** How the desk reaches the child. */
export interface Line {
  /** Tells it something. */
  tell(fields: Record<string, unknown>): void;
  /** Asks it something. */
  ask(fields: Record<string, unknown>): Promise<unknown>;
}

/** Programs that a hook may have running. */
const MAX_PROGRAMS = 16;
/** Most bytes of output of all programs that a hook runs at once. */
const MAX_PROGRAM_OUTPUT = 64 * 1024 * 1024;
/** Texts of the status line and parts of the screen that a hook may have; of more, the oldest go. */
const MAX_SHOWN = 100;
/** Most characters of a key, and of a text of the status line. */
const MAX_KEY = 200;
const MAX_STATUS = 4_096;
/** Most lines of a part of the screen, and most characters of each. */
const MAX_LINES = 200;
const MAX_LINE = 2_000;
/** Entries sent in one answer. */
const PAGE = 2_000;

/** Answers what an isolated hook asks. */
export class Desk {
  /** Takes what the hook sends. */
  sendMessage: SendMessageHandler = () => {
    throw new Error("sendMessage handler not initialized");
  };
  /** Takes what the hook appends. */
  appendEntry: AppendEntryHandler = () => {
    throw new Error("appendEntry handler not initialized");
  };
  /** The context of the newest event or command. */
  context: HookContext | undefined;
  /** The theme of the newest drawing. */
  theme: Theme | undefined;
  /** What the host does beyond the contract. */
  actions: Partial<HookActions> | undefined;
  /** Takes what the hook tells other hooks. */
  publish: ((channel: string, data: unknown) => void) | undefined;
  /** Who is told while a tool of the hook runs, by the number of the call. */
  readonly updates = new Map<number, ToolUpdate>();

  #commandContext: HookCommandContext | undefined;
  #commands = 0;
  #programs = 0;
  readonly #output = new OutputBudget(MAX_PROGRAM_OUTPUT);
  readonly #setups = new Map<number, WritableSessionManager>();
  readonly #customs = new Map<number, RemoteComponent>();
  /** Counts the children: each one numbers its components anew. */
  #child = 0;
  /** What the hook has on the screen: whether its process draws it, and what takes it away. */
  readonly #shown = new Map<string, { readonly drawn: boolean; readonly clear: () => void }>();

  /**
   * @param cwd The project's folder.
   * @param grants What the hook may do.
   * @param line How the child is reached.
   */
  constructor(readonly cwd: string, readonly grants: EffectiveGrants, readonly line: Line) {}

  /** Forgets what the child had open, and takes away what it has drawn. */
  close(): void {
    this.#child++;
    const customs = [...this.#customs.values()];
    this.#customs.clear();
    this.#setups.clear();
    for (const [name, { drawn, clear }] of this.#shown) {
      if (!drawn) continue;
      this.#shown.delete(name);
      try {
        clear();
      } catch {
        // A UI that fails must not keep those who wait for the child from hearing of its end.
      }
    }
    for (const custom of customs) custom.finish(undefined);
  }

  /** Answers what takes time. */
  async ask(method: string, args: readonly unknown[], id: number, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case "exec":
        return await this.#exec(args, signal);
      case "ui.select":
        return await this.#ui.select(text(args[0]), list(args[1]).map(text), dialog(args[2], signal));
      case "ui.confirm":
        return await this.#ui.confirm(text(args[0]), text(args[1]), dialog(args[2], signal));
      case "ui.input":
        return await this.#ui.input(text(args[0]), optional(args[1]), dialog(args[2], signal));
      case "ui.editor":
        return await this.#ui.editor(text(args[0]), optional(args[1]), dialog(args[2], signal));
      case "action":
        return await this.#act(args, true);
      case "ui.custom":
        return await this.#custom(id, dialog(args[0], signal));
      case "waitForIdle":
        return await this.#command.waitForIdle();
      case "newSession":
        return await this.#newSession(args, id);
      case "branch":
        return await this.#command.branch(text(args[0]));
      case "navigateTree": {
        const options = isRecord(args[1]) ? { summarize: args[1].summarize === true } : undefined;
        return await this.#command.navigateTree(text(args[0]), options);
      }
      default:
        throw new ProtocolError(`it asked for ${JSON.stringify(method)}, which there is not`);
    }
  }

  /** Answers what the child waits for without doing anything else. */
  sync(method: string, args: readonly unknown[]): unknown {
    switch (method) {
      case "session":
        return newsOf(this.#required.sessionManager, args);
      case "hasUI":
        return this.#required.hasUI;
      case "model":
        return this.#required.model;
      case "models":
        return this.#required.modelRegistry.getAvailable();
      case "model.find":
        return this.#required.modelRegistry.find(text(args[0]), text(args[1]));
      case "isIdle":
        return this.#required.isIdle();
      case "hasQueuedMessages":
        return this.#required.hasQueuedMessages();
      case "ui.getEditorText":
        return this.#ui.getEditorText();
      case "ui.mode":
        return this.#ui.mode;
      case "theme":
        return this.#paint(args);
      case "sendMessage":
        return this.sendMessage(message(args[0]), sendOptions(args[1]));
      case "appendEntry":
        return this.appendEntry(text(args[0]), args[1]);
      case "setup":
        return this.#fill(args);
      case "action":
        return this.#act(args, false);
      default:
        throw new ProtocolError(`it asked for ${JSON.stringify(method)}, which there is not`);
    }
  }

  /** Does what the child does not wait for. */
  tell(method: string, args: readonly unknown[]): void {
    switch (method) {
      case "abort":
        return this.context?.abort();
      case "ui.notify": {
        const type = args[1];
        const known = type === "info" || type === "warning" || type === "error";
        return this.#ui.notify(text(args[0]), ...(known ? [type] as const : []));
      }
      case "ui.setStatus": {
        const ui = this.#ui;
        const key = text(args[0]).slice(0, MAX_KEY);
        const status = args[1] === undefined ? undefined : text(args[1]).slice(0, MAX_STATUS);
        this.#show(`status ${key}`, status, () => ui.setStatus(key, undefined));
        return ui.setStatus(key, status);
      }
      case "ui.setWidget": {
        const ui = this.#ui;
        const key = text(args[0]).slice(0, MAX_KEY);
        const part = this.#part(args[1]);
        this.#show(`widget ${key}`, part, () => ui.setWidget(key, undefined));
        return ui.setWidget(
          key,
          part,
          ...(isRecord(args[2]) && args[2].placement === "belowEditor" ? [{ placement: "belowEditor" as const }] : []),
        );
      }
      case "ui.setHeader": {
        const ui = this.#ui;
        const part = this.#part(args[0]);
        this.#show("header", part, () => ui.setHeader?.(undefined));
        return ui.setHeader?.(part);
      }
      case "ui.setFooter": {
        const ui = this.#ui;
        const part = this.#part(args[0]);
        this.#show("footer", part, () => ui.setFooter?.(undefined));
        return ui.setFooter?.(part);
      }
      case "ui.setTitle":
        return this.#ui.setTitle?.(text(args[0]));
      case "ui.setWorkingMessage":
        return this.#ui.setWorkingMessage?.(optional(args[0]));
      case "bus":
        return this.publish?.(text(args[0]), args[1]);
      case "tool.update": {
        const partial = args[1];
        if (isRecord(partial) && Array.isArray(partial.content)) {
          this.updates.get(args[0] as number)?.(partial as never);
        }
        return;
      }
      case "ui.setEditorText":
        return this.#ui.setEditorText(text(args[0]));
      case "ui.invalidate":
        return this.#customs.get(args[0] as number)?.redraw();
      case "ui.done":
        return this.#customs.get(args[0] as number)?.finish(args[1]);
      case "ui.failed":
        return this.#customs.get(args[0] as number)?.fail(new Error(text(args[1])));
      default:
        throw new ProtocolError(`it told ${JSON.stringify(method)}, which there is not`);
    }
  }

  #act([name, args]: readonly unknown[], slow: boolean): unknown {
    if (!isActionName(name) || (ACTIONS[name].slow ?? false) !== slow) {
      throw new ProtocolError(`it asked for ${JSON.stringify(name)}, which there is not`);
    }
    return act(this.actions, name, list(args));
  }

  async #exec(args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    if (this.#programs >= MAX_PROGRAMS) {
      throw new Error(`A hook may run ${MAX_PROGRAMS} programs at once; wait for one of them`);
    }
    this.#programs++;
    try {
      return await runGranted(this.grants, this.cwd, args, signal, this.#output);
    } finally {
      this.#programs--;
    }
  }

  get #required(): HookContext {
    if (this.context === undefined) throw new Error("There is no session yet");
    return this.context;
  }

  get #command(): HookCommandContext {
    if (this.#commandContext === undefined) {
      throw new Error("Only a slash command may do this, and only until its handler has ended");
    }
    return this.#commandContext;
  }

  /** Lets the hook do what only commands may, for as long as one runs: an event's handler must not. */
  async duringCommand(context: HookCommandContext, run: () => Promise<unknown>): Promise<void> {
    this.#commands++;
    this.#commandContext = context;
    try {
      await run();
    } finally {
      if (--this.#commands === 0) this.#commandContext = undefined;
    }
  }

  get #ui(): HookUIContext {
    return this.#required.ui;
  }

  #paint([style, ...args]: readonly unknown[]): string {
    const theme = this.theme ?? this.#ui.theme;
    const [first, second] = args.map(text);
    switch (style) {
      case "fg":
      case "bg":
        return theme[style](first ?? "", second ?? "");
      case "bold":
      case "italic":
      case "underline":
      case "strikethrough":
      case "inverse":
        return theme[style](first ?? "");
      default:
        throw new ProtocolError(`it asked for the style ${JSON.stringify(style)}, which there is not`);
    }
  }

  async #newSession([options, hasSetup]: readonly unknown[], id: number): Promise<unknown> {
    const parent = isRecord(options) ? options.parentSession : undefined;
    const setup = async (session: WritableSessionManager) => {
      this.#setups.set(id, session);
      try {
        await this.line.ask({ t: "setup", of: id });
      } finally {
        this.#setups.delete(id);
      }
    };
    return await this.#command.newSession({
      ...(typeof parent === "string" ? { parentSession: parent } : {}),
      ...(hasSetup === true ? { setup } : {}),
    });
  }

  #fill([id, method, given]: readonly unknown[]): unknown {
    const session = this.#setups.get(id as number);
    const args = list(given);
    if (session === undefined) throw new Error("The setup of this session is over");
    switch (method) {
      case "session":
        return newsOf(session, args);
      case "appendMessage":
        return session.appendMessage(args[0] as Parameters<WritableSessionManager["appendMessage"]>[0]);
      case "appendCustomEntry":
        return session.appendCustomEntry(text(args[0]), args[1]);
      case "appendCustomMessageEntry": {
        const { customType, content, display, details, attribution } = message({
          customType: args[0],
          content: args[1],
          display: args[2],
          details: args[3],
          attribution: args[4],
        });
        return session.appendCustomMessageEntry(customType, content, display, details, attribution);
      }
      case "appendLabelChange":
        return session.appendLabelChange(text(args[0]), args[1] === undefined ? undefined : text(args[1]));
      default:
        throw new ProtocolError(`it asked for ${JSON.stringify(method)}, which there is not`);
    }
  }

  /** Keeps in mind what is on the screen, and takes away the oldest when it is too much. */
  #show(name: string, content: unknown, clear: () => void): void {
    this.#shown.delete(name);
    if (content === undefined) return;
    this.#shown.set(name, { drawn: typeof content === "function", clear });
    if (this.#shown.size <= MAX_SHOWN) return;
    const [oldest, shown] = this.#shown.entries().next().value!;
    this.#shown.delete(oldest);
    shown.clear();
  }

  /** Lines of a part of the screen, or the component that draws them in the child. */
  #part(content: unknown): WidgetContent {
    if (content === undefined || content === null) return undefined;
    if (!isRecord(content)) return list(content).slice(0, MAX_LINES).map((line) => text(line).slice(0, MAX_LINE));
    const id = content.drawn;
    if (typeof id !== "number") throw new ProtocolError("it set a part of the screen to nothing that can be drawn");
    const child = this.#child;
    return (tui, theme) => {
      this.theme = theme as Theme;
      return this.#view(child, id, tui);
    };
  }

  #view(child: number, id: number, tui: unknown, done?: (result: unknown) => void): RemoteComponent {
    const lives = () => child === this.#child;
    const view: RemoteComponent = new RemoteComponent(
      async (width) =>
        lives() ? linesOf(await this.line.ask({ t: "frame", ui: id, width, rows: rowsOf(tui) })) ?? [] : [],
      tui,
      done,
      (data) => lives() && this.line.tell({ t: "input", ui: id, data }),
      () => this.#forget(id, view),
    );
    if (lives()) this.#customs.set(id, view);
    return view;
  }

  async #custom(id: number, options: DialogOptions): Promise<unknown> {
    const child = this.#child;
    let view: RemoteComponent | undefined;
    try {
      return await this.#ui.custom<unknown>((tui, theme, done) => {
        this.theme = theme;
        view = this.#view(child, id, tui, done);
        return view;
      }, options);
    } finally {
      if (view !== undefined && this.#forget(id, view)) this.line.tell({ t: "close", ui: id });
      view?.settled();
    }
  }

  #forget(id: number, view: RemoteComponent): boolean {
    return this.#customs.get(id) === view && this.#customs.delete(id);
  }
}

/** Shortest time between two frames that the child asks for, in ms: more of them nobody sees. */
const FRAME_TIME = 16;

/** A component that is drawn in the child: the newest lines are shown while the next ones are made. */
export class RemoteComponent implements Component {
  #lines: string[] = [];
  #width: number | undefined;
  #dirty = true;
  #drawing: Promise<void> | undefined;
  #failure: Error | undefined;
  #redrawn = -FRAME_TIME;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param draw Asks the child for lines.
   * @param tui What shows it, if it is shown for itself.
   * @param done Closes it.
   * @param input Hands the child what was typed.
   * @param gone Told when it is not shown any more.
   */
  constructor(
    readonly draw: (width: number) => Promise<string[]>,
    readonly tui?: unknown,
    readonly done?: (result: unknown) => void,
    readonly input?: (data: string) => void,
    readonly gone?: () => void,
  ) {}

  /** The newest lines there are. */
  render(width: number): string[] {
    this.whenDrawn(width).catch(() => {});
    return this.#lines;
  }

  /** Resolves when the lines for a width are there. Rejects when they cannot be drawn, and nobody else is told of it. */
  async whenDrawn(width: number): Promise<void> {
    while (this.#failure === undefined && (this.#dirty || this.#width !== width || this.#drawing !== undefined)) {
      if (this.#drawing === undefined) {
        this.#dirty = false;
        this.#width = width;
        this.#drawing = this.#draw(width).finally(() => this.#drawing = undefined);
      }
      await this.#drawing;
    }
    if (this.#failure !== undefined && this.done === undefined) throw this.#failure;
  }

  async #draw(width: number): Promise<void> {
    try {
      const lines = await this.draw(width);
      const changed = lines.length !== this.#lines.length || lines.some((line, i) => line !== this.#lines[i]);
      this.#lines = lines;
      if (changed) this.#requestRender();
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #requestRender(): void {
    const { tui } = this;
    if (isRecord(tui) && typeof tui.requestRender === "function") tui.requestRender();
  }

  /** Hands what was typed to the child, and asks for what it looks like then. */
  handleInput(data: string): void {
    this.input?.(data);
    this.#redraw();
  }

  /** Forgets what was drawn. */
  invalidate(): void {
    this.#dirty = true;
  }

  /** Draws again, soon, since the child says that it looks different now: it may say so whenever it draws. */
  redraw(): void {
    const wait = this.#redrawn + FRAME_TIME - performance.now();
    if (wait <= 0) this.#redraw();
    else this.#timer ??= setTimeout(() => this.#redraw(), wait);
  }

  #redraw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#redrawn = performance.now();
    this.#dirty = true;
    if (this.#width !== undefined) this.whenDrawn(this.#width).catch(() => {});
  }

  /** Is not shown any more. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.gone?.();
  }

  /** Closes with a result. */
  finish(result: unknown): void {
    this.done?.(result);
  }

  /** Closes because the child's component threw. */
  fail(error: Error): void {
    this.#failure = error;
    this.#lines = [error.message];
    this.done?.(undefined);
  }

  /** Throws what it was closed with. */
  settled(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** How high the screen is that shows a component. */
function rowsOf(tui: unknown): number {
  const terminal = isRecord(tui) && isRecord(tui.terminal) ? tui.terminal : {};
  return typeof terminal.rows === "number" ? terminal.rows : 24;
}

/** What the child drew. */
export function linesOf(value: unknown): string[] | undefined {
  return value === undefined ? undefined : list(value).map(text);
}

/** What is new in a session since the child asked last. */
export function newsOf(session: ReadonlySessionManager, [have, last, known]: readonly unknown[]): SessionNews {
  const from = (index: number) => session.getEntriesFrom?.(index) ?? session.getEntries().slice(index);
  const id = session.getSessionId();
  let keep = known === id && typeof have === "number" && Number.isSafeInteger(have) && have > 0 ? have : 0;
  let entries = from(Math.max(0, keep - 1));
  if (keep > 0) {
    // Is the child's last entry still the one in its place? Then all before it are.
    if (entries[0]?.id === last) entries = entries.slice(1);
    else [keep, entries] = [0, from(0)];
  }
  return {
    cwd: session.getCwd(),
    dir: session.getSessionDir(),
    id,
    file: session.getSessionFile(),
    name: session.getSessionName(),
    header: session.getHeader(),
    leafId: session.getLeafId(),
    keep,
    entries: entries.slice(0, PAGE),
    more: entries.length > PAGE,
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : errorText(value);
}

function optional(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : text(value);
}

/** The question is closed, too, when the hook takes it back or its process ends. */
function dialog(value: unknown, signal: AbortSignal): DialogOptions {
  return isRecord(value) && typeof value.timeout === "number" ? { timeout: value.timeout, signal } : { signal };
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`a list is needed, not ${kindOf(value)}`);
  return value;
}

function message(value: unknown): HookMessageInput {
  if (!isRecord(value) || typeof value.customType !== "string") throw new TypeError("a message needs a customType");
  const { customType, content, display, details, attribution } = value;
  const fault = contentFault(content);
  if (fault !== undefined) throw new TypeError(`a ${customType} message is malformed: ${fault}`);
  return {
    customType,
    content: content as HookMessageInput["content"],
    display: Boolean(display),
    ...(details === undefined ? {} : { details }),
    ...(attribution === "user" || attribution === "agent" ? { attribution } : {}),
  };
}

function sendOptions(value: unknown): SendMessageOptions | undefined {
  if (!isRecord(value)) return undefined;
  const { triggerTurn, deliverAs } = value;
  return {
    ...(triggerTurn === undefined ? {} : { triggerTurn: triggerTurn === true }),
    ...(deliverAs === "steer" || deliverAs === "followUp" ? { deliverAs } : {}),
  };
}
