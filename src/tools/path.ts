/**
 * How the tools read paths.
 *
 * @module
 */

import { isAbsolute, join, normalize, resolve } from "@std/path";
import { homeDirectory } from "../paths.ts";

/**
 * Makes a path that a model wrote absolute.
 *
 * @param path Absolute, beginning with `~/`, or relative to `cwd`.
 * @param cwd The folder that the session works in.
 * @returns The absolute path.
 * @throws {Error} When it is empty or holds a NUL byte.
 */
export function toolPath(path: string, cwd: string): string {
  if (path === "") throw new Error("The path is empty");
  if (path.includes("\0")) throw new Error(`The path ${JSON.stringify(path)} holds a NUL byte`);
  if (path === "~" || path.startsWith("~/") || path.startsWith("~\\")) return join(homeDirectory(), path.slice(2));
  return isAbsolute(path) ? normalize(path) : resolve(cwd, path);
}
