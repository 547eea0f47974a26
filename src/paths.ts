/**
 * How the path of a hook is read.
 *
 * @module
 */

import { fromFileUrl, isAbsolute, normalize, resolve } from "@std/path";

const UNICODE_SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/** The user's home directory; `""` when the environment does not tell, or may not be asked. */
export function homeDirectory(): string {
  const names = Deno.build.os === "windows" ? ["USERPROFILE", "HOME"] : ["HOME"];
  for (const name of names) {
    try {
      const home = Deno.env.get(name);
      if (home) return home;
    } catch {
      // Not granted: the caller says so if it needs a home.
    }
  }
  return "";
}

/**
 * Reads the path of a hook as a person writes it: absolute, `~/…`, a `file:` URL, or relative to `cwd`. A leading `@` before
 * an absolute path is dropped, and Unicode spaces become plain ones, since both come along when paths are pasted.
 *
 * @param path The path as given.
 * @param cwd The folder that a relative path starts from.
 * @returns The absolute, normalised path.
 * @throws {TypeError} When the path is empty, holds a NUL byte, names another user's home, or needs a home that is not known.
 *
 * @example
 * ```ts
 * import { resolveHookPath } from "@xcsh/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(resolveHookPath("hooks/../gate.ts", "/project"), "/project/gate.ts");
 * ```
 */
export function resolveHookPath(path: string, cwd: string): string {
  if (typeof path !== "string") throw new TypeError(`The path of a hook must be a string, not ${typeof path}`);
  if (path.trim() === "") throw new TypeError("The path of a hook is empty; name a .ts or .js file");
  if (path.includes("\0")) throw new TypeError(`The path ${JSON.stringify(path)} holds a NUL byte`);
  let text = path.replaceAll(UNICODE_SPACES, " ");
  if (/^@(?:[/\\~]|[A-Za-z]:[/\\]|file:\/\/)/.test(text)) text = text.slice(1);
  if (/^file:\/\//i.test(text)) text = decodeFileUrl(text);
  if (text.startsWith("~")) text = expandTilde(text);
  return isAbsolute(text) ? normalize(text) : resolve(cwd, text);
}

function decodeFileUrl(text: string): string {
  let path: string;
  try {
    path = fromFileUrl(text);
  } catch {
    return text;
  }
  if (path.includes("\0")) throw new TypeError(`The path ${JSON.stringify(text)} holds a NUL byte`);
  return path;
}

function expandTilde(text: string): string {
  if (text.length > 1 && text[1] !== "/" && text[1] !== "\\") {
    throw new TypeError(`The path ${text} names another user's home, which is not looked up; write it out`);
  }
  const home = homeDirectory();
  if (home === "") {
    throw new TypeError(
      `The path ${text} needs a home directory, but HOME is not set or not granted (--allow-env=HOME)`,
    );
  }
  return home + text.slice(1);
}
