/**
 * Output of the commands.
 *
 * @module
 */

const encoder = new TextEncoder();

/** Writes a line. A reader that has gone away, as `head` does, ends the program quietly. */
export function writeLine(to: { writeSync(bytes: Uint8Array): number }, line: string): void {
  let bytes = encoder.encode(`${line}\n`);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) Deno.exit(Deno.exitCode);
    throw error;
  }
}
