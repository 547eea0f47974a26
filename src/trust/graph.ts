/**
 * Every file that a hook reaches, found without running any of it.
 *
 * @module
 */

import { dirname, extname, fromFileUrl, join, relative, resolve, toFileUrl } from "@std/path";
import { errorText } from "../values.ts";
import { readRegularFile } from "../discovery/regular_file.ts";
import { importsOf, type ModuleImports } from "./imports.ts";
import { isWithin } from "./repository.ts";

/** What a hook reaches. */
export interface HookFiles {
  /** The bytes of every file, by absolute path; the hook's own file first. */
  files: Map<string, Uint8Array>;
  /** What comes from elsewhere and is known by its name alone: packages, built-in modules, addresses. */
  externals: string[];
  /** What an approval cannot cover, in sentences. */
  uncovered: string[];
  /** Why the hook cannot be approved at all, in sentences. */
  faults: string[];
}

const MODULES = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);
/** Extensions of files that are programs or parts of them. */
const PROGRAMS = new Set([
  ...MODULES,
  ...[".sh", ".bash", ".zsh", ".fish", ".py", ".rb", ".pl", ".php", ".lua", ".awk", ".sed", ".jq"],
]);
/** What an interpreter starts that is given a folder. */
const STARTED_IN_FOLDER = ["index.js", "index.mjs", "index.ts", "__main__.py"];
const MAX_BASES = 50;
const MAX_FILES = 2_000;
/** Most bytes of a file, and of all files together. */
export const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Finds all files that a module reaches by imports, and that it names beside itself.
 *
 * @param entry The module, absolute.
 * @returns What it reaches.
 */
export async function moduleFiles(entry: string): Promise<HookFiles> {
  const walk = new Walk(dirname(entry));
  await walk.module(entry);
  return walk.result;
}

/** What {@linkcode programFiles} looks at. */
export interface ProgramOptions {
  /** The program, absolute, when it is a file. */
  script?: string;
  /** The line for the shell, when it is one. */
  command?: string;
  /** Folders that names are relative to: the project, the plugin. */
  bases: string[];
  /** Names count only for files in these folders. */
  within: string[];
  /** Do not look into modules; enough to tell which names lead to files now. */
  shallow?: boolean;
}

/**
 * Finds the files that a script or a command line names. What a program starts or reads under a name that it makes up cannot
 * be found, and the result says so.
 *
 * @param options See {@linkcode ProgramOptions}.
 * @returns What it names.
 */
export async function programFiles(options: ProgramOptions): Promise<HookFiles> {
  const walk = new Walk(options.script === undefined ? "" : dirname(options.script));
  if (options.script !== undefined) await walk.program(options.script, options);
  if (options.command !== undefined) await walk.named(options.command, undefined, options);
  walk.result.uncovered.push("it starts programs, which can do what you can do and read what they like");
  return walk.result;
}

class Walk {
  readonly result: HookFiles = { files: new Map(), externals: [], uncovered: [], faults: [] };
  readonly #externals = new Set<string>();
  #bytes = 0;

  constructor(readonly base: string) {}

  async module(path: string): Promise<void> {
    const queue = [path];
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const bytes = this.#read(next);
      if (bytes === undefined || !MODULES.has(extname(next).toLowerCase())) continue;
      let imports: ModuleImports;
      try {
        imports = await importsOf(new TextDecoder().decode(bytes), next);
      } catch (error) {
        this.result.faults.push(errorText(error));
        continue;
      }
      for (const text of imports.uncovered) this.result.uncovered.push(`${this.#short(next)} ${text}`);
      for (const specifier of imports.modules) queue.push(...this.#resolve(specifier, next));
      for (const name of imports.assets) queue.push(...this.#asset(name, next, true));
      for (const name of imports.beside) queue.push(...this.#asset(name, next, false));
    }
    this.result.externals = [...this.#externals].sort();
  }

  async program(path: string, options: ProgramOptions): Promise<void> {
    if (MODULES.has(extname(path).toLowerCase())) {
      if (options.shallow) this.#read(path);
      else await this.module(path);
      return;
    }
    const bytes = this.#read(path);
    if (bytes !== undefined) await this.named(new TextDecoder().decode(bytes), path, options);
  }

  /** Follows names in a text that are names of programs of the project. */
  async named(text: string, from: string | undefined, options: ProgramOptions): Promise<void> {
    const inside = (path: string) => options.within.some((folder) => isWithin(folder, path));
    const names = namesIn(text);
    if (from !== undefined && /\.py$/i.test(from)) addPythonModules(names);
    const bases = new Set(from === undefined ? options.bases : [dirname(from), ...options.bases]);
    const programs = new Set<string>();
    const look = (path: string) => {
      const info = inside(path) ? stat(path) : undefined;
      if (info?.isFile && isProgram(path, info)) programs.add(path);
      if (!info?.isDirectory) return;
      // Where a line changes to a folder, names may be relative to that.
      if (bases.size < MAX_BASES) bases.add(path);
      for (const file of STARTED_IN_FOLDER) if (stat(join(path, file))?.isFile) programs.add(join(path, file));
    };
    for (const name of names) if (name.startsWith("/")) look(resolve(name));
    // A set gives also what is added to it on the way.
    for (const base of bases) for (const name of names) look(join(base, name));
    for (const path of programs) if (!this.result.files.has(path)) await this.program(path, options);
  }

  /** Reads a file into the result; `undefined` when it is there already, or cannot be read. */
  #read(path: string): Uint8Array | undefined {
    const { files, faults } = this.result;
    if (files.has(path) || faults.length > 0 && files.size === 0) return undefined;
    if (files.size >= MAX_FILES || this.#bytes >= MAX_BYTES) {
      const fault = `it reaches more than ${MAX_FILES} files or ${
        MAX_BYTES / 1024 / 1024
      } MiB, which nobody can review`;
      if (!faults.includes(fault)) faults.push(fault);
      return undefined;
    }
    try {
      const bytes = readRegularFile(path, MAX_BYTES);
      files.set(path, bytes);
      this.#bytes += bytes.length;
      return bytes;
    } catch (error) {
      faults.push(`${path} cannot be read (${errorText(error)})`);
      return undefined;
    }
  }

  #resolve(specifier: string, from: string): string[] {
    if (/^\.{0,2}\//.test(specifier) && !specifier.startsWith("/")) {
      const found = candidates(new URL(specifier, toFileUrl(from)));
      if (found.length > 0) return found;
      this.result.uncovered.push(`${this.#short(from)} imports ${JSON.stringify(specifier)}, which does not exist`);
      return [];
    }
    if (/^(?:\/|file:|data:|blob:)/i.test(specifier) || /^[a-z]:[/\\]/i.test(specifier)) {
      this.result.faults.push(
        `${this.#short(from)} imports ${JSON.stringify(shorten(specifier))}, and only relative imports can be approved`,
      );
      return [];
    }
    this.#externals.add(specifier);
    return [];
  }

  #asset(name: string, from: string, mustExist: boolean): string[] {
    // A name that is no path cannot be a file's, and would only cost a look at the disk.
    if (
      name === "" || name.length > 1_000 || /[\n\0*?]/.test(name) || /^[a-z][a-z+.-]*:/i.test(name) ||
      name.startsWith("/")
    ) {
      if (mustExist && name !== "" && /^(?:\/|file:)/i.test(name)) {
        this.result.faults.push(
          `${this.#short(from)} names the file ${JSON.stringify(shorten(name))} by its absolute path`,
        );
      }
      return [];
    }
    const path = mustExist
      ? fromFileUrl(new URL(name, toFileUrl(from)).href.replace(/[?#].*$/, ""))
      : join(dirname(from), name);
    if (isFile(path)) return [path];
    if (mustExist) {
      this.result.uncovered.push(`${this.#short(from)} names the file ${JSON.stringify(name)}, which is no file`);
    }
    return [];
  }

  #short(path: string): string {
    return this.base === "" ? path : relative(this.base, path);
  }
}

/** The files that an import may mean: the named one, or what hosts take for it when there is none of that name. */
function candidates(url: URL): string[] {
  const path = fromFileUrl(`file://${url.pathname}`);
  if (isFile(path)) return [path];
  const stem = path.replace(/\.([cm]?)jsx?$/, "");
  const kind = /\.([cm])jsx?$/.exec(path)?.[1] ?? "";
  const names = stem === path
    ? [".ts", ".tsx", ".js", ".mjs", ".mts", ".cjs", ".cts", ".jsx", ".json"].map((extension) => path + extension)
    : [`${stem}.${kind}ts`, `${stem}.tsx`, `${stem}.jsx`];
  const indexes = ["index.ts", "index.tsx", "index.js", "index.mjs"].map((name) => join(path, name));
  return [...names, ...indexes].filter(isFile);
}

/** Everything in a text for the shell that may be the name of a file. A variable in it stands for some folder. */
function namesIn(text: string): Set<string> {
  const bare = text.replaceAll(/\$(?:\w+|\{[^}]*\})/g, "");
  const names = new Set<string>();
  for (const [quoted] of bare.matchAll(/"[^"\n]*"|'[^'\n]*'/g)) names.add(quoted.slice(1, -1));
  for (const [word] of bare.matchAll(/(?:\\.|[^\s"'`$;&|<>(){}*?!\\])+/g)) {
    const name = word.replaceAll(/\\(.)/g, "$1");
    for (const part of [name, ...name.split(/[=:,@]/)]) names.add(part);
  }
  return new Set([...names].filter((name) => name.length < 1_000 && /[^./]/.test(name) && !name.includes("\0")));
}

/** `import a.b` means `a/b.py` or `a/b/__init__.py`. */
function addPythonModules(names: Set<string>): void {
  for (const name of [...names].filter((name) => /^\.*[\p{L}_][\p{L}\p{N}_.]*$/u.test(name))) {
    const path = name.replace(/^\.+/, "").replaceAll(".", "/");
    names.add(`${path}.py`);
    names.add(`${path}/__init__.py`);
  }
}

function stat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  return stat(path)?.isFile === true;
}

function isProgram(path: string, { mode }: Deno.FileInfo): boolean {
  return PROGRAMS.has(extname(path).toLowerCase()) || ((mode ?? 0) & 0o111) !== 0;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
