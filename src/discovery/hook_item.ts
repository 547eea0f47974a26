/**
 * What providers find: a file that may be a hook.
 *
 * @module
 */

import type { CommandHook } from "../shell/settings.ts";
import type { Capability, CapabilityItem, ItemSource } from "./capability.ts";

/** A file that a provider takes for a hook. */
export interface HookItem extends CapabilityItem {
  /** File name with its extension. */
  name: string;
  /** Absolute path. */
  path: string;
  /** Whether it was filed under what happens before or after a tool. */
  type: "pre" | "post";
  /** The tool that it was filed under; `*` for any. */
  tool: string;
  /** Whether it belongs to the person or came with the project. */
  level: "user" | "project";
  /** How it runs: imported, started as a program, or as a command line that a settings file names. */
  kind: "module" | "script" | "command";
  /** Absolute path without links. */
  realPath: string;
  /** Where it was found. */
  _source: ItemSource;
  /** The command, for an item that a settings file names. */
  command?: CommandHook;
  /** Root of the plugin that it belongs to. */
  pluginRoot?: string;
  /** Why it cannot be used, if that is known from its name and kind alone. */
  fault?: string;
}

/** Id of the `hooks` capability. */
export const HOOKS_CAPABILITY = "hooks";

/** What tells hooks apart: two with the same type, tool and name are the same hook. */
export function hookKey(hook: Pick<HookItem, "type" | "tool" | "name">): string {
  return `${hook.type}:${hook.tool}:${hook.name}`;
}

/** The `hooks` capability. */
export const hooksCapability: Capability<HookItem> = {
  id: HOOKS_CAPABILITY,
  displayName: "Hooks",
  description: "Modules and scripts that run before and after what the agent does.",
  key: hookKey,
  toExtensionId: (hook) => `hook:${hookKey(hook)}`,
  validate(hook) {
    if (!hook.name) return "Missing name";
    if (!hook.path) return "Missing path";
    if (hook.type !== "pre" && hook.type !== "post") return "Invalid type (must be 'pre' or 'post')";
    if (!hook.tool) return "Missing tool";
    return hook.fault;
  },
};
