/**
 * Where a recorded session comes from.
 *
 * @module
 */

import { errorText } from "../values.ts";
import { binaryKind, readBlocks } from "./lines.ts";

/** What was to be replayed cannot be read, or is no recorded session. The text names it, the cause and what to do. */
export class ReplaySourceError extends Error {
  /** Tells it from other errors. */
  override name = "ReplaySourceError";
}

/** Bytes, and what is known about them. */
export interface Source {
  /** What errors call it. */
  readonly name: string;
  /** The file, if it is one. */
  readonly path: string | undefined;
  /** How many bytes there are, if that is known. */
  readonly size: number | undefined;
  /** The bytes. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Lets go of the file. */
  close(): void;
}

/** Opens what a session is read from. */
export async function openSource(given: string | AsyncIterable<Uint8Array>): Promise<Source> {
  if (typeof given !== "string") {
    return { name: "The source", path: undefined, size: undefined, chunks: checked("The source", given), close() {} };
  }
  if (given === "") throw new ReplaySourceError("The path of the session is empty; give that of a .jsonl file");
  let file: Deno.FsFile | undefined;
  try {
    file = await Deno.open(given);
    const { isDirectory, isFile, size } = await file.stat();
    if (isDirectory) throw new ReplaySourceError(`${given} is a folder; give the path of a session file in it`);
    const opened = file;
    return {
      name: given,
      path: given,
      size: isFile ? size : undefined,
      chunks: checked(given, readBlocks(opened)),
      close: () => opened.close(),
    };
  } catch (error) {
    file?.close();
    throw error instanceof ReplaySourceError ? error : new ReplaySourceError(openFailure(given, error));
  }
}

function openFailure(path: string, error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return `There is no file ${path}; give the path of a recorded session`;
  if (error instanceof Deno.errors.IsADirectory) return `${path} is a folder; give the path of a session file in it`;
  if (error instanceof Deno.errors.NotCapable) return `${path} must not be read; run with --allow-read=${path}`;
  if (error instanceof Deno.errors.PermissionDenied) return `${path} cannot be read: its permissions do not allow it`;
  return `${path} cannot be read: ${errorText(error)}`;
}

/** Passes bytes on, unless they are those of something that is no text, or there are none. */
async function* checked(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of chunks) {
    if (empty && chunk.length > 0) {
      empty = false;
      const kind = binaryKind(chunk);
      if (kind !== undefined) throw new ReplaySourceError(`${name} is no recorded session: it is ${kind}`);
    }
    yield chunk;
  }
  if (empty) throw new ReplaySourceError(`${name} is empty; there is nothing to replay`);
}
