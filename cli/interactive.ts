/**
 * Reads prompts line by line.
 *
 * @module
 */

import type { TerminalInput } from "./terminal_input.ts";

/**
 * Reads the lines that are typed at a terminal.
 *
 * @param input The terminal.
 * @param show Shows that a line may be typed.
 * @param typed Told when one has been: the terminal has ended the line then.
 * @yields The lines that are not empty.
 */
export async function* readTypedPrompts(
  input: TerminalInput,
  show: () => void,
  typed: () => void,
): AsyncGenerator<string> {
  for (;;) {
    const line = await input.nextPrompt(show, typed);
    if (line === undefined) return;
    if (line.trim() !== "") yield line;
  }
}

/**
 * Reads the lines of standard input that is no terminal.
 *
 * @yields The lines that are not empty.
 */
export async function* readPipedPrompts(): AsyncGenerator<string> {
  let rest = "";
  const reader = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : lines.pop()!;
      for (const line of lines) if (line.trim() !== "") yield line.replace(/\r$/, "");
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}
