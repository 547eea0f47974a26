/**
 * Why a script cannot be started, told before the system tells it in its own words.
 *
 * @module
 */

import { errorText } from "../values.ts";

/**
 * Looks at a script.
 *
 * @param path Its file.
 * @returns What is wrong with it, and what to do; `undefined` when it can be started.
 */
export function scriptFault(path: string): string | undefined {
  let head: Uint8Array;
  try {
    const { isFile, mode } = Deno.statSync(path);
    if (!isFile) return `${path} is not a regular file`;
    if (Deno.build.os !== "windows" && ((mode ?? 0) & 0o111) === 0) {
      return `${path} is not executable; make it so with: chmod +x ${path}`;
    }
    using file = Deno.openSync(path);
    const buffer = new Uint8Array(256);
    head = buffer.subarray(0, file.readSync(buffer) ?? 0);
  } catch (error) {
    return `${path} cannot be read (${errorText(error)})`;
  }
  if (head.length === 0) return `${path} is empty; write #!/bin/sh and what to check`;
  // A program in the machine's own format: ELF, or Mach-O.
  if (head[0] === 0x7f || head[0] === 0xcf || head[0] === 0xca || head[0] === 0xfe) return undefined;
  const [line = ""] = new TextDecoder("utf-8", { ignoreBOM: true }).decode(head).split("\n");
  if (line.startsWith("\ufeff")) {
    return `${path} begins with a byte order mark, which hides its #! line; save it without`;
  }
  if (!line.startsWith("#!")) {
    return `${path} has no #! line, so the system cannot tell what runs it; begin it with #!/bin/sh`;
  }
  if (line.endsWith("\r")) {
    return `${path} has Windows line ends (CRLF), which its interpreter cannot read; save it with LF`;
  }
  return undefined;
}
