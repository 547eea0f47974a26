/**
 * Writes the picture of the chat in README.md from a run of what README.md says.
 *
 * @module
 */
import { join } from "@std/path";
import { Terminal } from "../tests/terminal.ts";

const BEGIN = "<!-- screen: made by tools/readme_screen.ts -->";
const END = "<!-- /screen -->";

/** The command of README.md that starts the chat. */
export const CHAT = "xcsh-hooks chat --script script.json --hook ./gate.ts";

/**
 * Runs the chat with the files of README.md until its gate asks, and reads the screen.
 *
 * @param readme The text of README.md.
 * @returns The screen. What differs from run to run, the id of the session, does not.
 */
export async function chatScreen(readme: string): Promise<string> {
  const file = (pattern: RegExp) => {
    const text = pattern.exec(readme)?.[1];
    if (text === undefined) throw new Error(`README.md has no block that matches ${pattern}`);
    return text;
  };
  if (!readme.includes(`\n${CHAT}\n`)) throw new Error(`README.md does not say: ${CHAT}`);
  const [, ...args] = CHAT.split(" ");
  await using terminal = await Terminal.startCli(args, {
    columns: 76,
    rows: 24,
    cwd: "project",
    files: {
      "project/gate.ts": file(/^```ts\n(\/\/ gate\.ts\n[^]*?)^```$/m),
      "project/script.json": file(/`script\.json`:\n\n```json\n([^]*?)^```$/m),
    },
  });
  await terminal.waitFor("1 hook");
  await terminal.type("clean up");
  await terminal.press("Enter");
  const screen = await terminal.waitFor(/gate\.ts asks[^]*Esc closes\n─+\n1 hook/);
  // The sign of work goes round.
  return screen.trim().replace(/· [0-9a-f]{8} ·/, "· 3f9a1c20 ·").replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "⠋");
}

/**
 * Puts a screen into the text of README.md.
 *
 * @param readme The text.
 * @param screen The screen.
 * @returns The text with this screen.
 */
export function withScreen(readme: string, screen: string): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from === -1 || to < from) throw new Error(`README.md has no place for the screen: ${BEGIN} … ${END}`);
  return `${readme.slice(0, from + BEGIN.length)}\n\n\`\`\`text\n${screen}\n\`\`\`\n\n${readme.slice(to)}`;
}

if (import.meta.main) {
  const path = join(import.meta.dirname!, "../README.md");
  const readme = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, withScreen(readme, await chatScreen(readme)));
}
