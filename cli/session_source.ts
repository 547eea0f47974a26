/**
 * Which session goes on, and which model answers.
 *
 * @module
 */

import { resolve } from "@std/path";
import { createModel, type CreateModelOptions } from "../src/models/ai_sdk.ts";
import type { LanguageModel } from "../src/models/model.ts";
import { ScriptedModel } from "../src/models/scripted.ts";
import type { SessionInfo } from "../src/session/list.ts";
import { SessionManager } from "../src/session/store.ts";
import { plainText } from "../src/ui/text.ts";
import { errorText } from "../src/values.ts";
import { UsageError } from "./errors.ts";

/** Options that choose a session. */
export interface SessionOptions {
  /** JSONL file that keeps the session; `false` to keep it in memory. */
  session?: string | boolean | undefined;
  /** Go on with the newest session of the folder. */
  continue?: boolean | undefined;
  /** Go on with the session of this id or file; `true` without one. */
  resume?: string | true | undefined;
}

/** Options that choose a model. */
export interface ModelOptions {
  /** JSON file with the answers of the model. */
  script?: string | undefined;
  /** Provider and name. */
  model?: string | undefined;
  /** Address of the provider. */
  baseUrl?: string | undefined;
  /** Tokens that the model takes. */
  contextWindow?: number | undefined;
}

/** What a person should know who named no model. */
export const NO_MODEL =
  "No model was named, so nothing answers but the hooks; name one with --model, or its answers: --script script.json";

/** Opens the session that the options name, or makes one; it is kept in memory when `keep` is false and none is named. */
export async function openSession(options: SessionOptions, cwd: string, keep: boolean): Promise<SessionManager> {
  const { resume } = options;
  const session = typeof options.session === "string" ? options.session : undefined;
  const chosen = [session !== undefined, options.continue, resume !== undefined].filter(Boolean).length;
  if (chosen > 1) throw new UsageError("--session, --continue and --resume each choose a session; give one of them");
  return await usable(() => {
    if (session !== undefined) return SessionManager.open(resolve(session), { cwd });
    if (options.continue) return SessionManager.continueRecent(cwd);
    if (resume !== undefined) return SessionManager.open(findSession(resume === true ? "" : resume, cwd), { cwd });
    return keep && options.session !== false ? SessionManager.create(cwd) : SessionManager.inMemory(cwd);
  });
}

/** The model that answers; `undefined` when none was named. */
export async function openModel(options: ModelOptions): Promise<LanguageModel | undefined> {
  const { script, model, baseUrl, contextWindow } = options;
  if (script !== undefined && model !== undefined) {
    throw new UsageError("--script and --model each name a model; give one of them");
  }
  if (script !== undefined) return await usable(() => ScriptedModel.load(script));
  if (model === undefined) {
    if (baseUrl !== undefined) {
      throw new UsageError("--base-url says where a model is; name it too: --model openai-compatible:NAME");
    }
    return undefined;
  }
  const settings: CreateModelOptions = {
    ...baseUrl !== undefined && { baseUrl },
    ...contextWindow !== undefined && { contextWindow },
  };
  return await usable(() => createModel(model, settings));
}

/** The file of a session that is named by a path, or by the beginning of its id. */
export function findSession(name: string, cwd: string): string {
  if (/[/\\]|\.jsonl$/.test(name)) return resolve(name);
  const sessions = SessionManager.list(cwd);
  const found = name === "" ? [] : sessions.filter(({ id }) => id.startsWith(name));
  if (found.length === 1) return found[0]!.path;
  const problem = name === ""
    ? "Name the session to go on with"
    : found.length > 1
    ? `More than one session has an id that begins with ${name}`
    : `There is no session ${name}`;
  const list = sessionList(sessions);
  throw new Error(list === "" ? `${problem}; this folder has none yet` : `${problem}; this folder has\n${list}`);
}

/** One line for each session, the newest first. */
export function sessionList(sessions: readonly SessionInfo[]): string {
  return sessions.slice(0, 20).map(({ id, modified, firstPrompt }) => {
    const when = new Date(modified).toISOString().slice(0, 16).replace("T", " ");
    return `  ${id.slice(0, 8)}  ${when}  ${plainText(firstPrompt).replaceAll(/\s+/g, " ").slice(0, 60)}`;
  }).join("\n");
}

/** What was named and cannot be used is wrong usage. */
async function usable<T>(open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(errorText(error), { cause: error });
  }
}
