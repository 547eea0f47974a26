/**
 * `xcsh-hooks replay`
 *
 * @module
 */

import { Command } from "@cliffy/command";

/** Shows what hooks would have done to a recorded session. */
export const replay = new Command()
  .description(
    "Show what hooks would have done to a recorded session: which calls they block, which results they redact, which " +
      "messages they add, and where they fail. No tool runs, no model " +
      "is asked, and pi.exec runs nothing but what --allow-exec names. Reads sessions of pi, oh-my-pi and " +
      "xcsh, and transcripts of Claude Code.",
  )
  .arguments("<session:file>")
  .option("--hook <path:string>", "A hook; may be given more than once.", { collect: true })
  .option("--cwd <dir:string>", "The folder that hooks get as ctx.cwd; the recorded one when absent.")
  .option("--examples <count:integer>", "How many places to show for each reason.", { default: 3 })
  .option("--fail-on-block", "Exit with 1 when a call would have been blocked.")
  .option("--json", "Print one JSON record a line: each decision, and a summary as the last.")
  .example("Try a gate on a session", "xcsh-hooks replay session.jsonl --hook ./gate.ts")
  .example("The commands that it blocks", "xcsh-hooks replay session.jsonl --hook ./gate.ts --json | grep '\"block\"'")
  .action(async (options, path) => {
    const { replayRecording } = await import("./replay_recording.ts");
    await replayRecording(options, path);
  });
