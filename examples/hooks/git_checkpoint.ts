/**
 * Saves the files of the project before each prompt as a commit that is on no branch; `/restore` brings one back. Nothing of
 * the person's is touched by saving: not the index, not the stash, not a branch.
 *
 * Needs to run git through the host:
 * `--allow-exec="git rev-parse --absolute-git-dir" --allow-exec="git add --all" --allow-exec="git write-tree"
 * --allow-exec="git commit-tree * -m *" --allow-exec="git update-ref * *" --allow-exec="git restore * --worktree :/"`
 *
 * @module
 */
import type { ExecOptions, HookAPI, HookContext } from "@xcsh/hooks";

const TYPE = "git-checkpoint";

interface Checkpoint {
  commit: string;
  tree: string;
  prompt: string;
}

/** Registers the checkpoints and `/restore`. */
export default function gitCheckpoint(pi: HookAPI): void {
  async function git(args: string[], options: ExecOptions = {}): Promise<string> {
    const { stdout, stderr, code } = await pi.exec("git", args, { timeout: 30_000, ...options });
    if (code !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim() || `exit code ${code}`}`);
    return stdout.trim();
  }

  /** The files as they are now, also those that git does not know yet. */
  async function save(prompt: string, last: Checkpoint | undefined): Promise<Checkpoint | undefined> {
    let gitDir: string;
    try {
      gitDir = await git(["rev-parse", "--absolute-git-dir"]);
    } catch {
      // No git or no repository: nothing to save.
      return undefined;
    }
    // An index of its own keeps what the person has staged.
    const env = {
      GIT_INDEX_FILE: `${gitDir}/xcsh-checkpoint-index`,
      GIT_AUTHOR_NAME: "checkpoint",
      GIT_AUTHOR_EMAIL: "checkpoint@localhost",
      GIT_COMMITTER_NAME: "checkpoint",
      GIT_COMMITTER_EMAIL: "checkpoint@localhost",
    };
    await git(["add", "--all"], { env });
    const tree = await git(["write-tree"], { env });
    if (tree === last?.tree) return undefined;
    const commit = await git(["commit-tree", tree, "-m", `Before: ${prompt}`], { env });
    // A name keeps git from collecting it as garbage.
    await git(["update-ref", `refs/xcsh-checkpoints/${commit}`, commit]);
    return { commit, tree, prompt };
  }

  pi.on("before_agent_start", async (event, ctx) => {
    const prompt = event.prompt.replaceAll(/\s+/g, " ").trim().slice(0, 60);
    const checkpoint = await save(prompt, checkpoints(ctx).at(-1));
    if (checkpoint !== undefined) pi.appendEntry(TYPE, checkpoint);
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
      const now = await save(`restoring ${checkpoint.prompt}`, known.at(-1));
      if (now !== undefined) pi.appendEntry(TYPE, now);
      await git(["restore", `--source=${checkpoint.commit}`, "--worktree", ":/"]);
      ctx.ui.notify(
        `The files are as they were before: ${checkpoint.prompt}. Files that were made since are still there.`,
      );
    },
  });
}

function checkpoints(ctx: HookContext): Checkpoint[] {
  return ctx.sessionManager.getEntries().flatMap((entry) =>
    entry.type === "custom" && entry.customType === TYPE ? [entry.data as Checkpoint] : []
  );
}
