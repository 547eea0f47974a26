/**
 * What makes git safe to run for a hook: settings and flags that start nothing else, and a rule for when none of them is enough.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join, SEPARATOR } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { errorText } from "../values.ts";

/** Settings by which a repository could make git start programs, switched off. */
export const GIT_SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", Deno.build.os === "windows" ? "NUL" : "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", "true"],
  ["sequence.editor", "true"],
  ["core.askPass", ""],
  ["core.sshCommand", "false"],
  ["core.gitProxy", "false"],
  ["credential.helper", ""],
  ["protocol.ext.allow", "never"],
  ["gpg.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.x509.program", "false"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // A submodule has settings of its own.
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["diff.submodule", "short"],
  ["diff.ignoreSubmodules", "dirty"],
  ["status.submoduleSummary", "false"],
  // Else a folder that looks like a repository is one, with settings that anybody could have put there.
  ["safe.bareRepository", "explicit"],
];

const NO_PROGRAMS = ["--no-ext-diff", "--no-textconv"];
/** Whether a submodule has another commit is still told; git starts itself in there only to see what is not committed. */
const NO_SUBMODULES = ["--ignore-submodules=dirty"];
/** What subcommands are told, so that they run nothing that settings and attributes name. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  "status": NO_SUBMODULES,
  "diff": [...NO_PROGRAMS, ...NO_SUBMODULES],
  "diff-files": [...NO_PROGRAMS, ...NO_SUBMODULES],
  "diff-index": [...NO_PROGRAMS, ...NO_SUBMODULES],
  "diff-tree": NO_PROGRAMS,
  "log": NO_PROGRAMS,
  "show": NO_PROGRAMS,
  "whatchanged": NO_PROGRAMS,
  "format-patch": NO_PROGRAMS,
  "blame": ["--no-textconv"],
  "annotate": ["--no-textconv"],
  "stash show": NO_PROGRAMS,
  "stash list": NO_PROGRAMS,
  "reflog show": NO_PROGRAMS,
};
/** Options before the subcommand whose value is the next argument. */
const VALUED = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--attr-source",
]);
/** Subcommands that read the repository they are in and nothing else: no remote, no hook, no other repository. */
const LOCAL_READS = new Set([
  "annotate",
  "blame",
  "cat-file",
  "describe",
  "diff",
  "diff-files",
  "diff-index",
  "diff-tree",
  "for-each-ref",
  "grep",
  "log",
  "ls-files",
  "ls-tree",
  "merge-base",
  "name-rev",
  "rev-list",
  "rev-parse",
  "shortlog",
  "show",
  "show-ref",
  "status",
  "whatchanged",
]);
/** Settings that name another file or folder which git takes settings, attributes or its files from. */
const READ_BY_SETTINGS = /^(?:include\.path|includeif\..*\.path|core\.(?:attributesfile|excludesfile|worktree))$/s;

/** Whether a program is git, or a part of it. */
export function isGit(program: string): boolean {
  return /^git(?:-[\w-]+)?(?:\.exe)?$/i.test(basename(program));
}

/**
 * Tells git not to run what its settings and attributes name.
 *
 * @param program The program.
 * @param args Its arguments.
 * @returns The arguments to run it with; the same when it is not git.
 */
export function hardened(program: string, args: readonly string[]): readonly string[] {
  if (!isGit(program)) return args;
  let at = 0;
  while (at < args.length && args[at]!.startsWith("-")) at += VALUED.has(args[at]!) ? 2 : 1;
  const [subcommand = "", next = ""] = args.slice(at);
  for (const [name, length] of [[`${subcommand} ${next}`, 2], [subcommand, 1]] as const) {
    if (!Object.hasOwn(FLAGS, name)) continue;
    return [...args.slice(0, at + length), ...FLAGS[name]!, ...args.slice(at + length)];
  }
  return args;
}

/** Says how a grant to run git lets a hook run any program by what it may write; `undefined` when it does not. */
export async function gitFault(
  words: readonly string[],
  program: string,
  project: string,
  writable: readonly string[] | true,
): Promise<string | undefined> {
  if (writable === true) return "it may write every file, those among them that tell git to start programs";
  const [, subcommand = ""] = words;
  for (const path of await readByGit(project)) {
    const root = overlap(writable, path);
    if (root !== undefined) {
      return `it may write ${root}, and git takes what it runs from files in ${path}: nested .git, attributes, settings`;
    }
  }
  if (!/^git(?:\.exe)?$/i.test(basename(words[0]!)) || !LOCAL_READS.has(subcommand)) {
    return `it may write ${
      writable[0]
    }, and with other arguments than those that only read the project's repository git could be led there`;
  }
  for (const path of await readBySettings(program, project)) {
    const root = overlap(writable, path);
    if (root !== undefined) return `it may write ${root}, and git takes settings from ${path}`;
  }
  return undefined;
}

function overlap(writable: readonly string[], path: string): string | undefined {
  const holds = (a: string, b: string) => b === a || b.startsWith(a.endsWith(SEPARATOR) ? a : a + SEPARATOR);
  return writable.find((root) => holds(root, path) || holds(path, root));
}

/** The project, the work trees that hold it, and the folders and files with their settings. */
async function readByGit(project: string): Promise<string[]> {
  const home = homeDirectory();
  const found = [project];
  for (const folder of foldersUpFrom(project)) {
    const inner = join(folder, ".git");
    if (await exists(inner)) found.push(folder, ...await gitFolders(inner));
  }
  if (home !== "") found.push(join(home, ".gitconfig"), join(home, ".config", "git"));
  return await everyName(found);
}

function foldersUpFrom(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpFrom(parent)];
}

/** What the settings name; git itself says it, since it alone knows which of them count. */
async function readBySettings(program: string, project: string): Promise<string[]> {
  const env: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "USERPROFILE", "SystemRoot"]) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  const args = ["config", "--list", "-z", "--show-origin", "--includes"];
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: project,
    env,
    clearEnv: true,
    stdin: "null",
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr).trim() || `git config ended with ${code}`);
  const fields = new TextDecoder().decode(stdout).split("\0");
  const tops = foldersUpFrom(project);
  const found: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const origin = fields[i]!.replace(/^file:/, "");
    const [key = "", value = ""] = fields[i + 1]!.split(/\n(.*)/s);
    const path = value.replace(/^~(?=[/\\]|$)/, homeDirectory());
    // Git tells where a file is from the top of the work tree.
    for (const file of isAbsolute(origin) ? [origin] : tops.map((top) => join(top, origin))) {
      found.push(file);
      if (READ_BY_SETTINGS.test(key)) found.push(isAbsolute(path) ? path : join(dirname(file), path));
    }
  }
  return await everyName([...new Set(found)]);
}

/** Paths, and where they lead. */
async function everyName(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => Deno.realPath(path).catch(() => path)));
  return [...new Set([...paths, ...real])];
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw new Error(`${path} cannot be looked at: ${errorText(error)}`);
  }
}

/** Where a worktree or a submodule has its settings: its `.git` is a file that says so. */
export async function gitFolders(file: string): Promise<string[]> {
  try {
    const folder = /^gitdir: (.+)$/m.exec(await Deno.readTextFile(file))?.[1];
    if (folder === undefined) return [];
    const path = isAbsolute(folder) ? folder : join(dirname(file), folder);
    return [path, ...path.split(/(?<=\.git)[/\\]/).slice(0, 1)];
  } catch {
    return []; // It is a folder, or there is none.
  }
}
