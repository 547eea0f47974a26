/**
 * Runs chats as a person would.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { Terminal, type TerminalOptions } from "../terminal.ts";
import { Folder } from "./program.ts";

/** A chat, and the folder that it works in. */
export interface Chat extends AsyncDisposable {
  folder: Folder;
  terminal: Terminal;
}

/** Options of {@linkcode startChat}. */
export interface ChatOptions extends Pick<TerminalOptions, "columns" | "rows" | "env"> {
  /** How hooks are run; in the process when absent. */
  mode?: string[];
  /** What the model answers. */
  turns?: unknown[];
  /** Files of the folder. */
  inFolder?: Record<string, string>;
}

/** Starts a chat in a folder with these hooks, each given by its text; `PATH` in it is a file that they may write. */
export async function startChat(hooks: Record<string, string>, options: ChatOptions = {}): Promise<Chat> {
  const { mode = ["--in-process"], turns = [], inFolder = {}, ...terminalOptions } = options;
  const folder = new Folder({ "script.json": JSON.stringify({ turns }), shutdown: "", ...inFolder });
  const names = Object.entries(hooks).map(([name, text]) => {
    folder.write(name, text.replaceAll("PATH", JSON.stringify(`${folder.path}/shutdown`)));
    return `./${name}`;
  });
  const args = ["--script", "script.json", "--no-discovery", ...names.flatMap((name) => ["--hook", name]), ...mode];
  const terminal = await Terminal.startCli(["chat", ...args], { cwd: folder.path, ...terminalOptions });
  await terminal.waitFor(`${names.length} hook`);
  return {
    folder,
    terminal,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Types a line. */
export async function enter(terminal: Terminal, text: string): Promise<void> {
  await terminal.type(text);
  await terminal.press("Enter");
}

/** Whether a question or a component shows this, and takes keys: not before it has been seen. */
export function asked(text: string): (screen: string) => boolean {
  return (screen) => screen.includes(text) && /Esc closes|^─ \S+ ─+$/m.test(screen);
}

/** Ends a chat as a person does, and tells what is left changed. */
export async function leave(terminal: Terminal): Promise<void> {
  await terminal.press("C-c");
  await terminal.waitFor("Ctrl+C once more ends the session");
  await terminal.press("C-c");
  assertEquals(await terminal.ended(), { code: 0, changed: [] });
}
