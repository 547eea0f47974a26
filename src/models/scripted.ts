/**
 * A model that plays its answers from a script, so that a session runs offline and the same way each time.
 *
 * @module
 */

import type { Usage } from "../messages.ts";
import { delay } from "../session/wait.ts";
import { errorText, isRecord, kindOf } from "../values.ts";
import { jsonErrorPosition } from "./json_position.ts";
import type { LanguageModel, ModelEvent, ModelRequest } from "./model.ts";

/** A call in a {@linkcode ScriptedTurn}. */
export interface ScriptedToolCall {
  /** Identifies the call; made from its place in the script when absent. */
  id?: string;
  /** The tool. */
  name: string;
  /** The arguments. */
  arguments: Record<string, unknown>;
}

/** One answer of a {@linkcode ScriptedModel}. */
export interface ScriptedTurn {
  /** What it says. */
  text?: string;
  /** What it thinks before. */
  thinking?: string;
  /** What it calls after. */
  toolCalls?: ScriptedToolCall[];
  /** Ends the answer with a failure, after what was said. */
  error?: string | {
    /** What a person should read. */
    message: string;
    /** HTTP status. */
    status?: number;
    /** Time that the provider wants to be left alone, in ms. */
    retryAfterMs?: number;
  };
  /** Tokens; missing numbers are 0. */
  usage?: Partial<Usage>;
  /** Time before the answer begins, in ms. */
  delayMs?: number;
}

/** The content of a script. */
export interface Script {
  /** The answers, in order. */
  turns: ScriptedTurn[];
  /** Tokens that the model claims to take; 200 000 when absent. */
  contextWindow?: number;
}

/** A script that is not one. */
export class ScriptError extends Error {
  /** Tells it from other errors. */
  override name = "ScriptError";
}

/** Characters of text that come at once. */
const PIECE = 32;
/** Most pieces of one text. */
const MOST_PIECES = 256;

/**
 * Plays the turns of a script. When it has run out, every answer is empty.
 *
 * @example
 * ```ts
 * import { ScriptedModel } from "@xcsh/hooks/session";
 *
 * const model = new ScriptedModel({
 *   turns: [
 *     { text: "Looking.", toolCalls: [{ name: "bash", arguments: { command: "ls" } }] },
 *     { text: "Done." },
 *   ],
 * });
 * ```
 */
export class ScriptedModel implements LanguageModel {
  /** Who serves it. */
  readonly provider = "scripted";
  /** Its id. */
  readonly id: string;
  /** How many tokens it reads and writes at most. */
  readonly contextWindow: number;
  /** How often it was asked. */
  requests = 0;
  /** What it was asked last. */
  lastRequest: ModelRequest | undefined;
  readonly #turns: readonly ScriptedTurn[];

  /**
   * Makes a model of a script.
   *
   * @param script The script.
   * @param id Its id as a model.
   * @throws {ScriptError} When it is malformed; the text says where.
   */
  constructor(script: Script, id = "script") {
    checkScript(script, "");
    this.#turns = script.turns;
    this.contextWindow = script.contextWindow ?? 200_000;
    this.id = id;
  }

  /**
   * Reads a script from JSON.
   *
   * @param text The JSON.
   * @param path Where it came from, for errors.
   * @throws {ScriptError} When it is malformed; the text has the path, and the line and column or the place.
   */
  static parse(text: string, path: string): ScriptedModel {
    let script: unknown;
    try {
      script = JSON.parse(text);
    } catch (error) {
      const { line, column } = jsonErrorPosition(text);
      throw new ScriptError(`Script ${path}:${line}:${column}: ${errorText(error)}`, { cause: error });
    }
    checkScript(script, `Script ${path}: `);
    return new ScriptedModel(script);
  }

  /**
   * Reads a script from a file.
   *
   * @param path The file.
   * @throws {ScriptError} When it cannot be read or is malformed.
   */
  static async load(path: string): Promise<ScriptedModel> {
    let text: string;
    try {
      text = await Deno.readTextFile(path);
    } catch (error) {
      throw new ScriptError(`Script ${path} cannot be read: ${errorText(error)}`, { cause: error });
    }
    return ScriptedModel.parse(text, path);
  }

  /** Streams the next turn. */
  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const index = this.requests++;
    this.lastRequest = request;
    const turn = this.#turns[index] ?? {};
    if (turn.delayMs) await delay(turn.delayMs, request.signal);
    for (const delta of pieces(turn.thinking ?? "")) yield { type: "thinking", delta };
    for (const delta of pieces(turn.text ?? "")) yield { type: "text", delta };
    for (const [i, call] of (turn.toolCalls ?? []).entries()) {
      const id = call.id ?? `call_${index + 1}_${i + 1}`;
      for (const delta of pieces(JSON.stringify(call.arguments))) {
        yield { type: "toolCallDelta", id, name: call.name, delta };
      }
      yield { type: "toolCall", id, name: call.name, arguments: structuredClone(call.arguments) };
    }
    if (turn.usage !== undefined) yield { type: "usage", usage: fullUsage(turn.usage) };
    if (typeof turn.error === "string") yield { type: "error", message: turn.error };
    else if (turn.error !== undefined) yield { type: "error", ...turn.error };
    else yield { type: "done", stopReason: turn.toolCalls?.length ? "toolUse" : "stop" };
  }
}

function* pieces(text: string): Generator<string> {
  const size = Math.max(PIECE, Math.ceil(text.length / MOST_PIECES));
  for (let from = 0; from < text.length;) {
    let to = from + size;
    // A pair of surrogates is one character.
    if (to < text.length && /[\uDC00-\uDFFF]/.test(text[to]!)) to++;
    yield text.slice(from, to);
    from = to;
  }
}

function fullUsage(usage: Partial<Usage>): Usage {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
  const totalTokens = usage.totalTokens ?? input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens, ...usage.cost && { cost: usage.cost } };
}

function checkScript(value: unknown, prefix: string): asserts value is Script {
  const fail = (place: string, expected: string, found: unknown): never => {
    throw new ScriptError(`${prefix}${place}: expected ${expected}, found ${kindOf(found)}`);
  };
  const optional = (found: unknown, place: string, type: "string" | "number") => {
    if (found !== undefined && typeof found !== type) fail(place, `a ${type}`, found);
  };
  if (!isRecord(value)) return fail("the script", "an object with turns", value);
  if (!Array.isArray(value.turns)) return fail("turns", "an array", value.turns);
  optional(value.contextWindow, "contextWindow", "number");
  for (const [i, turn] of value.turns.entries()) {
    const at = `turns[${i}]`;
    if (!isRecord(turn)) return fail(at, "an object", turn);
    for (const key of ["text", "thinking"]) optional(turn[key], `${at}.${key}`, "string");
    if (isRecord(turn.error)) {
      if (typeof turn.error.message !== "string") fail(`${at}.error.message`, "a string", turn.error.message);
      for (const key of ["status", "retryAfterMs"]) optional(turn.error[key], `${at}.error.${key}`, "number");
    } else optional(turn.error, `${at}.error`, "string");
    optional(turn.delayMs, `${at}.delayMs`, "number");
    if (turn.usage !== undefined) {
      if (!isRecord(turn.usage)) return fail(`${at}.usage`, "an object", turn.usage);
      for (const key of ["input", "output", "cacheRead", "cacheWrite", "totalTokens"]) {
        optional(turn.usage[key], `${at}.usage.${key}`, "number");
      }
    }
    if (turn.toolCalls === undefined) continue;
    if (!Array.isArray(turn.toolCalls)) return fail(`${at}.toolCalls`, "an array", turn.toolCalls);
    for (const [j, call] of turn.toolCalls.entries()) {
      const place = `${at}.toolCalls[${j}]`;
      if (!isRecord(call)) return fail(place, "an object", call);
      if (typeof call.name !== "string") fail(`${place}.name`, "a string", call.name);
      if (!isRecord(call.arguments)) fail(`${place}.arguments`, "an object", call.arguments);
      optional(call.id, `${place}.id`, "string");
    }
  }
}
