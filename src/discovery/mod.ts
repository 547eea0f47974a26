/**
 * Finds hooks in the folders of the project, the person and plugins.
 *
 * @module
 */

export {
  type Capability,
  type CapabilityInfo,
  type CapabilityItem,
  CapabilityRegistry,
  type CapabilityResult,
  type CapabilitySettings,
  type ExcludedItem,
  type ItemSource,
  type LoadCapabilityOptions,
  type LoadContext,
  type Provider,
  type ProviderInfo,
  type ProviderResult,
} from "./capability.ts";
export {
  type Approved,
  createTrust,
  discoverAndLoadHooks,
  type DiscoverAndLoadResult,
  type DiscoveredHooks,
  discoverHooks,
  type DiscoverHooksOptions,
  type FoundHook,
  type HookCandidate,
  type HookState,
  type TrustGate,
  trustRequests,
  type TrustVerdict,
} from "./discover.ts";
export { type HookItem, HOOKS_CAPABILITY, hooksCapability } from "./hook_item.ts";
export type { CommandHook, ShellEventName } from "../shell/settings.ts";
export { capabilities, createHookRegistry, HOOK_PROVIDERS } from "./providers.ts";
export { type CacheStats, type FolderEntry, type FolderListing, Scanner } from "./scan.ts";
