/**
 * Rules that watch what the model writes while it writes it.
 *
 * @module
 */

import { basename, globToRegExp, isAbsolute, join, normalize, relative, resolve } from "@std/path";
import { parse as parseYaml } from "@std/yaml";
import type { Rule } from "../events.ts";
import { type Compile, loadLinearEngine, type TextTest } from "../linear_regexp.ts";
import type { ModelEvent } from "../models/model.ts";
import { errorText, isRecord } from "../values.ts";

/** How stream rules work. */
export interface StreamRuleSettings {
  /** Whether there are any; default true. */
  enabled: boolean;
  /** Whether a match stops the answer, where the rule itself does not say; default `always`. */
  interruptMode: NonNullable<Rule["interruptMode"]>;
  /** Whether the model forgets the answer that was stopped; default `discard`. */
  contextMode: "discard" | "keep";
  /** Whether a rule counts once in a session, or again after some turns; default `once`. */
  repeatMode: "once" | "after-gap";
  /** How many turns, with `after-gap`; default 10. */
  repeatGap: number;
}

/** What holds when nothing is set. */
export const DEFAULT_STREAM_RULES: StreamRuleSettings = {
  enabled: true,
  interruptMode: "always",
  contextMode: "discard",
  repeatMode: "once",
  repeatGap: 10,
};

/** `customType` of the message by which the model is told of rules. */
export const TTSR_MESSAGE = "ttsr-injection";

/** The piece of the stream that is watched. */
export interface StreamSource {
  /** Which stream. */
  kind: "text" | "thinking" | "tool";
  /** The tool, when it is a tool's arguments. */
  toolName?: string;
  /** Files that the arguments name. */
  paths?: readonly string[];
}

/** Rules that matched just now. */
export interface RuleMatch {
  /** All of them. */
  rules: Rule[];
  /** Those that stop the answer. */
  interrupting: Rule[];
}

interface Scope {
  readonly kind: "text" | "thinking" | "tool";
  readonly toolName?: string;
  readonly glob?: RegExp;
}

interface Watched {
  readonly rule: Rule;
  readonly tests: readonly TextTest[];
  readonly scopes: readonly Scope[];
  readonly globs: readonly RegExp[];
}

/** Text up to this is searched whole each time; of longer ones only the end, and the whole once it is complete. */
const WINDOW = 8 * 1024;
/** Longest buffer that is kept of one stream. */
const MAX_BUFFER = 4 * 1024 * 1024;

/**
 * Watches the streams of an answer. Conditions run on an engine whose time is linear in the text, so that none can hang the session;
 * conditions that it does not know, which are look-aheads and references back, are refused.
 */
export class StreamRules {
  readonly #watched = new Map<string, Watched>();
  readonly #settings: StreamRuleSettings;
  readonly #compile: Compile;
  readonly #cwd: string;
  /** Turn at which the model was told of a rule. */
  readonly #told = new Map<string, number>();
  readonly #matchedNow = new Set<string>();
  readonly #buffers = new Map<string, string>();
  #turn = 0;
  #last: { key: string; source: StreamSource } | undefined;

  private constructor(compile: Compile, cwd: string, settings: StreamRuleSettings) {
    this.#compile = compile;
    this.#cwd = cwd;
    this.#settings = settings;
  }

  /**
   * Makes a watcher. The engine comes from npm (`re2js`), and only when this is called.
   *
   * @param rules The rules.
   * @param cwd The folder that relative paths start from.
   * @param settings The settings.
   * @param warn Told of each rule that is left out, and why.
   */
  static async create(
    rules: readonly Rule[],
    cwd: string,
    settings: Partial<StreamRuleSettings> = {},
    warn: (warning: string) => void = () => {},
  ): Promise<StreamRules> {
    const all = { ...DEFAULT_STREAM_RULES, ...settings };
    const needed = all.enabled && rules.length > 0;
    const watcher = new StreamRules(needed ? await loadLinearEngine() : () => () => false, cwd, all);
    if (needed) { for (const rule of rules) watcher.addRule(rule, warn); }
    return watcher;
  }

  /** How many rules are watched. */
  get size(): number {
    return this.#watched.size;
  }

  /** What is done with an answer that was stopped. */
  get contextMode(): "discard" | "keep" {
    return this.#settings.contextMode;
  }

  /**
   * Adds a rule.
   *
   * @param rule The rule.
   * @param warn Told of what is wrong with it.
   * @returns `false` when it is left out: its name is taken, it has no condition that can be compiled, or it watches nothing.
   */
  addRule(rule: Rule, warn: (warning: string) => void = () => {}): boolean {
    const where = `Rule ${rule.name} (${rule.path})`;
    if (this.#watched.has(rule.name)) {
      warn(`${where} is left out: there is another rule of that name`);
      return false;
    }
    const tests: TextTest[] = [];
    for (const condition of rule.condition ?? []) {
      try {
        tests.push(this.#compile(condition));
      } catch (error) {
        warn(`${where}: the condition ${JSON.stringify(condition)} is left out: ${errorText(error)}`);
      }
    }
    if (tests.length === 0) {
      if (rule.condition?.length) warn(`${where} is left out: none of its conditions can be used`);
      return false;
    }
    const scopes = (rule.scope ?? ["text", "tool"]).map(parseScope).filter((scope) => scope !== undefined);
    if (scopes.length === 0) {
      warn(`${where} is left out: its scope names no stream`);
      return false;
    }
    this.#watched.set(rule.name, { rule, tests, scopes, globs: (rule.globs ?? []).map((glob) => globToRegExp(glob)) });
    return true;
  }

  /** Takes note of rules that the model was told of before, in the session that is resumed. */
  restore(names: Iterable<string>): void {
    this.#told.clear();
    for (const name of names) this.#told.set(name, this.#turn);
  }

  /** A turn begins: the streams are empty. */
  reset(): void {
    this.#buffers.clear();
    this.#matchedNow.clear();
    this.#last = undefined;
  }

  /** A turn is over; counts for `after-gap`. */
  turnEnded(): void {
    this.#turn++;
  }

  /** The model has been told of rules. */
  markInjected(rules: readonly Rule[]): void {
    for (const rule of rules) this.#told.set(rule.name, this.#turn);
  }

  /**
   * Takes a step of an answer.
   *
   * @param event The step.
   * @returns The rules that matched just now, each once an answer; `undefined` for none.
   */
  watch(event: ModelEvent): RuleMatch | undefined {
    switch (event.type) {
      case "text":
      case "thinking":
        return this.#take(event.type, { kind: event.type }, event.delta);
      case "toolCallDelta":
        return this.#take(`tool ${event.id}`, { kind: "tool", toolName: event.name }, event.delta);
      case "toolCall": {
        const key = `tool ${event.id}`;
        const paths = pathsIn(event.arguments, this.#cwd);
        const source: StreamSource = { kind: "tool", toolName: event.name, paths };
        if (!this.#buffers.has(key)) this.#buffers.set(key, JSON.stringify(event.arguments));
        return this.#search(key, source, true);
      }
      case "done":
        return this.#complete();
      default:
        return undefined;
    }
  }

  /**
   * Looks for rules in a text, as if it were all of a stream.
   *
   * @param text The text.
   * @param source Which stream it is.
   * @returns The rules that match and may be told now.
   */
  match(text: string, source: StreamSource): Rule[] {
    return this.#candidates(source).filter(({ tests }) => tests.some((test) => test(text))).map(({ rule }) => rule);
  }

  #take(key: string, source: StreamSource, delta: string): RuleMatch | undefined {
    const before = this.#last !== undefined && this.#last.key !== key ? this.#complete() : undefined;
    const buffer = (this.#buffers.get(key) ?? "") + delta;
    this.#buffers.set(key, buffer.length > MAX_BUFFER ? buffer.slice(-MAX_BUFFER / 2) : buffer);
    const whole = source.kind === "tool" ? { ...source, paths: pathsInPart(buffer, this.#cwd) } : source;
    this.#last = { key, source: whole };
    return both(before, this.#search(key, whole, false));
  }

  /** Searches the stream that has just ended once as a whole. */
  #complete(): RuleMatch | undefined {
    if (this.#last === undefined) return undefined;
    const { key, source } = this.#last;
    this.#last = undefined;
    return (this.#buffers.get(key)?.length ?? 0) > WINDOW ? this.#search(key, source, true) : undefined;
  }

  #search(key: string, source: StreamSource, whole: boolean): RuleMatch | undefined {
    const buffer = this.#buffers.get(key) ?? "";
    const part = whole || buffer.length <= WINDOW ? undefined : buffer.slice(-WINDOW);
    const rules: Rule[] = [];
    for (const { rule, tests } of this.#candidates(source)) {
      if (this.#matchedNow.has(rule.name)) continue;
      // The end alone may match where the whole does not, as with `^`.
      if (!tests.some((test) => part === undefined ? test(buffer) : test(part) && test(buffer))) continue;
      this.#matchedNow.add(rule.name);
      rules.push(rule);
    }
    if (rules.length === 0) return undefined;
    return { rules, interrupting: rules.filter((rule) => this.#interrupts(rule, source)) };
  }

  #interrupts(rule: Rule, source: StreamSource): boolean {
    const mode = rule.interruptMode ?? this.#settings.interruptMode;
    if (mode === "always" || mode === "never") return mode === "always";
    return (mode === "tool-only") === (source.kind === "tool");
  }

  #candidates(source: StreamSource): Watched[] {
    const found: Watched[] = [];
    for (const watched of this.#watched.values()) {
      if (this.#mayBeTold(watched.rule.name) && watches(watched, source)) found.push(watched);
    }
    return found;
  }

  #mayBeTold(name: string): boolean {
    const told = this.#told.get(name);
    if (told === undefined) return true;
    return this.#settings.repeatMode === "after-gap" && this.#turn - told >= this.#settings.repeatGap;
  }
}

function watches({ rule, scopes, globs }: Watched, source: StreamSource): boolean {
  const paths = source.paths ?? [];
  const inScope = scopes.some((scope) => {
    if (scope.kind !== source.kind) return false;
    if (scope.toolName !== undefined && scope.toolName !== source.toolName?.toLowerCase()) return false;
    return scope.glob === undefined || matchesPath(scope.glob, paths);
  });
  if (!inScope || globs.length === 0) return inScope;
  // Prose names no files: a rule with globs watches it only when its scope asks for it by name.
  if (source.kind !== "tool") return rule.scope !== undefined;
  return globs.some((glob) => matchesPath(glob, paths));
}

function matchesPath(glob: RegExp, paths: readonly string[]): boolean {
  return paths.some((path) => glob.test(path) || glob.test(basename(path)));
}

function parseScope(token: string): Scope | undefined {
  const match = /^(?:(text|thinking)|(?:tool|toolcall)?(?::?([\w.-]+))?(?:\((.+)\))?)$/i.exec(token.trim());
  if (match === null || token.trim() === "") return undefined;
  const [, prose, tool, glob] = match;
  if (prose !== undefined) return { kind: prose.toLowerCase() as "text" | "thinking" };
  return {
    kind: "tool",
    ...tool !== undefined && { toolName: tool.toLowerCase() },
    ...glob !== undefined && { glob: globToRegExp(glob) },
  };
}

/** Paths that whole arguments name, in all the forms that a glob may be written for. */
function pathsIn(args: Record<string, unknown>, cwd: string): string[] {
  const paths: string[] = [];
  for (const [key, value] of Object.entries(args)) {
    if (/path$/i.test(key) && typeof value === "string") paths.push(value);
    else if (/paths$/i.test(key) && Array.isArray(value)) {
      paths.push(...value.filter((path) => typeof path === "string"));
    }
  }
  return paths.flatMap((path) => formsOf(path, cwd));
}

/** Paths in arguments that are still being written. */
function pathsInPart(json: string, cwd: string): string[] {
  const paths: string[] = [];
  for (const [, text] of json.slice(0, WINDOW).matchAll(/"\w*[pP]ath"\s*:\s*("(?:[^"\\]|\\.){1,2000}")/g)) {
    try {
      paths.push(JSON.parse(text!));
    } catch {
      // Not whole yet.
    }
  }
  return paths.flatMap((path) => formsOf(path, cwd));
}

function formsOf(path: string, cwd: string): string[] {
  const absolute = isAbsolute(path) ? normalize(path) : resolve(cwd, path);
  return [...new Set([path, path.replace(/^\.\//, ""), absolute, relative(cwd, absolute)])];
}

function both(a: RuleMatch | undefined, b: RuleMatch | undefined): RuleMatch | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { rules: [...a.rules, ...b.rules], interrupting: [...a.interrupting, ...b.interrupting] };
}

/**
 * Reads a rule.
 *
 * @param path Its file.
 * @param text The file's content: front matter in YAML between lines of `---`, then what the model is told.
 * @returns The rule.
 * @throws {Error} When the front matter is no YAML.
 */
export function parseRule(path: string, text: string): Rule {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text);
  let front: unknown;
  try {
    front = match === null ? {} : parseYaml(quoteGlobs(match[1]!));
  } catch (error) {
    throw new Error(`Rule ${path}: its front matter is no YAML: ${errorText(error)}`, { cause: error });
  }
  const fields = isRecord(front) ? front : {};
  const { conditions, scopes } = readConditions(list(fields.condition ?? fields.ttsr_trigger ?? fields.ttsrTrigger));
  const scope = [...scopes, ...list(fields.scope).flatMap(splitScope)];
  const globs = list(fields.globs).flatMap(splitScope);
  const mode = fields.interruptMode ?? fields.interrupt_mode;
  return {
    name: typeof fields.name === "string" ? fields.name : basename(path).replace(/\.md$/, ""),
    path,
    content: (match === null ? text : match[2]!).trim(),
    ...globs.length > 0 && { globs },
    ...typeof fields.description === "string" && { description: fields.description },
    ...conditions.length > 0 && { condition: conditions },
    ...scope.length > 0 && { scope },
    ...isInterruptMode(mode) && { interruptMode: mode },
  };
}

/**
 * Reads the rules of a folder: `.xcsh/rules/*.md`, in name order.
 *
 * @param cwd The folder.
 * @param warn Told of each that cannot be read.
 * @returns The rules that have a condition.
 */
export async function loadRules(cwd: string, warn: (warning: string) => void = () => {}): Promise<Rule[]> {
  const folder = join(cwd, ".xcsh", "rules");
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) if (entry.name.endsWith(".md")) names.push(entry.name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) warn(`${folder} cannot be read: ${errorText(error)}`);
    return [];
  }
  const rules: Rule[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    try {
      const rule = parseRule(path, await Deno.readTextFile(path));
      if (rule.condition !== undefined) rules.push(rule);
    } catch (error) {
      warn(errorText(error));
    }
  }
  return rules;
}

/** A bare `*.rs` is what people write for a glob, and an alias to YAML. */
function quoteGlobs(yaml: string): string {
  return yaml.replaceAll(/^(\s*(?:-|[\w-]+:)\s+)(\*[^\s"'#]*)\s*$/gm, '$1"$2"');
}

/** Parts conditions that are globs of files from those that are regular expressions. */
function readConditions(tokens: readonly string[]): { conditions: string[]; scopes: string[] } {
  const conditions = new Set<string>();
  const scopes: string[] = [];
  for (const token of tokens.map((text) => text.trim()).filter((text) => text !== "")) {
    const isGlob = !/[\\^$+|()]/.test(token) && /[?*[\]{}]/.test(token) &&
      (token.includes("/") || /^\*\.[\w*]+$/.test(token));
    if (isGlob) scopes.push(`tool:edit(${token})`, `tool:write(${token})`);
    else conditions.add(token);
  }
  if (conditions.size === 0 && scopes.length > 0) conditions.add(".*");
  return { conditions: [...conditions], scopes };
}

function list(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string");
}

/** Splits at commas that stand in no brackets and no quotes. */
function splitScope(text: string): string[] {
  const parts: string[] = [""];
  let depth = 0;
  let quote = "";
  for (const character of text) {
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
    if (character === "," && depth === 0 && quote === "") parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2")).filter((part) => part !== "");
}

function isInterruptMode(value: unknown): value is NonNullable<Rule["interruptMode"]> {
  return value === "never" || value === "prose-only" || value === "tool-only" || value === "always";
}

/** What the model is told of rules. */
export function injectionText(rules: readonly Rule[]): string {
  return rules.map(({ name, content }) => `<rule name=${JSON.stringify(name)}>\n${content}\n</rule>`).join("\n\n");
}
