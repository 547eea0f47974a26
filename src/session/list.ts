/**
 * Where sessions are kept, and which there are.
 *
 * @module
 */

import { join, resolve } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { errorText, isRecord } from "../values.ts";
import { SessionFileError } from "./errors.ts";

/** What a list of sessions shows. */
export interface SessionInfo {
  /** The file. */
  path: string;
  /** Identifies the session. */
  id: string;
  /** The folder it works in. */
  cwd: string;
  /** When it was written last, Unix time in ms. */
  modified: number;
  /** The first prompt, cut to 200 characters. */
  firstPrompt: string;
}

/**
 * The folder where the sessions of a working directory are kept.
 *
 * @param cwd The working directory.
 * @returns A folder below `~/.xcsh/agent/sessions`.
 * @throws {Error} When the home directory is not known.
 */
export function sessionDirectory(cwd: string): string {
  const home = homeDirectory();
  if (home === "") {
    throw new Error("Sessions are kept in the home directory, which is not known; name a folder for them");
  }
  const absolute = resolve(cwd);
  const inside = absolute === home || absolute.startsWith(`${home}/`);
  const name = inside ? `-${absolute.slice(home.length + 1)}` : `--${absolute.replace(/^[/\\]+/, "")}--`;
  return join(home, ".xcsh", "agent", "sessions", name.replaceAll(/[/\\:]/g, "-"));
}

/**
 * Lists the sessions of a folder, the one that was written to last first. Files that are no sessions are left out.
 *
 * @param dir The folder.
 * @returns What a list shows of each.
 * @throws {SessionFileError} When the folder cannot be listed.
 */
export function listSessions(dir: string): SessionInfo[] {
  const sessions: SessionInfo[] = [];
  for (const name of fileNames(dir)) {
    const info = readInfo(join(dir, name));
    if (info !== undefined) sessions.push(info);
  }
  return sessions.sort((a, b) => b.modified - a.modified || (a.path < b.path ? 1 : -1));
}

function fileNames(dir: string): string[] {
  try {
    return [...Deno.readDirSync(dir)].filter((entry) => entry.isFile && entry.name.endsWith(".jsonl")).map((entry) =>
      entry.name
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw new SessionFileError(dir, `cannot be listed: ${errorText(error)}`, { cause: error });
  }
}

/** Reads as much of a session file as a list shows. */
function readInfo(path: string): SessionInfo | undefined {
  try {
    using file = Deno.openSync(path, { read: true });
    const bytes = new Uint8Array(64 * 1024);
    const text = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
    const values = text.split("\n").map(parse);
    const header = values[0];
    if (!isRecord(header) || header.type !== "session" || typeof header.id !== "string") return undefined;
    const first = values.find((value) => isRecord(value) && isRecord(value.message) && value.message.role === "user");
    return {
      path,
      id: header.id,
      cwd: typeof header.cwd === "string" ? header.cwd : "",
      modified: file.statSync().mtime?.getTime() ?? 0,
      firstPrompt: firstText(first).slice(0, 200),
    };
  } catch {
    return undefined;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function firstText(entry: unknown): string {
  const content = isRecord(entry) && isRecord(entry.message) ? entry.message.content : undefined;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => isRecord(part) && typeof part.text === "string" ? part.text : "").join("\n");
}
