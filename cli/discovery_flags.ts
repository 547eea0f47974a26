/**
 * The options of commands that find hooks. They are read each time that the program starts, so nothing heavy is imported here.
 *
 * @module
 */

import type { Command } from "@cliffy/command";

/** Options of commands that find hooks. */
export interface DiscoveryOptions {
  /** Whether hooks are looked for at all. */
  discovery?: boolean | undefined;
  /** Whether scripts and commands of settings files run as hooks. */
  shellHooks?: boolean | undefined;
  /** Folders of plugins. */
  pluginDir?: string[] | undefined;
  /** Whether a hook that was not approved is an error. */
  requireTrust?: boolean | undefined;
  /** A pin file. */
  trustLock?: string | undefined;
}

/** Adds the options to a command. */
export function addDiscoveryFlags<T extends Pick<Command, "option">>(command: T): T {
  command.option("--no-discovery", "Load the hooks that are named, and no others.");
  command.option("--shell-hooks", "Run scripts in pre/ and post/, and commands of Claude-style settings, as hooks.");
  command.option("--plugin-dir <dir:string>", "Folder of a plugin; may be given more than once.", { collect: true });
  command.option("--require-trust", "Fail when a hook of the project has not been approved.");
  command.option("--trust-lock <file:string>", "Also run what this pin file approves; see xcsh-hooks trust --export.");
  return command;
}
