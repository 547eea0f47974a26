/**
 * Which hooks need a package from npm in place of what stands in for it, told by their text.
 *
 * @module
 */

import { type Package, packageOf, PACKAGES, standInFor } from "./packages.ts";
import { seenImports } from "./source.ts";
import { isTable, STAND_INS } from "./stand_ins.ts";
import { membersOf, type Taken, takenFrom, valueUse } from "./taken.ts";

/** A name that a hook takes from a package, and that its stand-in lacks. */
export interface Need {
  /** The package. */
  package: Package;
  /** What the hook imports. */
  specifier: string;
  /** The name; absent where the stand-in lacks the whole module. */
  name?: string;
  /** The file that imports it. */
  file: string;
  /** Counted from 1. */
  line: number;
}

/**
 * Finds what a hook needs of packages.
 *
 * @param files The hook's modules.
 * @returns The first need of each package.
 */
export async function packageNeeds(files: readonly string[]): Promise<ReadonlyMap<Package, Need>> {
  const needs = new Map<Package, Need>();
  const texts = textsOf(files);
  for (const { file, text } of texts) {
    const { taken, code } = takenFrom(text, (specifier) => packageOf(specifier) !== undefined);
    for (const one of taken) {
      const name = packageOf(one.specifier)!.name;
      if (needs.has(name)) continue;
      const lacking = await lackingOf(one, code, texts.map(({ text }) => text));
      if (lacking === undefined) continue;
      const line = text.slice(0, lacking.index).split("\n").length;
      needs.set(name, {
        package: name,
        specifier: one.specifier,
        ...(lacking.name === undefined ? {} : { name: lacking.name }),
        file,
        line,
      });
    }
  }
  return needs;
}

/** Says of what a hook needs that it could not be had. */
export function notFetched({ package: name, specifier, name: taken, file, line }: Need, cause: string): string {
  const what = taken === undefined
    ? JSON.stringify(specifier)
    : `${JSON.stringify(taken)} of ${JSON.stringify(specifier)}`;
  return `it needs ${what} (${file}:${line}), for which nothing of ours stands in, and the package could not be ` +
    `fetched: ${cause}; where npm can be reached, run: deno cache ${PACKAGES[name]}`;
}

async function lackingOf(
  { specifier, name, local, index, isValue }: Taken,
  code: string,
  texts: readonly string[],
): Promise<{ name?: string; index: number } | undefined> {
  const standIn = standInFor(specifier);
  if (standIn === undefined) return { index };
  const exports = await STAND_INS[standIn].load() as Record<string, unknown>;
  if (name !== "*" && !(name in exports)) {
    const used = isValue || local === undefined ? index : valueUse(code, local);
    return used === undefined ? undefined : { name, index };
  }
  if (local === undefined) return name === "*" ? passedOn(exports, texts, index) : undefined;
  const table = name === "*" ? exports : exports[name];
  if (!isTable(table)) return undefined;
  const use = membersOf(code, local).find((use) => (isValue || use.isValue) && !(use.member in table));
  return use && { name: name === "*" ? use.member : `${name}.${use.member}`, index: use.index };
}

/** Finds a name that others import by way of a module that passes on all that a package exports. */
function passedOn(
  exports: object,
  texts: readonly string[],
  index: number,
): { name: string; index: number } | undefined {
  const own = new Set(texts.flatMap(exportedBy));
  for (const text of texts) {
    const { taken, code } = takenFrom(text, (specifier) => specifier.startsWith("."));
    for (const { name, local, isValue } of taken) {
      if (name === "*" || name === "default" || own.has(name) || name in exports) continue;
      if (isValue || local === undefined || valueUse(code, local) !== undefined) return { name, index };
    }
  }
  return undefined;
}

/** The modules of packages of which a hook's modules pass on all that they export. */
export function packagesPassedOn(files: readonly string[]): string[] {
  return textsOf(files).flatMap(({ text }) =>
    takenFrom(text, (specifier) => packageOf(specifier) !== undefined).taken
      .flatMap(({ specifier, name, local }) => name === "*" && local === undefined ? specifier : [])
  );
}

/** The text of each module; what cannot be read is left out. */
function textsOf(files: readonly string[]): { file: string; text: string }[] {
  return files.flatMap((file) => {
    try {
      return [{ file, text: Deno.readTextFileSync(file) }];
    } catch {
      return [];
    }
  });
}

function exportedBy(text: string): string[] {
  const declared = text.matchAll(
    /\bexport\s{1,20}(?:(?:default|declare|abstract|async)\s{1,20}){0,3}(?:class|function\*?|const|let|var|enum|interface|type|namespace)\s{1,20}([\w$]+)/g,
  );
  const lists = text.matchAll(/\bexport\s{0,20}(?:type\s{0,20})?\{([^{}]{0,4000})\}/g);
  return [
    ...Array.from(declared, ([, name]) => name!),
    ...Array.from(lists, ([, list]) => list!.split(",").map((entry) => entry.trim().replace(/^[^]*\sas\s+/, "")))
      .flat(),
  ];
}

/** The modules of packages that a hook names. */
export function packagePaths(files: readonly string[]): string[] {
  const paths = new Set<string>();
  for (const { text } of textsOf(files)) {
    for (const { specifier } of seenImports(text)) {
      const meant = packageOf(specifier);
      if (meant !== undefined) paths.add(meant.name + meant.path);
    }
  }
  return [...paths].sort();
}
