/**
 * The capability registry: who can be asked for hooks, in which order, and which of two with one name counts.
 *
 * @module
 */

import { join, resolve } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { errorText, isThenable, nearest } from "../values.ts";
import { type CacheStats, Scanner } from "./scan.ts";

/** Where an item was found. */
export interface ItemSource {
  /** The provider's id. */
  provider: string;
  /** The provider's name for people; the registry fills it in. */
  providerName?: string;
  /** The file that it was found in. */
  path: string;
  /** Whether it belongs to the person or came with the project. */
  level: "user" | "project";
}

/** What every item of every capability has. */
export interface CapabilityItem {
  /** Where it was found. An item without it is left out. */
  _source?: ItemSource;
  /** Whether an item with the same key came before it. */
  _shadowed?: boolean;
}

/** A kind of thing that providers may find. */
export interface Capability<T extends CapabilityItem = CapabilityItem> {
  /** Its id. */
  id: string;
  /** Its name for people. */
  displayName: string;
  /** What it is, in one sentence. */
  description: string;
  /** What two items share when the later one is shadowed; `undefined` for an item that never is. */
  key(item: T): string | undefined;
  /** Why an item cannot be used, or `undefined` when it can. */
  validate?(item: T): string | undefined;
  /** The name by which people disable an item. */
  toExtensionId?(item: T): string | undefined;
}

/** What a provider gets to know. */
export interface LoadContext {
  /** The project's folder. */
  readonly cwd: string;
  /** The person's home; `""` when it is not known. */
  readonly home: string;
  /** The nearest folder at or above `cwd` that holds `.git`. */
  readonly repoRoot: string | null;
  /** Folders of plugins that the person named. */
  readonly pluginDirs: readonly string[];
  /** Whether commands of settings files will run: only then is it worth a word what is wrong with them. */
  readonly commandsRun: boolean;
  /** Reads folders and files, each once. */
  readonly scanner: Scanner;
}

/** What a provider found. */
export interface ProviderResult<T extends CapabilityItem = CapabilityItem> {
  /** The items, first the one that counts most. */
  items: T[];
  /** What the person should know. */
  warnings?: string[];
}

/** Someone who finds items. */
export interface Provider<T extends CapabilityItem = CapabilityItem> {
  /** Its id. */
  id: string;
  /** Its name for people. */
  displayName: string;
  /** What it reads, in one sentence. */
  description: string;
  /** Providers with a higher one are asked first; of equals, the one registered first. */
  priority: number;
  /** Finds items. What it throws becomes a warning. */
  load(context: LoadContext): ProviderResult<T> | Promise<ProviderResult<T>>;
}

/** Options of {@linkcode CapabilityRegistry.load}. */
export interface LoadCapabilityOptions<T extends CapabilityItem = CapabilityItem> {
  /** Ask these providers alone, even disabled ones. */
  providers?: readonly string[];
  /** Do not ask these providers. */
  excludeProviders?: readonly string[];
  /** The project's folder; the process's when absent. */
  cwd?: string;
  /** The person's home; the environment's when absent. */
  home?: string;
  /** The folder that holds `.git`, when that has been looked for. */
  repoRoot?: string | null;
  /** Folders of plugins that the person named. */
  pluginDirs?: readonly string[];
  /** Whether commands of settings files will run; default true. */
  commandsRun?: boolean;
  /** Keep items that cannot be used. They hide nothing. */
  includeInvalid?: boolean;
  /** Keep items that were disabled by their extension id. */
  includeDisabled?: boolean;
  /** Extension ids of items to leave out; those of the settings when absent. */
  disabledExtensions?: readonly string[];
  /** Also ask disabled providers, so that `excluded` names what they would have given. */
  explain?: boolean;
  /** Says why an item must not be used, before it can hide another one; gets all that was found as well. */
  refuse?: (item: T, found: readonly T[]) => string | undefined | Promise<string | undefined>;
}

/** An item that is not used, and why. */
export interface ExcludedItem<T extends CapabilityItem = CapabilityItem> {
  /** The item. */
  item: T;
  /** What kept it out. */
  cause: "disabled" | "invalid" | "refused" | "shadowed";
  /** The same in one sentence. */
  reason: string;
  /** The item that it is shadowed by. */
  by?: T;
}

/** What came of asking the providers. */
export interface CapabilityResult<T extends CapabilityItem = CapabilityItem> {
  /** The items to use, in order. */
  items: T[];
  /** All items that were found and not disabled, the unusable and the shadowed ones among them. */
  all: T[];
  /** What the person should know: each provider's warnings and failures in order, then what is wrong with items. */
  warnings: string[];
  /** Ids of the providers that found something. */
  providers: string[];
  /** What is not used, and why. */
  excluded: ExcludedItem<T>[];
}

/** What the person has switched off. */
export interface CapabilitySettings {
  /** Ids of providers. */
  disabledProviders?: readonly string[];
  /** Extension ids of items, for example `hook:pre:bash:guard.ts`. */
  disabledExtensions?: readonly string[];
  /** Keeps the ids of disabled providers for the next run. */
  saveDisabledProviders?(ids: string[]): void;
}

/** A capability and its providers, for showing. */
export interface CapabilityInfo {
  /** Its id. */
  id: string;
  /** Its name for people. */
  displayName: string;
  /** What it is. */
  description: string;
  /** Its providers in the order in which they are asked. */
  providers: Array<{ id: string; displayName: string; description: string; priority: number; enabled: boolean }>;
}

/** A provider and its capabilities, for showing. */
export interface ProviderInfo {
  /** Its id. */
  id: string;
  /** Its name for people. */
  displayName: string;
  /** What it reads. */
  description: string;
  /** Its highest priority. */
  priority: number;
  /** Ids of the capabilities that it gives. */
  capabilities: string[];
  /** Whether it is asked. */
  enabled: boolean;
}

interface Registered {
  readonly capability: Capability;
  readonly providers: Provider[];
}

/**
 * Knows capabilities and their providers.
 *
 * @example
 * ```ts
 * import { CapabilityRegistry } from "@xcsh/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * interface Skill { name: string; _source: { provider: string; path: string; level: "user" } }
 * const registry = new CapabilityRegistry();
 * registry.defineCapability<Skill>({ id: "skills", displayName: "Skills", description: "…", key: (skill) => skill.name });
 * const skill: Skill = { name: "review", _source: { provider: "home", path: "/home/u/review.md", level: "user" } };
 * registry.registerProvider("skills", {
 *   id: "home", displayName: "Home", description: "…", priority: 1, load: () => ({ items: [skill] }),
 * });
 * assertEquals((await registry.load<Skill>("skills")).items.map((item) => item.name), ["review"]);
 * ```
 */
export class CapabilityRegistry {
  readonly #capabilities = new Map<string, Registered>();
  readonly #names = new Map<string, { displayName: string; description: string }>();
  readonly #scanner = new Scanner();
  #disabledProviders = new Set<string>();
  #settings: CapabilitySettings = {};

  /**
   * Defines a capability.
   *
   * @throws {Error} When its id is taken.
   */
  defineCapability<T extends CapabilityItem>(capability: Capability<T>): void {
    if (this.#capabilities.has(capability.id)) throw new Error(`Capability "${capability.id}" is already defined`);
    this.#capabilities.set(capability.id, { capability: capability as unknown as Capability, providers: [] });
  }

  /**
   * Adds a provider. Its name and description are those of the first registration of its id.
   *
   * @throws {Error} When there is no such capability.
   */
  registerProvider<T extends CapabilityItem>(capabilityId: string, provider: Provider<T>): void {
    const { providers } = this.#registered(capabilityId);
    const at = providers.findIndex((other) => other.priority < provider.priority);
    providers.splice(at === -1 ? providers.length : at, 0, provider as unknown as Provider);
    if (!this.#names.has(provider.id)) {
      this.#names.set(provider.id, { displayName: provider.displayName, description: provider.description });
    }
  }

  /**
   * Asks the providers of a capability, all at once, and puts what they found in order. Items that are disabled, cannot be
   * used or are refused are left out first, so that none of them hides another one.
   *
   * @param id The capability.
   * @param options See {@linkcode LoadCapabilityOptions}.
   * @returns The items, and what became of the others.
   * @throws {Error} When there is no such capability. A provider that fails is a warning.
   */
  async load<T extends CapabilityItem>(
    id: string,
    options: LoadCapabilityOptions<T> = {},
  ): Promise<CapabilityResult<T>> {
    const { capability, providers } = this.#registered(id) as unknown as {
      capability: Capability<T>;
      providers: Provider<T>[];
    };
    const cwd = resolve(options.cwd ?? Deno.cwd());
    const context: LoadContext = {
      cwd,
      home: options.home ?? homeDirectory(),
      repoRoot: options.repoRoot === undefined ? repoRootOf(cwd) : options.repoRoot,
      pluginDirs: options.pluginDirs ?? [],
      commandsRun: options.commandsRun ?? true,
      scanner: this.#scanner,
    };
    const asked = providers.filter((provider) => this.#isAsked(provider.id, options));
    const answers = await Promise.all(asked.map((provider) => ask(provider, context)));
    const disabled = new Set(options.disabledExtensions ?? this.#settings.disabledExtensions ?? []);

    const result: CapabilityResult<T> = { items: [], all: [], warnings: [], providers: [], excluded: [] };
    const faults: string[] = [];
    const byKey = new Map<string, T>();
    const everything = answers.flatMap(({ items }) => items);
    for (const [i, provider] of asked.entries()) {
      const { displayName } = this.#names.get(provider.id)!;
      const name = `[${displayName}] `;
      const { items, warnings } = answers[i]!;
      result.warnings.push(...warnings.map((warning) => name + warning));
      const providerDisabled = options.providers === undefined && !this.isProviderEnabled(provider.id);
      let found = false;
      for (const item of items) {
        if (item._source === undefined) {
          result.warnings.push(`${name}An item without _source was left out`);
          continue;
        }
        item._source.providerName = displayName;
        if (providerDisabled) {
          result.excluded.push({ item, cause: "disabled", reason: `the provider ${provider.id} is disabled` });
          continue;
        }
        const extension = capability.toExtensionId?.(item);
        if (extension !== undefined && disabled.has(extension) && !options.includeDisabled) {
          result.excluded.push({ item, cause: "disabled", reason: `${extension} is disabled` });
          continue;
        }
        found = true;
        result.all.push(item);
        const fault = capability.validate?.(item);
        if (fault !== undefined) {
          faults.push(`${name}${item._source.path}: ${fault}`);
          result.excluded.push({ item, cause: "invalid", reason: fault });
          if (options.includeInvalid) result.items.push(item);
          continue;
        }
        const answer = options.refuse?.(item, everything);
        const refusal = isThenable(answer) ? await answer : answer;
        if (refusal !== undefined) {
          result.excluded.push({ item, cause: "refused", reason: refusal });
          continue;
        }
        const key = capability.key(item);
        const by = key === undefined ? undefined : byKey.get(key);
        if (by !== undefined) {
          item._shadowed = true;
          result.excluded.push({ item, cause: "shadowed", reason: `shadowed by ${by._source!.path}`, by });
          continue;
        }
        if (key !== undefined) byKey.set(key, item);
        result.items.push(item);
      }
      if (found) result.providers.push(provider.id);
    }
    result.warnings.push(...faults);
    return result;
  }

  /** Stops asking a provider. */
  disableProvider(id: string): void {
    this.#disabledProviders.add(id);
    this.#save();
  }

  /** Asks a provider again. */
  enableProvider(id: string): void {
    this.#disabledProviders.delete(id);
    this.#save();
  }

  /** Whether a provider is asked. */
  isProviderEnabled(id: string): boolean {
    return !this.#disabledProviders.has(id);
  }

  /** Ids of the providers that are not asked. */
  getDisabledProviders(): string[] {
    return [...this.#disabledProviders];
  }

  /** Says which providers are not asked; all others are. */
  setDisabledProviders(ids: readonly string[]): void {
    this.#disabledProviders = new Set(ids);
    this.#save();
  }

  /** Takes over what the person has switched off, and from now on reports changes to these settings. */
  initializeWithSettings(settings: CapabilitySettings): void {
    this.#settings = settings;
    this.#disabledProviders = new Set(settings.disabledProviders ?? []);
  }

  /** One capability, or `undefined`. */
  getCapability(id: string): Capability | undefined {
    return this.#capabilities.get(id)?.capability;
  }

  /** Ids of all capabilities. */
  listCapabilities(): string[] {
    return [...this.#capabilities.keys()];
  }

  /** One capability with its providers, or `undefined`. */
  getCapabilityInfo(id: string): CapabilityInfo | undefined {
    const registered = this.#capabilities.get(id);
    if (registered === undefined) return undefined;
    const { displayName, description } = registered.capability;
    const providers = registered.providers.map(({ id, priority }) => ({
      id,
      ...this.#names.get(id)!,
      priority,
      enabled: this.isProviderEnabled(id),
    }));
    return { id, displayName, description, providers };
  }

  /** All capabilities with their providers. */
  getAllCapabilitiesInfo(): CapabilityInfo[] {
    return this.listCapabilities().map((id) => this.getCapabilityInfo(id)!);
  }

  /** One provider with its capabilities, or `undefined`. */
  getProviderInfo(id: string): ProviderInfo | undefined {
    const names = this.#names.get(id);
    if (names === undefined) return undefined;
    const given = [...this.#capabilities.values()].flatMap(({ capability, providers }) =>
      providers.filter((provider) => provider.id === id).map(({ priority }) => ({
        capability: capability.id,
        priority,
      }))
    );
    return {
      id,
      ...names,
      priority: Math.max(...given.map(({ priority }) => priority)),
      capabilities: [...new Set(given.map(({ capability }) => capability))],
      enabled: this.isProviderEnabled(id),
    };
  }

  /** All providers, by descending priority. */
  getAllProvidersInfo(): ProviderInfo[] {
    return [...this.#names.keys()].map((id) => this.getProviderInfo(id)!).sort((a, b) => b.priority - a.priority);
  }

  /** Forgets capabilities, providers, settings and what was read. */
  reset(): void {
    this.#capabilities.clear();
    this.#names.clear();
    this.#settings = {};
    this.#disabledProviders.clear();
    this.invalidate();
  }

  /** Forgets what was read, so that the next load sees the disk as it is. */
  invalidate(): void {
    this.#scanner.invalidate();
  }

  /** How much was read, and how much of it once. */
  cacheStats(): CacheStats {
    return this.#scanner.stats();
  }

  #registered(id: string): Registered {
    const registered = this.#capabilities.get(id);
    if (registered !== undefined) return registered;
    const near = nearest(id, this.listCapabilities());
    throw new Error(
      `There is no capability "${id}"; ${near === undefined ? "define it first" : `did you mean "${near}"?`}`,
    );
  }

  #isAsked(id: string, options: Pick<LoadCapabilityOptions, "providers" | "excludeProviders" | "explain">): boolean {
    if (options.excludeProviders?.includes(id)) return false;
    return options.providers?.includes(id) ?? (options.explain === true || this.isProviderEnabled(id));
  }

  #save(): void {
    this.#settings.saveDisabledProviders?.(this.getDisabledProviders());
  }
}

async function ask<T extends CapabilityItem>(
  provider: Provider<T>,
  context: LoadContext,
): Promise<Required<ProviderResult<T>>> {
  try {
    const { items, warnings = [] } = await provider.load(context);
    return { items, warnings };
  } catch (error) {
    return { items: [], warnings: [`Failed to load: ${errorText(error)}`] };
  }
}

/** The nearest folder at or above `cwd` that holds `.git`. */
export function repoRootOf(cwd: string): string | null {
  for (let folder = cwd;;) {
    try {
      Deno.lstatSync(join(folder, ".git"));
      return folder;
    } catch {
      // Not here, or not to be seen.
    }
    const parent = resolve(folder, "..");
    if (parent === folder) return null;
    folder = parent;
  }
}
