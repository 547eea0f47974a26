/**
 * What `xcsh-hooks run` does.
 *
 * @module
 */

import { resolve } from "@std/path";
import type { HookLogger, HookUIContext } from "../src/api.ts";
import { AgentSession, UnknownCommandError } from "../src/session/agent_session.ts";
import { SessionManager } from "../src/session/store.ts";
import { ScriptedModel } from "../src/models/scripted.ts";
import { createNoOpUIContext } from "../src/ui/noop.ts";
import { keepColours } from "../src/ui/text.ts";
import { errorText } from "../src/values.ts";
import { folderOf, promptOf } from "./arguments.ts";
import { EXIT_FAILED, EXIT_PIPE, ExitError, UsageError } from "./errors.ts";
import { type HookOptions, loadHooksOf, onLostError } from "./hooks.ts";
import { Output } from "./output.ts";
import { JsonReporter, type Reporter, TextReporter } from "./report.ts";

/** Options of {@linkcode runSession}. */
export interface RunOptions extends HookOptions {
  /** JSON file with the answers of the model. */
  script?: string | undefined;
  /** The folder that the session works in. */
  cwd?: string | undefined;
  /** JSONL file that keeps the session. */
  session?: string | undefined;
  /** Print one JSON record a line. */
  json?: boolean | undefined;
}

/** Runs one prompt, or one slash command, and ends the session. */
export async function runSession(options: RunOptions, argument: string | undefined): Promise<void> {
  const cwd = await folderOf(options.cwd);
  const { script } = options;
  const model = script === undefined
    ? new ScriptedModel({ turns: [] })
    : await usable(() => ScriptedModel.load(script));
  const prompt = await promptOf(argument);
  const output = new Output();
  const report: Reporter = options.json ? new JsonReporter(output) : new TextReporter(output);
  if (script === undefined && !prompt.startsWith("/")) {
    report.notify(
      "No model was named, so nothing answers but the hooks; name its answers: --script script.json",
      "warning",
    );
  }
  output.capture(keepColours);

  onLostError((error, hookPath) => report.lostError(error, hookPath));
  const { hooks, errors, warnings } = await loadHooksOf(options, cwd, loggerOf(report));
  for (const { path, warning } of warnings) report.loadWarning(path, warning);
  for (const { path, error } of errors) report.loadError(path, error);
  if (errors.length > 0) {
    report.failure("Nothing was run, since a gate may be missing; mend the hook, or leave it out");
    throw new ExitError(EXIT_FAILED);
  }

  const sessionManager = options.session === undefined
    ? SessionManager.inMemory(cwd)
    : await usable(() => SessionManager.open(resolve(options.session!), { cwd }));
  const session = new AgentSession({
    cwd,
    hooks,
    sessionManager,
    uiContext: uiOf(report),
    model,
  });
  const shown = new Sequence();
  let failed = false;
  session.runner.onDecision((decision) => {
    if (decision.effect === "broken") failed = true;
    report.decision(decision);
  });
  session.subscribe((event) => {
    if (event.type === "hook_error" && event.event === "command") failed = true;
    const broken = event.type === "message_end" && event.message.role === "assistant" &&
      event.message.stopReason === "error";
    if (broken) failed = true;
    shown.add(() => report.event(event, session.runner));
  });
  output.closed.addEventListener("abort", () => void session.abort());

  try {
    await session.prompt(prompt);
    await session.waitForIdle();
    // What an isolated hook still has to draw is drawn while its process lives.
    await shown.end();
  } catch (error) {
    if (error instanceof UnknownCommandError) throw new UsageError(error.message);
    throw error;
  } finally {
    await session.dispose();
    await shown.end();
  }
  if (output.closed.aborted) throw new ExitError(EXIT_PIPE);
  if (failed) throw new ExitError(EXIT_FAILED);
}

/** Does one thing after the other: at once, unless the one before takes time. */
class Sequence {
  #last: Promise<void> | undefined;

  add(step: () => void | Promise<void>): void {
    const running = this.#last === undefined ? step() : this.#last.then(step);
    if (running === undefined) return;
    const last = this.#last = running.finally(() => {
      if (this.#last === last) this.#last = undefined;
    });
  }

  async end(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }
}

/** A file that was named and cannot be used is wrong usage. */
async function usable<T>(open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new UsageError(errorText(error), { cause: error });
  }
}

function loggerOf(report: Reporter): HookLogger {
  return {
    debug() {},
    info() {},
    warn: (message) => report.notify(message, "warning"),
    error: (message) => report.notify(message, "error"),
  };
}

/** Nobody can answer, but somebody may read. */
function uiOf(report: Reporter): HookUIContext {
  return {
    ...createNoOpUIContext(),
    notify: (message, type = "info") => report.notify(message, type),
    setStatus: (key, text) => report.status(key, text),
    theme: report.theme,
  };
}
