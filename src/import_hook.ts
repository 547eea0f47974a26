/**
 * The module of a hook becomes its factory. This is what the loader and the child of an isolated hook share.
 *
 * @module
 */

import type { HookAPI, HookFactory } from "./api.ts";
import { errorText } from "./values.ts";

/**
 * Imports a hook and calls its factory. While this lasts, an attempt of the hook's code to end the process throws in that code.
 *
 * @param url The hook as a `file:` URL.
 * @param path Its path, for error texts.
 * @param api What the factory is called with.
 * @throws What is wrong with the hook; see {@linkcode loadFailure}.
 */
export async function importHook(url: string, path: string, api: HookAPI): Promise<void> {
  await withoutExit(url, async () => {
    const factory = await importFactory(url, path);
    await factory(api);
  });
}

class NoFactoryError extends Error {
  override name = "NoFactoryError";
}

async function importFactory(url: string, path: string): Promise<HookFactory> {
  let module: { default?: unknown };
  try {
    module = await import(url);
  } catch (error) {
    throw new Error(importFailure(error, path), { cause: error });
  }
  if (typeof module.default !== "function") throw new NoFactoryError("Hook must export a default function");
  return module.default as HookFactory;
}

/** Says what {@linkcode importHook} threw, as a load error does. */
export function loadFailure(error: unknown): string {
  return error instanceof NoFactoryError ? error.message : `Failed to load hook: ${errorText(error)}`;
}

/** Makes one line of what Deno says, which may be coloured and hold an excerpt of the code. */
function importFailure(error: unknown, path: string): string {
  const text = errorText(error)
    // deno-lint-ignore no-control-regex
    .replaceAll(/\x1b\[[0-9;]*m/g, "")
    .split("\n")
    .filter((line) => !/^\s*\d*\s*\|/.test(line) && !/^\s*hint:/.test(line))
    .map((line) => line.trim())
    .join(" ");
  if (/\bRequires (?:read|import|net) access\b/.test(text)) {
    return `${text.replace(/, run again with.*$/, "")}: grant it, for example --allow-read=${path}`;
  }
  return text;
}

const loading = new Map<string, number>();
let realExit: typeof Deno.exit | undefined;

/**
 * Runs the loading of a hook; an attempt of its code to end the process throws in that code instead. Only calls with the
 * hook's file on the stack are kept back, so that the host's own way out stays open.
 */
async function withoutExit(href: string, run: () => Promise<void>): Promise<void> {
  loading.set(href, (loading.get(href) ?? 0) + 1);
  if (realExit === undefined) {
    realExit = Deno.exit;
    Deno.exit = exitUnlessLoading;
  }
  try {
    await run();
  } finally {
    const left = loading.get(href)! - 1;
    if (left === 0) loading.delete(href);
    else loading.set(href, left);
    if (loading.size === 0) {
      Deno.exit = realExit;
      realExit = undefined;
    }
  }
}

function exitUnlessLoading(code?: number): never {
  const exit = realExit ?? Deno.exit;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = limit;
  for (const href of loading.keys()) {
    if (stack.includes(`${href}:`)) {
      // `process.exit` has set it by now.
      Deno.exitCode = 0;
      throw new Error(`it called exit(${code ?? ""}) while loading; a hook must not end the session`);
    }
  }
  return exit(code);
}
