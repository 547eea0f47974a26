import { assertEquals, assertStringIncludes } from "@std/assert";
import { execCommand } from "@xcsh/hooks";
import { testHook } from "@xcsh/hooks/testing";
import gitCheckpoint from "../../examples/hooks/git_checkpoint.ts";
import { assertNoHookErrors, realSession } from "./real_session.ts";

const GIT = {
  "git rev-parse --absolute-git-dir": "/project/.git\n",
  "git add --all": "",
  "git write-tree": "tree1\n",
  "git commit-tree tree1 -m Before: mend it": "commit1\n",
  "git update-ref refs/xcsh-checkpoints/commit1 commit1": "",
  "git restore --source=commit1 --worktree :/": "",
};

Deno.test("git_checkpoint saves before a prompt, with an index of its own", async () => {
  const t = await testHook(gitCheckpoint, { exec: GIT });
  await t.fire("before_agent_start", { prompt: "mend\n it " });
  assertEquals(t.entries, [{
    customType: "git-checkpoint",
    data: { commit: "commit1", tree: "tree1", prompt: "mend it" },
  }]);
  assertEquals(
    t.execs.find(({ args }) => args[0] === "add")?.options.env?.GIT_INDEX_FILE,
    "/project/.git/xcsh-checkpoint-index",
  );
  await t.fire("before_agent_start", { prompt: "nothing has changed" });
  assertEquals(t.entries.length, 1);
});

Deno.test("git_checkpoint does nothing without git or a repository", async () => {
  for (const answer of [new Error("git is not installed"), { code: 128, stderr: "not a git repository" }]) {
    const t = await testHook(gitCheckpoint, { exec: () => answer });
    await t.fire("before_agent_start");
    assertEquals(t.entries, []);
    await t.runCommand("/restore");
    assertEquals(t.notifications, [{ message: "There is no checkpoint yet", type: "warning" }]);
  }
});

Deno.test("/restore asks which checkpoint, and takes a number", async () => {
  const t = await testHook(gitCheckpoint, { exec: GIT, ui: { select: ["1. before: mend it", undefined] } });
  await t.fire("before_agent_start", { prompt: "mend it" });
  await t.runCommand("/restore");
  assertEquals(t.execs.at(-1)?.args, ["restore", "--source=commit1", "--worktree", ":/"]);
  await t.runCommand("/restore");
  await t.runCommand("/restore 7");
  assertStringIncludes(t.notifications.at(-1)!.message, "Name one of\n1. before: mend it");
});

Deno.test("git_checkpoint brings back the files of a real session, and touches nothing else", async () => {
  const command = "echo changed > kept.txt; rm gone.txt; echo new > new.txt";
  const turns = [{ toolCalls: [{ name: "bash", arguments: { command } }] }, { text: "done" }];
  await using real = await realSession("git_checkpoint", turns, { "kept.txt": "first\n", "gone.txt": "here\n" });
  const git = async (...args: string[]) => (await execCommand("git", args, real.cwd)).stdout;
  await git("init", "-q");
  await git("add", "kept.txt");
  const before = await git("status", "--porcelain", "--", "kept.txt");

  await real.session.prompt("change them");
  assertEquals(await Deno.readTextFile(`${real.cwd}/kept.txt`), "changed\n");
  await real.session.prompt("/restore 1");
  assertEquals(await Deno.readTextFile(`${real.cwd}/kept.txt`), "first\n");
  assertEquals(await Deno.readTextFile(`${real.cwd}/gone.txt`), "here\n");
  assertEquals(await Deno.readTextFile(`${real.cwd}/new.txt`), "new\n");
  assertEquals(await git("status", "--porcelain", "--", "kept.txt"), before);
  assertEquals(await git("branch", "--list"), "");
  assertEquals((await git("for-each-ref", "refs/xcsh-checkpoints")).trim().split("\n").length, 2);
  assertNoHookErrors(real.events);
});
