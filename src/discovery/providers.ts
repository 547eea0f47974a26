/**
 * The table of providers, and the registry that knows them.
 *
 * @module
 */

import { CapabilityRegistry, type Provider } from "./capability.ts";
import { type HookItem, HOOKS_CAPABILITY, hooksCapability } from "./hook_item.ts";
import { xcshProvider } from "./xcsh.ts";

/** Every provider of hooks; their priorities differ, so that the order of this table decides nothing. */
export const HOOK_PROVIDERS: readonly Provider<HookItem>[] = [xcshProvider];

/** A registry that knows the `hooks` capability and all of its providers. */
export function createHookRegistry(): CapabilityRegistry {
  const registry = new CapabilityRegistry();
  registry.defineCapability(hooksCapability);
  for (const provider of HOOK_PROVIDERS) registry.registerProvider(HOOKS_CAPABILITY, provider);
  return registry;
}

/** The registry that is used when no other one is given. */
export const capabilities: CapabilityRegistry = createHookRegistry();
