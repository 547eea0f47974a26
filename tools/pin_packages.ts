// deno-lint-ignore-file no-console -- a program that prints
/**
 * Prints the digests of `src/isolation/package_files.ts`, for when a package is pinned anew.
 *
 * @module
 */

import { type Package, PACKAGES } from "../src/compat/packages.ts";
import { digestOf, DIGESTS, graphOf } from "../src/isolation/package_files.ts";

for (const key of Object.keys(DIGESTS)) {
  const name = key.replace(/\/.*$/, "") as Package;
  console.log(
    `${JSON.stringify(key)}: "${await digestOf(await graphOf(name, PACKAGES[name] + key.slice(name.length)))}",`,
  );
}
