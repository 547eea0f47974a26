/**
 * What `xcsh-hooks check` does.
 *
 * @module
 */

import { relative } from "@std/path";
import type { Theme } from "../src/api.ts";
import { checkHook, type Diagnostic, type HookCheck, needText } from "../src/check/mod.ts";
import { type HookPermissions, PERMISSION_KINDS } from "../src/isolation/grants.ts";
import { plainText } from "../src/ui/text.ts";
import { folderOf } from "./arguments.ts";
import { EXIT_FAILED, ExitError, UsageError } from "./errors.ts";
import { type HookOptions, isolatedSourcesOf } from "./hooks.ts";
import { Output } from "./output.ts";

/** Options of {@linkcode checkHooks}. */
export interface CheckHooksOptions extends HookOptions {
  /** The folder that the session would work in. */
  cwd?: string | undefined;
  /** Print one JSON object. */
  json?: boolean | undefined;
}

/** Checks hooks, and prints what came of it. */
export async function checkHooks(options: CheckHooksOptions): Promise<void> {
  const cwd = await folderOf(options.cwd);
  if (!options.hook?.length) {
    throw new UsageError("There is nothing to check; name a hook: xcsh-hooks check ./gate.ts");
  }
  const output = new Output();
  const sources = await isolatedSourcesOf("check", options, cwd);
  const checks: HookCheck[] = [];
  for (const { path, given, permissions } of sources) {
    const check = await checkHook({
      path,
      cwd,
      permissions,
      print: (line) => output.note(plainText(`[${given}] ${line}`)),
    });
    checks.push({ ...check, path: given });
    if (!options.json) show(output, checks.at(-1)!, cwd);
  }
  if (options.json) output.record({ hooks: checks.map(withoutAbsent) });
  if (checks.some(({ diagnostics }) => diagnostics.some(({ severity }) => severity === "error"))) {
    throw new ExitError(EXIT_FAILED);
  }
}

function withoutAbsent({ registers, ...check }: HookCheck): Record<string, unknown> {
  return { ...check, mode: "isolated", registers: registers ?? null };
}

function show(output: Output, check: HookCheck, cwd: string): void {
  const { theme } = output;
  const none = theme.fg("muted", "none");
  const row = (title: string, values: readonly string[]) => {
    const lines = values.length === 0 ? [none] : values;
    lines.forEach((line, i) => output.line(`  ${(i === 0 ? title : "").padEnd(10)}${line}`));
  };
  output.line(theme.bold(plainText(check.path)) + theme.fg("muted", "  isolated"));
  if (check.registers !== undefined) {
    const { events, commands, renderers, tools, flags, shortcuts } = check.registers;
    row("events", events.length === 0 ? [] : [plainText(events.join(", "))]);
    if (commands.length > 0) {
      row(
        "commands",
        commands.map(({ name, description = "" }) =>
          `/${oneLine(name)}  ${theme.fg("muted", oneLine(description))}`.trimEnd()
        ),
      );
    }
    for (const [title, names] of Object.entries({ renders: renderers, tools, flags, keys: shortcuts })) {
      if (names.length > 0) row(title, [oneLine(names.join(", "))]);
    }
  }
  row("asks", asksOf(check, cwd, theme));
  row("may", mayOf(check).map(oneLine));
  row("can leave", check.exits.map(({ grant, why }) => oneLine(`${grant}: ${why}`)));
  for (const diagnostic of check.diagnostics) {
    output.line(`  ${colourOf(diagnostic, theme)} ${oneLine(textOf(diagnostic, check.path))}`);
  }
  output.line();
}

/** Each need once, with where the code has it. */
function asksOf({ asks, declares }: HookCheck, cwd: string, theme: Theme): string[] {
  const places = new Map<string, { granted: boolean; at: string[] }>();
  for (const need of asks) {
    const text = needText(need, cwd);
    const known = places.get(text) ?? { granted: true, at: [] };
    known.granted &&= need.granted;
    const at = `${shownFile(need.file)}:${need.line}`;
    if (!known.at.includes(at)) known.at.push(at);
    places.set(text, known);
  }
  const lines = [...places].map(([text, { granted, at }]) => {
    const where = at.length > 3 ? `${at.slice(0, 3).join(", ")} and ${at.length - 3} more` : at.join(", ");
    return `${oneLine(text)}  ${theme.fg("muted", oneLine(where))}${granted ? "" : theme.fg("error", "  not granted")}`;
  });
  const declared = declares === undefined ? [] : grantLines(declares);
  return [...lines, ...declared.map((line) => `${oneLine(line)}  ${theme.fg("muted", "it says so")}`)];
}

function mayOf({ permissions, flags }: HookCheck): string[] {
  const exec = (permissions.exec ?? []).map((line) => `--allow-exec="${line}"`);
  return [...flags, ...exec];
}

function grantLines(permissions: HookPermissions): string[] {
  return [...PERMISSION_KINDS, "exec" as const].flatMap((kind) => {
    const grant = permissions[kind];
    if (grant === undefined) return [];
    return grant === true ? [kind] : grant.map((entry) => `${kind}=${entry}`);
  });
}

function textOf({ place, message, remedy }: Diagnostic, path: string): string {
  const where = place === undefined ? path : `${shownFile(place.file)}:${place.line}:${place.column}`;
  return `${where}: ${message}; ${remedy}`;
}

function colourOf({ severity }: Diagnostic, theme: Theme): string {
  return theme.fg(severity, `${severity}:`);
}

/** A file as people would type it here. */
function shownFile(file: string): string {
  const near = relative(Deno.cwd(), file);
  return near.startsWith("..") ? file : near;
}

function oneLine(text: string): string {
  return plainText(text.slice(0, 4_000)).replaceAll(/\s+/g, " ").trim();
}
