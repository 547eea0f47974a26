/**
 * The models that a session may use.
 *
 * @module
 */

import type { Model, ModelRegistry } from "../api.ts";
import type { LanguageModel } from "./model.ts";

/**
 * What hooks may know of a model.
 *
 * @param model The model.
 * @returns Its description, without a way to call it.
 */
export function describeModel(model: LanguageModel): Model {
  const { id, provider, name, contextWindow, maxTokens } = model;
  return {
    id,
    provider,
    ...name !== undefined && { name },
    ...contextWindow !== undefined && { contextWindow },
    ...maxTokens !== undefined && { maxTokens },
  };
}

/** Lists models for hooks. It holds no keys, and hooks cannot call a model through it. */
export class ModelList implements ModelRegistry {
  readonly #models: () => Iterable<LanguageModel>;

  /** The model itself, for a session: no member, since hooks get the list. */
  static callable(list: object, provider: string, id: string): LanguageModel | undefined {
    if (!(#models in list)) return undefined;
    return [...list.#models()].find((model) => model.provider === provider && model.id === id);
  }

  /**
   * Makes a list.
   *
   * @param models The models, or what gives them at any time.
   */
  constructor(models: Iterable<LanguageModel> | (() => Iterable<LanguageModel>)) {
    this.#models = typeof models === "function" ? models : () => models;
  }

  /** All that can be used now. */
  getAvailable(): Model[] {
    return [...this.#models()].map(describeModel);
  }

  /** One of them. */
  find(provider: string, id: string): Model | undefined {
    return this.getAvailable().find((model) => model.provider === provider && model.id === id);
  }

  /** Always `undefined`: keys stay with the session. */
  getApiKey(_model: Model, _sessionId?: string): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }
}
