/**
 * Walks through a folder the way a person would search it.
 *
 * @module
 */

import { globToRegExp, join, relative, SEPARATOR } from "@std/path";

const SKIPPED = new Set([".git", "node_modules", ".hg", ".svn"]);

interface IgnoreRule {
  /** Matches paths relative to `base`, with `/`. */
  pattern: RegExp;
  /** Takes an earlier rule back. */
  negated: boolean;
  /** Is for folders alone. */
  folder: boolean;
  base: string;
}

/**
 * Finds the files below a folder, in name order, without `.git`, `node_modules` and what `.gitignore` files name.
 * Links are listed and not followed; folders that cannot be read are left out.
 *
 * @param root The folder.
 * @param signal Ends the walk by throwing its reason.
 * @yields Absolute paths of files.
 */
export async function* walkFiles(root: string, signal?: AbortSignal): AsyncGenerator<string> {
  yield* walk(root, [], signal);
}

async function* walk(folder: string, rules: readonly IgnoreRule[], signal?: AbortSignal): AsyncGenerator<string> {
  signal?.throwIfAborted();
  const entries: Deno.DirEntry[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) entries.push(entry);
  } catch {
    return;
  }
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  const own = entries.some((entry) => entry.name === ".gitignore")
    ? [...rules, ...await readIgnoreFile(folder)]
    : rules;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (SKIPPED.has(entry.name) || isIgnored(path, entry.isDirectory, own)) continue;
    if (entry.isDirectory) yield* walk(path, own, signal);
    else yield path;
  }
}

async function readIgnoreFile(base: string): Promise<IgnoreRule[]> {
  let text: string;
  try {
    text = await Deno.readTextFile(join(base, ".gitignore"));
  } catch {
    return [];
  }
  return text.split(/\r?\n/).flatMap((line) => parseRule(line, base));
}

function parseRule(line: string, base: string): IgnoreRule[] {
  let glob = line.replace(/(?<!\\)\s+$/, "");
  if (glob === "" || glob.startsWith("#")) return [];
  const negated = glob.startsWith("!");
  if (negated) glob = glob.slice(1);
  const folder = glob.endsWith("/");
  if (folder) glob = glob.slice(0, -1);
  // A slash in the middle ties the rule to the folder of its file.
  glob = glob.startsWith("/") ? glob.slice(1) : glob.includes("/") ? glob : `**/${glob}`;
  try {
    return [{ pattern: globToRegExp(glob, { extended: false, globstar: true }), negated, folder, base }];
  } catch {
    return [];
  }
}

function isIgnored(path: string, isFolder: boolean, rules: readonly IgnoreRule[]): boolean {
  let ignored = false;
  for (const rule of rules) {
    if (rule.negated !== ignored || rule.folder && !isFolder) continue;
    if (rule.pattern.test(relative(rule.base, path).replaceAll(SEPARATOR, "/"))) ignored = !rule.negated;
  }
  return ignored;
}
