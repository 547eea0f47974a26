/**
 * `xcsh-hooks permissions`
 *
 * @module
 */

import { Command } from "@cliffy/command";
import { UsageError } from "./errors.ts";

const record = new Command()
  .description(
    "Run a hook, and print the least grants for what it asked for. While it is recorded it may read the project and nothing else; " +
      "what it is denied is recorded too. Grant flags let it do more.",
  )
  .arguments("[path:string]")
  .option("--hook <path:string>", "The hook.")
  .option("--events <file:string>", "JSONL file: an event a line, or a recorded session.", { required: true })
  .option("--cwd <dir:string>", "The folder that the session would work in; this one when absent.")
  .option(
    "--allow-all-while-recording",
    "Let the hook do whatever it asks for, with all of your rights. Only for a hook that you have read.",
  )
  .option("--json", "Print one JSON object.")
  .example("What a hook needs", "xcsh-hooks permissions record ./fmt.ts --events events.jsonl")
  .example(
    "Let it do a part, to see what comes after",
    'xcsh-hooks permissions record ./fmt.ts --events events.jsonl --allow-exec="git diff --stat"',
  )
  .action(async (options, path) => {
    const { recordPermissions } = await import("./record_permissions.ts");
    await recordPermissions({ ...options, hook: [path, options.hook].filter((each) => each !== undefined) });
  });

/** What hooks may do. */
export const permissions = new Command()
  .description("Find out what hooks need to be granted.")
  .action(() => {
    throw new UsageError("Say what to do: xcsh-hooks permissions record ./fmt.ts --events events.jsonl");
  })
  .command("record", record);
