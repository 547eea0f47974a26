/**
 * What `xcsh-hooks replay` does.
 *
 * @module
 */

import { silentLogger } from "../src/hook.ts";
import { recordedFolder, refuseExec, replaySession, ReplaySourceError, type ReplaySummary } from "../src/replay/mod.ts";
import { keepColours } from "../src/ui/text.ts";
import { EXIT_FAILED, EXIT_PIPE, ExitError, UsageError } from "./errors.ts";
import { type HookOptions, loadHooksOf, onLostError } from "./hooks.ts";
import { captureOutput } from "./capture.ts";
import { Output } from "./output.ts";
import { ProgressBar } from "./replay_progress.ts";
import { JsonReplayReport, type ReplayReport, TextReplayReport } from "./replay_report.ts";

/** Options of {@linkcode replayRecording}. */
export interface ReplayRecordingOptions extends HookOptions {
  /** The folder that hooks get as `ctx.cwd`. */
  cwd?: string | undefined;
  /** How many places to show for each reason. */
  examples: number;
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
  captureOutput(output, keepColours);
  onLostError((error, hookPath) => report.lostError(error, hookPath));
  const cwd = options.cwd ?? await recordedFolder(path).catch((error) => Promise.reject(asUsage(error))) ?? here;
  // What the person's settings grant is meant for sessions; a replay of an old one should not change the project of today.
  const exec = options.allowExec === undefined ? { exec: refuseExec((...what) => report.refused(...what)) } : {};
  const { hooks, errors, warnings } = await loadHooksOf(options, here, silentLogger, {
    ...exec,
    isolation: { contextCwd: cwd },
  });
  for (const { path, warning } of warnings) report.loadWarning(path, warning);
  for (const { path, error } of errors) report.loadError(path, error);
  if (hooks.length === 0) throw new ExitError(EXIT_FAILED);

  let summary: ReplaySummary | undefined;
  try {
    for await (const record of replaySession(path, hooks, { cwd, onProgress: progress.show })) {
      progress.clear();
      report.record(record);
      if (output.closed.aborted) throw new ExitError(EXIT_PIPE);
      if (record.type === "summary") summary = record;
    }
  } catch (error) {
    throw asUsage(error);
  } finally {
    progress.clear();
    await Promise.all(hooks.map((hook) => hook.dispose?.()));
  }
  const blocked = options.failOnBlock === true && (summary?.blocked ?? 0) > 0;
  if (errors.length > 0 || (summary?.broken ?? 0) > 0 || blocked) throw new ExitError(EXIT_FAILED);
}

/** What cannot be replayed was named wrongly. */
function asUsage(error: unknown): unknown {
  return error instanceof ReplaySourceError ? new UsageError(error.message) : error;
}
