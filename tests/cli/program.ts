/**
 * Runs the real program, as a person would.
 *
 * @module
 */
import { dirname, fromFileUrl, join } from "@std/path";

export const MAIN: string = fromFileUrl(new URL("../../cli/main.ts", import.meta.url));
export const EXAMPLES: string = fromFileUrl(new URL("../../examples/hooks", import.meta.url));

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A folder for one test, with files in it. */
export class Folder implements AsyncDisposable {
  readonly path: string = Deno.makeTempDirSync({ prefix: "xcsh-cli-" });

  constructor(files: Record<string, string> = {}) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): string {
    const path = join(this.path, name);
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, text);
    return path;
  }

  /** Writes a script whose turns are calls of bash and a last word. */
  script(...commands: string[]): string {
    const turns: unknown[] = commands.map((command) => ({ toolCalls: [{ name: "bash", arguments: { command } }] }));
    return this.write("script.json", JSON.stringify({ turns: [...turns, { text: "All done." }] }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

export function start(
  args: string[],
  options: { cwd?: string; stdin?: "null" | "piped"; env?: Record<string, string> } = {},
): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", MAIN, ...args],
    stdin: options.stdin ?? "null",
    stdout: "piped",
    stderr: "piped",
    ...options.cwd && { cwd: options.cwd },
    ...options.env && { env: options.env },
  }).spawn();
}

/** Runs the program to its end. */
export async function run(
  args: string[],
  options: { cwd?: string; input?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  const child = start(args, { ...options, stdin: options.input === undefined ? "null" : "piped" });
  if (options.input !== undefined) {
    // A program that does not read it all is what some tests are about.
    await new Blob([options.input]).stream().pipeTo(child.stdin).catch(() => {});
  }
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** Reads lines of JSON; fails for a line that is none. */
export function records(text: string): Record<string, unknown>[] {
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Reads a stream until it has a text; the reader is given back for what comes next. */
export async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  text: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let seen = "";
  while (!seen.includes(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The output ended without ${JSON.stringify(text)}: ${seen}`);
    seen += decoder.decode(value, { stream: true });
  }
  return seen;
}
