/**
 * `xcsh-hooks check`
 *
 * @module
 */

import { Command } from "@cliffy/command";

/** Checks hooks before they run. */
export const check = new Command()
  .description("Check hooks before they run: what they do, what they ask for, what they may do, and what is wrong.")
  .arguments("[path...:string]")
  .option("--hook <path:string>", "A hook; may be given more than once.", { collect: true })
  .option("--cwd <dir:string>", "The folder that the session would work in; this one when absent.")
  .option("--json", "Print one JSON object.")
  .example("A hook with no permission at all", "xcsh-hooks check ./gate.ts")
  .example("With what it is to be granted", 'xcsh-hooks check ./fmt.ts --allow-read=. --allow-exec="git diff --stat"')
  .action(async (options, ...paths) => {
    const { checkHooks } = await import("./check_hooks.ts");
    await checkHooks({ ...options, hook: [...options.hook ?? [], ...paths] });
  });
