/** What tests of the core share. */

import {
  createHook,
  type HookAPI,
  type HookError,
  HookRunner,
  type LoadedHook,
  type ModelRegistry,
  type ReadonlySessionManager,
  silentLogger,
} from "@xcsh/hooks";

/** No models. */
export const models: ModelRegistry = {
  getAvailable: () => [],
  find: () => undefined,
  getApiKey: () => Promise.resolve(undefined),
};

/** Makes a hook out of a factory, as the loader does. */
export function hook(path: string, factory: (pi: HookAPI) => void): LoadedHook {
  const { hook, api } = createHook({
    path,
    resolvedPath: `/project/${path}`,
    exec: () => Promise.reject(new Error("no exec here")),
    logger: silentLogger,
    warn: () => {},
  });
  factory(api);
  return hook;
}

/** A session that nobody asks. */
export const session = {} as ReadonlySessionManager;

/** A runner, and the errors that it reported. */
export function runnerOf(...hooks: LoadedHook[]): { runner: HookRunner; errors: HookError[] } {
  const runner = new HookRunner(hooks, "/project", session, models);
  const errors: HookError[] = [];
  runner.onError((error) => errors.push(error));
  return { runner, errors };
}
