/**
 * `xcsh-hooks trust`
 *
 * @module
 */

import { Command } from "@cliffy/command";

/** Approves hooks that come with a project, shows approvals and takes them back. */
export const trust = new Command()
  .description(
    "Look at hooks that come with a project, and approve them as they are. What is approved is every file that a hook " +
      "reaches, and what it may do: give the same --allow-… as for the run.",
  )
  .arguments("[path...:string]")
  .option("--list", "Show what has been approved here.", { conflicts: ["revoke", "export", "yes"] })
  .option("--revoke", "Take approvals of the paths back.", { conflicts: ["export", "yes"] })
  .option("--export <file:string>", "Write the approvals to a pin file, for xcsh-hooks run --trust-lock.")
  .option("--yes", "Approve the paths without asking, after looking at them elsewhere.")
  .option("--plugin-dir <dir:string>", "Folder of a plugin; may be given more than once.", { collect: true })
  .option("--cwd <dir:string>", "The project; this folder when absent.")
  .option("--json", "Print one JSON object.")
  .example("Look at a hook and approve it", "xcsh-hooks trust .xcsh/hooks/pre/bash.ts")
  .example("What has been approved", "xcsh-hooks trust --list")
  .example("Take an approval back", "xcsh-hooks trust --revoke .xcsh/hooks/pre/bash.ts")
  .example("Let CI run what is approved here", "xcsh-hooks trust --export hooks.lock.json")
  .action(async (options, ...paths) => {
    const { trustHooks } = await import("./trust_hooks.ts");
    await trustHooks(options, paths);
  });
