/**
 * Checks a hook: its source is read, and it is loaded into a process that has exactly its grants, and no more.
 *
 * @module
 */

import { isBuiltin } from "node:module";
import { dirname, extname, fromFileUrl, isAbsolute, resolve } from "@std/path";
import { hookModules } from "../compat/modules.ts";
import { isHostPackage, standInFor } from "../compat/packages.ts";
import { lookAt, otherFile } from "../compat/resolve.ts";
import { silentLogger } from "../hook.ts";
import {
  GrantError,
  type HookPermissions,
  parseGrants,
  resolveGrants,
  type SandboxExit,
  sandboxExits,
} from "../isolation/grants.ts";
import { loadHooks } from "../loader.ts";
import { resolveHookPath } from "../paths.ts";
import { userFilesClosedToHooks } from "../user_settings.ts";
import { errorText } from "../values.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { flagFor, type Granted, isGranted } from "./granted.ts";
import { literalOf, type ModuleImport, type ModuleReport, readModule } from "./module.ts";
import type { Need } from "./needs.ts";
import { grantPath, isBelow } from "./paths.ts";
import { type Place, SyntaxFault } from "./syntax.ts";

/** What {@linkcode checkHook} needs. */
export interface CheckOptions {
  /** The hook's path, as {@linkcode resolveHookPath} reads it. */
  path: string;
  /** The project's folder. */
  cwd: string;
  /** What the hook may do. */
  permissions: HookPermissions;
  /** Files and folders that no grant opens for reading or writing. */
  closed?: readonly string[];
  /** Gets each line that the hook prints while it is loaded; dropped when absent. */
  print?: (line: string) => void;
  /** How long loading may take, in ms; default 10 000. */
  timeout?: number;
}

/** What a hook registers. */
export interface Registrations {
  /** Names of events. */
  events: string[];
  /** Slash commands. */
  commands: { name: string; description?: string }[];
  /** Types of messages that it draws. */
  renderers: string[];
  /** Tools. */
  tools: string[];
  /** Flags. */
  flags: string[];
  /** Keys. */
  shortcuts: string[];
}

/** What came of checking a hook. */
export interface HookCheck {
  /** The path, as it was given. */
  path: string;
  /** The absolute path; absent when there is none. */
  resolvedPath?: string;
  /** What it registers when it is loaded; absent when it cannot be. */
  registers?: Registrations;
  /** What its code visibly needs, and whether that was granted. */
  asks: (Need & { granted: boolean })[];
  /** What it says that it needs: its literal `export const permissions = { … }`. It asks, and grants nothing. */
  declares?: HookPermissions;
  /** What it may do, as it was granted. */
  permissions: HookPermissions;
  /** What it may do, as Deno's flags; empty when the grants cannot be used. */
  flags: readonly string[];
  /** Grants that do not bound it. */
  exits: SandboxExit[];
  /** What is wrong, in the order of the source. */
  diagnostics: Diagnostic[];
}

/**
 * Checks a hook.
 *
 * @param options See {@linkcode CheckOptions}.
 * @returns What it registers, what it asks for, what it may do and what is wrong. Never rejects for a bad hook.
 *
 * @example
 * ```ts
 * import { checkHook } from "./mod.ts";
 *
 * const { diagnostics } = await checkHook({ path: "./examples/hooks/notes.ts", cwd: Deno.cwd(), permissions: {} });
 * for (const { message, remedy } of diagnostics) console.log(message, remedy);
 * ```
 */
export async function checkHook(options: CheckOptions): Promise<HookCheck> {
  const check: HookCheck = {
    path: options.path,
    asks: [],
    permissions: options.permissions,
    flags: [],
    exits: sandboxExits(options.permissions),
    diagnostics: [],
  };
  try {
    check.resolvedPath = resolveHookPath(options.path, options.cwd);
    await readSource(check, check.resolvedPath, options);
  } catch (error) {
    // The loader says what is wrong with the path.
    if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) {
      fault(check, "load", errorText(error), "mend it, and check again");
    }
  }
  await load(check, options);
  for (const { grant, why } of check.exits) {
    fault(
      check,
      "sandbox-exit",
      `the grant ${grant} does not bound it: ${why}`,
      grant.startsWith("run")
        ? "let it call pi.exec, and grant the command line with --allow-exec"
        : "grant less, by name",
    );
  }
  check.diagnostics.sort(({ place: a }, { place: b }) =>
    (a?.file ?? "").localeCompare(b?.file ?? "") || (a?.line ?? 0) - (b?.line ?? 0) ||
    (a?.column ?? 0) - (b?.column ?? 0)
  );
  return check;
}

function fault(
  check: HookCheck,
  code: Diagnostic["code"],
  message: string,
  remedy: string,
  place?: Place,
  severity: Diagnostic["severity"] = "error",
): void {
  check.diagnostics.push({ code, severity, message, remedy, ...(place === undefined ? {} : { place }) });
}

// ——— The source ———

const MODULES = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);
const MAX_MODULES = 500;
const MAX_BYTES = 8 * 1024 * 1024;

async function readSource(check: HookCheck, entry: string, options: CheckOptions): Promise<void> {
  if (!MODULES.has(extname(entry).toLowerCase()) || !(await Deno.stat(entry)).isFile) return;
  const project = options.cwd;
  const needs: Need[] = [];
  const root = dirname(entry);
  const realRoot = await Deno.realPath(root);
  const found = new Set([entry]);
  const waiting = [entry];
  let bytes = 0;
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const { size } = await Deno.stat(file);
    bytes += size;
    if (found.size > MAX_MODULES || bytes > MAX_BYTES) {
      fault(
        check,
        "load",
        "it has more code than can be read here",
        "check its parts one by one",
        undefined,
        "warning",
      );
      break;
    }
    let report: ModuleReport;
    try {
      report = await readModule({ file, source: await Deno.readTextFile(file), project, entry: file === entry });
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error;
      fault(check, "syntax", error.message, "mend the syntax", error.place);
      continue;
    }
    check.diagnostics.push(...report.diagnostics);
    needs.push(...report.needs);
    if (file === entry) declared(check, report);
    for (const imported of report.imports) {
      const target = follow(check, imported, file, needs);
      if (target === undefined || found.has(target) || !MODULES.has(extname(target).toLowerCase())) continue;
      // What lies elsewhere is not the hook's own: it is neither read here nor may be without a grant.
      if (!isBelow(target, root) || !isBelow(await Deno.realPath(target), realRoot)) {
        needs.push({ ...placeIn(imported), kind: "read", value: target, call: "import" });
        continue;
      }
      found.add(target);
      waiting.push(target);
    }
  }
  await compare(check, needs, entry, options);
}

function placeIn({ file, line, column }: Place): Place {
  return { file, line, column };
}

/** Finds the file of an import, or says why there is none. */
function follow(
  check: HookCheck,
  imported: ModuleImport,
  from: string,
  needs: Need[],
): string | undefined {
  const { specifier, dynamic } = imported;
  const place = placeIn(imported);
  const unresolved = (remedy: string): undefined => {
    const message = `the import ${JSON.stringify(specifier)} cannot be resolved`;
    fault(check, "unresolved-import", message, remedy, place, dynamic ? "warning" : "error");
  };
  const [scheme] = /^[a-z]+(?=:)/i.exec(specifier) ?? [];
  // Modules of ours stand in for packages of other hosts.
  if (standInFor(specifier) !== undefined || (imported.required && isBuiltin(specifier))) return;
  switch (scheme?.toLowerCase()) {
    case "node":
      if (!isBuiltin(specifier)) unresolved("Deno has no such module of Node's");
      return;
    case "data":
    case "blob":
      return;
    case "http":
    case "https": {
      const host = URL.parse(specifier)?.host;
      if (!host) unresolved("it is no address");
      else needs.push({ ...place, kind: "import", value: host, call: "import" });
      return;
    }
    case "jsr":
      needs.push({ ...place, kind: "import", value: "jsr.io", call: "import" });
      return;
    case "npm":
      unresolved("an isolated hook gets no npm packages; put the code beside the hook");
      return;
  }
  if (scheme !== undefined && scheme !== "file") return unresolved("write a path, node:…, jsr:… or an address");
  if (scheme === undefined && !/^(?:\.{1,2})?\//.test(specifier) && specifier !== "." && specifier !== "..") {
    return unresolved(bareRemedy(specifier));
  }
  let path: string;
  try {
    path = scheme === "file"
      ? fromFileUrl(specifier)
      : fromFileUrl(new URL(specifier, `file://${encodeURI(dirname(from))}/`));
  } catch {
    return unresolved("it is no path");
  }
  if (!isAbsolute(path)) path = resolve(dirname(from), path);
  path = otherFile(path) ?? path;
  const found = lookAt(path);
  if (found !== "file") {
    return unresolved(found === "folder" ? "name a file in it" : `there is no ${path}; mend the path`);
  }
  if (!imported.data && extname(path).toLowerCase() !== ".json") return path;
  needs.push({ ...place, kind: "read", value: path, call: "import" });
}

function bareRemedy(specifier: string): string {
  if (isBuiltin(specifier)) return `write "node:${specifier}"`;
  if (isHostPackage(specifier)) return 'there is no such package; types are imported from "@xcsh/hooks"';
  return "an isolated hook gets no packages; write a path, node:… or jsr:…, or put the code beside the hook";
}

function declared(check: HookCheck, { declaration }: ModuleReport): void {
  if (declaration === undefined) return;
  try {
    check.declares = parseGrants(literalOf(declaration.node), "its permissions");
  } catch (error) {
    fault(
      check,
      "declaration",
      errorText(error),
      "write a literal, as a grant is written",
      declaration.place,
      "warning",
    );
    return;
  }
  for (const [kind, asked] of Object.entries(check.declares)) {
    const given = check.permissions[kind as keyof HookPermissions];
    if (kind === "deny" || kind === "links" || given === true) continue;
    const missing = asked === true
      ? [undefined]
      : (asked as string[]).filter((entry) => !Array.isArray(given) || !given.includes(entry));
    for (const entry of missing) {
      const flag = `--allow-${kind}${entry === undefined ? "" : `=${/\s/.test(entry) ? `"${entry}"` : entry}`}`;
      fault(
        check,
        "declaration",
        `it asks for ${kind}${entry === undefined ? "" : `=${entry}`}, which was not granted`,
        `grant it with ${flag} if it should have it`,
        declaration.place,
        "warning",
      );
    }
  }
}

// ——— The grants ———

async function compare(check: HookCheck, needs: Need[], entry: string, options: CheckOptions): Promise<void> {
  let granted: Granted;
  try {
    const permissions = parseGrants(options.permissions);
    const hookFiles = hookModules(entry).files;
    const effective = await resolveGrants(permissions, {
      project: options.cwd,
      hookFiles,
      closed: [...userFilesClosedToHooks(), ...options.closed ?? []],
    });
    granted = { permissions, effective };
  } catch (error) {
    // Loading it says the same.
    if (error instanceof GrantError) return void (check.asks = needs.map((need) => ({ ...need, granted: false })));
    throw error;
  }
  const own = new Set(granted.effective.allow.read === true ? [] : granted.effective.allow.read);
  for (const need of needs) {
    const ok = isGranted(need, granted) || (need.kind === "read" && need.value !== undefined && own.has(need.value));
    check.asks.push({ ...need, granted: ok });
    if (ok) continue;
    fault(
      check,
      "missing-permission",
      `${need.call} needs ${needText(need, options.cwd)}, which was not granted`,
      remedyFor(need, options.cwd),
      placeIn(need),
    );
  }
}

/** A need as people would say it. */
export function needText({ kind, value, folder, all }: Need, project: string): string {
  if (all) return `all of ${kind}`;
  if (value === undefined) return kind;
  const path = kind === "read" || kind === "write" || kind === "ffi";
  return `${kind}=${path ? grantPath(value, project) : value}${folder ? "/…" : ""}`;
}

function remedyFor(need: Need, project: string): string {
  const flag = flagFor(need, project);
  if (need.kind === "run" && need.value !== undefined) {
    return `call pi.exec and grant its line with --allow-exec, or grant it with ${flag}, by which it can leave its sandbox`;
  }
  if (!need.all && (need.value === undefined || / \.\.\.$/.test(need.value))) {
    return `grant what it needs, which \`xcsh-hooks permissions record\` finds, with --allow-${need.kind}=…`;
  }
  if (need.all) return `read the variables by name and grant those, or grant all of them with ${flag}`;
  return `grant it with ${flag}`;
}

// ——— The real thing ———

async function load(check: HookCheck, options: CheckOptions): Promise<void> {
  const { hooks: [hook], errors, warnings } = await loadHooks(
    [{ path: options.path, permissions: options.permissions }],
    options.cwd,
    {
      logger: silentLogger,
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
      isolation: {
        print: (_path, line) => options.print?.(line),
        ...(options.closed === undefined ? {} : { closed: options.closed }),
      },
    },
  );
  if (hook !== undefined) {
    check.registers = {
      events: [...hook.handlers.keys()],
      commands: [...hook.commands.values()].map(({ name, description }) => ({
        name,
        ...(description === undefined ? {} : { description }),
      })),
      renderers: [...hook.messageRenderers.keys()],
      tools: [...hook.tools?.keys() ?? []],
      flags: [...hook.flags?.keys() ?? []],
      shortcuts: [...hook.shortcuts?.keys() ?? []],
    };
    check.flags = hook.isolation?.flags ?? [];
    // It did load, so what the source lets expect otherwise is no fault.
    check.diagnostics = check.diagnostics.filter(({ code, severity }) =>
      severity === "warning" || !["no-default-export", "syntax", "unresolved-import"].includes(code)
    );
    await hook.dispose?.();
  }
  for (const { warning } of warnings) {
    const [, form, today] = /^(.*) is an older form, and works; (write .*) instead$/.exec(warning) ?? [];
    if (form !== undefined && today !== undefined) {
      fault(check, "older-form", `${form} is an older form, and works`, today, undefined, "warning");
      continue;
    }
    const told = check.diagnostics.some(({ code, message }) =>
      code === "unknown-event" && warning.toLowerCase().startsWith(message.split(",")[0]!.toLowerCase())
    );
    if (!told) fault(check, "unknown-event", warning, "mend the name");
  }
  for (const { error } of errors) loadFault(check, error);
}

function loadFault(check: HookCheck, error: string): void {
  const text = error.replace(/^Failed to load hook: /, "");
  const [whole, file, line, column = "1"] =
    / at (file:\/\/\S+?):(\d+):(\d+)| \((\/[^()]+):(\d+)\)|^(\/\S+):(\d+) /.exec(text)?.filter((part) =>
      part !== undefined
    ) ?? [];
  let place: Place | undefined;
  try {
    if (file !== undefined) {
      const path = file.startsWith("file:") ? fromFileUrl(file) : file;
      place = { file: path, line: Number(line), column: Number(column) };
    }
  } catch {
    // Not a file: the text says it.
  }
  // What the source has told already, with a better remedy.
  const told = check.diagnostics.some(({ code, severity, place: at }) =>
    severity === "error" && (
      (place !== undefined && at?.file === place.file && at.line === place.line) ||
      code === "no-default-export" ||
      (code === "syntax" && /SyntaxError|parse/i.test(text)) ||
      ((code === "unresolved-import" || code === "missing-permission") && /\bmay not (?:read|import)\b/.test(text))
    )
  );
  if (told) return;
  const [, message = text, remedy = "mend it, and check again"] =
    /^(.*); ((?:grant|name|write|shell hooks|create)\b.*)$/s.exec(
      whole === undefined ? text : text.replace(whole, ""),
    ) ??
      [undefined, whole === undefined ? text : text.replace(whole, "")];
  fault(check, "load", message, remedy, place);
}
