/**
 * Imports the way other hosts do. Loaded only when a hook needs it, since `node:module` makes a program start later.
 *
 * Everything is read with the permissions of the process, as it is without this: what may not be read is not found.
 *
 * @module
 */

import { createRequire, registerHooks } from "node:module";
import { moduleFor } from "./from_npm.ts";
import { isBareBuiltIn, type StandIn, standInFor } from "./packages.ts";
import { lookAt, otherFile } from "./resolve.ts";
import { commonJsNames, usesCommonJs } from "./source.ts";
import * as piAgentCore from "./stand_ins/pi_agent_core.ts";
import * as piAi from "./stand_ins/pi_ai.ts";
import * as piCodingAgent from "./stand_ins/pi_coding_agent.ts";
import * as piTui from "./stand_ins/pi_tui.ts";
import * as typebox from "./stand_ins/typebox.ts";
import * as typeboxCompiler from "./stand_ins/typebox_compiler.ts";
import * as typeboxValue from "./stand_ins/typebox_value.ts";
import { isTable, STAND_INS } from "./stand_ins.ts";
import { membersOf, takenFrom } from "./taken.ts";
import { provideTypebox } from "./typebox_slot.ts";

interface Context {
  parentURL?: string | undefined;
  importAttributes?: Record<string, string> | undefined;
  conditions?: string[] | undefined;
}

interface Resolved {
  url: string;
  format?: string;
  shortCircuit?: boolean;
}

interface Loaded {
  format?: string | undefined;
  source?: unknown;
  shortCircuit?: boolean;
}

/** What each stand-in exports. */
const EXPORTS: { readonly [N in StandIn]: object } = {
  pi_agent_core: piAgentCore,
  pi_ai: piAi,
  pi_coding_agent: piCodingAgent,
  pi_tui: piTui,
  typebox,
  typebox_compiler: typeboxCompiler,
  typebox_value: typeboxValue,
};

type Next<T> = (what: string, context: Context) => T;

const MARK = "#reload-";
/** Modules of packages from npm, which mean what they say. */
const IN_PACKAGE = /\/node_modules\/|\/npm\/[^/]+\/(?:@[^/]+\/)?[^/@]+\/\d+\.\d+\.\d[^/]*\//;
let registered = false;
let reloads = 0;

/** Teaches this process to import what hooks of other hosts import. May be called again, and does it once. */
export function registerCompat(): void {
  if (registered) return;
  registered = true;
  provideTypebox(typebox);
  registerHooks({ resolve, load } as unknown as Parameters<typeof registerHooks>[0]);
}

/** The URL under which a module whose evaluation failed is evaluated anew, with all that it imports. */
export function reloadUrl(url: string): string {
  return `${url}${MARK}${++reloads}`;
}

function resolve(specifier: string, context: Context, next: Next<Resolved>): Resolved {
  const parent = context.parentURL ?? "";
  const isOurs = parent.startsWith("file:") && !IN_PACKAGE.test(parent);
  if (!isOurs || /^(?:file|https?|data|blob|node):/i.test(specifier)) return next(specifier, context);
  return /^(?:\.{0,2}\/|\.{1,2}$)/.test(specifier)
    ? resolvePath(specifier, parent, context, next)
    : resolveName(specifier, parent, context, next);
}

function resolveName(specifier: string, parent: string, context: Context, next: Next<Resolved>): Resolved {
  if (isBareBuiltIn(specifier)) return next(`node:${specifier}`, context);
  const module = moduleFor(specifier, parent);
  const given: Resolved | undefined = module && { url: module.url, format: "module", shortCircuit: true };
  const isExact = specifier.startsWith("npm:");
  if (given !== undefined && !isExact) return given;
  let found: Resolved | undefined;
  try {
    found = next(specifier, context);
  } catch {
    // Nothing of that name.
  }
  // A name that leads nowhere is taken for a path.
  if (found !== undefined && (isExact || found.url !== new URL(specifier, parent).href)) return found;
  if (given !== undefined) return given;
  const standIn = standInFor(specifier);
  if (standIn !== undefined) return { url: STAND_INS[standIn].url, format: "module", shortCircuit: true };
  throw new TypeError(`Import ${JSON.stringify(specifier)} not a dependency${placeOf(specifier, parent)}`);
}

function resolvePath(specifier: string, parent: string, context: Context, next: Next<Resolved>): Resolved {
  const target = new URL(specifier, parent);
  const plain = target.href.replace(/[?#].*$/, "");
  const other = otherFile(plain);
  if (other === undefined && lookAt(new URL(plain)) === "missing") {
    throw new TypeError(`Module not found ${JSON.stringify(plain)}${placeOf(specifier, parent)}`);
  }
  const mark = parent.includes(MARK) ? parent.slice(parent.indexOf(MARK)) : "";
  if (other === undefined && mark === "") return next(specifier, context);
  const url = other === undefined ? target : new URL(other);
  if (url.hash === "") url.hash = mark;
  return { url: url.href, shortCircuit: true };
}

/** Where a module imports something, as Deno says it. */
function placeOf(specifier: string, parent: string): string {
  const url = parent.replace(/[?#].*$/, "");
  try {
    const lines = Deno.readTextFileSync(new URL(url)).split("\n");
    const line = lines.findIndex((text) => text.includes(`"${specifier}"`) || text.includes(`'${specifier}'`));
    if (line >= 0) return ` at ${url}:${line + 1}:1`;
  } catch {
    // Its text cannot be read, so its name must do.
  }
  return ` at ${url}`;
}

/** A module of which a name that it lacks is an error, and not `undefined`. */
function strict(module: object, specifier: string): object {
  return new Proxy({ ...module }, {
    get(target, key): unknown {
      if (typeof key === "symbol" || Object.hasOwn(target, key) || key === "then" || key === "__esModule") {
        return Reflect.get(target, key);
      }
      throw new TypeError(`${JSON.stringify(specifier)} does not export ${JSON.stringify(key)} here`);
    },
  });
}

/** What a module gets that imports something which is ours to give. */
function exportsFor(specifier: string, parent: string): Record<string, unknown> | undefined {
  const given = moduleFor(specifier, parent)?.exports;
  if (given !== undefined) return given as Record<string, unknown>;
  const standIn = standInFor(specifier);
  return standIn === undefined || isMapped(specifier) ? undefined : EXPORTS[standIn] as Record<string, unknown>;
}

/** Finds a name that a module takes from a package and that is not there, where an import would not say so by itself. */
function refuseLacking(source: string, url: string): void {
  const { taken, code } = takenFrom(source, (specifier) => exportsFor(specifier, url) !== undefined);
  for (const { specifier, name, local, isValue } of taken) {
    const exports = exportsFor(specifier, url)!;
    if (name !== "*" && !(name in exports)) {
      if (isValue) throw lacking(specifier, name, name, url);
      continue;
    }
    const table = name === "*" ? exports : exports[name];
    if (local === undefined || !isTable(table)) continue;
    const use = membersOf(code, local).find(({ member }) => !(member in table));
    if (use === undefined) continue;
    throw lacking(specifier, name === "*" ? use.member : `${name}.${use.member}`, `${local}.${use.member}`, url);
  }
}

function lacking(specifier: string, name: string, text: string, url: string): SyntaxError {
  const lines = Deno.readTextFileSync(new URL(url)).split("\n");
  const found = lines.findIndex((line) => line.includes(text));
  const line = found >= 0 ? found : lines.findIndex((line) => line.includes(specifier));
  return new SyntaxError(
    `The requested module '${specifier}' does not provide an export named '${name}' at ${url}:${line + 1}:1`,
  );
}

/** Whether the program has the package itself. */
function isMapped(specifier: string): boolean {
  try {
    import.meta.resolve(specifier);
    return true;
  } catch {
    return false;
  }
}

/** Makes the `require` of a module. A file is named by its whole path, so that no folder has to be read to find it. */
export function requireFrom(url: string): ReturnType<typeof createRequire> {
  const plain = url.replace(/[?#].*$/, "");
  const required = createRequire(plain);
  return Object.assign((specifier: string) => {
    const exports = exportsFor(specifier, plain);
    if (exports !== undefined) return strict(exports, specifier);
    if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return required(specifier);
    const target = new URL(specifier, plain).href;
    return required(decodeURIComponent(new URL(otherFile(target) ?? target).pathname));
  }, required);
}

function load(url: string, context: Context, next: Next<Loaded>): Loaded {
  if (!url.startsWith("file:")) return next(url, context);
  const path = url.replace(/[?#].*$/, "");
  if (path.endsWith(".json") && context.importAttributes?.type === undefined) {
    const text = Deno.readTextFileSync(new URL(path));
    return context.conditions?.includes("require")
      ? { format: "json", source: text, shortCircuit: true }
      : { format: "module", source: `export default ${text}`, shortCircuit: true };
  }
  const loaded = next(url, context);
  const { source } = loaded;
  if (typeof source !== "string" || /\.c[jt]s$/.test(path) || IN_PACKAGE.test(path)) return loaded;
  refuseLacking(source, path);
  return usesCommonJs(source) ? { ...loaded, source: withCommonJs(source) } : loaded;
}

/** Gives a module the names of CommonJS that it uses, on the line on which it begins, so that lines keep their numbers. */
function withCommonJs(source: string): string {
  const names = commonJsNames(source);
  const values: Record<string, string> = {
    require: "requireFrom$(import.meta.url)",
    __dirname: "import.meta.dirname",
    __filename: "import.meta.filename",
    module: "{ exports: {} }, exports = module.exports",
  };
  const given = names.map((name) => `${name} = ${values[name]}`).join(", ");
  const end = names.includes("module") ? "\nexport default module.exports;\n" : "";
  const own = JSON.stringify(import.meta.url);
  return `import { requireFrom as requireFrom$ } from ${own}; const ${given}; ${source}${end}`;
}
