/**
 * Hooks and runners to measure.
 *
 * @module
 */

import {
  createHook,
  type HookEventName,
  type HookHandler,
  HookRunner,
  type ModelRegistry,
  type ReadonlySessionManager,
  silentLogger,
} from "@xcsh/hooks";

const session = {} as ReadonlySessionManager;
const models: ModelRegistry = {
  getAvailable: () => [],
  find: () => undefined,
  getApiKey: () => Promise.resolve(undefined),
};

/** A runner of hooks with one handler each. */
export function runnerOf<N extends HookEventName>(event: N, handler: HookHandler<N>, count: number): HookRunner {
  const hooks = Array.from({ length: count }, (_, i) => {
    const path = `hook_${i}.ts`;
    const exec = () => Promise.reject(new Error("not measured"));
    const { hook, api } = createHook({ path, resolvedPath: `/${path}`, exec, logger: silentLogger, warn: () => {} });
    api.on(event, handler);
    return hook;
  });
  return new HookRunner(hooks, "/", session, models);
}
