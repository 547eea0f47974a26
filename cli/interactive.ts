/**
 * Reads prompts line by line.
 *
 * @module
 */

/**
 * Reads lines until the input ends.
 *
 * @param ask Called before each line, to show that one may be typed.
 * @yields The lines that are not empty.
 */
export async function* readPrompts(ask: () => void): AsyncGenerator<string> {
  let rest = "";
  const reader = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const end = rest.indexOf("\n");
      if (end !== -1) {
        const line = rest.slice(0, end).replace(/\r$/, "");
        rest = rest.slice(end + 1);
        if (line.trim() !== "") yield line;
        continue;
      }
      ask();
      const { value, done } = await reader.read();
      if (done) break;
      rest += value;
    }
    if (rest.trim() !== "") yield rest;
  } finally {
    await reader.cancel();
  }
}
