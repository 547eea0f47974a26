/**
 * What `xcsh-hooks import` does.
 *
 * @module
 */

import { relative, resolve } from "@std/path";
import { hookFilesIn, type ImportReport, importReport } from "../src/compat/import_report.ts";
import { shellWord } from "../src/check/paths.ts";
import { plainText } from "../src/ui/text.ts";
import { errorText } from "../src/values.ts";
import { folderOf } from "./arguments.ts";
import { EXIT_FAILED, ExitError, UsageError } from "./errors.ts";
import { type GrantOptions, grantsOf } from "./grants.ts";
import { Output } from "./output.ts";

/** Options of {@linkcode importHooks}. */
export interface ImportHooksOptions extends GrantOptions {
  /** The folder that the session would work in. */
  cwd?: string | undefined;
  /** Print one JSON object. */
  json?: boolean | undefined;
}

/** Looks at a hook, or at all hooks of a folder, and prints what came of it. */
export async function importHooks(options: ImportHooksOptions, path: string): Promise<void> {
  const cwd = await folderOf(options.cwd);
  let files: string[];
  try {
    files = await hookFilesIn(resolve(Deno.cwd(), path));
  } catch (error) {
    throw new UsageError(
      `${path}: ${error instanceof Deno.errors.NotFound ? "there is no such file" : errorText(error)}`,
    );
  }
  if (files.length === 0) throw new UsageError(`${path}: no file in it has a default export, which a hook has`);
  const permissions = grantsOf(options) ?? {};
  const output = new Output();
  const reports: ImportReport[] = [];
  for (const file of files) {
    const report = await importReport(file, cwd, permissions);
    reports.push(report);
    if (!options.json) show(output, report);
  }
  const count = (verdict: ImportReport["verdict"]) => reports.filter((report) => report.verdict === verdict).length;
  const summary = {
    loads: count("loads"),
    loadsWithWarnings: count("loads with warnings"),
    cannot: count("cannot"),
  };
  if (options.json) output.record({ hooks: reports, summary });
  else {
    output.line(
      `${reports.length} ${
        reports.length === 1 ? "hook" : "hooks"
      }: ${summary.loads} without a warning, ${summary.loadsWithWarnings} with warnings, ` +
        `${summary.cannot} cannot be loaded`,
    );
  }
  if (summary.cannot > 0) throw new ExitError(EXIT_FAILED);
}

function show(output: Output, report: ImportReport): void {
  const { theme } = output;
  const colour = { loads: "success", "loads with warnings": "warning", cannot: "error" }[report.verdict];
  output.line(`${theme.bold(plainText(shown(report.path)))}  ${theme.fg(colour, report.verdict)}`);
  for (const error of report.errors) output.line(`  ${theme.fg("error", "error:")} ${oneLine(error)}`);
  for (const warning of report.warnings) output.line(`  ${theme.fg("warning", "warning:")} ${oneLine(warning)}`);
  for (const { name, file, line } of report.lacks) {
    output.line(`  ${theme.fg("warning", "lacks:")} ${oneLine(name)}, at ${oneLine(shown(file))}:${line}`);
  }
  const flags = flagsOf(report);
  if (flags.length > 0) output.line(`  needs     ${flags.map(oneLine).join(" ")}`);
  if (report.unclear.length > 0) {
    output.line(
      `  and       ${report.unclear.map(oneLine).join(", ")}, of what its code names only while it runs; to see it: ` +
        `xcsh-hooks permissions record ${shellWord(shown(report.path))} --events <file>`,
    );
  }
}

function flagsOf({ needs }: ImportReport): string[] {
  return Object.entries(needs).flatMap(([kind, list]) =>
    kind === "exec"
      ? (list as string[]).map((line) => `--allow-exec=${shellWord(line)}`)
      : [`--allow-${kind}=${shellWord((list as string[]).join(","))}`]
  );
}

function shown(file: string): string {
  const near = relative(Deno.cwd(), file);
  return near.startsWith("..") ? file : near;
}

function oneLine(text: string): string {
  return plainText(text.slice(0, 4_000)).replaceAll(/\s+/g, " ").trim();
}
