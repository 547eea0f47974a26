/**
 * Packages from npm as text, to be laid beside the modules of a child, which may fetch and read nothing.
 *
 * @module
 */

import { fetchPackage, withinFetchTime } from "../compat/npm.ts";
import { isBareBuiltIn, type Package, packageOf, PACKAGES } from "../compat/packages.ts";
import { packagePaths } from "../compat/needs.ts";
import { lookAt } from "../compat/resolve.ts";

/** Other packages that a package imports. Pinned as it is. */
const IMPORTS: Readonly<Record<string, string>> = {
  marked: "npm:marked@15.0.12",
  "get-east-asian-width": "npm:get-east-asian-width@1.7.0",
};
/**
 * SHA-256 of what each module of a package reaches, as it is laid: where the configuration of a project counts, its
 * `node_modules` could hold another package of that name. Made by tools/pin_packages.ts.
 */
export const DIGESTS: Readonly<Record<string, string>> = {
  pi_tui: "6cb55bbb413c99ac000d7caa4eece6afdcab5ec1b925381c0df20e68d05bfa7b",
  typebox: "739a9407b962986e602f2a4cd8cfe25544aea7b76e792bd02cb4d135305c39a0",
  "typebox/compile": "5195bc6e04fabf84dc1cf6a6e73c94589abd8c886faa7d319ae66d60c12a8c6c",
  "typebox/error": "f788a211eda04a801c48a0dd3033419dbc3767af70bcc40e35e9c1fb3e713261",
  "typebox/format": "4a9c27c7a5b709f57911beba14ff04474949cf1b15f7a0570285a5644304bc32",
  "typebox/guard": "41cc59fe11e1128f5893c9b8d4ab0d761b607f2929868b1cc3d80b46a0ff4be6",
  "typebox/schema": "154c5fa890e85b21ae1aea50554774e4450f1494698cb90d6069ec0b35633670",
  "typebox/system": "651d5748f5add894068a7de491095a25cc25a4bb3f4e1bc19f7a15236ab49302",
  "typebox/type": "3c5c16f223b3db5e4871f7725e6f75c21ca5e5d594637ef9beabc02a1067ed21",
  "typebox/value": "f090404fda45970a1a8cdd92858bdafcbfc2a4c15fcfd99904633e75df40c3d1",
  sinclair_typebox: "2c87ac8cbb85db91aa3f5bf7a3df0053f1977993cd7b08a490dd4af1a4caf374",
  "sinclair_typebox/compiler": "7edca3feb1cd3cbf569d36bc9d3c329b86dd88760587b6c25a2cf86f9e920cab",
  "sinclair_typebox/errors": "8fd1988a0365bb25dcacd0c516d5620d405215c5e5ff19e7669108c8c060dec1",
  "sinclair_typebox/parser": "cd3340b1d89de33371f159ee4807a03b854e7ac3e992664e2fe1bfbec6788bcf",
  "sinclair_typebox/syntax": "ec0d8d66b8c92a4c34cd286cdd24bc0c86d569657064f32d3e18144ef3264b91",
  "sinclair_typebox/system": "6f04acb01936153c51426d3e9c6e22b36c4af3c06683c5d84d6e47c23ec47d93",
  "sinclair_typebox/type": "fbeb1290882b56e9f3c4f5ff55c25ada0bd84051bf45ce1fa1f5828e3c5ffc6c",
  "sinclair_typebox/value": "94d5694187ee2501f003515bbcda8c42b73b3270353fa49d3825100d7a85eac2",
};
const IMPORT = /(\b(?:from|import)\s*\(?\s*)(["'])((?:(?!\2)[^\n\\])+)\2/g;
/** What a hook in a child may know of the terminal: that the host draws what it gives. */
const NO_TERMINAL = "setCapabilities({ images: null, trueColor: true, hyperlinks: false })";

/** The entry of a child with packages. In this order: the child's own modules are loaded by now, the hook is not. */
const ENTRY = 'import "../compat/register_now.ts";\nimport "./npm_now.ts";\nimport "./boot.ts";\n';

interface Graph {
  /** The module that was asked for. */
  readonly entry: string;
  /** Text of each module that it reaches, by its path. */
  readonly texts: Readonly<Record<string, string>>;
}

const graphs = new Map<string, Promise<Graph>>();

/**
 * Gives the modules that a child needs for its hook to have packages.
 *
 * @param names The packages.
 * @param files The hook's modules.
 * @returns Text of each module by its path, relative to the folder of sources; `isolation/boot_npm.ts` is the child's entry.
 * @throws {Error} When a package is not what it was when it was pinned.
 */
export async function packageFiles(
  names: ReadonlySet<Package>,
  files: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  const given = ['import { giveToAll, provideModule } from "../compat/from_npm.ts";'];
  for (const name of names) given.push(`giveToAll(${JSON.stringify(name)});`);
  for (const key of packagePaths(files)) {
    const name = key.replace(/\/.*$/, "") as Package;
    // Where there is no such module in it, the import says so.
    if (!names.has(name) || !Object.hasOwn(DIGESTS, key)) continue;
    const graph = await pinnedGraph(name, key);
    Object.assign(texts, graph.texts);
    const [path, module] = [JSON.stringify(`../${graph.entry}`), `module${given.length}`];
    given.push(`import * as ${module} from ${path};`);
    given.push(`provideModule(${JSON.stringify(key)}, { url: import.meta.resolve(${path}), exports: ${module} });`);
    if (name === "pi_tui") given.push(`${module}.${NO_TERMINAL};`);
  }
  return { ...texts, "isolation/boot_npm.ts": ENTRY, "isolation/npm_now.ts": `${given.join("\n")}\n` };
}

/** The graph of a module, which is fetched, read and checked once. */
function pinnedGraph(name: Package, key: string): Promise<Graph> {
  const known = graphs.get(key);
  if (known !== undefined) return known;
  const specifier = PACKAGES[name] + key.slice(name.length);
  const graph = graphOf(name, specifier).then(async (graph) => {
    if (await digestOf(graph) === DIGESTS[key]) return graph;
    throw new Error(`${specifier} is not what it was when it was pinned, so it is not given to an isolated hook`);
  });
  graphs.set(key, graph);
  // It may be there the next time.
  graph.catch(() => graphs.delete(key));
  return graph;
}

/** A digest of a graph, which does not depend on where the package lies. */
export async function digestOf({ texts }: Graph): Promise<string> {
  const sorted = Object.entries(texts).sort(([a], [b]) => a < b ? -1 : 1);
  const bytes = new TextEncoder().encode(JSON.stringify(sorted));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A module of a package, as it is laid. */
interface Laid {
  readonly path: string;
  readonly text: string;
  /** What it imports of packages. */
  readonly imports: readonly string[];
}

/** By their URL: modules of one package reach much the same. */
const modules = new Map<string, Laid>();

/** Reads all that a module of a package reaches. */
export async function graphOf(name: Package, specifier: string): Promise<Graph> {
  await fetchPackage(name);
  const texts: Record<string, string> = {};
  const entry = import.meta.resolve(specifier);
  const seen = new Set([entry]);
  for (const url of seen) {
    let module = modules.get(url);
    if (module === undefined) modules.set(url, module = await layModule(url));
    texts[module.path] = module.text;
    for (const other of module.imports) seen.add(other);
  }
  return { entry: laidPath(entry), texts };
}

/** Reads a module, with its imports written so that they lead to what is laid. */
async function layModule(url: string): Promise<Laid> {
  const path = laidPath(url);
  const imports = new Set<string>();
  const others = new Map<string, string>();
  const text = Deno.readTextFileSync(new URL(url)).replace(/^\/\/# sourceMappingURL=.*$/m, "");
  for (const [, , , imported] of text.matchAll(IMPORT)) {
    const other = await importedBy(url, imported!);
    if (other === undefined) continue;
    if (!other.startsWith("node:")) imports.add(other);
    others.set(imported!, other.startsWith("node:") ? other : relativePath(path, laidPath(other)));
  }
  return {
    path,
    imports: [...imports],
    text: text.replaceAll(IMPORT, (whole, word: string, quote: string, imported: string) => {
      const other = others.get(imported);
      return other === undefined ? whole : `${word}${quote}${other}${quote}`;
    }),
  };
}

/** Where an import of a module leads; `undefined` for what only looks like one, in a comment. */
function importedBy(url: string, specifier: string): string | undefined | Promise<string> {
  if (specifier.startsWith("node:")) return specifier;
  if (isBareBuiltIn(specifier)) return `node:${specifier}`;
  if (specifier.startsWith(".")) {
    const other = new URL(specifier, url);
    return lookAt(other) === "file" ? other.href : undefined;
  }
  const pinned = IMPORTS[specifier];
  if (pinned !== undefined) return withinFetchTime(import(pinned)).then(() => import.meta.resolve(pinned));
  const own = packageOf(specifier);
  return own?.name === "typebox" && url.includes("/typebox/")
    ? import.meta.resolve(PACKAGES.typebox + own.path)
    : undefined;
}

/** Names of packages by their folder; of a folder in one, what is above it counts. */
const owners = new Map<string, { name: string; root: string }>();

/** The path by which a module of a package is laid: its place in the package, behind the package's name. */
function laidPath(url: string): string {
  const { name, root } = ownerOf(new URL("./", url));
  return `npm/${name}/${url.slice(root.length)}`;
}

function ownerOf(folder: URL): { name: string; root: string } {
  let owner = owners.get(folder.href);
  if (owner !== undefined) return owner;
  if (folder.pathname === "/") throw new Error("a module of a package lies in none");
  try {
    const { name } = JSON.parse(Deno.readTextFileSync(new URL("package.json", folder)));
    if (typeof name === "string") owner = { name, root: folder.href };
  } catch {
    // It is a folder in the package.
  }
  owner ??= ownerOf(new URL("../", folder));
  owners.set(folder.href, owner);
  return owner;
}

function relativePath(from: string, to: string): string {
  return `${"../".repeat(from.split("/").length - 1)}${to}`;
}
