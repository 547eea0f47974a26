/**
 * `xcsh-hooks list`
 *
 * @module
 */

import { Command } from "@cliffy/command";

/** Lists what hooks register, and what is wrong with them. */
export const list = new Command()
  .description("List what hooks register, and what is wrong with them.")
  .arguments("[path...:string]")
  .option("--hook <path:string>", "A hook; may be given more than once.", { collect: true })
  .option("--cwd <dir:string>", "The folder that the session would work in; this one when absent.")
  .option("--json", "Print one JSON object.")
  .example("Events and commands of two hooks", "xcsh-hooks list ./gate.ts ./redact.ts")
  .action(async (options, ...paths) => {
    const { listHooks } = await import("./list_hooks.ts");
    await listHooks({ ...options, hook: [...options.hook ?? [], ...paths] });
  });
