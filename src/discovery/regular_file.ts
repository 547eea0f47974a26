/**
 * Reads files that others have put there: nothing that could block or never end.
 *
 * @module
 */

/**
 * Reads a regular file.
 *
 * @param path The file; a link to one is one.
 * @param limit Most bytes of it.
 * @returns What it holds.
 * @throws {Error} When it is missing, cannot be read, is a device or a pipe, or is too large.
 */
export function readRegularFile(path: string, limit: number): Uint8Array {
  requireRegularFile(path, limit);
  return Deno.readFileSync(path);
}

/** The same as text. */
export function readRegularText(path: string, limit: number): string {
  requireRegularFile(path, limit);
  return Deno.readTextFileSync(path);
}

function requireRegularFile(path: string, limit: number): void {
  const { isFile, isDirectory, size } = Deno.statSync(path);
  if (isDirectory) throw new Deno.errors.IsADirectory(path);
  if (!isFile) throw new Error("it is not a regular file");
  if (size > limit) throw new Error(`it is larger than ${limit / 1024 / 1024} MiB`);
}
