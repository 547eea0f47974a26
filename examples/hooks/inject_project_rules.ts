/**
 * Gives the model the rules of the project: `AGENTS.md` or `CLAUDE.md`, and all in `.xcsh/rules/`. They come with the first
 * prompt, and again when they have changed or a compaction has taken them away.
 *
 * Needs to read the project: `--allow-read=.`
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HookAPI, SessionEntry } from "@xcsh/hooks";

const TYPE = "project-rules";
/** The first of these that is there. */
const FILES = ["AGENTS.md", "CLAUDE.md"];
const FOLDER = ".xcsh/rules";
/** Characters of rules that a model can be expected to mind. */
const LIMIT = 50_000;

/** Adds the rules before the agent starts. */
export default function injectProjectRules(pi: HookAPI): void {
  pi.on("before_agent_start", async (_event, ctx) => {
    const rules = await readRules(ctx.cwd);
    if (rules === "" || rules === rulesInContext(ctx.sessionManager.getBranch())) return;
    return { message: { customType: TYPE, content: rules, display: false } };
  });
}

async function readRules(cwd: string): Promise<string> {
  const parts: string[] = [];
  for (const file of FILES) {
    const text = await readText(join(cwd, file));
    if (text === undefined) continue;
    parts.push(`# Rules of this project, from ${file}\n\n${text.trim()}`);
    break;
  }
  const names = await readdir(join(cwd, FOLDER)).catch(() => []);
  for (const name of names.filter((name) => name.endsWith(".md")).sort()) {
    const text = await readText(join(cwd, FOLDER, name));
    if (text !== undefined) parts.push(`# Rule ${name.slice(0, -3)}\n\n${text.trim()}`);
  }
  const rules = parts.join("\n\n");
  return rules.length <= LIMIT
    ? rules
    : `${rules.slice(0, LIMIT)}\n[cut: the rules are longer than ${LIMIT} characters]`;
}

/** A file that is not there is no rule; one that cannot be read is a fault that the person should see. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR")) {
      return undefined;
    }
    throw error;
  }
}

/** The rules that the model still reads. */
function rulesInContext(branch: readonly SessionEntry[]): string | undefined {
  const compacted = branch.findLastIndex((entry) => entry.type === "compaction");
  const known = branch.slice(compacted + 1).findLast((entry) =>
    entry.type === "custom_message" && entry.customType === TYPE
  );
  return known?.type === "custom_message" && typeof known.content === "string" ? known.content : undefined;
}
