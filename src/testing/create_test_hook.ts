import type { HookFactory, HookLogger } from "../api.ts";
import { createHook, type CreateHookOptions, type LoadedHook, silentLogger } from "../hook.ts";

/** Options of {@linkcode createTestHook}. */
export interface CreateTestHookOptions {
  /** The path that errors and decisions name; `test-hook` when absent. */
  path?: string;
  /** Runs programs for `pi.exec`; a call rejects when absent. */
  exec?: CreateHookOptions["exec"];
  /** Where `pi.logger` writes; nowhere when absent. */
  logger?: HookLogger;
  /** Gets what the author should know, for example an event that does not exist; nobody when absent. */
  warn?: (warning: string) => void;
}

/**
 * Makes a loaded hook out of a factory, without a file.
 *
 * @param factory The default export of a hook module.
 * @param options See {@linkcode CreateTestHookOptions}.
 * @returns The hook, as `loadHooks` would give it.
 * @throws What the factory throws.
 *
 * @example
 * ```ts
 * import { createTestHook } from "@xcsh/hooks/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const hook = await createTestHook((pi) => {
 *   pi.on("turn_end", () => {});
 * });
 * assertEquals([...hook.handlers.keys()], ["turn_end"]);
 * ```
 */
export async function createTestHook(factory: HookFactory, options: CreateTestHookOptions = {}): Promise<LoadedHook> {
  const path = options.path ?? "test-hook";
  const { hook, api } = createHook({
    path,
    resolvedPath: path,
    exec: options.exec ?? refuseExec,
    logger: options.logger ?? silentLogger,
    warn: options.warn ?? (() => {}),
  });
  await factory(api);
  return hook;
}

function refuseExec(command: string, args: readonly string[]): Promise<never> {
  const call = `exec(${JSON.stringify(command)}, ${JSON.stringify(args)})`;
  return Promise.reject(new Error(`The hook called ${call}, but this test has no \`exec\` to answer it`));
}
