/**
 * `xcsh-hooks replay`: what hooks would have done to a recorded session.
 *
 * @module
 */

import { Command } from "@cliffy/command";
import { execCommand, loadHooks } from "../mod.ts";
import { refuseExec, replaySession, ReplaySourceError, ReplayTimeoutError } from "../src/replay/mod.ts";
import { plainText } from "../src/ui/text.ts";
import { ProgressBar } from "./replay_progress.ts";
import { JsonReport, type ReplayReport, TextReport } from "./replay_report.ts";
import { writeLine } from "./write_line.ts";

/** The command `replay`. */
export const replayCommand = new Command()
  .name("replay")
  .description(
    "Show what hooks would have done to a recorded session: which tool calls they block, which results they redact, which " +
      "messages they add, and where they fail. No tool runs and no model is asked.\n\n" +
      "Reads sessions of pi, oh-my-pi and xcsh, and transcripts of Claude Code.\n\n" +
      "Exit code 1: a hook failed to load, a gate broke, or a call was blocked under --fail-on-block. " +
      "2: wrong usage, or the session cannot be read.",
  )
  .arguments("<session:file>")
  .option("--hook <path:file>", "A hook; give it once for each.", { collect: true, required: true })
  .option("--cwd <dir:file>", "The folder that hooks get as ctx.cwd, instead of the recorded one.")
  .option("--json", "One JSON record a line: each decision, and a summary as the last.")
  .option("--examples <count:integer>", "How many places to show for each reason.", { default: 3 })
  .option("--allow-exec", "Let pi.exec of hooks run programs, in --cwd or the current folder.")
  .option("--fail-on-block", "Exit with 1 when a call would have been blocked.")
  .example("Try a gate on a session", "xcsh-hooks replay session.jsonl --hook guard.ts")
  .example("Only what was blocked", `xcsh-hooks replay session.jsonl --hook guard.ts --json | grep '"type":"block"'`)
  .action(async (options, path) => {
    const report: ReplayReport = options.json ? new JsonReport() : new TextReport(path, options.examples);
    const progress = new ProgressBar(options.json === true);
    const cwd = Deno.cwd();
    const { hooks, errors, warnings } = await loadHooks(options.hook, cwd, {
      exec: options.allowExec
        ? () => (command, args, exec) => execCommand(command, args, exec?.cwd ?? options.cwd ?? cwd, exec)
        : refuseExec((hookPath, command, args) => report.refused(hookPath, command, args)),
    });
    for (const error of errors) report.loadError(error);
    for (const warning of warnings) report.loadWarning(warning);
    Deno.exitCode = errors.length > 0 ? 1 : 0;
    if (hooks.length === 0) return;
    try {
      const replay = { ...(options.cwd ? { cwd: options.cwd } : {}), onProgress: progress.show };
      for await (const record of replaySession(path, hooks, replay)) {
        progress.clear();
        report.record(record);
        if (record.type === "summary" && (record.broken > 0 || (options.failOnBlock && record.blocked > 0))) {
          Deno.exitCode = 1;
        }
      }
    } catch (error) {
      progress.clear();
      if (!(error instanceof ReplaySourceError || error instanceof ReplayTimeoutError)) throw error;
      Deno.exitCode = error instanceof ReplaySourceError ? 2 : 1;
      writeLine(Deno.stderr, `error: ${plainText(error.message)}`);
    }
  });

if (import.meta.main) await replayCommand.parse(Deno.args);
