/**
 * The modules of a hook, found by a look at their text.
 *
 * @module
 */

import { dirname, extname, join, resolve, SEPARATOR, toFileUrl } from "@std/path";
import { isBareBuiltIn, isHostPackage, packageOf, standInFor } from "./packages.ts";
import { lookAt, otherFile } from "./resolve.ts";
import { bunUse, codeOf, seenImports, usesCommonJs } from "./source.ts";

/** The modules of a hook. */
export interface HookModules {
  /** The hook's file, and the modules below its folder that it imports by a relative path. */
  files: string[];
  /** Whether they import what Deno does not find by itself. */
  needsCompat: boolean;
  /** Whether they import a package from npm of which the stand-in may have too little. */
  namesPackages: boolean;
  /** Whether they name built-in modules without `node:`, which Deno knows only where it may use npm. */
  bareBuiltIns: boolean;
  /** Why the hook can run in no host of ours, as part of a load error. */
  fault?: string;
}

/** Most characters of a module that are looked at: whoever wrote it may want this to take long. */
const MAX_TEXT = 512 * 1024;
/** Most imports of a module that are followed. */
const MAX_IMPORTS = 1_000;
const MODULES: ReadonlySet<string> = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);
const ASKS_FOR_TYPEBOX = /\.typebox\b|\{[^{}]{0,200}\btypebox\b[^{}]{0,200}\}\s*=/;
const TYPES_ALONE = /\b(?:import|export)\s+type\s+(?!from\b|,)[^;"'`]{0,1000}?\bfrom\s*["'][^"'\n]*["']/g;

/**
 * Looks at a hook's modules.
 *
 * @param entry The hook's file, absolute.
 * @returns What it finds. A file that cannot be read is left out: the import will say what is wrong.
 */
export function hookModules(entry: string): HookModules {
  const root = dirname(entry);
  const files = new Set<string>();
  const waiting = [entry];
  let needsCompat = false;
  let namesPackages = false;
  let bareBuiltIns = false;
  let fault: string | undefined;
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    const text = readModule(file, entry, root);
    if (text === undefined) continue;
    files.add(file);
    const bun = bunUse(text);
    if (bun !== undefined) {
      fault ??= `${file}:${bun.line} uses ${bun.name}, which only Bun has; in Deno it is ${bun.instead}`;
    }
    if (!/\.c[jt]s$/i.test(file) && usesCommonJs(text) || ASKS_FOR_TYPEBOX.test(text)) needsCompat = true;
    let code: string | undefined;
    const isCode = (index: number) => (code ??= codeOf(text))[index] !== " ";
    const values = withoutTypes(text);
    const imports = seenImports(values);
    for (const { specifier, data, index } of imports.slice(0, MAX_IMPORTS)) {
      if (isRelative(specifier)) {
        const { path, other } = lookFor(specifier, file, data);
        needsCompat ||= other;
        if (isStatic(text, index) && isCode(index) && lookAt(path) === "missing") {
          fault ??= notFound(path, file, text, index);
        }
      } else if (packageOf(specifier) !== undefined) needsCompat = namesPackages = true;
      else if (standInFor(specifier) !== undefined) needsCompat = true;
      else if (isBareBuiltIn(specifier)) bareBuiltIns = true;
      else if (isHostPackage(specifier) && isCode(index)) fault ??= inventedPackage(specifier, file, text, index);
    }
    const all = values === text ? imports : seenImports(text);
    for (const { specifier, data } of all.slice(0, MAX_IMPORTS)) {
      if (data || !isRelative(specifier)) continue;
      const { path } = lookFor(specifier, file, data);
      if (path.startsWith(root + SEPARATOR) && MODULES.has(extname(path).toLowerCase())) waiting.push(path);
    }
  }
  return { files: [...files], needsCompat, namesPackages, bareBuiltIns, ...(fault === undefined ? {} : { fault }) };
}

/** The text with imports of types alone blanked: they are erased before anything is imported. */
function withoutTypes(text: string): string {
  return text.replaceAll(TYPES_ALONE, (match) => match.replaceAll(/[^\n]/g, " "));
}

/** Whether what stands at a place is an import without which the module cannot be loaded. */
function isStatic(text: string, index: number): boolean {
  return /^(?:from|import)\s*["']/.test(text.slice(index, index + 20));
}

/** Says it as Deno does. */
function notFound(path: string, file: string, text: string, index: number): string {
  const quote = text.slice(index).search(/["']/) + index;
  const column = quote - text.lastIndexOf("\n", quote);
  return `Module not found "${toFileUrl(path).href}". at ${toFileUrl(file).href}:${lineOf(text, quote)}:${column}`;
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

function inventedPackage(specifier: string, file: string, text: string, index: number): string {
  return `${file}:${lineOf(text, index)} imports ${JSON.stringify(specifier)}, a package that there ` +
    'is not; types of hooks are imported by: import type { HookAPI } from "@xcsh/hooks"';
}

function isRelative(specifier: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(specifier);
}

/** The file that an import means, and whether Deno would not find it, or not take it for data. */
function lookFor(specifier: string, from: string, data: boolean): { path: string; other: boolean } {
  const path = resolve(dirname(from), decode(specifier.replace(/[?#].*$/, "")));
  const other = otherFile(path);
  if (other !== undefined) return { path: other, other: true };
  return { path, other: !data && extname(path) === ".json" && lookAt(path) === "file" };
}

/** The text of a module; `undefined` when it cannot be read, or is a link to another place. */
function readModule(file: string, entry: string, root: string): string | undefined {
  try {
    if (file !== entry && Deno.realPathSync(file) !== join(Deno.realPathSync(root), file.slice(root.length))) {
      return undefined;
    }
    return Deno.readTextFileSync(file).slice(0, MAX_TEXT);
  } catch {
    return undefined;
  }
}

function decode(specifier: string): string {
  try {
    return decodeURIComponent(specifier);
  } catch {
    return specifier;
  }
}
