/**
 * Real models, through the provider packages of the AI SDK.
 *
 * @module
 */

import { textOf, type ToolResultMessage, type Usage, type UserContent } from "../messages.ts";
import type { ModelMessage } from "../session/context.ts";
import { errorText, isRecord } from "../values.ts";
import type { LanguageModel, ModelErrorEvent, ModelEvent, ModelRequest } from "./model.ts";

/** Options of {@linkcode createModel}. */
export interface CreateModelOptions {
  /** Address of the API; needed for `openai-compatible`. */
  baseUrl?: string;
  /** The key; from the environment when absent. */
  apiKey?: string;
  /** How many tokens the model reads and writes at most. */
  contextWindow?: number;
  /** How many tokens it writes at most. */
  maxTokens?: number;
  /** Sends the requests, for a proxy or a test; the platform's own when absent. */
  fetch?: typeof fetch;
}

/** A model that cannot be used as it was asked for. */
export class ModelSetupError extends Error {
  /** Tells it from other errors. */
  override name = "ModelSetupError";
}

/** What there is to know of a provider. */
interface Provider {
  /** Its package. Fetched only when a model of it is asked for, so it is no import that a tool could see. */
  readonly specifier: string;
  /** Variables that may hold the key. */
  readonly keys: readonly string[];
  readonly needsKey: boolean;
  readonly needsBaseUrl: boolean;
  readonly contextWindow?: number;
  create(module: Record<string, unknown>, options: object, name: string): SdkModel;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  "openai-compatible": {
    specifier: "npm:@ai-sdk/openai-compatible@^3.0.92",
    keys: ["OPENAI_COMPATIBLE_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
    needsKey: false,
    needsBaseUrl: true,
    create(module, options, name) {
      const provider = (module.createOpenAICompatible as SdkFactory)({
        name: "openai",
        includeUsage: true,
        ...options,
      });
      return provider.chatModel!(name);
    },
  },
  anthropic: {
    specifier: "npm:@ai-sdk/anthropic@^4.0.105",
    keys: ["ANTHROPIC_API_KEY"],
    needsKey: true,
    needsBaseUrl: false,
    contextWindow: 200_000,
    create: (module, options, name) => (module.createAnthropic as SdkFactory)(options)(name),
  },
};

/**
 * Makes a model of a name such as `openai-compatible:qwen3` or `anthropic:claude-sonnet-4-5`. `openai-compatible` is for OpenAI, Ollama, vLLM,
 * llama.cpp, OpenRouter and whatever else speaks that language. The provider's package is fetched from npm when it is first
 * asked for. A key that comes from the environment is taken out of it, so that neither hooks nor commands find it there.
 *
 * @param name Provider, a colon, and the model's id at that provider.
 * @param options See {@linkcode CreateModelOptions}.
 * @returns The model.
 * @throws {ModelSetupError} When the name, the address or the key is missing or wrong, or the package cannot be fetched.
 */
export async function createModel(name: string, options: CreateModelOptions = {}): Promise<LanguageModel> {
  const colon = name.indexOf(":");
  const providerName = name.slice(0, colon);
  const id = name.slice(colon + 1);
  const provider = colon === -1 || !Object.hasOwn(PROVIDERS, providerName) ? undefined : PROVIDERS[providerName];
  if (provider === undefined || id === "") {
    const known = Object.keys(PROVIDERS).map((known) => `${known}:NAME`).join(" or ");
    throw new ModelSetupError(`The model ${JSON.stringify(name)} is not known; write ${known}`);
  }
  const baseURL = checkUrl(options.baseUrl);
  if (provider.needsBaseUrl && baseURL === undefined) {
    throw new ModelSetupError(
      `The model ${name} needs the address of its API: --base-url http://localhost:11434/v1 for Ollama, for example`,
    );
  }
  const apiKey = options.apiKey ?? takeKey(provider.keys);
  if (provider.needsKey && apiKey === undefined) {
    throw new ModelSetupError(`The model ${name} needs a key in ${provider.keys.join(" or ")}`);
  }
  const module = await load(provider.specifier, name);
  const settings = {
    ...baseURL !== undefined && { baseURL },
    ...apiKey !== undefined && { apiKey },
    ...options.fetch !== undefined && { fetch: options.fetch },
  };
  const contextWindow = options.contextWindow ?? provider.contextWindow;
  return new SdkLanguageModel(provider.create(module, settings, id), providerName, id, apiKey, {
    ...contextWindow !== undefined && { contextWindow },
    ...options.maxTokens !== undefined && { maxTokens: options.maxTokens },
  });
}

function checkUrl(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new ModelSetupError(`The address ${JSON.stringify(url)} is no URL; write http://… or https://…`);
  }
  return url.replace(/\/+$/, "");
}

function takeKey(names: readonly string[]): string | undefined {
  for (const name of names) {
    let key: string | undefined;
    try {
      key = Deno.env.get(name);
      if (key) Deno.env.delete(name);
    } catch (error) {
      throw new ModelSetupError(`The key in ${name} may not be read: ${errorText(error)}`, { cause: error });
    }
    if (key) return key;
  }
  return undefined;
}

async function load(specifier: string, name: string): Promise<Record<string, unknown>> {
  try {
    return await import(specifier);
  } catch (error) {
    throw new ModelSetupError(`The package for ${name} (${specifier}) cannot be fetched: ${errorText(error)}`, {
      cause: error,
    });
  }
}

class SdkLanguageModel implements LanguageModel {
  readonly provider: string;
  readonly id: string;
  declare readonly contextWindow?: number;
  declare readonly maxTokens?: number;
  readonly #model: SdkModel;
  readonly #apiKey: string | undefined;

  constructor(
    model: SdkModel,
    provider: string,
    id: string,
    apiKey: string | undefined,
    limits: { contextWindow?: number; maxTokens?: number },
  ) {
    this.#model = model;
    this.provider = provider;
    this.id = id;
    this.#apiKey = apiKey;
    Object.assign(this, limits);
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const names = new Map<string, string>();
    try {
      const maxOutputTokens = request.maxTokens ?? this.maxTokens;
      const { stream } = await this.#model.doStream({
        prompt: toPrompt(request, this.provider),
        tools: request.tools.map(({ name, description, parameters }) => ({
          type: "function",
          name,
          description,
          inputSchema: parameters,
        })),
        abortSignal: request.signal,
        ...maxOutputTokens !== undefined && { maxOutputTokens },
      });
      for await (const part of stream) {
        const event = this.#read(part, names);
        if (event !== undefined) yield event;
        if (event?.type === "error") return;
        if (part.type === "finish") {
          yield finished(part);
          return;
        }
      }
    } catch (error) {
      yield this.#failure(error);
    }
  }

  #read(part: SdkPart, names: Map<string, string>): ModelEvent | undefined {
    switch (part.type) {
      case "text-delta":
        return { type: "text", delta: part.delta ?? "" };
      case "reasoning-delta":
      case "reasoning-end": {
        const signature = part.providerMetadata?.anthropic?.signature;
        if (typeof signature === "string") return { type: "thinking", delta: part.delta ?? "", signature };
        return part.delta ? { type: "thinking", delta: part.delta } : undefined;
      }
      case "tool-input-start":
        names.set(part.id ?? "", part.toolName ?? "");
        return undefined;
      case "tool-input-delta":
        return {
          type: "toolCallDelta",
          id: part.id ?? "",
          name: names.get(part.id ?? "") ?? "",
          delta: part.delta ?? "",
        };
      case "tool-call":
        return readCall(part);
      case "finish":
        return { type: "usage", usage: toUsage(part.usage) };
      case "error":
        return this.#failure(part.error);
      default:
        return undefined;
    }
  }

  #failure(error: unknown): ModelErrorEvent {
    const failure = toFailure(error);
    // Providers repeat a key that they refuse.
    if (this.#apiKey) failure.message = failure.message.replaceAll(this.#apiKey, "[key]");
    return failure;
  }
}

function readCall(part: SdkPart): ModelEvent {
  const { toolCallId = "", toolName = "", input = "" } = part;
  let args: unknown;
  try {
    args = input.trim() === "" ? {} : JSON.parse(input);
  } catch (error) {
    const message = `The model wrote arguments for ${toolName} that are no JSON: ${errorText(error)}`;
    return { type: "error", message, retryable: true };
  }
  if (!isRecord(args)) {
    return { type: "error", message: `The model wrote arguments for ${toolName} that are no object`, retryable: true };
  }
  return { type: "toolCall", id: toolCallId, name: toolName, arguments: args };
}

function finished(part: SdkPart): ModelEvent {
  const reason = isRecord(part.finishReason) ? part.finishReason.unified : part.finishReason;
  switch (reason) {
    case "tool-calls":
      return { type: "done", stopReason: "toolUse" };
    case "length":
      return { type: "done", stopReason: "length" };
    case "content-filter":
      return { type: "error", message: "The provider's content filter stopped the answer", retryable: false };
    case "error":
    case "interrupted":
      return { type: "error", message: "The provider broke the answer off", retryable: true };
    default:
      return { type: "done", stopReason: "stop" };
  }
}

function toUsage(usage: SdkUsage | undefined): Usage {
  const { inputTokens, outputTokens } = usage ?? {};
  const cacheRead = inputTokens?.cacheRead ?? 0;
  const cacheWrite = inputTokens?.cacheWrite ?? 0;
  const input = inputTokens?.noCache ?? Math.max(0, (inputTokens?.total ?? 0) - cacheRead - cacheWrite);
  const output = outputTokens?.total ?? 0;
  return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite };
}

/** Makes sense of whatever a provider package throws. */
function toFailure(error: unknown): ModelErrorEvent {
  const fields = isRecord(error) ? error : {};
  const code = typeof fields.statusCode === "number" ? fields.statusCode : undefined;
  // An answer that began well and then broke off.
  const brokeOff = code !== undefined && code >= 200 && code < 300;
  const status = brokeOff ? undefined : code;
  const said = brokeOff ? `The answer broke off: ${errorText(fields.cause ?? error)}` : errorText(error).trim();
  const text = said === "" || said === "[object Object]" ? describe(fields) : said;
  const message = status !== undefined && !text.includes(String(status)) ? `${status} ${text}` : text;
  const headers = isRecord(fields.responseHeaders) ? fields.responseHeaders : {};
  const retryAfterMs = retryAfter(headers);
  const retryable = brokeOff || (status === undefined && fields.isRetryable === true);
  return {
    type: "error",
    message,
    ...status !== undefined && { status },
    ...retryAfterMs !== undefined && { retryAfterMs },
    ...retryable && { retryable },
  };
}

function describe(fields: Record<string, unknown>): string {
  if (typeof fields.message === "string" && fields.message !== "") return fields.message;
  if (isRecord(fields.error)) return describe(fields.error);
  try {
    return JSON.stringify(fields).slice(0, 500);
  } catch {
    return "The provider failed without saying why";
  }
}

function retryAfter(headers: Record<string, unknown>): number | undefined {
  const inMs = Number(headers["retry-after-ms"] ?? NaN);
  if (Number.isFinite(inMs)) return inMs;
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const ms = Number.isFinite(Number(value)) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

function toPrompt({ systemPrompt, messages }: ModelRequest, provider: string): object[] {
  const prompt: object[] = systemPrompt === "" ? [] : [{ role: "system", content: systemPrompt }];
  const takesPictures = provider === "anthropic";
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === "user") prompt.push({ role: "user", content: toParts(message.content) });
    else if (message.role === "assistant") {
      prompt.push({ role: "assistant", content: toAssistantParts(message, provider) });
    } else {
      const results = resultsFrom(messages, i);
      i += results.length - 1;
      prompt.push({ role: "tool", content: results.map((result) => toResultPart(result, takesPictures)) });
      const pictures = takesPictures
        ? []
        : results.flatMap((result) => result.content.filter((part) => part.type === "image"));
      if (pictures.length > 0) {
        prompt.push({
          role: "user",
          content: [{ type: "text", text: "Pictures that the tools answered:" }, ...toParts(pictures)],
        });
      }
    }
  }
  return prompt;
}

function resultsFrom(messages: readonly ModelMessage[], from: number): ToolResultMessage[] {
  const results: ToolResultMessage[] = [];
  for (let i = from; messages[i]?.role === "toolResult"; i++) results.push(messages[i] as ToolResultMessage);
  return results;
}

function toParts(content: string | readonly UserContent[]): object[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => part.type === "text" ? { type: "text", text: part.text } : filePart(part));
}

function filePart({ data, mimeType }: Extract<UserContent, { type: "image" }>): object {
  return { type: "file", mediaType: mimeType, data: { type: "data", data } };
}

function toAssistantParts(message: Extract<ModelMessage, { role: "assistant" }>, provider: string): object[] {
  const isSameProvider = message.provider === provider;
  return message.content.flatMap((part): object[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type === "toolCall") {
      return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.arguments }];
    }
    // Reasoning without its proof, or with another provider's, is refused.
    if (provider !== "anthropic" || !isSameProvider || part.thinkingSignature === undefined) return [];
    const providerOptions = { anthropic: { signature: part.thinkingSignature } };
    return [{ type: "reasoning", text: part.thinking, providerOptions }];
  });
}

function toResultPart({ toolCallId, toolName, content, isError }: ToolResultMessage, takesPictures: boolean): object {
  const hasPictures = content.some((part) => part.type === "image");
  const output = hasPictures && takesPictures && !isError
    ? { type: "content", value: toParts(content) }
    : { type: isError ? "error-text" : "text", value: textOf(content) || "(nothing)" };
  return { type: "tool-result", toolCallId, toolName, output };
}

// What is used of the AI SDK's interface for language models, version 4.

type SdkFactory = (options: object) => SdkProvider;

interface SdkProvider {
  (id: string): SdkModel;
  chatModel?(id: string): SdkModel;
}

interface SdkModel {
  doStream(options: object): Promise<{ stream: ReadableStream<SdkPart> }>;
}

interface SdkUsage {
  inputTokens?: { total?: number; noCache?: number; cacheRead?: number; cacheWrite?: number };
  outputTokens?: { total?: number };
}

interface SdkPart {
  type: string;
  id?: string;
  delta?: string;
  toolName?: string;
  toolCallId?: string;
  input?: string;
  finishReason?: unknown;
  usage?: SdkUsage;
  error?: unknown;
  providerMetadata?: Record<string, Record<string, unknown> | undefined>;
}
