/**
 * Says of hooks that were written for other hosts whether they load here, what they lack, and what they need to be granted.
 *
 * @module
 */

import { extname, join } from "@std/path";
import { checkHook, type HookCheck, needText, type Registrations } from "../check/mod.ts";
import { grantPath } from "../check/paths.ts";
import { parseModule } from "../check/syntax.ts";
import type { HookPermissions } from "../isolation/grants.ts";
import { type Lacking, lackingIn } from "./lacking.ts";
import { hookModules } from "./modules.ts";

/** What came of looking at a hook. */
export interface ImportReport {
  /** Its absolute path. */
  path: string;
  /** Whether it can be used. */
  verdict: "loads" | "loads with warnings" | "cannot";
  /** Why it cannot, each with its place. */
  errors: string[];
  /** What its author should know. */
  warnings: string[];
  /** What it uses that there is not. */
  lacks: Lacking[];
  /** What it registers; absent when it could not be loaded to the end. */
  registers?: Registrations;
  /** The least that it needs to be granted, as far as its code tells. */
  needs: HookPermissions;
  /** Kinds of grants that it needs as well, where only running it tells for what. */
  unclear: string[];
}

const MODULES: ReadonlySet<string> = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);
/** What is wrong for want of a grant, and not with the hook. */
const FOR_WANT_OF_GRANTS: ReadonlySet<string> = new Set(["missing-permission", "sandbox-exit", "declaration"]);
/** What is wrong and lets the hook load nevertheless. */
const LOADS_NEVERTHELESS: ReadonlySet<string> = new Set(["unknown-event", "ignored-result"]);

/**
 * Finds the hooks in a folder: modules with a default export, but for tests, declarations and what lies in `node_modules`.
 *
 * @param path A file, or a folder.
 * @returns Absolute paths in name order.
 */
export async function hookFilesIn(path: string): Promise<string[]> {
  if (!(await Deno.stat(path)).isDirectory) return [path];
  const found: string[] = [];
  const entries = (await Array.fromAsync(Deno.readDir(path))).sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory, isFile } of entries) {
    if (name.startsWith(".") && name !== ".pi" && name !== ".omp" && name !== ".xcsh" || name === "node_modules") {
      continue;
    }
    const file = join(path, name);
    if (isDirectory) found.push(...await hookFilesIn(file));
    else if (
      isFile && MODULES.has(extname(name).toLowerCase()) && !/\.d\.[cm]?ts$|[._](?:test|spec)\.\w+$/.test(name)
    ) {
      const text = await Deno.readTextFile(file);
      if (/\bexport\s+default\b|\bas\s+default\b|\bmodule\.exports\s*=/.test(text)) found.push(file);
    }
  }
  return found;
}

/**
 * Looks at a hook: reads its code, and loads it into a process that may do what was granted.
 *
 * @param path Its absolute path.
 * @param cwd The project's folder.
 * @param permissions What it may do; nothing when absent.
 * @returns What came of it. Never rejects for a bad hook.
 */
export async function importReport(
  path: string,
  cwd: string,
  permissions: HookPermissions = {},
): Promise<ImportReport> {
  const check = await checkHook({ path, cwd, permissions });
  const { needs, unclear } = leastGrants(check, cwd);
  const report: ImportReport = {
    path,
    verdict: "loads",
    errors: [],
    warnings: [],
    lacks: await lackingOf(path),
    ...(check.registers === undefined ? {} : { registers: check.registers }),
    needs,
    unclear,
  };
  for (const { code, severity, message, remedy, place } of check.diagnostics) {
    if (FOR_WANT_OF_GRANTS.has(code)) continue;
    const where = place === undefined ? "" : `${place.file}:${place.line}: `;
    const isFatal = severity === "error" && !LOADS_NEVERTHELESS.has(code) && check.registers === undefined;
    const advice = remedy === "mend it, and check again" ? "" : `; ${remedy}`;
    (isFatal ? report.errors : report.warnings).push(`${where}${message}${advice}`);
  }
  if (check.registers === undefined && report.errors.length === 0) {
    report.warnings.push(
      "it needs grants while it loads, so it was not loaded to the end; import it again with what it needs",
    );
  }
  if (report.errors.length > 0) report.verdict = "cannot";
  else if (report.warnings.length + report.lacks.length > 0) report.verdict = "loads with warnings";
  return report;
}

async function lackingOf(path: string): Promise<Lacking[]> {
  const lacks: Lacking[] = [];
  for (const file of hookModules(path).files) {
    try {
      lacks.push(...lackingIn(await parseModule(await Deno.readTextFile(file), file), file));
    } catch {
      // What is wrong with it is told already.
    }
  }
  return lacks;
}

function leastGrants({ asks }: HookCheck, cwd: string): { needs: HookPermissions; unclear: string[] } {
  const lists = new Map<string, Set<string>>();
  const unclear = new Set<string>();
  for (const need of asks) {
    if (need.all || need.value === undefined) {
      unclear.add(needText(need, cwd));
      continue;
    }
    const isPath = need.kind === "read" || need.kind === "write" || need.kind === "ffi";
    const list = lists.get(need.kind) ?? new Set();
    lists.set(need.kind, list.add(isPath ? grantPath(need.value, cwd) : need.value));
  }
  const needs = Object.fromEntries([...lists].map(([kind, list]) => [kind, [...list].sort()]));
  return { needs: needs as HookPermissions, unclear: [...unclear].sort() };
}
