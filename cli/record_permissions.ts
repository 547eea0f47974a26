/**
 * What `xcsh-hooks permissions record` does.
 *
 * @module
 */

import { isSession, sessionEvents } from "../src/recording/session.ts";
import { EventsError, readEvents, recordHook, type Recording, type RecordOptions } from "../src/recording/mod.ts";
import { SessionManager } from "../src/session/store.ts";
import { plainText } from "../src/ui/text.ts";
import { errorText } from "../src/values.ts";
import { folderOf } from "./arguments.ts";
import { EXIT_FAILED, ExitError, UsageError } from "./errors.ts";
import { type HookOptions, isolatedSourcesOf } from "./hooks.ts";
import { Output } from "./output.ts";

/** Options of {@linkcode recordPermissions}. */
export interface RecordPermissionsOptions extends HookOptions {
  /** JSONL file with the events, or with a recorded session. */
  events: string;
  /** The folder that the session would work in. */
  cwd?: string | undefined;
  /** Let the hook do whatever it asks for. */
  allowAllWhileRecording?: boolean | undefined;
  /** Print one JSON object. */
  json?: boolean | undefined;
}

/** Records what a hook asks for, and prints the least grants. */
export async function recordPermissions(options: RecordPermissionsOptions): Promise<void> {
  const cwd = await folderOf(options.cwd);
  if (options.hook?.length !== 1) {
    throw new UsageError(
      "Name one hook to record: xcsh-hooks permissions record ./fmt.ts --events events.jsonl",
    );
  }
  const [source] = await isolatedSourcesOf("permissions record", options, cwd);
  const { given, path, permissions } = source!;
  const output = new Output();
  const recording = await usable(async () => {
    const events: Pick<RecordOptions, "events" | "contextCwd"> = await isSession(options.events)
      ? await sessionEvents(options.events)
      : { events: await readEvents(options.events, options.events, SessionManager.inMemory(cwd)) };
    return await recordHook({
      ...events,
      path,
      cwd,
      permissions,
      allowAll: options.allowAllWhileRecording === true,
      print: (line) => output.note(plainText(`[${given}] ${line}`)),
    });
  });
  if (options.json) output.record({ hook: given, ...recording, fault: recording.fault ?? null });
  else show(output, given, recording);
  if (recording.fault !== undefined) throw new ExitError(EXIT_FAILED);
}

async function usable<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const usage = error instanceof EventsError || (error instanceof Error && error.name === "GrantError") ||
      error instanceof TypeError;
    throw usage ? new UsageError(errorText(error), { cause: error }) : error;
  }
}

function show(output: Output, given: string, recording: Recording): void {
  const { noteTheme } = output;
  const { requests, errors, fault, watched, unheard } = recording;
  if (fault === undefined || requests.length > 0) showAsked(output, given, recording);
  const note = (level: "warning" | "error", text: string) =>
    output.note(`${noteTheme.fg(level, `${level}:`)} ${oneLine(text)}`);
  for (const { line, event, error } of errors) {
    note("warning", `${given} failed in ${event}${line ? ` of line ${line}` : ""}: ${error}`);
  }
  if (unheard.length > 0) {
    note(
      "warning",
      `What it does at ${unheard.join(", ")} was not seen, since no such event was given; add one to --events for each`,
    );
  }
  if (fault !== undefined) note("error", `${given}: ${fault}`);
  if (!watched) {
    note(
      "warning",
      "This system does not show whether it was the hook's runtime that asked: a hook written for it could have got past the recorder. Record only what you have read",
    );
  }
  if (requests.some(({ allowed }) => !allowed)) {
    note(
      "warning",
      "What it would do after a denial was not seen. Read the flags above, and record again with those that you agree to",
    );
  }
}

function showAsked(output: Output, given: string, recording: Recording): void {
  const { theme } = output;
  const { requests, permissions, leftOut, widened, flags, exits, events } = recording;
  output.line(`${theme.bold(oneLine(given))}${theme.fg("muted", `  ${events} event${events === 1 ? "" : "s"}`)}`);
  if (requests.length === 0) output.line(`  asked for ${theme.fg("muted", "nothing")}`);
  for (const { kind, value, allowed, count } of requests) {
    const what = oneLine(`${kind}=${value ?? "(all)"}`);
    const often = count > 1 ? theme.fg("muted", `  ${count} times`) : "";
    output.line(`  asked for ${what}${often}${allowed ? "" : theme.fg("warning", "  denied while recording")}`);
  }
  for (const { request, grant, why } of widened) {
    output.line(`  widened   ${oneLine(`${request} to ${grant}: ${why}`)}`);
  }
  for (const { request, why } of leftOut) output.line(`  left out  ${oneLine(`${request}: ${why}`)}`);
  output.line(`  flags     ${oneLine(flags.join(" ")) || theme.fg("muted", "none")}`);
  output.line(`  grant     ${oneLine(JSON.stringify(permissions))}`);
  for (const { grant, why } of exits) {
    output.line(`  ${theme.fg("warning", "can leave the sandbox:")} ${oneLine(`${grant}, since ${why}`)}`);
  }
}

function oneLine(text: string): string {
  return plainText(text.slice(0, 10_000)).replaceAll(/\s+/g, " ").trim();
}
