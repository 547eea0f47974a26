/**
 * Saves the files of the project before each prompt, in a git repository of its own within `.git`; `/restore` brings them back.
 * The person's repository is left as it is: its index, its stash, its branches, its refs.
 *
 * Needs to run git through the host, and nothing else:
 *
 * ```sh
 * --allow-exec="git rev-parse --git-dir"
 * --allow-exec="git init --quiet --bare .git/xcsh-checkpoints"
 * --allow-exec="git --git-dir=.git/xcsh-checkpoints --work-tree=. add --all :/ *"
 * --allow-exec="git --git-dir=.git/xcsh-checkpoints --work-tree=. -c user.name=x -c user.email=x commit --quiet --no-gpg-sign -m *"
 * --allow-exec="git --git-dir=.git/xcsh-checkpoints --work-tree=. rev-parse HEAD"
 * --allow-exec="git --git-dir=.git/xcsh-checkpoints --work-tree=. restore --worktree --source * :/"
 * ```
 *
 * @module
 */
import { relative } from "node:path";
import type { ExecResult, HookAPI, HookContext } from "@xcsh/hooks";

const TYPE = "git-checkpoint";
const REPOSITORY = ".git/xcsh-checkpoints";

interface Checkpoint {
  commit: string;
  prompt: string;
}

/** Registers the checkpoints and `/restore`. */
export default function gitCheckpoint(pi: HookAPI): void {
  function run(...args: string[]): Promise<ExecResult> {
    return pi.exec("git", args, { timeout: 60_000 });
  }

  async function git(...args: string[]): Promise<string> {
    const { stdout, stderr, code } = await run(`--git-dir=${REPOSITORY}`, "--work-tree=.", ...args);
    if (code !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr.trim() || `exit code ${code}`}`);
    return stdout.trim();
  }

  /** Whether the session works at the top of a repository. Without one, there is nowhere to save to. */
  async function isRepository(): Promise<boolean> {
    const { stdout, code } = await run("rev-parse", "--git-dir");
    return code === 0 && stdout.trim() === ".git";
  }

  /** Saves the files as they are now, also those that git does not know yet. */
  async function save(prompt: string, ctx: HookContext): Promise<void> {
    const known = checkpoints(ctx);
    if (known.length === 0) await run("init", "--quiet", "--bare", REPOSITORY);
    await git("add", "--all", ":/", `:(exclude)${sessionFiles(ctx)}`);
    const identity = ["-c", "user.name=x", "-c", "user.email=x"];
    const { code } = await run(
      `--git-dir=${REPOSITORY}`,
      "--work-tree=.",
      ...identity,
      "commit",
      "--quiet",
      "--no-gpg-sign",
      "-m",
      `Before: ${prompt}`,
    );
    // Nothing has changed since the last one.
    if (code !== 0 && known.length > 0) return;
    pi.appendEntry(TYPE, { commit: await git("rev-parse", "HEAD"), prompt } satisfies Checkpoint);
  }

  pi.on("before_agent_start", async (event, ctx) => {
    if (!(await isRepository())) return;
    await save(event.prompt.replaceAll(/\s+/g, " ").trim().slice(0, 60), ctx);
  });

  pi.registerCommand("restore", {
    description: "Bring back the files as they were before a prompt: /restore [number]",
    async handler(args, ctx) {
      const known = checkpoints(ctx);
      const names = known.map(({ prompt }, i) => `${i + 1}. before: ${prompt}`);
      if (known.length === 0) return ctx.ui.notify("There is no checkpoint yet", "warning");
      const chosen = args.trim() !== "" ? names[Number(args) - 1] : await ctx.ui.select("Restore the files", names);
      const checkpoint = known[names.indexOf(chosen ?? "")];
      if (checkpoint === undefined) return ctx.ui.notify(`Name one of\n${names.join("\n")}`, "warning");
      // What is there now can be had back as well.
      await save(`restoring ${checkpoint.prompt}`, ctx);
      await git("restore", "--worktree", "--source", checkpoint.commit, ":/");
      ctx.ui.notify(`The files are as they were before: ${checkpoint.prompt}`);
    },
  });
}

function checkpoints(ctx: HookContext): Checkpoint[] {
  return ctx.sessionManager.getEntries().flatMap((entry) =>
    entry.type === "custom" && entry.customType === TYPE ? [entry.data as Checkpoint] : []
  );
}

/** What must not be brought back, or the session would forget what came since. */
function sessionFiles(ctx: HookContext): string {
  const folder = ctx.sessionManager.getSessionDir();
  const inside = folder === "" ? ".." : relative(ctx.cwd, folder);
  if (inside === "") return "*.jsonl*";
  return inside.startsWith("..") ? ".git" : inside;
}
