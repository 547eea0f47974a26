/**
 * What `xcsh-hooks list` does.
 *
 * @module
 */

import { silentLogger } from "../src/hook.ts";
import { sandboxExits } from "../src/isolation/grants.ts";
import { keepColours, plainText } from "../src/ui/text.ts";
import { folderOf } from "./arguments.ts";
import { EXIT_FAILED, ExitError, UsageError } from "./errors.ts";
import { type HookOptions, loadHooksOf, onLostError } from "./hooks.ts";
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
  if (!options.hook?.length) throw new UsageError("There is nothing to list; name a hook: xcsh-hooks list ./gate.ts");
  const output = new Output();
  output.capture(keepColours);
  onLostError((error, path) => output.note(keepColours(`error: ${path ?? "A hook"}: ${error}`)));
  const { hooks, errors, warnings } = await loadHooksOf(options, cwd, silentLogger);
  const shown = hooks.map((hook) => ({
    path: hook.path,
    resolvedPath: hook.resolvedPath,
    events: [...hook.handlers.keys()],
    commands: [...hook.commands.values()].map(({ name, description }) => ({ name, description })),
    renderers: [...hook.messageRenderers.keys()],
    mode: hook.isolation === undefined ? "in-process" : "isolated",
    permissions: hook.isolation?.permissions ?? null,
    flags: hook.isolation?.flags ?? null,
    canLeaveSandbox: hook.isolation === undefined ? null : sandboxExits(hook.isolation.permissions),
  }));
  await Promise.all(hooks.map((hook) => hook.dispose?.()));
  if (options.json) output.record({ hooks: shown, warnings, errors });
  else {
    const { theme } = output;
    for (const { path, events, commands, renderers, mode, permissions, flags, canLeaveSandbox } of shown) {
      output.line(theme.bold(plainText(path)));
      output.line(`  events    ${events.map(plainText).join(", ") || theme.fg("muted", "none")}`);
      for (const { name, description = "" } of commands) {
        output.line(
          `  command   /${plainText(name)}  ${theme.fg("muted", plainText(description).replaceAll("\n", " "))}`,
        );
      }
      if (renderers.length > 0) output.line(`  renders   ${renderers.map(plainText).join(", ")}`);
      output.line(`  mode      ${mode}${mode === "isolated" ? "" : ", with all rights of this process"}`);
      if (flags !== null) output.line(`  granted   ${flags.map(plainText).join(" ") || theme.fg("muted", "nothing")}`);
      for (const line of permissions?.exec ?? []) output.line(`  exec      ${plainText(line)}`);
      for (const { grant, why } of canLeaveSandbox ?? []) {
        output.line(`  ${theme.fg("warning", "can leave the sandbox:")} ${plainText(grant)}, since ${plainText(why)}`);
      }
    }
    for (const { path, warning } of warnings) {
      output.note(`${output.noteTheme.fg("warning", "warning:")} ${plainText(`${path}: ${warning}`)}`);
    }
    for (const { path, error } of errors) {
      output.note(`${output.noteTheme.fg("error", "error:")} ${plainText(`${path}: ${error}`)}`);
    }
  }
  if (errors.length > 0) throw new ExitError(EXIT_FAILED);
}
