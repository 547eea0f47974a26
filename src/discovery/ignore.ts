/**
 * Which files `.gitignore` and `.ignore` leave out.
 *
 * @module
 */

import { join, relative } from "@std/path";
import { globToRegExp } from "@std/path/posix/glob-to-regexp";
import type { Scanner } from "./scan.ts";

interface Rule {
  readonly negated: boolean;
  readonly folderOnly: boolean;
  readonly pattern: RegExp;
  /** The line and the file that it stands in. */
  readonly origin: string;
}

const FILES = [".gitignore", ".ignore"];

/** Asks whether a path is left out; answers with the rule that says so. */
export type IgnoreTest = (path: string, isFolder: boolean) => string | undefined;

/** A folder that may hold ignore files. */
export interface IgnoringFolder {
  /** The folder. */
  path: string;
  /** Whether listing it costs little. */
  small: boolean;
}

/**
 * Reads the ignore files of folders.
 *
 * @param folders The folders, outermost first; later ones have the last word.
 * @param scanner Reads the files.
 * @returns The test, or `undefined` when there is no rule. A file that cannot be read leaves nothing out.
 */
export function ignoreTest(folders: readonly IgnoringFolder[], scanner: Scanner): IgnoreTest | undefined {
  const levels = folders.flatMap(({ path, small }) => {
    // What the folder of hooks holds has been read anyway; the top of a project may hold a lot.
    const names = small
      ? FILES.filter((name) => scanner.folder(path).entries.some((entry) => entry.name === name))
      : FILES;
    return names.flatMap((name) => {
      const rules = rulesOf(join(path, name), scanner);
      return rules.length === 0 ? [] : [{ folder: path, rules }];
    });
  });
  if (levels.length === 0) return undefined;
  return (path, isFolder) => {
    let verdict: string | undefined;
    for (const { folder, rules } of levels) {
      const below = relative(folder, path).replaceAll("\\", "/");
      for (const rule of rules) {
        if ((rule.folderOnly && !isFolder) || !rule.pattern.test(below)) continue;
        verdict = rule.negated ? undefined : rule.origin;
      }
    }
    return verdict;
  };
}

function rulesOf(path: string, scanner: Scanner): Rule[] {
  let text: string | undefined;
  try {
    text = scanner.text(path);
  } catch {
    return [];
  }
  return (text ?? "").split(/\r?\n/).flatMap((line, i) => parseRule(line, `${path}:${i + 1}`) ?? []);
}

function parseRule(line: string, origin: string): Rule | undefined {
  let text = line.replace(/(?<!\\) +$/, "");
  if (text === "" || text.startsWith("#")) return undefined;
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  const folderOnly = text.endsWith("/");
  if (folderOnly) text = text.slice(0, -1);
  // A slash anywhere but at the end ties the pattern to the folder of its file.
  const anchored = text.includes("/");
  text = text.replace(/^\//, "").replaceAll(/\\([ #!])/g, "$1");
  if (text === "") return undefined;
  try {
    const pattern = globToRegExp(anchored ? text : `**/${text}`, { extended: false, globstar: true });
    return { negated, folderOnly, pattern, origin };
  } catch {
    return undefined;
  }
}
