/**
 * `xcsh-hooks run`
 *
 * @module
 */

import { Command } from "@cliffy/command";
import type { RunOptions } from "./run_session.ts";
import { addSessionFlags } from "./session_flags.ts";

/** Runs a session behind hooks. */
export const run = addSessionFlags(
  new Command(),
  "Keep the session in memory, and in no file; a single prompt does so unless it names a session.",
)
  .description(
    "Run a coding session behind hooks. Without a prompt, standard input is the prompt; on a terminal, prompts are read " +
      "line by line, and /help lists the commands.",
  )
  .arguments("[prompt:string]")
  .option("--interactive", "Read prompts line by line, also when standard input is no terminal.")
  .option("--no-ui", "Let hooks ask nobody; without it, a hook asks on standard error when this runs at a terminal.")
  .option("--json", "Print what happens as one JSON record a line.")
  .option("--rpc", "Be driven by another program, which is the UI: JSON lines on standard input and output.", {
    conflicts: ["json", "interactive"],
  })
  .example("Behind a hook", 'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts')
  .example("A slash command of a hook", "xcsh-hooks run /handoff --hook ./handoff.ts --session work.jsonl")
  .example("Where a question is to count as a no", 'xcsh-hooks run "clean up" --hook ./gate.ts --no-ui')
  .example(
    "With a real model",
    'xcsh-hooks run "What is here?" --model openai-compatible:qwen3 --base-url http://localhost:11434/v1',
  )
  .example("Go on", 'xcsh-hooks run "And now the tests" --continue --model anthropic:claude-sonnet-4-5')
  .example("From a pipe, into a pipe", "git diff | xcsh-hooks run --script review.json --json | jq .type")
  .action(async (options: unknown, prompt) => {
    const { runSession } = await import("./run_session.ts");
    await runSession(options as RunOptions, prompt);
  });
