/**
 * Bytes become lines, in constant memory.
 *
 * @module
 */

const NEWLINE = 0x0a;
const BLOCK = 1 << 18;

/** One line of a file. */
export interface Line {
  /** Counts from 1. */
  number: number;
  /** Its text without the end of line; `""` when it is too long. */
  text: string;
  /** Its length in bytes, the end of line included. */
  bytes: number;
  /** Whether the file ends without ending the line. */
  open: boolean;
  /** What is wrong with its bytes. */
  problem?: "too long" | "not UTF-8";
}

const strict = new TextDecoder("utf-8", { fatal: true });
const lenient = new TextDecoder("utf-8");

/**
 * Cuts bytes into lines. Of a line that is too long no more than `limit` bytes are ever held.
 *
 * @param chunks The bytes.
 * @param limit The longest line that is read, in bytes.
 * @returns The lines that end in each chunk: to be taken before the next chunk is asked for.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Iterable<Line>> {
  let number = 0;
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const keep = (piece: Uint8Array): void => {
    bytes += piece.length;
    if (bytes <= limit) pieces.push(piece);
    else pieces = [];
  };
  const line = (open: boolean): Line => {
    number++;
    const length = bytes + (open ? 0 : 1);
    const made = bytes > limit
      ? { number, text: "", bytes: length, open, problem: "too long" as const }
      : { number, bytes: length, open, ...decode(pieces.length === 1 ? pieces[0]! : joined(pieces, bytes)) };
    pieces = [];
    bytes = 0;
    return made;
  };
  const cut = function* (chunk: Uint8Array): Generator<Line> {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, to));
      yield line(false);
      from = to + 1;
    }
    // Copied, since whoever gave the chunk may fill it anew.
    if (from < chunk.length) keep(chunk.slice(from));
  };
  for await (const chunk of chunks) yield cut(chunk);
  if (bytes > 0) yield [line(true)];
}

/** The bytes of a file, block by block; each is valid until the next is asked for. */
export async function* readBlocks(file: Deno.FsFile): AsyncGenerator<Uint8Array> {
  const block = new Uint8Array(BLOCK);
  while (true) {
    const read = await file.read(block);
    if (read === null) return;
    yield block.subarray(0, read);
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function decode(bytes: Uint8Array): { text: string; problem?: "not UTF-8" } {
  try {
    return { text: strict.decode(bytes) };
  } catch {
    return { text: lenient.decode(bytes), problem: "not UTF-8" };
  }
}

const SIGNATURES: readonly (readonly [kind: string, bytes: readonly number[]])[] = [
  ["a PNG picture", [0x89, 0x50, 0x4e, 0x47]],
  ["a JPEG picture", [0xff, 0xd8, 0xff]],
  ["a PDF", [0x25, 0x50, 0x44, 0x46]],
  ["packed with gzip; unpack it first", [0x1f, 0x8b]],
  ["packed with zstd; unpack it first", [0x28, 0xb5, 0x2f, 0xfd]],
  ["a zip archive", [0x50, 0x4b, 0x03, 0x04]],
  ["text in UTF-16; save it as UTF-8 first", [0xff, 0xfe]],
  ["text in UTF-16; save it as UTF-8 first", [0xfe, 0xff]],
];

/**
 * What a file is that is no text.
 *
 * @param start Its first bytes.
 * @returns `undefined` for what may be text.
 */
export function binaryKind(start: Uint8Array): string | undefined {
  const known = SIGNATURES.find(([, bytes]) => bytes.every((byte, i) => start[i] === byte));
  return known?.[0] ?? (start.subarray(0, 1024).includes(0) ? "binary data" : undefined);
}
