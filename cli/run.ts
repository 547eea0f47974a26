/**
 * `xcsh-hooks run`
 *
 * @module
 */

import { Command } from "@cliffy/command";
import { addDiscoveryFlags } from "./discovery_flags.ts";

/** Runs a session behind hooks. */
export const run = addDiscoveryFlags(new Command())
  .description(
    "Run a coding session behind hooks. Without a prompt, standard input is the prompt; on a terminal, prompts are read " +
      "line by line, and /help lists the commands.",
  )
  .arguments("[prompt:string]")
  .option("--hook <path:string>", "A hook; may be given more than once.", { collect: true })
  .option("--flag <name:string>", "A flag that a hook declares, as name or name=value; may be given more than once.", {
    collect: true,
  })
  .option("--script <file:string>", "JSON file with the answers of the model.")
  .option("--cwd <dir:string>", "The folder that the session works in; this one when absent.")
  .option("--model <name:string>", "Model that answers: openai-compatible:NAME or anthropic:NAME.", {
    conflicts: ["script"],
  })
  .option("--base-url <url:string>", "Address of the model's API.")
  .option("--context-window <tokens:integer>", "How many tokens the model takes.")
  .option("--session <file:string>", "JSONL file that keeps the session.")
  .option("--continue", "Go on with the newest session of the folder; makes one that is kept if there is none.")
  .option(
    "--resume [session:string]",
    "Go on with a session of the folder, by the beginning of its id, or with a file.",
  )
  .option("--no-session", "Keep the session in memory; a single prompt does so unless it names a session.")
  .option("--interactive", "Read prompts line by line, also when standard input is no terminal.")
  .option("--json", "Print what happens as one JSON record a line.")
  .example("Behind a hook", 'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts')
  .example("A slash command of a hook", "xcsh-hooks run /handoff --hook ./handoff.ts --session work.jsonl")
  .example(
    "With a real model",
    'xcsh-hooks run "What is here?" --model openai-compatible:qwen3 --base-url http://localhost:11434/v1',
  )
  .example("Go on", 'xcsh-hooks run "And now the tests" --continue --model anthropic:claude-sonnet-4-5')
  .example("From a pipe, into a pipe", "git diff | xcsh-hooks run --script review.json --json | jq .type")
  .action(async (options, prompt) => {
    const { runSession } = await import("./run_session.ts");
    await runSession(options, prompt);
  });
