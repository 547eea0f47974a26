/**
 * The module of a hook becomes its factory. This is what the loader and the child of an isolated hook share.
 *
 * @module
 */

import type { AsyncLocalStorage } from "node:async_hooks";
import type { HookAPI, HookFactory } from "./api.ts";
import { errorText } from "./values.ts";

/**
 * Imports a hook and calls its factory. While this lasts, an attempt of the hook's code to end the process throws in that code.
 *
 * @param url The hook as a `file:` URL.
 * @param api What the factory is called with.
 * @throws What is wrong with the hook; see {@linkcode loadFailure}.
 */
export async function importHook(url: string, api: HookAPI): Promise<void> {
  await withoutExit(async () => {
    const factory = await importFactory(url);
    await factory(api);
  });
}

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
  if (typeof module.default !== "function") throw new HookLoadFailure("Hook must export a default function");
  return module.default as HookFactory;
}

/** Says what {@linkcode importHook} threw, as a load error does. */
export function loadFailure(error: unknown): string {
  return error instanceof HookLoadFailure ? error.message : `Failed to load hook: ${errorText(error)}`;
}

/** Makes one line of what Deno says, which may be coloured and hold an excerpt of the code. */
function importFailure(error: unknown): string {
  const text = errorText(error)
    // deno-lint-ignore no-control-regex
    .replaceAll(/\x1b\[[0-9;]*m/g, "")
    .split("\n")
    .filter((line) => !/^\s*\d*\s*\|/.test(line) && !/^\s*hint:/.test(line))
    .map((line) => line.trim())
    .join(" ");
  const denied = /\bRequires (read|import|net) access to "([^"]+)"/.exec(text);
  if (denied !== null) return `it may not ${denied[1]} ${denied[2]}; grant it with --allow-${denied[1]}=${denied[2]}`;
  return text;
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
