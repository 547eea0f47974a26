/**
 * `xcsh-hooks import`
 *
 * @module
 */

import { Command } from "@cliffy/command";

/** Looks at hooks that were written for other hosts. */
export const importCommand = new Command()
  .description(
    "See whether hooks of other hosts load here, what they use that there is not, and the least that they need to be granted.",
  )
  .arguments("<path:string>")
  .option("--cwd <dir:string>", "The folder that the session would work in; this one when absent.")
  .option("--json", "Print one JSON object.")
  .example("One hook", "xcsh-hooks import ~/.pi/agent/hooks/guard.ts")
  .example("All hooks of a folder", "xcsh-hooks import .pi/hooks --json")
  .action(async (options, path) => {
    const { importHooks } = await import("./import_hooks.ts");
    await importHooks(options, path);
  });
