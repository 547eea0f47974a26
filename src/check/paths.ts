/**
 * Paths as people would write them in a grant.
 *
 * @module
 */

import { relative, SEPARATOR } from "@std/path";
import { homeDirectory } from "../paths.ts";

/**
 * Writes a path relative to the project or the home where it lies in one of them.
 *
 * @param path The path, absolute.
 * @param project The project's folder, absolute.
 * @returns The path as a grant names it.
 */
export function grantPath(path: string, project: string): string {
  if (isBelow(path, project)) return relative(project, path) === "" ? "." : `./${relative(project, path)}`;
  const home = homeDirectory();
  if (home !== "" && home !== SEPARATOR && isBelow(path, home)) {
    return relative(home, path) === "" ? "~" : `~/${relative(home, path)}`;
  }
  return path;
}

/** Whether a path is a folder, or lies in it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(SEPARATOR) ? folder : folder + SEPARATOR);
}

/** A value as a shell takes it. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./~*-]+$/.test(text)) return text;
  return text.includes("'") ? `"${text.replaceAll(/["\\$`]/g, "\\$&")}"` : `'${text}'`;
}
