/**
 * The module of a hook becomes its factory. This is what the loader and the child of an isolated hook share.
 *
 * @module
 */

import type { AsyncLocalStorage } from "node:async_hooks";
import type { HookAPI, HookFactory } from "./api.ts";
import { isHostPackage } from "./compat/packages.ts";
import { errorText } from "./values.ts";

/**
 * Imports a hook and calls its factory. While this lasts, an attempt of the hook's code to end the process throws in that code.
 *
 * @param url The hook as a `file:` URL.
 * @param api What the factory is called with.
 * @param compat How the way in which other hosts import is learnt, where that can be done after a plain import failed.
 * @throws What is wrong with the hook; see {@linkcode loadFailure}.
 */
export async function importHook(url: string, api: HookAPI, compat?: () => Promise<Reload>): Promise<void> {
  await withoutExit(async () => {
    let factory: HookFactory;
    try {
      factory = await importFactory(url);
    } catch (error) {
      if (compat === undefined || !compatMayHelp(error)) throw error;
      const reload = await compat();
      factory = await importFactory(reload(url));
    }
    await factory(api);
  });
}

/** Gives the URL under which a module is imported anew. */
export type Reload = (url: string) => string;

const MAY_HELP = new RegExp(
  [
    "not a dependency",
    "Relative import path",
    "Module not found",
    "Cannot (?:find|resolve) module",
    "Directory import",
    "Expected a (?:Json|JSON|JavaScript)",
    "import attribute",
    "(?:require|__dirname|__filename|module|exports) is not defined",
  ].join("|"),
);

/** Whether a hook that could not be loaded might be, if it were imported the way other hosts do. */
export function compatMayHelp(error: unknown): boolean {
  return MAY_HELP.test(errorText(error));
}

/** The load error of a module without a factory. */
export const NO_FACTORY = "Hook must export a default function";

/** A load error whose text is complete. */
export class HookLoadFailure extends Error {
  /** Tells it from other errors. */
  override name = "HookLoadFailure";
}

async function importFactory(url: string): Promise<HookFactory> {
  let module: { default?: unknown };
  try {
    module = await import(url);
  } catch (error) {
    throw new Error(importFailure(error), { cause: error });
  }
  if (typeof module.default !== "function") throw new HookLoadFailure(NO_FACTORY);
  return module.default as HookFactory;
}

/** Says what {@linkcode importHook} threw, as a load error does. */
export function loadFailure(error: unknown): string {
  return error instanceof HookLoadFailure ? error.message : `Failed to load hook: ${errorText(error)}`;
}

/** Makes one line of what Deno says, which may be coloured and hold an excerpt of the code. */
function importFailure(error: unknown): string {
  const text = errorText(error)
    .replace(/^TypeError: (?=Import|Module)/, "")
    // deno-lint-ignore no-control-regex
    .replaceAll(/\x1b\[[0-9;]*m/g, "")
    .split("\n")
    .filter((line) => !/^\s*\d*\s*\|/.test(line) && !/^\s*hint:/.test(line))
    .map((line) => line.trim())
    .join(" ");
  const missing = /Import "([^"]+)" not a dependency|Relative import path "([^"]+)" not prefixed/.exec(text);
  const name = missing?.[1] ?? missing?.[2];
  if (name !== undefined) return `it imports ${JSON.stringify(name)}, ${packageHint(name)}${placeIn(text)}`;
  const lacking = /The requested module '([^']+)' does not provide an export named '([^']+)'/.exec(text);
  if (lacking !== null) return lackingName(lacking[1]!, lacking[2]!, error);
  const variable = /\bRequires env access to "([^"]+)"/.exec(text)?.[1];
  if (variable !== undefined) return `it may not read the variable ${variable}; grant it with --allow-env=${variable}`;
  const denied = /\bRequires (read|import|net) access to "([^"]+)"/.exec(text);
  if (denied !== null) return `it may not ${denied[1]} ${denied[2]}; grant it with --allow-${denied[1]}=${denied[2]}`;
  return text;
}

function packageHint(name: string): string {
  return isHostPackage(name)
    ? 'a package that there is not; types of hooks are imported by: import type { HookAPI } from "@xcsh/hooks"'
    : `a package; a hook imports files beside it, built-in modules by node:, and where it is not isolated npm:${name}`;
}

function placeIn(text: string): string {
  const place = /\bat (file:\/\/\S+?:\d+):\d+/.exec(text);
  return place === null ? "" : ` (${decodeURI(place[1]!.replace(/^file:\/\//, "").replace(/#reload-\d+/, ""))})`;
}

/** Reads a load error about a name that a module does not export. */
export function lackingModule(
  text: string,
): { name: string; module: string; file?: string; line?: number } | undefined {
  const found = /it imports "([^"]+)" from "([^"]+)", which does not export it(?: \((.+?):(\d+)\))?/.exec(text);
  if (found === null) return undefined;
  const [, name, module, file, line] = found;
  return { name: name!, module: module!, ...(file === undefined ? {} : { file, line: Number(line) }) };
}

function lackingName(module: string, name: string, error: unknown): string {
  const place = placeIn(`${errorText(error)}\n${error instanceof Error ? error.stack ?? "" : ""}`);
  return `it imports ${JSON.stringify(name)} from ${JSON.stringify(module)}, which does not export it${place}; ` +
    (isHostPackage(module)
      ? "import it by `import type` if it is a type, else the hook needs what this host lacks"
      : "mend the import, or write `import type` if it is a type");
}

interface Load {
  /** Whether it still goes on. */
  open: boolean;
  /** The exit code that the host had set. */
  readonly exitCode: number;
}

let loads: AsyncLocalStorage<Load> | undefined;
let openLoads = 0;
let realExit = Deno.exit;

/**
 * Runs the loading of a hook; an attempt to end the process throws in the code that made it instead, be it the hook or what
 * it imports. Told by the asynchronous context, so that the host's own way out stays open.
 */
async function withoutExit(run: () => Promise<void>): Promise<void> {
  // Imported when needed, since any module of Node's makes a program start later.
  loads ??= new (await import("node:async_hooks")).AsyncLocalStorage();
  if (openLoads++ === 0) {
    realExit = Deno.exit;
    Deno.exit = exitUnlessLoading;
  }
  const load: Load = { open: true, exitCode: Deno.exitCode };
  try {
    await loads.run(load, run);
  } finally {
    load.open = false;
    if (--openLoads === 0) Deno.exit = realExit;
  }
}

function exitUnlessLoading(code?: number): never {
  const load = loads?.getStore();
  if (!load?.open) return realExit(code);
  // `process.exit` has set it by now.
  Deno.exitCode = load.exitCode;
  throw new Error(`it called exit(${code ?? ""}) while loading; a hook must not end the session`);
}
