/**
 * Which imports mean a package from npm, and not what stands in for it. A hook gets the one or the other, whole.
 *
 * @module
 */

import { type Package, packageOf } from "./packages.ts";

/** A module of a package from npm. */
export interface PackageModule {
  /** Where it is. */
  url: string;
  /** What it exports. */
  exports: object;
}

/** By the package and the path in it. */
const modules = new Map<string, PackageModule>();
const forAll = new Set<Package>();
/** What the files of hooks were given, by their URL. */
const byFile = new Map<string, ReadonlySet<Package>>();

/** Says what a module of a package is, for those who are given the package. */
export function provideModule(key: string, module: PackageModule): void {
  modules.set(key, module);
}

/** Gives a package to every hook that is loaded from now on. */
export function giveToAll(name: Package): void {
  forAll.add(name);
}

/**
 * Gives packages to the files of a hook. A file that hooks share has one kind of each package, so who shares with one that was
 * given a package is given it as well.
 *
 * @param urls The files.
 * @param needed The packages.
 * @returns What they have now, and whether one of them may have been evaluated without it.
 */
export function giveTo(
  urls: readonly string[],
  needed: ReadonlySet<Package>,
): { packages: ReadonlySet<Package>; anew: boolean } {
  const packages = new Set([...needed, ...forAll]);
  for (const url of urls) for (const name of byFile.get(url) ?? []) packages.add(name);
  const anew = urls.some((url) => byFile.has(url) && byFile.get(url)!.size < packages.size);
  for (const url of urls) byFile.set(url, packages);
  return { packages, anew };
}

/** Finds the module from npm that an import means, if it means one. */
export function moduleFor(specifier: string, parent: string): PackageModule | undefined {
  const meant = packageOf(specifier);
  if (meant === undefined) return undefined;
  const given = forAll.has(meant.name) || byFile.get(parent.replace(/[?#].*$/, ""))?.has(meant.name);
  return given ? modules.get(meant.name + meant.path) : undefined;
}
