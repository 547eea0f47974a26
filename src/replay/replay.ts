/**
 * A recorded session goes through hooks once more.
 *
 * @module
 */

import type { ExecOptions, ExecResult, HookAPI, HookMessageInput, Model } from "../api.ts";
import type { SessionEntry, SessionHeader } from "../entries.ts";
import type { HookEvent, HookResult } from "../events.ts";
import type { LoadedHook } from "../hook.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  type ImageContent,
  textOf,
  type ToolCall,
  type ToolResultMessage,
  type UserMessage,
} from "../messages.ts";
import { type HookDecision, HookRunner } from "../runner.ts";
import { errorText, frozenCopy, isRecord, sameData } from "../values.ts";
import { contentChange } from "./change.ts";
import { readerFor, type RecordedLine, type RecordedStep, type SessionReader } from "./format.ts";
import { type Line, readLines } from "./lines.ts";
import type { ReplayDecision, ReplayRecord, ReplaySummary } from "./records.ts";
import { ReplaySession } from "./session.ts";
import { openSource, ReplaySourceError, type Source } from "./source.ts";

/** How far a replay is. */
export interface ReplayProgress {
  /** Lines read. */
  lines: number;
  /** Bytes read. */
  bytes: number;
  /** Bytes that there are, if that is known. */
  size: number | undefined;
}

/** Options of {@linkcode replaySession}. */
export interface ReplayOptions {
  /** What `ctx.cwd` names; the folder that was recorded when absent. */
  cwd?: string;
  /**
   * How many entries `ctx.sessionManager` knows: the newest ones, so that memory does not grow with the session; default
   * 2000. Entries of more than 32 MiB together are forgotten earlier.
   */
  history?: number;
  /** The longest line that is read, in bytes; default 128 MiB. A longer one is damaged. */
  maxLineBytes?: number;
  /** How long the handlers of one emission may take together, in ms; default 60 000. */
  timeout?: number;
  /** Told now and then how far the replay is. */
  onProgress?: (progress: ReplayProgress) => void;
}

/** Hooks took too long to answer. */
export class ReplayTimeoutError extends Error {
  /** Tells it from other errors. */
  override name = "ReplayTimeoutError";
}

const DEFAULT_HISTORY = 2000;
const HISTORY_BYTES = 32 << 20;
const DEFAULT_MAX_LINE_BYTES = 128 << 20;
const DEFAULT_TIMEOUT = 60_000;
const TICKS = 10;
const MAX_OPEN_CALLS = 1000;
const MAX_OPEN_BYTES = 32 << 20;
const MAX_NAMED_LINES = 100;
const MAX_STRAY_LINES = 1000;
const PROGRESS_LINES = 128;
const SHORT = 200;

/**
 * Replays a recorded session: drives each recorded prompt, tool call and tool result through hooks, in the order in which
 * they were recorded, and tells what the hooks would have brought about. No tool runs and no model is asked.
 *
 * Reads the session files of pi, oh-my-pi and xcsh (versions 1 to 3) and the transcripts of Claude Code, whose tools get our
 * names: `Bash` is `bash`, and `file_path` is `path`. Hooks see `session_start`, `before_agent_start`, `agent_start`,
 * `turn_start`, `context`, `tool_call`, `tool_result`, `turn_end`, `agent_end`, `session_compact`, `session_tree` and
 * `session_shutdown`. There is no UI; `ctx.sessionManager` holds the entries recorded so far. What hooks send or append is
 * told and goes nowhere. To keep `pi.exec` from running programs, load the hooks with {@linkcode refuseExec}; what else a hook
 * does by itself is bounded by Deno's permission flags only.
 *
 * Memory does not grow with the session. A damaged line is left out, counted and named.
 *
 * @param source Path of the file, or its bytes.
 * @param hooks The hooks, in the order in which they run.
 * @param options See {@linkcode ReplayOptions}.
 * @returns The decisions as they fall, and the summary as the last record.
 * @throws {ReplaySourceError} When the source cannot be read or is no recorded session.
 * @throws {ReplayTimeoutError} When hooks do not answer.
 *
 * @example What a gate would have blocked
 * ```ts
 * import { replaySession } from "@xcsh/hooks/replay";
 * import { createTestHook } from "@xcsh/hooks/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const hook = await createTestHook((pi) => {
 *   pi.on("tool_call", (event) => {
 *     if (String(event.input.command).includes("rm -rf")) return { block: true, reason: "too dangerous" };
 *   });
 * });
 * const log = [
 *   { type: "session", id: "1", timestamp: "2026-01-01T00:00:00Z", cwd: "/project" },
 *   {
 *     type: "message",
 *     timestamp: "2026-01-01T00:00:01Z",
 *     message: {
 *       role: "assistant",
 *       content: [{ type: "toolCall", id: "a", name: "bash", arguments: { command: "rm -rf build" } }],
 *     },
 *   },
 * ].map((line) => JSON.stringify(line)).join("\n");
 *
 * const reasons: string[] = [];
 * for await (const record of replaySession(new Blob([log]).stream(), [hook])) {
 *   if (record.type === "block") reasons.push(`line ${record.line}: ${record.reason}`);
 * }
 * assertEquals(reasons, ["line 2: too dangerous"]);
 * ```
 */
export async function* replaySession(
  source: string | AsyncIterable<Uint8Array>,
  hooks: readonly LoadedHook[],
  options: ReplayOptions = {},
): AsyncGenerator<ReplayRecord> {
  const opened = await openSource(source);
  const replay = new Replay(opened, hooks, options);
  try {
    for await (const lines of readLines(opened.chunks, options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES)) {
      for (const line of lines) {
        for (const step of replay.read(line).steps) {
          const playing = replay.play(step, line);
          if (playing !== undefined) await playing;
        }
        if (replay.hasDecisions) yield* replay.drain();
      }
    }
    await replay.end();
    yield* replay.drain();
    yield replay.summary();
  } finally {
    replay.stop();
    opened.close();
  }
}

/**
 * Finds the folder that a session was recorded in, for hooks that have to know it before the replay begins, as isolated ones do.
 *
 * @param path The file.
 * @returns The folder; `undefined` when the session does not tell it, and for a pipe, which can be read only once.
 * @throws {ReplaySourceError} When the file cannot be read or is no recorded session.
 *
 * @example
 * ```ts
 * import { loadHooks } from "@xcsh/hooks";
 * import { recordedFolder, refuseExec, replaySession } from "@xcsh/hooks/replay";
 *
 * async function replayIsolated(session: string, hook: string): Promise<void> {
 *   const contextCwd = await recordedFolder(session) ?? Deno.cwd();
 *   const options = { permissions: {}, isolation: { contextCwd }, exec: refuseExec() };
 *   const { hooks } = await loadHooks([hook], Deno.cwd(), options);
 *   for await (const record of replaySession(session, hooks)) console.log(record);
 *   for (const { dispose } of hooks) await dispose?.();
 * }
 * ```
 */
export async function recordedFolder(path: string): Promise<string | undefined> {
  const info = await Deno.stat(path).catch(() => undefined);
  if (info !== undefined && !info.isFile && !info.isDirectory) return undefined;
  const opened = await openSource(path);
  const replay = new Replay(opened, [], {});
  try {
    for await (const lines of readLines(opened.chunks, DEFAULT_MAX_LINE_BYTES)) {
      for (const line of lines) {
        const { steps } = replay.read(line);
        if (steps.length > 0 || replay.folder !== undefined) return replay.folder;
      }
    }
    await replay.end();
    return replay.folder;
  } finally {
    replay.stop();
    opened.close();
  }
}

/**
 * Keeps `pi.exec` from running anything: each call rejects, with a text that names the program. For the option `exec` of
 * `loadHooks`.
 *
 * @param onRefused Told what would have run.
 * @returns The option.
 *
 * @example
 * ```ts
 * import { loadHooks } from "@xcsh/hooks";
 * import { refuseExec } from "@xcsh/hooks/replay";
 *
 * await loadHooks(["./examples/hooks/git_checkpoint.ts"], Deno.cwd(), { exec: refuseExec() });
 * ```
 */
export function refuseExec(
  onRefused: (hookPath: string, command: string, args: readonly string[]) => void = () => {},
): (hookPath: string) => HookAPI["exec"] {
  return (hookPath) => (command: string, args: string[], _options?: ExecOptions): Promise<ExecResult> => {
    const list = Array.isArray(args) ? args.map(String) : [];
    onRefused(hookPath, String(command), list);
    return Promise.reject(new Error(`A replay runs no programs, so it did not run ${short(String(command))}`));
  };
}

interface OpenCall {
  readonly toolName: string;
  readonly input: Record<string, unknown>;
  readonly blocked: boolean;
  readonly bytes: number;
}

interface Turn {
  readonly index: number;
  readonly key: string | undefined;
  message: AssistantMessage;
  readonly results: ToolResultMessage[];
}

const NO_STEPS: RecordedLine = { steps: [] };
const NO_MODELS = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };

class Replay {
  readonly #source: Source;
  readonly #hooks: readonly LoadedHook[];
  readonly #options: ReplayOptions;
  readonly #history: number;
  readonly #session: ReplaySession;
  readonly #records: ReplayDecision[] = [];
  readonly #open = new Map<string, OpenCall>();
  readonly #answered = new Map<string, string>();
  readonly #summary: ReplaySummary;
  #openBytes = 0;
  #bytes = 0;
  #line = 0;
  #header: Partial<SessionHeader> = {};
  #reader: SessionReader | undefined;
  #runner: HookRunner | undefined;
  #model: Model | undefined;
  #running = false;
  #runMessages: AgentMessage[] = [];
  #turn: Turn | undefined;
  #turns = 0;
  #watch: ReturnType<typeof setInterval> | undefined;
  #waiting: { readonly event: string; readonly fail: (error: Error) => void; ticks: number } | undefined;
  /** What the emission under way has come to, for telling the hooks' changes apart. */
  #before: HookEvent<"tool_result">["content"] | AgentMessage[] = [];
  #detailsBefore: unknown;
  #callBlocked = false;
  #changed = false;

  constructor(source: Source, hooks: readonly LoadedHook[], options: ReplayOptions) {
    this.#source = source;
    this.#hooks = hooks;
    this.#options = options;
    this.#history = Math.max(1, options.history ?? DEFAULT_HISTORY);
    this.#session = new ReplaySession(options.cwd ?? "", source.path, {
      entries: this.#history,
      bytes: HISTORY_BYTES,
    });
    this.#summary = {
      type: "summary",
      format: "pi",
      sessionId: "",
      cwd: options.cwd ?? "",
      lines: 0,
      prompts: 0,
      calls: 0,
      tools: {},
      results: 0,
      failedResults: 0,
      blocked: 0,
      broken: 0,
      redacted: 0,
      messages: 0,
      entries: 0,
      failures: 0,
      unanswered: 0,
      orphans: 0,
      duplicates: 0,
      damaged: 0,
      damagedLines: [],
    };
  }

  /** The folder that was recorded, as far as it is known. */
  get folder(): string | undefined {
    return this.#header.cwd;
  }

  /** Reads a line into steps. */
  read(line: Line): RecordedLine {
    this.#line = this.#summary.lines = line.number;
    this.#bytes += line.bytes;
    if (line.number % PROGRESS_LINES === 0) this.#tellProgress();
    const record = this.#parse(line);
    if (record === undefined) {
      if (this.#reader === undefined && line.number >= MAX_STRAY_LINES) throw this.#noSession();
      return NO_STEPS;
    }
    this.#reader ??= readerFor(record);
    if (this.#reader === undefined) {
      this.#damage("is of no format that replay knows");
      if (line.number >= MAX_STRAY_LINES) throw this.#noSession();
      return NO_STEPS;
    }
    const read = this.#reader.read(record);
    if (read.header !== undefined) this.#takeHeader(read.header);
    if (read.problem !== undefined) this.#damage(read.problem);
    return read;
  }

  #parse(line: Line): Record<string, unknown> | undefined {
    if (line.problem === "too long") {
      this.#damage(`is longer than ${this.#options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES} bytes and was left out`);
      return undefined;
    }
    let record: unknown;
    try {
      record = JSON.parse(line.text);
    } catch (error) {
      if (line.text.trim() === "") return undefined;
      const early = endsEarly(line.text, errorText(error));
      this.#damage(early ? `ends too early${line.open ? ", as does the file" : ""}` : "is not JSON");
      return undefined;
    }
    if (!isRecord(record)) {
      this.#damage("is no JSON object");
      return undefined;
    }
    if (line.problem === "not UTF-8") this.#damage("holds bytes that are not UTF-8, which were read as \ufffd");
    return record;
  }

  #damage(cause: string): void {
    this.#summary.damaged++;
    if (this.#summary.damagedLines.length < MAX_NAMED_LINES) {
      this.#summary.damagedLines.push({ line: this.#line, cause });
    }
  }

  #noSession(): ReplaySourceError {
    const first = this.#summary.damagedLines[0];
    const why = first === undefined ? "it holds blank lines only" : `line ${first.line} ${first.cause}`;
    return new ReplaySourceError(
      `${this.#source.name} is no recorded session: ${why}; replay reads sessions of pi, oh-my-pi, xcsh and Claude Code`,
    );
  }

  #takeHeader(header: Partial<SessionHeader>): void {
    // What it said first counts.
    this.#header = { ...header, ...this.#header };
    if (this.#runner === undefined || header.title !== undefined) this.#session.describe(this.#header, this.#cwd());
  }

  #cwd(): string {
    // `ctx.cwd` does not change once there is a runner.
    return this.#runner === undefined ? this.#options.cwd ?? this.#header.cwd ?? Deno.cwd() : this.#summary.cwd;
  }

  /** Plays one step; a promise when something has to be waited for. */
  play(step: RecordedStep, line: Line): Promise<void> | undefined {
    const runner = this.#runner;
    if (runner === undefined) return this.#start().then(() => this.play(step, line));
    const { entry } = step;
    if (entry.type === "message" && isRecord(entry.message)) {
      switch (entry.message.role) {
        case "user":
          return step.prompt ? this.#playPrompt(runner, entry, entry.message, line) : this.#keep(step, line);
        case "assistant":
          return this.#playAnswer(runner, step, entry.message, line);
        case "toolResult":
          return this.#playResult(runner, step, entry.message, line);
      }
    }
    return this.#playOther(runner, step, line);
  }

  async #start(): Promise<void> {
    const cwd = this.#summary.cwd = this.#cwd();
    const runner = this.#runner = new HookRunner(this.#hooks, cwd, this.#session, NO_MODELS);
    runner.initialize({
      getModel: () => this.#model,
      sendMessageHandler: () => {},
      appendEntryHandler: () => {},
      isIdle: () => !this.#running,
      hasUI: false,
    });
    for (const hook of this.#hooks) {
      hook.setSendMessageHandler((message) => this.#tellMessage(hook.path, "sendMessage", message));
      hook.setAppendEntryHandler((customType) => {
        this.#summary.entries++;
        this.#records.push({ type: "entry", ...this.#place(hook.path), customType: String(customType) });
      });
    }
    runner.onDecision((decision) => this.#takeDecision(decision));
    runner.onError(({ hookPath, event, error }) => {
      this.#summary.failures++;
      this.#records.push({ type: "failure", ...this.#place(hookPath), event: event as HookEvent["type"], error });
    });
    const limit = this.#options.timeout ?? DEFAULT_TIMEOUT;
    // One clock for all emissions: a timer for each would cost more than most handlers do.
    this.#watch = setInterval(() => {
      if (this.#waiting === undefined || ++this.#waiting.ticks < TICKS) return;
      this.#waiting.fail(this.#timeout(this.#waiting.event, limit));
    }, limit / TICKS);
    await this.#observe({ type: "session_start" });
  }

  #timeout(event: string, limit: number): ReplayTimeoutError {
    const asked = this.#hooks.filter((hook) => hook.handlers.has(event)).map((hook) => hook.path).join(", ");
    return new ReplayTimeoutError(
      `A ${event} handler did not answer within ${limit} ms at line ${this.#line}; hooks that handle it: ${asked}`,
    );
  }

  async #playPrompt(runner: HookRunner, entry: SessionEntry, message: UserMessage, line: Line): Promise<void> {
    if (this.#movesTo(entry)) await this.#move(entry);
    await this.#endRun();
    this.#summary.prompts++;
    if (runner.hasHandlers("before_agent_start")) {
      const images = typeof message.content === "string"
        ? []
        : message.content.filter((part): part is ImageContent => part.type === "image");
      await this.#within(
        "before_agent_start",
        runner.emitBeforeAgentStart(textOf(message.content), images.length === 0 ? undefined : images),
      );
    }
    this.#session.append(entry, line.bytes);
    await this.#beginRun();
    this.#addToRun(message);
  }

  #playAnswer(
    runner: HookRunner,
    step: RecordedStep,
    message: AssistantMessage,
    line: Line,
  ): Promise<void> | undefined {
    const calls = message.content.filter((part): part is ToolCall => part.type === "toolCall");
    if (step.side) return calls.length === 0 ? undefined : this.#playCalls(runner, calls, line);
    return this.#playTurn(runner, step, message, calls, line);
  }

  async #playTurn(
    runner: HookRunner,
    { entry, turn }: RecordedStep,
    message: AssistantMessage,
    calls: readonly ToolCall[],
    line: Line,
  ): Promise<void> {
    if (this.#turn !== undefined && turn !== undefined && this.#turn.key === turn) {
      // The next piece of an answer that was recorded piece by piece.
      const { content } = this.#turn.message;
      content.push(...message.content);
      this.#turn.message = { ...this.#turn.message, ...message, content };
    } else {
      if (this.#movesTo(entry)) await this.#move(entry);
      if (this.#turn !== undefined) await this.#endTurn();
      if (!this.#running) await this.#beginRun();
      if (message.model !== undefined) this.#model = { id: message.model, provider: message.provider ?? "" };
      const turnIndex = this.#turns++;
      this.#turn = {
        index: turnIndex,
        key: turn,
        message: turn === undefined ? message : { ...message, content: [...message.content] },
        results: [],
      };
      await this.#observe({ type: "turn_start", turnIndex, timestamp: message.timestamp });
      if (runner.hasHandlers("context")) {
        this.#before = this.#session.contextMessages();
        await this.#within("context", runner.emitContext(this.#before));
      }
    }
    this.#session.append(entry, line.bytes);
    this.#addToRun(message);
    if (calls.length > 0) await this.#playCalls(runner, calls, line);
  }

  async #playCalls(runner: HookRunner, calls: readonly ToolCall[], line: Line): Promise<void> {
    for (const { id, name, arguments: args } of calls) {
      this.#summary.calls++;
      this.#summary.tools[name] = (this.#summary.tools[name] ?? 0) + 1;
      if (this.#open.has(id) || this.#answered.has(id)) this.#summary.duplicates++;
      let input = args;
      const gated = runner.hasHandlers("tool_call");
      try {
        if (gated || runner.hasHandlers("tool_result")) input = frozenCopy(args, "the input of a tool");
      } catch {
        this.#damage("holds a tool call that is nested too deeply");
        continue;
      }
      this.#callBlocked = false;
      try {
        if (gated) {
          await this.#within(
            "tool_call",
            runner.emitToolCall({ type: "tool_call", toolName: name, toolCallId: id, input }),
          );
        }
      } catch (error) {
        // What a hook threw has been told by the decision.
        if (error instanceof ReplayTimeoutError) throw error;
      }
      this.#opened(id, { toolName: name, input, blocked: this.#callBlocked, bytes: line.bytes / calls.length });
    }
  }

  #opened(id: string, call: OpenCall): void {
    const twin = this.#open.get(id);
    if (twin !== undefined) this.#closed(id, twin);
    this.#open.set(id, call);
    this.#openBytes += call.bytes;
    while (this.#open.size > MAX_OPEN_CALLS || (this.#openBytes > MAX_OPEN_BYTES && this.#open.size > 1)) {
      const [oldest] = this.#open;
      this.#closed(...oldest!);
      this.#summary.unanswered++;
    }
  }

  #closed(id: string, call: OpenCall): void {
    this.#open.delete(id);
    this.#openBytes -= call.bytes;
  }

  async #playResult(
    runner: HookRunner,
    step: RecordedStep,
    message: ToolResultMessage,
    line: Line,
  ): Promise<void> {
    const { toolCallId, content, details, isError } = message;
    const call = this.#open.get(toolCallId);
    if (call === undefined) {
      if (this.#answered.has(toolCallId)) this.#summary.duplicates++;
      else this.#summary.orphans++;
    } else this.#closed(toolCallId, call);
    const toolName = call?.toolName ?? (message.toolName || this.#answered.get(toolCallId) || "unknown");
    this.#answered.set(toolCallId, toolName);
    if (this.#answered.size > MAX_OPEN_CALLS) this.#answered.delete(this.#answered.keys().next().value!);

    this.#summary.results++;
    if (isError) this.#summary.failedResults++;
    let changed: HookResult<"tool_result"> | undefined;
    if (runner.hasHandlers("tool_result")) {
      this.#before = content;
      this.#detailsBefore = undefined;
      this.#callBlocked = call?.blocked ?? false;
      this.#changed = false;
      changed = await this.#within(
        "tool_result",
        runner.emit({ type: "tool_result", toolName, toolCallId, input: call?.input ?? {}, content, details, isError }),
      );
      if (this.#changed) this.#summary.redacted++;
    }
    if (step.side) return;
    if (this.#movesTo(step.entry)) await this.#move(step.entry);
    // As a session would have it, so that hooks further on do not see what was redacted.
    const kept: ToolResultMessage = { ...message, toolName, ...changed as Partial<ToolResultMessage> };
    this.#session.append({ ...step.entry, message: kept } as SessionEntry, line.bytes);
    this.#addToRun(kept);
    if (this.#turn !== undefined && this.#turn.results.length < MAX_OPEN_CALLS) this.#turn.results.push(kept);
  }

  /** Keeps a message that is no event. */
  #keep({ entry, side }: RecordedStep, line: Line): undefined {
    if (side) return;
    this.#session.append(entry, line.bytes);
    if (entry.type === "message") this.#addToRun(entry.message);
  }

  #playOther(runner: HookRunner, step: RecordedStep, line: Line): Promise<void> | undefined {
    const { entry } = step;
    if (entry.type === "compaction" && runner.hasHandlers("session_compact")) {
      this.#session.append(entry, line.bytes);
      return this.#observe({
        type: "session_compact",
        compactionEntry: entry,
        fromExtension: entry.fromExtension === true,
      }) as Promise<void> | undefined;
    }
    if (entry.type === "branch_summary" && runner.hasHandlers("session_tree")) {
      const oldLeafId = this.#session.getLeafId();
      this.#session.append(entry, line.bytes);
      return this.#endRun().then(async () => {
        await this.#observe({
          type: "session_tree",
          newLeafId: entry.id,
          oldLeafId,
          summaryEntry: entry,
          fromExtension: entry.fromExtension === true,
        });
      });
    }
    return this.#keep(step, line);
  }

  /** Whether the session moved in its tree: then an entry's parent is not the entry before it. */
  #movesTo({ parentId }: SessionEntry): boolean {
    const leafId = this.#session.getLeafId();
    if (leafId === null || parentId === leafId) return false;
    return parentId === null || this.#session.getEntry(parentId) !== undefined;
  }

  async #move({ parentId }: SessionEntry): Promise<void> {
    const oldLeafId = this.#session.getLeafId();
    await this.#endRun();
    await this.#observe({ type: "session_tree", newLeafId: parentId, oldLeafId });
  }

  async #beginRun(): Promise<void> {
    this.#running = true;
    this.#turns = 0;
    this.#runMessages = [];
    await this.#observe({ type: "agent_start" });
  }

  #addToRun(message: AgentMessage): void {
    if (!this.#runner!.hasHandlers("agent_end")) return;
    this.#runMessages.push(message);
    if (this.#runMessages.length > 2 * this.#history) this.#runMessages = this.#runMessages.slice(-this.#history);
  }

  async #endTurn(): Promise<void> {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    const { index, message, results } = turn;
    await this.#observe({ type: "turn_end", turnIndex: index, message, toolResults: results });
  }

  async #endRun(): Promise<void> {
    await this.#endTurn();
    if (!this.#running) return;
    this.#running = false;
    const messages = this.#runMessages;
    this.#runMessages = [];
    await this.#observe({ type: "agent_end", messages });
  }

  /** Plays what comes after the last line. */
  async end(): Promise<void> {
    if (this.#reader === undefined) throw this.#noSession();
    if (this.#runner === undefined) await this.#start();
    await this.#endRun();
    await this.#observe({ type: "session_shutdown" });
    this.#summary.unanswered += this.#open.size;
    this.#open.clear();
    this.#tellProgress();
  }

  /** Stops watching the time. */
  stop(): void {
    clearInterval(this.#watch);
  }

  /** Whether decisions have fallen. */
  get hasDecisions(): boolean {
    return this.#records.length > 0;
  }

  /** Takes them out. */
  drain(): ReplayDecision[] {
    return this.#records.splice(0);
  }

  /** What it all came to. */
  summary(): ReplaySummary {
    const reader = this.#reader!;
    return {
      ...this.#summary,
      format: reader.format,
      ...(reader.version === undefined ? {} : { version: reader.version }),
      sessionId: this.#session.getSessionId(),
    };
  }

  #observe(
    event: Exclude<HookEvent, { type: "tool_call" | "context" | "before_agent_start" }>,
  ): Promise<unknown> | undefined {
    if (!this.#runner!.hasHandlers(event.type)) return undefined;
    return this.#within(event.type, this.#runner!.emit(event));
  }

  /** Waits for an emission, but not for ever. */
  #within<T>(event: string, emission: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = <V>(settled: (value: V) => void) => (value: V) => {
        this.#waiting = undefined;
        settled(value);
      };
      this.#waiting = { event, fail: reject, ticks: 0 };
      emission.then(settle(resolve), settle(reject));
    });
  }

  #tellProgress(): void {
    this.#options.onProgress?.({ lines: this.#line, bytes: this.#bytes, size: this.#source.size });
  }

  #place(hookPath: string): { line: number; hookPath: string } {
    return { line: this.#line, hookPath };
  }

  #takeDecision({ hookPath, event, effect, reason, outcome }: HookDecision): void {
    const place = this.#place(hookPath);
    switch (event.type) {
      case "tool_call": {
        this.#callBlocked = true;
        const type = effect === "broken" ? "broken" : "block";
        this.#summary[type === "broken" ? "broken" : "blocked"]++;
        this.#records.push({
          type,
          ...place,
          toolName: event.toolName,
          toolCallId: event.toolCallId,
          subject: subjectOf(event.input),
          reason: reason || "Tool execution was blocked by a hook",
        });
        return;
      }
      case "tool_result": {
        const { content, details } = outcome as HookResult<"tool_result">;
        const before = this.#before as HookEvent<"tool_result">["content"];
        const change = content === undefined ? { parts: 0, chars: 0 } : contentChange(before, content);
        if (content !== undefined) this.#before = content;
        this.#changed = true;
        this.#records.push({
          type: "redact",
          ...place,
          toolName: event.toolName,
          toolCallId: event.toolCallId,
          isError: event.isError,
          ...change,
          details: details !== this.#detailsBefore,
          blocked: this.#callBlocked,
        });
        this.#detailsBefore = details;
        return;
      }
      case "before_agent_start":
        this.#tellMessage(hookPath, event.type, (outcome as HookResult<"before_agent_start">).message);
        return;
      case "context": {
        const after = outcome as AgentMessage[];
        // A hook may return a copy in which nothing is changed.
        if (sameData(this.#before, after)) return;
        this.#records.push({ type: "context", ...place, before: this.#before.length, after: after.length });
        this.#before = after;
        return;
      }
    }
  }

  #tellMessage(hookPath: string, via: "before_agent_start" | "sendMessage", message: unknown): void {
    if (!isRecord(message)) throw new TypeError(`A message is { customType, content, display }`);
    const { customType, content, display } = message as unknown as HookMessageInput;
    const text = typeof content === "string" || Array.isArray(content) ? textOf(content) : "";
    this.#summary.messages++;
    this.#records.push({
      type: "message",
      ...this.#place(hookPath),
      via,
      customType: String(customType),
      display: display === true,
      text: short(text),
      chars: text.length,
    });
  }
}

/** Whether JSON is wrong only where it ends. The engine's own text is not passed on: it quotes the line, secrets and all. */
function endsEarly(text: string, error: string): boolean {
  const at = error.match(/at position (\d+)/)?.[1];
  return at === undefined ? error.includes("end of JSON input") : Number(at) >= text.trimEnd().length;
}

/** A tool call in short: what a person would look for. */
function subjectOf(input: Record<string, unknown>): string {
  for (const key of ["command", "path", "pattern", "url", "query"]) {
    const value = input[key];
    if (typeof value === "string") return short(value);
  }
  return short(Object.keys(input).join(", "));
}

function short(text: string): string {
  const line = text.slice(0, 4 * SHORT).replaceAll(/\s+/g, " ").trim();
  return line.length <= SHORT ? line : `${line.slice(0, SHORT - 1)}…`;
}
