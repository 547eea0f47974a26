/**
 * `xcsh-hooks run`
 *
 * @module
 */

import { Command } from "@cliffy/command";

/** Runs a session behind hooks. */
export const run = new Command()
  .description("Run a coding session behind hooks. Without a prompt, standard input is the prompt.")
  .arguments("[prompt:string]")
  .option("--hook <path:string>", "A hook; may be given more than once.", { collect: true })
  .option("--script <file:string>", "JSON file with the answers of the model.")
  .option("--cwd <dir:string>", "The folder that the session works in; this one when absent.")
  .option("--session <file:string>", "JSONL file that keeps the session; in memory when absent.")
  .option("--json", "Print what happens as one JSON record a line.")
  .example("Behind a hook", 'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts')
  .example("A slash command of a hook", "xcsh-hooks run /handoff --hook ./handoff.ts --session work.jsonl")
  .example("From a pipe, into a pipe", "git diff | xcsh-hooks run --script review.json --json | jq .type")
  .action(async (options, prompt) => {
    const { runSession } = await import("./run_session.ts");
    await runSession(options, prompt);
  });
