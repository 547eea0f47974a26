/**
 * What `xcsh-hooks list` does.
 *
 * @module
 */

import { silentLogger } from "../src/hook.ts";
import { sandboxExits } from "../src/isolation/grants.ts";
import type { Theme } from "../src/api.ts";
import { keepColours, plainText } from "../src/ui/text.ts";
import { folderOf } from "./arguments.ts";
import { EXIT_FAILED, ExitError } from "./errors.ts";
import type { HookCandidate } from "../src/discovery/discover.ts";
import { findAndLoadHooksOf, type HookOptions, onLostError } from "./hooks.ts";
import { captureOutput } from "./capture.ts";
import { Output } from "./output.ts";

/** Options of {@linkcode listHooks}. */
export interface ListOptions extends HookOptions {
  /** The folder that the session would work in. */
  cwd?: string | undefined;
  /** Print one JSON object. */
  json?: boolean | undefined;
}

/** Prints what hooks register. */
export async function listHooks(options: ListOptions): Promise<void> {
  const cwd = await folderOf(options.cwd);
  const output = new Output();
  captureOutput(output, keepColours);
  onLostError((error, path) => output.note(keepColours(`error: ${path ?? "A hook"}: ${error}`)));
  const { hooks, errors, warnings, candidates } = await findAndLoadHooksOf(options, cwd, silentLogger, output);
  const shown = hooks.map((hook) => ({
    path: hook.path,
    resolvedPath: hook.resolvedPath,
    events: [...hook.handlers.keys()],
    commands: [...hook.commands.values()].map(({ name, description }) => ({ name, description })),
    renderers: [...hook.messageRenderers.keys()],
    tools: [...hook.tools?.keys() ?? []],
    ownFlags: [...hook.flags?.keys() ?? []],
    shortcuts: [...hook.shortcuts?.keys() ?? []],
    mode: hook.isolation === undefined ? "in-process" : "isolated",
    permissions: hook.isolation?.permissions ?? null,
    flags: hook.isolation?.flags ?? null,
    canLeaveSandbox: hook.isolation === undefined ? null : sandboxExits(hook.isolation.permissions),
  }));
  await Promise.all(hooks.map((hook) => hook.dispose?.()));
  if (options.json) output.record({ hooks: shown, candidates, warnings, errors });
  else {
    const { theme } = output;
    for (
      const { path, events, commands, renderers, tools, ownFlags, shortcuts, mode, permissions, flags, canLeaveSandbox }
        of shown
    ) {
      output.line(theme.bold(plainText(path)));
      output.line(`  events    ${events.map(plainText).join(", ") || theme.fg("muted", "none")}`);
      for (const { name, description = "" } of commands) {
        output.line(
          `  command   /${plainText(name)}  ${theme.fg("muted", plainText(description).replaceAll("\n", " "))}`,
        );
      }
      if (renderers.length > 0) output.line(`  renders   ${renderers.map(plainText).join(", ")}`);
      if (tools.length > 0) output.line(`  tools     ${tools.map(plainText).join(", ")}`);
      if (ownFlags.length > 0) output.line(`  flags     ${ownFlags.map(plainText).join(", ")}`);
      if (shortcuts.length > 0) output.line(`  keys      ${shortcuts.map(plainText).join(", ")}`);
      output.line(`  mode      ${mode}${mode === "isolated" ? "" : ", with all rights of this process"}`);
      if (flags !== null) output.line(`  granted   ${flags.map(plainText).join(" ") || theme.fg("muted", "nothing")}`);
      for (const line of permissions?.exec ?? []) output.line(`  exec      ${plainText(line)}`);
      for (const { grant, why } of canLeaveSandbox ?? []) {
        output.line(`  ${theme.fg("warning", "can leave the sandbox:")} ${plainText(grant)}, since ${plainText(why)}`);
      }
    }
    if (shown.length === 0 && candidates.length === 0 && errors.length === 0) {
      output.line("No hook is here; name one (xcsh-hooks list ./gate.ts), or put it into .xcsh/hooks");
    }
    for (const candidate of candidates) {
      // What was named and runs has been shown, and what is wrong with it is told below.
      const isTold = candidate.state === "loaded" || errors.some(({ path }) => path === candidate.path);
      if (candidate.source !== "named" || !isTold) output.line(candidateLine(candidate, theme));
    }
    for (const { path, warning } of warnings) {
      // It has been shown with why.
      if (candidates.some((each) => each.path === path && each.state === "untrusted")) continue;
      output.note(`${output.noteTheme.fg("warning", "warning:")} ${plainText(`${path}: ${warning}`)}`);
    }
    for (const { path, error } of errors) {
      output.note(`${output.noteTheme.fg("error", "error:")} ${plainText(`${path}: ${error}`)}`);
    }
  }
  if (errors.length > 0) throw new ExitError(EXIT_FAILED);
}

/** Where a file came from, and what became of it. */
function candidateLine({ state, level, source, type, tool, kind, path, reason }: HookCandidate, theme: Theme): string {
  const filed = type === undefined ? "" : ` ${type} ${tool}`;
  const colour = state === "loaded" ? "success" : state === "failed" || state === "untrusted" ? "error" : "muted";
  const why = reason === undefined ? "" : `  ${plainText(reason).replaceAll("\n", " ")}`;
  return `${theme.fg(colour, state.padEnd(9))} ${plainText(path).replaceAll("\n", " ")}  ` +
    theme.fg("muted", `${level}, ${source}, ${kind}${plainText(filed)}`) + why;
}
