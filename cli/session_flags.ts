/**
 * The options of commands that run a session. They are read each time that the program starts, so nothing heavy is imported here.
 *
 * @module
 */

import type { Command } from "@cliffy/command";
import { addDiscoveryFlags } from "./discovery_flags.ts";

/**
 * Adds the options to a command.
 *
 * @param command The command.
 * @param noSession What its `--no-session` means.
 * @returns The command.
 */
export function addSessionFlags<T extends Pick<Command, "option">>(
  command: T,
  noSession: string = "Keep the session in memory, and in no file.",
): T {
  addDiscoveryFlags(command);
  command.option("--hook <path:string>", "A hook; may be given more than once.", { collect: true });
  command.option(
    "--flag <name:string>",
    "A flag that a hook declares, as name or name=value; may be given more than once.",
    { collect: true },
  );
  command.option("--script <file:string>", "JSON file with the answers of the model.");
  command.option("--cwd <dir:string>", "The folder that the session works in; this one when absent.");
  command.option("--model <name:string>", "Model that answers: openai-compatible:NAME or anthropic:NAME.", {
    conflicts: ["script"],
  });
  command.option("--base-url <url:string>", "Address of the model's API.");
  command.option("--context-window <tokens:integer>", "How many tokens the model takes.");
  command.option("--session <file:string>", "JSONL file that keeps the session.");
  command.option("--continue", "Go on with the newest session of the folder; makes one that is kept if there is none.");
  command.option(
    "--resume [session:string]",
    "Go on with a session of the folder, by the beginning of its id, or with a file.",
  );
  command.option("--no-session", noSession);
  return command;
}
