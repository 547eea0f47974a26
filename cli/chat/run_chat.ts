/**
 * What `xcsh-hooks chat` does.
 *
 * @module
 */

import process from "node:process";
import { isAbsolute, join, relative } from "@std/path";
import deno from "../../deno.json" with { type: "json" };
import type { LoadedHook } from "../../src/hook.ts";
import { ScriptedModel } from "../../src/models/scripted.ts";
import { homeDirectory } from "../../src/paths.ts";
import { AgentSession } from "../../src/session/agent_session.ts";
import { onTermination } from "../../src/session/signals.ts";
import { editInEditor } from "../../src/ui/external_editor.ts";
import { oneAtATime } from "../../src/ui/queue.ts";
import { uiContextsOf } from "../../src/ui/surface.ts";
import { keepColours, plainText } from "../../src/ui/text.ts";
import { loadPiTui, type PiTui } from "../../src/ui/tui/pi_tui.ts";
import { Screen } from "../../src/ui/tui/screen.ts";
import { errorText } from "../../src/values.ts";
import { folderOf } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import { flagsOf } from "../hook_flags.ts";
import { findAndLoadHooksOf, onLostError, refuseLoadErrors } from "../hooks.ts";
import { captureOutput } from "../capture.ts";
import { Output } from "../output.ts";
import { loggerOf, type Reporter, TextReporter } from "../report.ts";
import type { RunOptions } from "../run_session.ts";
import { runBashLine, sessionCommands, submit } from "../session_commands.ts";
import { NO_MODEL, openModel, openSession } from "../session_source.ts";
import { createKeys } from "./keys.ts";
import { Transcript } from "./transcript.ts";

/** Runs a session on the terminal until the person ends it. */
export async function runChat(options: RunOptions, prompt: string | undefined): Promise<void> {
  requireTerminal();
  const cwd = await folderOf(options.cwd);
  const model = await openModel(options);
  const output = new Output();
  const lib = await loadPiTui();
  let report: Reporter = new TextReporter(output);
  captureOutput(output, keepColours, (text) => report.notify(text, "info"));
  onLostError((error, hookPath) => report.lostError(error, hookPath));
  const logger = loggerOf({ notify: (message, level) => report.notify(message, level) });
  const { hooks, errors, warnings } = await findAndLoadHooksOf(options, cwd, logger, output);
  refuseLoadErrors(errors, report);
  const sessionManager = await openSession(options, cwd, true);

  const ended = Promise.withResolvers<void>();
  let talks = 0;
  const talk = (text: string) => {
    talks++;
    say(text).catch((error) => transcript.notify(errorText(error), "error")).finally(() => talks--);
  };
  const screen = new Screen({
    lib,
    theme: output.theme,
    autocomplete: completions(lib, cwd, () => session),
    footer: () => footerOf(session, hooks),
    onSubmit: talk,
    onKey: (data) => keys(data),
    onStop: () => void keys.stop(),
    onEnd: () => ended.resolve(),
    openEditor: (text) => openEditor(text),
    notify: (message, type) => transcript.notify(message, type),
  });
  const transcript = new Transcript(lib, screen);
  const session: AgentSession = new AgentSession({
    cwd,
    hooks,
    sessionManager,
    uiContext: uiContextsOf(oneAtATime(screen)),
    hasUI: true,
    flags: flagsOf(options.flag ?? [], hooks),
    handleSignals: false,
    model: model ?? new ScriptedModel({ turns: [] }),
  });
  let editing = false;
  const openEditor = async (text: string): Promise<string | undefined> => {
    editing = true;
    const outcome = await screen.pause(() => editInEditor(text)).finally(() => editing = false);
    if ("text" in outcome) return outcome.text;
    transcript.notify(outcome.failed, "warning");
  };
  const keys = createKeys({
    lib,
    screen,
    transcript,
    session,
    isWorking: () => talks > 0,
    openEditor,
    end: () => ended.resolve(),
  });

  async function say(typed: string): Promise<void> {
    const text = typed.trim();
    if (text === "") return;
    screen.editor.addToHistory(typed);
    if (await runBashLine(text, session, () => {})) return;
    if (!session.isIdle && !text.startsWith("/")) {
      await session.prompt(text, { deliverAs: "steer" });
      return transcript.say(`It reads this before its next turn: ${text}`);
    }
    const context = { session, cwd, say: (text: string) => transcript.say(text) };
    if (await submit(text, context) === "quit") ended.resolve();
  }

  session.runner.onDecision((decision) => transcript.decision(decision));
  session.subscribe((event) => {
    if (event.type === "session_switch" || event.type === "session_branch" || event.type === "session_tree") {
      transcript.restore(session.messages, session.runner);
    }
    transcript.event(event, session.runner);
  });
  // However the process ends, the terminal is given back.
  const giveBack = () => screen.stop();
  globalThis.addEventListener("unload", giveBack);
  // Ctrl+C in an editor that does not take it as a key goes to all programs on the terminal.
  const removeSignals = onTermination(() => session.dispose(), (signal) => signal !== "SIGINT" || !editing);
  // A shell that has stopped the program has set the terminal for itself in between.
  const resume = () => void (editing || screen.pause(() => Promise.resolve()));
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGCONT", resume);
  // A terminal that is gone, and whose end nobody was told of.
  const gone = () => ended.resolve();
  process.stdin.on("end", gone).on("error", gone);
  process.stdout.on("error", gone);
  try {
    report = transcript;
    transcript.say(
      `xcsh-hooks ${deno.version} · /help lists the commands · Ctrl+C stops the agent, twice it ends the session`,
    );
    if (model === undefined) {
      transcript.notify(NO_MODEL, "warning");
    }
    for (const { path, warning } of warnings) report.loadWarning(path, warning);
    if (session.messages.length > 0) transcript.restore(session.messages, session.runner);
    screen.start();
    await session.start();
    keys.warnOfTaken();
    if (prompt !== undefined) talk(prompt);
    await ended.promise;
  } finally {
    await session.dispose();
    removeSignals();
    if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGCONT", resume);
    giveBack();
    globalThis.removeEventListener("unload", giveBack);
  }
}

/** @throws {UsageError} Where there is no terminal that can be drawn on. */
function requireTerminal(): void {
  const instead = "run reads prompts line by line, and run --rpc speaks to programs";
  if (!Deno.stdin.isTerminal() || !Deno.stdout.isTerminal()) {
    throw new UsageError(`chat needs a terminal for input and output; ${instead}`);
  }
  const term = Deno.env.get("TERM") || (Deno.build.os === "windows" ? "" : "not set");
  if (["dumb", "unknown", "not set"].includes(term)) {
    throw new UsageError(`chat needs a terminal whose cursor can be moved, and TERM is ${term}; ${instead}`);
  }
}

/** Completes commands and files. The commands are asked for each time: hooks may register more. */
function completions(
  lib: PiTui,
  cwd: string,
  session: () => AgentSession,
): ConstructorParameters<typeof Screen>[0]["autocomplete"] {
  const provider = () => {
    const registered = session().runner.getRegisteredCommands().map(({ name, description }) => ({
      name: plainText(name),
      ...description !== undefined && { description: plainText(description) },
    }));
    return new lib.CombinedAutocompleteProvider([...sessionCommands(), ...registered], cwd);
  };
  return {
    async getSuggestions(...args) {
      const found = await provider().getSuggestions(...args);
      // What a name cannot be shown as would be sent unseen.
      const items = found?.items.filter(({ value }) => plainText(value) === value && !/[\n\t]/.test(value)) ?? [];
      return found === null || items.length === 0 ? null : { ...found, items };
    },
    applyCompletion: (...args) => provider().applyCompletion(...args),
    shouldTriggerFileCompletion: (...args) => provider().shouldTriggerFileCompletion(...args),
  };
}

/** A path with `~` for the person's folder. */
function fromHome(path: string): string {
  const home = homeDirectory();
  const inside = home === "" ? ".." : relative(home, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : join("~", inside);
}

function footerOf({ sessionManager, model }: AgentSession, hooks: readonly LoadedHook[]): string {
  const name = sessionManager.getSessionName() ?? sessionManager.getSessionId().slice(0, 8);
  const parts = [
    hooks.length === 1 ? "1 hook" : `${hooks.length} hooks`,
    model === undefined ? "no model" : `${model.provider}/${model.id}`,
    name,
    fromHome(sessionManager.getCwd()),
  ];
  return parts.map((text) => plainText(text).replaceAll(/\s+/g, " ")).join(" · ");
}
