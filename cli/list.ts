/**
 * `xcsh-hooks list`
 *
 * @module
 */

import { Command } from "@cliffy/command";
import { addDiscoveryFlags } from "./discovery_flags.ts";

/** Lists every hook that is named or found, what it registers, and why one of them does not run. */
export const list = addDiscoveryFlags(new Command())
  .description(
    "List every hook that is named, or that lies in a folder of the project, of the person or of a plugin: what it registers, " +
      "what it may do, and why one of them does not run.",
  )
  .arguments("[path...:string]")
  .option("--hook <path:string>", "A hook; may be given more than once.", { collect: true })
  .option("--cwd <dir:string>", "The folder that the session would work in; this one when absent.")
  .option("--json", "Print one JSON object.")
  .example("What would run here, and what would not", "xcsh-hooks list")
  .example("Events and commands of two hooks", "xcsh-hooks list ./gate.ts ./redact.ts")
  .action(async (options, ...paths) => {
    const { listHooks } = await import("./list_hooks.ts");
    await listHooks({ ...options, hook: [...options.hook ?? [], ...paths] });
  });
