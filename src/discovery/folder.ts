/**
 * Finds hooks in one folder of hooks: `pre/`, `post/`, and modules directly in it.
 *
 * @module
 */

import { dirname, join, SEPARATOR } from "@std/path";
import type { ItemSource, LoadContext, ProviderResult } from "./capability.ts";
import type { HookItem } from "./hook_item.ts";
import { isWithin } from "../trust/repository.ts";
import { type IgnoreTest, ignoreTest, type IgnoringFolder } from "./ignore.ts";
import type { FolderEntry } from "./scan.ts";

/** One folder of hooks. */
export interface HookFolder {
  /** The folder; it need not exist. */
  path: string;
  /** Whose it is. */
  level: HookItem["level"];
  /** Whether `pre-<tool>.ts` directly in the folder is filed under that tool. */
  prefixedNames?: boolean;
}

/** Extensions of files that are imported. */
export const MODULE_EXTENSIONS: ReadonlySet<string> = new Set(
  [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"],
);
/** Extensions of files that stand beside hooks without being any. */
const COMPANIONS = new Set([
  ".md",
  ".txt",
  ".json",
  ".jsonc",
  ".yaml",
  ".yml",
  ".toml",
  ".lock",
  ".map",
  ".log",
  ".orig",
  ".bak",
  ".swp",
  ".wasm",
  ".csv",
  ".html",
  ".css",
  ".svg",
  ".png",
]);
const MANY = 1_000;

/**
 * Finds hooks in folders, in their order.
 *
 * @param provider Id of the provider that asks.
 * @param folders The folders.
 * @param context What the provider was given.
 * @returns The hooks: of each folder, those in `pre/`, those in `post/`, then the modules directly in it, each in name order.
 */
export function findHooks(provider: string, folders: readonly HookFolder[], context: LoadContext): Required<
  ProviderResult<HookItem>
> {
  const items: HookItem[] = [];
  const warnings: string[] = [];
  // In one's home, the project's folder is one's own.
  const own = new Set(folders.filter(({ level }) => level === "user").map(({ path }) => path));
  for (const folder of folders) {
    if (folder.level === "project" && own.has(folder.path)) continue;
    const find = new Finder(provider, folder, context, items, warnings);
    find.run();
  }
  return { items, warnings };
}

class Finder {
  #ignored: IgnoreTest | undefined | null = null;

  constructor(
    readonly provider: string,
    readonly folder: HookFolder,
    readonly context: LoadContext,
    readonly items: HookItem[],
    readonly warnings: string[],
  ) {}

  run(): void {
    const direct = this.#list(this.folder.path);
    for (const type of ["pre", "post"] as const) {
      const entry = direct.find(({ name }) => name === type);
      if (entry === undefined) continue;
      const path = join(this.folder.path, type);
      for (const candidate of this.#list(path, entry)) this.#add(candidate, path, type);
    }
    for (const entry of direct) {
      if (entry.name !== "pre" && entry.name !== "post" && isModule(entry.name)) this.#add(entry, this.folder.path);
    }
  }

  #list(path: string, entry?: FolderEntry): readonly FolderEntry[] {
    const realPath = entry?.kind === "directory" ? entry.realPath : undefined;
    const { entries, fault } = this.context.scanner.folder(path, realPath);
    if (fault !== undefined) this.warnings.push(fault);
    if (entries.length > MANY) {
      this.warnings.push(`${path} holds ${entries.length} files; a folder of hooks should hold hooks alone`);
    }
    return entries;
  }

  #add(entry: FolderEntry, parent: string, type?: HookItem["type"]): void {
    const { name, realPath } = entry;
    if (!isCandidate(entry)) return;
    const path = parent + SEPARATOR + name;
    const kind = isModule(name) ? "module" : "script";
    const prefix = type === undefined && this.folder.prefixedNames ? /^(pre|post)-(.+)$/.exec(stem(name)) : null;
    const source: ItemSource = { provider: this.provider, path, level: this.folder.level };
    const fault = faultOf(entry, path) ?? this.#ignoredBy(path, parent);
    this.items.push({
      name,
      path,
      realPath,
      kind,
      level: this.folder.level,
      type: type ?? (prefix?.[1] as HookItem["type"] | undefined) ?? "pre",
      tool: type === undefined ? prefix?.[2] ?? (this.folder.prefixedNames ? stem(name) : "*") : stem(name),
      _source: source,
      ...(fault === undefined ? {} : { fault }),
    });
  }

  #ignoredBy(path: string, parent: string): string | undefined {
    if (this.#ignored === null) this.#ignored = ignoreTest(this.#ignoreFolders(), this.context.scanner);
    const test = this.#ignored;
    if (test === undefined) return undefined;
    const origin = test(path, false) ?? (parent === this.folder.path ? undefined : test(parent, true));
    return origin === undefined ? undefined : `left out by ${origin}`;
  }

  /** What the project's ignore files say counts for the project's hooks alone: they must not switch off the person's. */
  #ignoreFolders(): IgnoringFolder[] {
    const { path, level } = this.folder;
    const own = [path, join(path, "pre"), join(path, "post")].map((folder) => ({ path: folder, small: true }));
    if (level === "user") return own;
    const root = this.context.repoRoot ?? this.context.cwd;
    const above: IgnoringFolder[] = [];
    for (let at = dirname(path); isWithin(root, at); at = dirname(at)) {
      above.unshift({ path: at, small: at === dirname(path) });
      if (at === dirname(at)) break;
    }
    return [...above, ...own];
  }
}

function isCandidate({ name, kind }: FolderEntry): boolean {
  if (name.startsWith(".") || name === "node_modules" || name.endsWith("~")) return false;
  if (/\.d\.[cm]?ts$/.test(name) || COMPANIONS.has(extensionOf(name).toLowerCase())) return false;
  // A folder of helpers is no hook; one that is called like a module was meant to be one.
  return kind !== "directory" || isModule(name) || /\.(?:sh|bash|zsh|fish)$/.test(name);
}

function faultOf({ kind }: FolderEntry, path: string): string | undefined {
  switch (kind) {
    case "file":
      return undefined;
    case "directory":
      return "is a folder; a hook is a file";
    case "dangling":
      return `is a link to ${targetOf(path)}, which does not exist`;
    case "other":
      return "is not a regular file";
  }
}

function targetOf(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "a place";
  }
}

function isModule(name: string): boolean {
  return MODULE_EXTENSIONS.has(extensionOf(name).toLowerCase());
}

/** From the last dot on; nothing of a name that begins with its only one. */
function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : "";
}

function stem(name: string): string {
  return name.slice(0, name.length - extensionOf(name).length);
}
