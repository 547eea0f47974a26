/**
 * The editor that the person has chosen, for text of several lines.
 *
 * @module
 */

import fs from "node:fs";
import { join } from "@std/path";
import { familyOf } from "../process_tree.ts";
import { errorText } from "../values.ts";

/** Options of {@linkcode editInEditor}. */
export interface EditOptions {
  /** Ends the editor. */
  signal?: AbortSignal;
  /** Program and arguments; what the environment names when absent. */
  command?: readonly string[] | undefined;
}

/** What came of editing: the text, or why there is none. */
export type EditResult = { readonly text: string } | { readonly failed: string };

/** Most bytes that an editor may leave: whoever asked gets it whole. */
const MAX_BYTES = 16 * 1024 * 1024;
/** How long an editor may take to end after SIGTERM, in ms. */
const KILL_AFTER = 1_000;

/**
 * The editor that an environment names: `$VISUAL`, else `$EDITOR`, split as a shell splits words, with quotes and backslashes.
 *
 * @param env The environment.
 * @returns Program and arguments; `undefined` when none is named.
 */
export function editorCommand(env: Pick<Deno.Env, "get"> = Deno.env): string[] | undefined {
  for (const name of ["VISUAL", "EDITOR"]) {
    const words = splitWords(env.get(name) ?? "");
    if (words.length > 0) return words;
  }
}

/**
 * Has the person edit text in a program that gets the terminal until it ends. The text lies in a file that nobody else may
 * read, and that is removed however this ends.
 *
 * Whoever reads the terminal has to stop before, and to draw anew after.
 *
 * @param text The text at first.
 * @param options What ends it, and the program.
 * @returns What the file holds when the editor ends with exit code 0, and why there is nothing otherwise.
 */
export async function editInEditor(text: string, options: EditOptions = {}): Promise<EditResult> {
  const { signal, command = editorCommand() } = options;
  const [program, ...args] = command ?? [];
  if (program === undefined) return { failed: "no editor is named; set $VISUAL or $EDITOR" };
  if (signal?.aborted) return { failed: "it was closed" };
  let folder: string;
  try {
    // Only this user may enter the folder. What editors leave beside the file goes with it.
    folder = await Deno.makeTempDir({ prefix: "xcsh-editor-" });
  } catch (error) {
    return { failed: `there is no place for the text: ${errorText(error)}` };
  }
  const restoreTerminal = keepTerminal();
  let child: Deno.ChildProcess | undefined;
  const cleanUp = () => {
    restoreTerminal();
    try {
      Deno.removeSync(folder, { recursive: true });
    } catch {
      // The editor has removed it, or goes on in it.
    }
  };
  const endAtOnce = () => {
    if (child !== undefined) signalFamily(child.pid, "SIGKILL");
    cleanUp();
  };
  globalThis.addEventListener("unload", endAtOnce);
  try {
    const file = join(folder, "text.md");
    // A file ends with a newline; it is no part of the text.
    await Deno.writeTextFile(file, `${text}\n`, { createNew: true, mode: 0o600 });
    child = new Deno.Command(program, { args: [...args, file] }).spawn();
    const status = await endedOrAborted(child, signal);
    if (signal?.aborted) return { failed: "it was closed" };
    if (!status.success) return { failed: `${program} ended with exit code ${status.code}` };
    return { text: readLeft(file).replace(/\r?\n$/, "") };
  } catch (error) {
    return { failed: child === undefined ? `${program} cannot be started: ${errorText(error)}` : errorText(error) };
  } finally {
    globalThis.removeEventListener("unload", endAtOnce);
    cleanUp();
  }
}

/** Reads what an editor has left, if that is a file: a pipe would never end, and a link leads to what nobody has typed. */
function readLeft(path: string): string {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  const place = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const left = fs.fstatSync(place);
    if (!left.isFile()) throw new Error("what the editor left is no file");
    if (left.size > MAX_BYTES) throw new Error(`the editor left more than ${MAX_BYTES} bytes`);
    // No more than that, should it still grow.
    const bytes = new Uint8Array(left.size);
    let size = 0;
    for (let count = -1; size < bytes.length && count !== 0; size += count) {
      count = fs.readSync(place, bytes, size, bytes.length - size, null);
    }
    return new TextDecoder().decode(bytes.subarray(0, size));
  } finally {
    fs.closeSync(place);
  }
}

/** Waits for the end of an editor, which an abort brings about. */
async function endedOrAborted(child: Deno.ChildProcess, signal: AbortSignal | undefined): Promise<Deno.CommandStatus> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    // Editors that are asked give the terminal back as it was.
    signalFamily(child.pid, "SIGTERM");
    timer = setTimeout(() => signalFamily(child.pid, "SIGKILL"), KILL_AFTER);
  };
  signal?.addEventListener("abort", end, { once: true });
  try {
    return await child.status;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

/** Signals an editor and what it runs in the terminal; a window of its own, with other files open in it, is left alone. */
function signalFamily(pid: number, signal: Deno.Signal): void {
  for (const id of familyOf(pid)) {
    try {
      Deno.kill(id, signal);
    } catch {
      // It has ended.
    }
  }
}

/** Notes the settings of the terminal, and returns what sets them again: an editor that dies may leave it without echo. */
function keepTerminal(): () => void {
  if (Deno.build.os === "windows" || !Deno.stdin.isTerminal()) return () => {};
  const stty = (...args: string[]) =>
    new TextDecoder().decode(new Deno.Command("stty", { args, stdin: "inherit", stderr: "null" }).outputSync().stdout);
  try {
    const settings = stty("-g").trim();
    return () => {
      if (stty("-g").trim() !== settings) stty(settings);
    };
  } catch {
    // There is no stty.
    return () => {};
  }
}

/** Splits a command line into words, as a shell does. A quote that is not closed reaches to the end. */
function splitWords(line: string): string[] {
  const escapes = Deno.build.os !== "windows";
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    const next = line[i + 1];
    if (escapes && char === "\\" && next !== undefined && quote !== "'" && (quote === "" || /["\\$`]/.test(next))) {
      word = (word ?? "") + next;
      i++;
    } else if (char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) {
      quote = char;
      word ??= "";
    } else if (quote === "" && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + char;
  }
  if (word !== undefined) words.push(word);
  return words;
}
