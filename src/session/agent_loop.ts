/**
 * The agent's loop: answers of the model and the tool calls in them, until there is nothing left to call.
 *
 * @module
 */

import type { HookEvent, HookEventName, Rule } from "../events.ts";
import type {
  AgentMessage,
  AssistantContent,
  AssistantMessage,
  StopReason,
  ToolCall,
  ToolResultMessage,
} from "../messages.ts";
import { readParts } from "../message_check.ts";
import type { LanguageModel, ModelErrorEvent, ModelEvent, ModelRequest } from "../models/model.ts";
import type { HookDecision, HookRunner } from "../runner.ts";
import type { ToolResult } from "../tool.ts";
import { checkArguments } from "../tools/arguments.ts";
import type { SessionTool } from "../tools/mod.ts";
import { deepCopy, errorText, isRecord, kindOf, nearest } from "../values.ts";
import { toModelMessages } from "./context.ts";
import type { SessionEvent } from "./session_events.ts";
import type { RuleMatch, StreamRules } from "./stream_rules.ts";
import { settle, untilAborted } from "./wait.ts";

/** How long a tool may, in ms; enough to end a process tree. */
const TOOL_GRACE = 3_000;

/** What the loop needs of the session. */
export interface LoopHost {
  /** Knows the hooks. */
  readonly runner: HookRunner;
  /** The tools that the model may call now, behind their hooks, by name. */
  tools(): ReadonlyMap<string, SessionTool>;
  /** Watches the stream, when there are rules. */
  rules(): StreamRules | undefined;
  /** The model in use. */
  model(): LanguageModel;
  /** Told to the model before all messages. */
  systemPrompt(): string;
  /** The agent's messages. */
  messages(): AgentMessage[];
  /** Puts a message into the session; the result is what is in it now. */
  append(message: AgentMessage): AgentMessage;
  /** Messages that are to be read before the next turn. */
  takeSteering(): AgentMessage[];
  /** Messages that are to be read when the agent would stop. */
  takeFollowUps(): AgentMessage[];
  /** Tells those who watch the session. */
  tell(event: SessionEvent): void;
  /** Rules matched the stream. */
  ruleMatched(match: RuleMatch, signal: AbortSignal): Promise<void>;
  /** An answer is in the session; its tools have not been asked for. */
  answered(answer: Answer, signal: AbortSignal): Promise<void>;
  /** A turn is over and all of it appended. */
  turnEnded(): void;
  /** Whether the context is too full for another turn. */
  isFull(): boolean;
  /** Emits an event to the hooks that nobody waits for, after those that were emitted so before. */
  observe<N extends HookEventName>(name: N, payload: () => Omit<HookEvent<N>, "type">): void;
  /** Emits an event to the hooks, and does not wait much longer than until the signal aborts. */
  emit(event: Parameters<HookRunner["emit"]>[0], signal: AbortSignal): Promise<void>;
}

/** How a run of the loop ended. */
export interface LoopOutcome {
  /** All messages that it added. */
  messages: AgentMessage[];
  /** The last answer. */
  last?: AssistantMessage;
  /** Why that failed. */
  failure?: ModelErrorEvent;
  /** The rules that stopped it. */
  interruptedBy?: Rule[];
  /** Whether it stopped between two turns because the context is full. */
  isFull?: boolean;
}

/** An answer of the model. */
export interface Answer {
  /** What is in the session. */
  message: AssistantMessage;
  /** Why it failed. */
  failure?: ModelErrorEvent;
  /** The rules that stopped it. */
  interruptedBy?: Rule[];
}

/** Runs the agent for one session. */
export class AgentLoop {
  readonly #host: LoopHost;

  /**
   * Makes a loop.
   *
   * @param host The session.
   */
  constructor(host: LoopHost) {
    this.#host = host;
  }

  /**
   * Runs until the model calls nothing and nobody has more to say, or until it fails or is aborted. `agent_start` and
   * `agent_end`, `turn_start` and `turn_end` come in pairs however it ends.
   *
   * @param batch Messages to begin with; none to go on from where the session is.
   * @param signal Ends the run.
   */
  async run(batch: readonly AgentMessage[], signal: AbortSignal): Promise<LoopOutcome> {
    const outcome: LoopOutcome = { messages: [] };
    await this.#host.emit({ type: "agent_start" }, signal);
    this.#host.tell({ type: "agent_start" });
    this.#deliver(batch, outcome);
    for (let turnIndex = 0; !signal.aborted; turnIndex++) {
      this.#deliver(this.#host.takeSteering(), outcome);
      if (await this.#turn(turnIndex, outcome, signal)) continue;
      const { failure, interruptedBy, isFull } = outcome;
      const followUps = signal.aborted || failure || interruptedBy || isFull ? [] : this.#host.takeFollowUps();
      if (followUps.length === 0) break;
      this.#deliver(followUps, outcome);
    }
    return outcome;
  }

  /** Says that the run is over. */
  async end(outcome: LoopOutcome, signal: AbortSignal): Promise<void> {
    await this.#host.emit({ type: "agent_end", messages: outcome.messages }, signal);
    this.#host.tell({ type: "agent_end" });
  }

  /** Runs one turn; tells whether another one follows. */
  async #turn(turnIndex: number, outcome: LoopOutcome, signal: AbortSignal): Promise<boolean> {
    const host = this.#host;
    await this.#host.emit({ type: "turn_start", turnIndex, timestamp: Date.now() }, signal);
    host.tell({ type: "turn_start", turnIndex });
    const answer = await this.#answer(signal);
    await host.answered(answer, signal);
    const { message, failure, interruptedBy } = answer;
    outcome.messages.push(message);
    outcome.last = message;
    if (failure !== undefined) outcome.failure = failure;
    else delete outcome.failure;
    if (interruptedBy !== undefined) outcome.interruptedBy = interruptedBy;
    const calls = message.stopReason === "error" || message.stopReason === "aborted"
      ? []
      : message.content.filter((part) => part.type === "toolCall");
    const toolResults: ToolResultMessage[] = [];
    // One after the other, so that two calls that touch the same file do so in the order in which the model wrote them.
    for (const call of calls) toolResults.push(await this.#call(call, signal));
    outcome.messages.push(...toolResults);
    await this.#host.emit({ type: "turn_end", turnIndex, message, toolResults }, signal);
    host.tell({ type: "turn_end", turnIndex });
    host.turnEnded();
    if (failure !== undefined || interruptedBy !== undefined || signal.aborted) return false;
    if (calls.length > 0) {
      outcome.isFull = host.isFull();
      return !outcome.isFull;
    }
    const steering = host.takeSteering();
    this.#deliver(steering, outcome);
    return steering.length > 0;
  }

  #deliver(messages: readonly AgentMessage[], outcome: LoopOutcome): void {
    for (const message of messages) outcome.messages.push(this.#host.append(message));
  }

  async #answer(signal: AbortSignal): Promise<Answer> {
    const host = this.#host;
    const model = host.model();
    host.tell({ type: "message_start", role: "assistant" });
    const draft = new Draft();
    const soFar = (): AssistantMessage => ({
      role: "assistant",
      content: structuredClone(draft.content),
      provider: model.provider,
      model: model.id,
      stopReason: "stop",
      timestamp: Date.now(),
    });
    host.observe("message_start", () => ({ message: soFar() }));
    let failure: ModelErrorEvent | undefined;
    let interruptedBy: Rule[] | undefined;
    let stopReason: StopReason | undefined;
    const stop = new AbortController();
    const streamSignal = AbortSignal.any([signal, stop.signal]);
    try {
      const messages = await settle(host.runner.emitContext(host.messages()), signal, 0);
      const warn = (message: string) => host.tell({ type: "notice", level: "warning", message });
      const request: ModelRequest = {
        systemPrompt: host.systemPrompt(),
        messages: toModelMessages(messages, warn),
        tools: [...host.tools().values()].map(describe),
        signal: streamSignal,
      };
      await this.#lastWord(request, signal);
      const rules = host.rules();
      rules?.reset();
      for await (const event of untilAborted(model.stream(request), streamSignal)) {
        if (event.type === "error") {
          failure = event;
          break;
        }
        draft.add(event);
        if ("delta" in event && event.delta !== "") {
          host.tell({ type: "message_update", delta: event });
          host.observe("message_update", () => ({
            message: soFar(),
            assistantMessageEvent: {
              type: DELTAS[event.type],
              contentIndex: Math.max(0, draft.content.length - (event.type === "toolCallDelta" ? 0 : 1)),
              delta: event.delta,
            },
          }));
        }
        const match = rules?.watch(event);
        if (match !== undefined) {
          await host.ruleMatched(match, signal);
          if (match.interrupting.length > 0) interruptedBy = match.interrupting;
        }
        if (event.type === "done") stopReason = event.stopReason;
        if (event.type === "done" || interruptedBy !== undefined) break;
      }
    } catch (error) {
      if (!signal.aborted) failure = { type: "error", message: errorText(error), ...errorFields(error) };
    } finally {
      stop.abort();
    }
    if (interruptedBy === undefined && failure === undefined && stopReason === undefined && !signal.aborted) {
      failure = { type: "error", message: "The model's answer ended before it was whole", retryable: true };
    }
    const errorMessage = signal.aborted
      ? "The run was aborted"
      : interruptedBy !== undefined
      ? `Stopped by ${interruptedBy.map((rule) => rule.name).join(", ")}`
      : failure?.message;
    const message: AssistantMessage = {
      role: "assistant",
      content: draft.content,
      provider: model.provider,
      model: model.id,
      ...draft.usage && { usage: draft.usage },
      stopReason: signal.aborted || interruptedBy !== undefined
        ? "aborted"
        : failure !== undefined
        ? "error"
        : draft.hasCalls
        ? "toolUse"
        : stopReason ?? "stop",
      ...errorMessage !== undefined && { errorMessage },
      ...interruptedBy !== undefined && host.rules()?.contextMode === "discard" && {
        interruptedBy: interruptedBy.map((rule) => rule.name),
      },
      timestamp: Date.now(),
    };
    const appended = host.append(message) as AssistantMessage;
    return {
      message: appended,
      ...failure !== undefined && !signal.aborted && { failure },
      ...interruptedBy !== undefined && !signal.aborted && { interruptedBy },
    };
  }

  /** Lets hooks change a request in the form in which it is sent. */
  async #lastWord(request: ModelRequest, signal: AbortSignal): Promise<void> {
    const { runner } = this.#host;
    if (!runner.hasHandlers("before_provider_request")) return;
    const { signal: _signal, ...payload } = request;
    const answer = await settle(runner.emit({ type: "before_provider_request", payload }), signal, 0);
    const given = answer?.payload;
    if (given === undefined) return;
    if (!isRecord(given) || !Array.isArray(given.messages)) {
      throw new TypeError(
        `A before_provider_request handler answered ${kindOf(given)}; it must return the payload with its messages`,
      );
    }
    const { systemPrompt, messages, tools, maxTokens } = given;
    request.messages = messages as ModelRequest["messages"];
    if (typeof systemPrompt === "string") request.systemPrompt = systemPrompt;
    if (Array.isArray(tools)) request.tools = tools as ModelRequest["tools"];
    if (typeof maxTokens === "number") request.maxTokens = maxTokens;
  }

  async #call(call: ToolCall, signal: AbortSignal): Promise<ToolResultMessage> {
    const { runner } = this.#host;
    const decisions: HookDecision[] = [];
    const forget = runner.onDecision((decision) => {
      if ("toolCallId" in decision.event && decision.event.toolCallId === call.id) decisions.push(decision);
    });
    const named = { toolCallId: call.id, toolName: call.name };
    this.#host.tell({ type: "tool_execution_start", ...named, args: call.arguments });
    this.#host.observe("tool_execution_start", () => ({ ...named, args: deepCopy(call.arguments) }));
    let result: ToolResult;
    let isError = false;
    try {
      result = await this.#execute(call, signal);
      if (!Array.isArray(result?.content)) throw new TypeError(`The tool ${call.name} answered without content`);
      const { parts, fault } = readParts(result.content);
      result = { content: parts, details: result.details };
      if (fault !== undefined) {
        const note = `A part of what ${call.name} answered was malformed and is not here: ${fault}`;
        result.content.push({ type: "text", text: `[${note}]` });
        this.#host.tell({ type: "notice", level: "warning", message: note });
      }
    } catch (error) {
      result = { content: [{ type: "text", text: signal.aborted ? abortText(error) : errorText(error) }] };
      isError = true;
    } finally {
      forget();
    }
    const message = this.#host.append({
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: result.content,
      ...result.details !== undefined && { details: result.details },
      isError,
      timestamp: Date.now(),
    }) as ToolResultMessage;
    this.#host.observe("tool_execution_end", () => ({
      ...named,
      result: {
        content: deepCopy(message.content),
        ...message.details !== undefined && { details: deepCopy(message.details) },
      },
      isError,
    }));
    const gate = decisions.find(({ effect }) => effect === "block" || effect === "broken");
    const changedBy = decisions.filter(({ effect }) => effect === "change").map(({ hookPath }) => hookPath);
    this.#host.tell({
      type: "tool_execution_end",
      toolCallId: call.id,
      toolName: call.name,
      content: message.content,
      ...message.details !== undefined && { details: message.details },
      isError,
      blocked: gate !== undefined,
      ...gate !== undefined && { hook: gate.hookPath },
      ...gate?.reason !== undefined && { reason: gate.reason },
      ...changedBy.length > 0 && { changedBy },
    });
    return message;
  }

  async #execute(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const { runner } = this.#host;
    const tools = this.#host.tools();
    if (signal.aborted) throw new Error("The run was aborted before this call");
    const tool = tools.get(call.name);
    if (tool === undefined) {
      const near = nearest(call.name, tools.keys());
      const hint = near === undefined ? `the tools are ${[...tools.keys()].join(", ")}` : `did you mean ${near}?`;
      throw new Error(`There is no tool ${JSON.stringify(call.name)}; ${hint}`);
    }
    const args = checkArguments(tool.name, tool.parameters, call.arguments);
    const onUpdate = (partial: ToolResult) => {
      // What is told while a tool runs has not been through the hooks that redact.
      if (runner.hasHandlers("tool_result") || !Array.isArray(partial?.content)) return;
      const { id: toolCallId, name: toolName } = call;
      const content = readParts(partial.content).parts;
      this.#host.tell({ type: "tool_execution_update", toolCallId, toolName, content });
      this.#host.observe("tool_execution_update", () => ({
        toolCallId,
        toolName,
        args: deepCopy(call.arguments),
        partialResult: deepCopy(partial),
      }));
    };
    return await settle(tool.execute(call.id, args, signal, onUpdate), signal, TOOL_GRACE);
  }
}

const DELTAS = { text: "text_delta", thinking: "thinking_delta", toolCallDelta: "toolcall_delta" } as const;

/** An answer while it comes in. */
class Draft {
  readonly content: AssistantContent[] = [];
  usage: AssistantMessage["usage"];
  hasCalls = false;

  add(event: ModelEvent): void {
    const last = this.content.at(-1);
    switch (event.type) {
      case "text":
        if (last?.type === "text") last.text += event.delta;
        else if (event.delta !== "") this.content.push({ type: "text", text: event.delta });
        break;
      case "thinking":
        if (last?.type === "thinking" && last.thinkingSignature === undefined) {
          last.thinking += event.delta;
          if (event.signature !== undefined) last.thinkingSignature = event.signature;
        } else if (event.delta !== "" || event.signature !== undefined) {
          this.content.push({
            type: "thinking",
            thinking: event.delta,
            ...event.signature !== undefined && { thinkingSignature: event.signature },
          });
        }
        break;
      case "toolCall":
        this.hasCalls = true;
        this.content.push({ type: "toolCall", id: event.id, name: event.name, arguments: event.arguments });
        break;
      case "usage":
        this.usage = event.usage;
        break;
    }
  }
}

function describe(tool: SessionTool): { name: string; description: string; parameters: unknown } {
  return { name: tool.name, description: tool.description ?? "", parameters: tool.parameters ?? { type: "object" } };
}

function abortText(error: unknown): string {
  const text = errorText(error);
  return /abort/i.test(text) ? text : `The run was aborted: ${text}`;
}

function errorFields(error: unknown): Partial<ModelErrorEvent> {
  const { status, retryable, retryAfterMs, overflow } = Object(error) as Partial<ModelErrorEvent>;
  return {
    ...typeof status === "number" && { status },
    ...typeof retryable === "boolean" && { retryable },
    ...typeof retryAfterMs === "number" && { retryAfterMs },
    ...typeof overflow === "boolean" && { overflow },
  };
}
