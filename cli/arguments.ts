/**
 * Arguments become values, or an error that says what to type instead.
 *
 * @module
 */

import { resolve } from "@std/path";
import { UsageError } from "./errors.ts";

/** Most bytes of a prompt. */
const MAX_PROMPT = 64 * 1024 * 1024;

/** The folder that a session works in. */
export async function folderOf(cwd: string | undefined): Promise<string> {
  const path = resolve(cwd ?? ".");
  let info: Deno.FileInfo;
  try {
    info = await Deno.stat(path);
  } catch (error) {
    throw new UsageError(
      `--cwd ${cwd ?? "."}: ${
        error instanceof Deno.errors.NotFound ? "there is no such folder; make it first" : error
      }`,
    );
  }
  if (!info.isDirectory) throw new UsageError(`--cwd ${cwd}: this is a file; name a folder`);
  return path;
}

/** The prompt: the argument, or standard input when that is no terminal. */
export async function promptOf(argument: string | undefined): Promise<string> {
  if (argument !== undefined) {
    if (argument.trim() === "") throw new UsageError('The prompt is empty; say what to do: xcsh-hooks run "…"');
    return argument;
  }
  if (Deno.stdin.isTerminal()) {
    throw new UsageError('There is no prompt; say what to do: xcsh-hooks run "…", or pipe it in');
  }
  const prompt = await readAll(Deno.stdin.readable);
  if (prompt.trim() === "") {
    throw new UsageError('Standard input is empty; pipe a prompt in, or type it: xcsh-hooks run "…"');
  }
  return prompt.replace(/\r?\n$/, "");
}

async function readAll(input: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(new Uint8Array(chunk));
    size += chunk.length;
    if (size > MAX_PROMPT) {
      throw new UsageError(
        `The prompt is longer than ${MAX_PROMPT} bytes; put it into a file and name that in a prompt`,
      );
    }
  }
  return await new Blob(chunks).text();
}
