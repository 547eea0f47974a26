/**
 * What other hosts take a relative import for when there is no file of that name: `./x.js` for `x.ts`, a missing extension, a
 * folder.
 *
 * @module
 */

const EXTENSIONS = [".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx", ".cts", ".cjs", ".json"];
const INDEXES = ["index.ts", "index.tsx", "index.js", "index.mjs"];

/**
 * Lists what an import may mean, beside the file of that name.
 *
 * @param path The path that the import names.
 * @returns Paths, the likeliest first.
 */
export function otherPaths(path: string): string[] {
  const script = /^(.*)\.([cm]?)jsx?$/.exec(path);
  const swapped = script === null ? [] : [`${script[1]}.${script[2]}ts`, `${script[1]}.tsx`, `${script[1]}.jsx`];
  const folder = path.replace(/[/\\]+$/, "");
  return [
    ...swapped,
    ...(folder === path ? EXTENSIONS.map((extension) => path + extension) : []),
    ...INDEXES.map((name) => `${folder}/${name}`),
  ];
}

/** What is known of a path. A path that may not be looked at is `closed`. */
export type Found = "file" | "folder" | "missing" | "closed";

/** Looks at a file, by its path or its URL. */
export function lookAt(place: string | URL): Found {
  try {
    const info = Deno.statSync(place);
    return info.isFile ? "file" : info.isDirectory ? "folder" : "missing";
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? "closed" : "missing";
  }
}

/**
 * Finds the file that an import means, when that is not the file of that name.
 *
 * @param place The path, or `file:` URL, that the import names.
 * @returns The other path or URL, or `undefined` when there is a file of that name, or nothing is found.
 */
export function otherFile(place: string): string | undefined {
  const look = (name: string) => lookAt(/^file:/i.test(name) ? new URL(name) : name);
  if (look(place) === "file") return undefined;
  return otherPaths(place).find((candidate) => look(candidate) === "file");
}
