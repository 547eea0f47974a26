/**
 * `xcsh-hooks chat`
 *
 * @module
 */

import { Command } from "@cliffy/command";
import type { RunOptions } from "../run_session.ts";
import { addSessionFlags } from "../session_flags.ts";

/** Runs a session on the whole terminal. */
export const chat = addSessionFlags(new Command())
  .description(
    "Talk to a coding agent behind hooks, in the terminal. Hooks can ask, show and draw; /help lists the commands, Ctrl+C stops " +
      "the agent, and twice ends the session. Loads the terminal library npm:@mariozechner/pi-tui.",
  )
  .arguments("[prompt:string]")
  .example("Behind a hook", "xcsh-hooks chat --hook ./gate.ts --model anthropic:claude-sonnet-4-5")
  .example("With a first prompt", 'xcsh-hooks chat "What is here?" --script script.json --hook ./gate.ts')
  .example("Go on", "xcsh-hooks chat --continue --model openai-compatible:qwen3 --base-url http://localhost:11434/v1")
  .action(async (options: unknown, prompt) => {
    const { runChat } = await import("./run_chat.ts");
    await runChat(options as RunOptions, prompt);
  });
