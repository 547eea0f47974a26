/**
 * What `xcsh-hooks run` does.
 *
 * @module
 */

import type { HookUIContext } from "../src/api.ts";
import { AgentSession, UnknownCommandError } from "../src/session/agent_session.ts";
import { ScriptedModel } from "../src/models/scripted.ts";
import { onTermination } from "../src/session/signals.ts";
import { Drawing } from "../src/ui/drawing.ts";
import { createNoOpUIContext } from "../src/ui/noop.ts";
import { Prompts } from "../src/ui/prompts.ts";
import { oneAtATime } from "../src/ui/queue.ts";
import { noteTypeOf, type Surface, uiContextsOf } from "../src/ui/surface.ts";
import { keepColours } from "../src/ui/text.ts";
import { errorText } from "../src/values.ts";
import { folderOf, promptOf } from "./arguments.ts";
import { EXIT_FAILED, EXIT_PIPE, ExitError, UsageError } from "./errors.ts";
import { findAndLoadHooksOf, type HookOptions, onLostError, refuseLoadErrors } from "./hooks.ts";
import { readPipedPrompts, readTypedPrompts } from "./interactive.ts";
import { captureOutput } from "./capture.ts";
import { Output } from "./output.ts";
import { flagsOf } from "./hook_flags.ts";
import { runBashLine, submit } from "./session_commands.ts";
import { type ModelOptions, NO_MODEL, openModel, openSession, type SessionOptions } from "./session_source.ts";
import { lineTerminalOf } from "./line_terminal.ts";
import { JsonReporter, loggerOf, type Reporter, TextReporter } from "./report.ts";
import { TerminalInput } from "./terminal_input.ts";

/** Options of {@linkcode runSession}. */
export interface RunOptions extends HookOptions, SessionOptions, ModelOptions {
  /** The folder that the session works in. */
  cwd?: string | undefined;
  /** Flags that hooks declare, as `name` or `name=value`. */
  flag?: string[] | undefined;
  /** Read prompts line by line. */
  interactive?: boolean | undefined;
  /** Whether hooks may ask the person at the terminal. */
  ui?: boolean | undefined;
  /** Print one JSON record a line. */
  json?: boolean | undefined;
}

/** Runs one prompt or one slash command, or all that are typed, and ends the session. */
export async function runSession(options: RunOptions, argument: string | undefined): Promise<void> {
  if (options.rpc && argument !== undefined) {
    throw new UsageError("With --rpc, prompts come from the other program; leave this one out");
  }
  if (options.rpc && options.ui === false) {
    throw new UsageError("With --rpc, the other program is the UI; leave --no-ui out, or use --json");
  }
  const cwd = await folderOf(options.cwd);
  const named = await openModel(options);
  const model = named ?? new ScriptedModel({ turns: [] });
  const interactive = argument === undefined && (options.interactive || Deno.stdin.isTerminal());
  const prompt = interactive || options.rpc ? undefined : await promptOf(argument);
  await using output = new Output();
  const rpc = options.rpc ? new (await import("./rpc.ts")).RpcServer(output) : undefined;
  const report: Reporter = options.json || options.rpc ? new JsonReporter(output) : new TextReporter(output);
  if (named === undefined && !prompt?.startsWith("/")) {
    report.notify(NO_MODEL, "warning");
  }
  captureOutput(output, keepColours);

  onLostError((error, hookPath) => report.lostError(error, hookPath));
  const { hooks, errors, warnings } = await findAndLoadHooksOf(
    options,
    cwd,
    loggerOf({ notify: (message, level) => report.notify(message, level) }),
    output,
  );
  for (const { path, warning } of warnings) report.loadWarning(path, warning);
  refuseLoadErrors(errors, report);

  const sessionManager = await openSession(options, cwd, interactive || rpc !== undefined);
  const input = new TerminalInput();
  const prompts = new Prompts(lineTerminalOf(output, input));
  const canAsk = options.ui !== false && !options.json && Deno.stderr.isTerminal() && TerminalInput.canAsk();
  const person = rpc?.surface ?? (canAsk ? oneAtATime(askingUI(prompts, uiOf(report))) : undefined);
  const session = new AgentSession({
    cwd,
    hooks,
    sessionManager,
    uiContext: person === undefined ? uiOf(report) : uiContextsOf(person),
    hasUI: person !== undefined,
    // The terminal has to be as it was, too, when the process ends.
    handleSignals: false,
    flags: flagsOf(options.flag ?? [], hooks),
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

  const say = (text: string) => options.json ? output.record({ type: "output", text }) : output.line(text);
  const take = (text: string) => submit(text, { session, cwd, say });

  const end = async () => void await Promise.all([prompts.close(), session.dispose()]);
  const ignoreSignals = onTermination(rpc === undefined ? end : () => rpc.interrupt());
  try {
    if (rpc !== undefined) await rpc.serve(session, cwd);
    else await session.start();
    if (prompt !== undefined) await take(prompt);
    else if (rpc === undefined) {
      const showPrompt = () => options.json || output.write("> ");
      const typed = () => output.lineIsEnded();
      const lines = Deno.stdin.isTerminal() ? readTypedPrompts(input, showPrompt, typed) : readPipedPrompts();
      for await (const line of lines) {
        try {
          if (!await runBashLine(line, session, say) && await take(line) === "quit") break;
        } catch (error) {
          report.notify(errorText(error), "error");
        }
      }
    }
    // What an isolated hook still has to draw is drawn while its process lives.
    await shown.end();
  } catch (error) {
    if (error instanceof UnknownCommandError) throw new UsageError(error.message);
    throw error;
  } finally {
    // What hooks ask while the session ends can be answered still.
    await session.dispose();
    await end();
    ignoreSignals();
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

/** Somebody can answer. There is nothing to draw a component on. */
function askingUI(prompts: Prompts, silent: HookUIContext): Surface {
  return {
    ...silent,
    ask: (question, asking) => prompts.ask(question, asking),
    custom: () => Promise.resolve(undefined),
  };
}

/** Nobody can answer, but somebody may read. */
function uiOf(report: Reporter): HookUIContext {
  const drawings = new Map<string, Drawing>();
  return {
    ...createNoOpUIContext(),
    notify: (message, type) => report.notify(String(message), noteTypeOf(type)),
    setStatus: (key, text) => report.status(key, text),
    setWidget(key, content) {
      drawings.get(key)?.dispose();
      drawings.delete(key);
      if (typeof content !== "function") return report.widget(key, content);
      drawings.set(
        key,
        new Drawing({
          make: (tui) => content(tui, report.theme),
          screen: { columns: 80, rows: 24 },
          show: (_width, lines) => report.widget(key, [...lines]),
          failed: (error) => report.notify(`The widget ${key} failed: ${error.message}`, "error"),
        }),
      );
    },
    theme: report.theme,
  };
}
