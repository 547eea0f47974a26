/**
 * The terminal of this process, for questions.
 *
 * @module
 */

import type { LineTerminal } from "../src/ui/prompts.ts";
import type { Output } from "./output.ts";
import type { TerminalInput } from "./terminal_input.ts";

/** Prints questions on standard error and reads answers from standard input. */
export function lineTerminalOf(output: Output, input: TerminalInput): LineTerminal {
  return {
    theme: output.noteTheme,
    get width() {
      // The width of now; some terminals do not know theirs, and say 0.
      return Deno.consoleSize().columns || output.width;
    },
    begin: () => output.hold(),
    print: (text) => output.writeError(text),
    setAside: () => input.beginQuestion(),
    readLine: (signal) => input.nextAnswer(signal),
    end(closed) {
      try {
        input.endQuestion(closed);
      } finally {
        output.release();
      }
    },
  };
}
