/**
 * The table of providers, and the registry that knows them.
 *
 * @module
 */

import { CapabilityRegistry, type Provider } from "./capability.ts";
import { type HookItem, HOOKS_CAPABILITY, hooksCapability } from "./hook_item.ts";
import { claudeProvider } from "./claude.ts";
import { codexProvider } from "./codex.ts";
import { ompProvider } from "./omp.ts";
import { piProvider } from "./pi.ts";
import { pluginsProvider } from "./plugins.ts";
import { xcshProvider } from "./xcsh.ts";

/** Every provider of hooks; their priorities differ, so that the order of this table decides nothing. */
export const HOOK_PROVIDERS: readonly Provider<HookItem>[] = [
  xcshProvider,
  ompProvider,
  piProvider,
  claudeProvider,
  pluginsProvider,
  codexProvider,
];

/** A registry that knows the `hooks` capability and all of its providers. */
export function createHookRegistry(): CapabilityRegistry {
  const registry = new CapabilityRegistry();
  registry.defineCapability(hooksCapability);
  for (const provider of HOOK_PROVIDERS) registry.registerProvider(HOOKS_CAPABILITY, provider);
  return registry;
}

/** The registry that is used when no other one is given. */
export const capabilities: CapabilityRegistry = createHookRegistry();
