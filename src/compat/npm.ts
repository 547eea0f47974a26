/**
 * Packages from npm, for hooks that need more of them than their stand-ins have. Loaded, and fetched, only for those.
 *
 * @module
 */

import { toFileUrl } from "@std/path";
import { lackingModule } from "../import_hook.ts";
import { errorText } from "../values.ts";
import { giveTo, giveToAll, provideModule } from "./from_npm.ts";
import { type Need, notFetched, packageNeeds, packagePaths, packagesPassedOn } from "./needs.ts";
import { type Package, packageOf, PACKAGES } from "./packages.ts";

/** A small module of each package, whose import fetches the package and runs next to nothing. */
const SMALL: { readonly [P in Package]: string } = {
  pi_tui: "/dist/undo-stack.js",
  typebox: "/guard",
  sinclair_typebox: "/system",
};
/** How long fetching may take, in ms. */
const FETCH_TIME = 60_000;

/**
 * Has imports of a package by hooks of this process mean the package, from now on. For who draws with it: what is kept in the
 * package, such as its keys and what the terminal can do, is then the same for all.
 *
 * @param name The package.
 * @returns What it exports.
 * @throws {Error} When it cannot be fetched.
 */
export async function usePackage(name: Package): Promise<object> {
  const exports = await provide(name, "");
  giveToAll(name);
  return exports;
}

/** Imports a module of a package, and remembers it for those who are given the package. */
async function provide(name: Package, path: string): Promise<object> {
  const specifier = PACKAGES[name] + path;
  const exports = await import(specifier) as object;
  provideModule(name + path, { url: import.meta.resolve(specifier), exports });
  return exports;
}

/**
 * Fetches a package, unless it is there already.
 *
 * @param name The package.
 * @throws {Error} When it cannot be fetched.
 */
export async function fetchPackage(name: Package): Promise<void> {
  // A name that is put together is resolved when it is needed, and not whenever the program starts.
  await withinFetchTime(import(PACKAGES[name] + SMALL[name]));
}

/** Waits for what is fetched, but not for ever. */
export async function withinFetchTime<T>(fetched: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`npm did not answer within ${FETCH_TIME / 1000} s`)), FETCH_TIME);
  });
  try {
    return await Promise.race([fetched, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Finds the packages that a hook needs, and fetches them.
 *
 * @param files The hook's modules.
 * @param error What came of loading it with the stand-ins, when that was tried.
 * @returns The packages; `undefined` when more of them are no answer to the error.
 * @throws {Error} When one cannot be fetched; with file, line and name of what needs it.
 */
export async function packagesFor(files: readonly string[], error?: unknown): Promise<Set<Package> | undefined> {
  const needs = new Map(await packageNeeds(files));
  if (error !== undefined) {
    const before = needs.size;
    for (const need of needsOf(error, files)) if (!needs.has(need.package)) needs.set(need.package, need);
    if (needs.size === before) return undefined;
  }
  for (const [name, need] of needs) {
    try {
      await fetchPackage(name);
    } catch (cause) {
      throw new Error(notFetched(need, firstLine(cause)), { cause });
    }
  }
  return new Set(needs.keys());
}

/** What a hook lacked that could not be loaded; a module of its own can pass on what a package exports. */
function needsOf(error: unknown, files: readonly string[]): Need[] {
  const lacking = lackingModule(errorText(error));
  if (lacking === undefined) return [];
  const { module, name, file = "", line = 0 } = lacking;
  return (/^\.{1,2}\//.test(module) ? packagesPassedOn(files) : [module]).flatMap((specifier) => {
    const meant = packageOf(specifier)?.name;
    return meant === undefined ? [] : { package: meant, specifier, name, file, line };
  });
}

/**
 * Gives a hook of this process the packages that it needs.
 *
 * @param files The hook's modules.
 * @param error See {@linkcode packagesFor}.
 * @returns Whether its modules are to be evaluated anew; `undefined` as {@linkcode packagesFor} does.
 */
export async function givePackages(files: readonly string[], error?: unknown): Promise<boolean | undefined> {
  const needed = await packagesFor(files, error);
  if (needed === undefined) return undefined;
  const { packages, anew } = giveTo(files.map((file) => toFileUrl(file).href), needed);
  for (const path of packagePaths(files)) {
    const name = path.replace(/\/.*$/, "") as Package;
    if (packages.has(name)) await provide(name, path.slice(name.length)).catch(() => {}); // There is no such module in it.
  }
  return anew || error !== undefined;
}

function firstLine(error: unknown): string {
  // deno-lint-ignore no-control-regex
  return errorText(error).replaceAll(/\x1b\[[0-9;]*m/g, "").split("\n")[0]!;
}
