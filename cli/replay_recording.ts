/**
 * What `xcsh-hooks replay` does.
 *
 * @module
 */

import { execCommand } from "../src/exec.ts";
import { silentLogger } from "../src/hook.ts";
import { refuseExec, replaySession, ReplaySourceError, type ReplaySummary } from "../src/replay/mod.ts";
import { keepColours } from "../src/ui/text.ts";
import { EXIT_FAILED, EXIT_PIPE, ExitError, UsageError } from "./errors.ts";
import { type HookOptions, loadHooksOf, onLostError } from "./hooks.ts";
import { Output } from "./output.ts";
import { ProgressBar } from "./replay_progress.ts";
import { JsonReplayReport, type ReplayReport, TextReplayReport } from "./replay_report.ts";

/** Options of {@linkcode replayRecording}. */
export interface ReplayRecordingOptions extends HookOptions {
  /** The folder that hooks get as `ctx.cwd`. */
  cwd?: string | undefined;
  /** How many places to show for each reason. */
  examples: number;
  /** Let `pi.exec` run programs. */
  allowExec?: boolean | undefined;
  /** Exit with 1 when a call would have been blocked. */
  failOnBlock?: boolean | undefined;
  /** Print one JSON record a line. */
  json?: boolean | undefined;
}

/** Replays a session and prints what hooks would have done to it. */
export async function replayRecording(options: ReplayRecordingOptions, path: string): Promise<void> {
  if (!options.hook?.length) {
    throw new UsageError(`There is no hook to ask; name one: xcsh-hooks replay ${path} --hook ./gate.ts`);
  }
  const here = Deno.cwd();
  const output = new Output();
  const report: ReplayReport = options.json
    ? new JsonReplayReport(output)
    : new TextReplayReport(output, path, options.examples);
  const progress = new ProgressBar(options.json === true);
  output.capture(keepColours);
  onLostError((error, hookPath) => report.lostError(error, hookPath));
  const { hooks, errors, warnings } = await loadHooksOf(options, here, silentLogger, {
    exec: options.allowExec
      ? () => (command, args, exec) => execCommand(command, args, exec?.cwd ?? options.cwd ?? here, exec)
      : refuseExec((...what) => report.refused(...what)),
  });
  for (const warning of warnings) report.loadWarning(warning.path, warning.warning);
  for (const error of errors) report.loadError(error.path, error.error);
  if (hooks.length === 0) throw new ExitError(EXIT_FAILED);

  let summary: ReplaySummary | undefined;
  try {
    const cwd = options.cwd === undefined ? {} : { cwd: options.cwd };
    for await (const record of replaySession(path, hooks, { ...cwd, onProgress: progress.show })) {
      progress.clear();
      report.record(record);
      if (output.closed.aborted) throw new ExitError(EXIT_PIPE);
      if (record.type === "summary") summary = record;
    }
  } catch (error) {
    throw error instanceof ReplaySourceError ? new UsageError(error.message) : error;
  } finally {
    progress.clear();
  }
  const blocked = options.failOnBlock === true && (summary?.blocked ?? 0) > 0;
  if (errors.length > 0 || (summary?.broken ?? 0) > 0 || blocked) throw new ExitError(EXIT_FAILED);
}
