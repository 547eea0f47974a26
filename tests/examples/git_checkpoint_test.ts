import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { execCommand } from "@xcsh/hooks";
import { testHook } from "@xcsh/hooks/testing";
import gitCheckpoint from "../../examples/hooks/git_checkpoint.ts";
import { EXAMPLES, Folder, run } from "../cli/program.ts";
import { assertNoHookErrors, realSession } from "./real_session.ts";

const OWN = "git --git-dir=.git/xcsh-checkpoints --work-tree=.";
const GIT = {
  "git rev-parse --git-dir": ".git\n",
  "git init --quiet --bare .git/xcsh-checkpoints": "",
  [`${OWN} add --all :/ :(exclude).git`]: "",
  [`${OWN} -c user.name=x -c user.email=x commit --quiet --no-gpg-sign -m Before: mend it`]: "",
  [`${OWN} -c user.name=x -c user.email=x commit --quiet --no-gpg-sign -m Before: nothing changed`]: { code: 1 },
  [`${OWN} -c user.name=x -c user.email=x commit --quiet --no-gpg-sign -m Before: restoring mend it`]: { code: 1 },
  [`${OWN} rev-parse HEAD`]: "commit1\n",
  [`${OWN} restore --worktree --source commit1 :/`]: "",
};

Deno.test("git_checkpoint saves before a prompt, when something has changed", async () => {
  const t = await testHook(gitCheckpoint, { exec: GIT });
  await t.fire("before_agent_start", { prompt: "mend\n it " });
  assertEquals(t.entries, [{ customType: "git-checkpoint", data: { commit: "commit1", prompt: "mend it" } }]);
  await t.fire("before_agent_start", { prompt: "nothing changed" });
  assertEquals(t.entries.length, 1);
});

Deno.test("git_checkpoint says when git fails", async () => {
  const t = await testHook(gitCheckpoint, {
    exec: { ...GIT, [`${OWN} add --all :/ :(exclude).git`]: { code: 128, stderr: "no space left" } },
  });
  await assertRejects(
    () => t.fire("before_agent_start"),
    Error,
    "git add --all :/ :(exclude).git failed: no space left",
  );
});

Deno.test("git_checkpoint does nothing where no repository begins", async () => {
  for (const answer of [{ code: 128, stderr: "not a git repository" }, "/project/.git\n"]) {
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
  assertEquals(t.execs.at(-1)?.args, [
    "--git-dir=.git/xcsh-checkpoints",
    "--work-tree=.",
    "restore",
    "--worktree",
    "--source",
    "commit1",
    ":/",
  ]);
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
  const state = async () => [
    await git("status", "--porcelain", "--", "kept.txt"),
    await git("for-each-ref"),
    await git("stash", "list"),
    await git("diff", "--cached"),
  ];
  const before = await state();

  await real.session.prompt("change them");
  assertEquals(await Deno.readTextFile(`${real.cwd}/kept.txt`), "changed\n");
  await real.session.prompt("/restore 1");
  assertEquals(await Deno.readTextFile(`${real.cwd}/kept.txt`), "first\n");
  assertEquals(await Deno.readTextFile(`${real.cwd}/gone.txt`), "here\n");
  assertEquals([...Deno.readDirSync(real.cwd)].some(({ name }) => name === "new.txt"), false);
  await real.session.prompt("/restore 2");
  assertEquals(await Deno.readTextFile(`${real.cwd}/new.txt`), "new\n");
  assertEquals(await Deno.readTextFile(`${real.cwd}/kept.txt`), "changed\n");
  const saved = await Deno.readTextFile(real.session.sessionManager.getSessionFile()!);
  assertEquals(saved.trimEnd().split("\n").length, real.session.sessionManager.getEntries().length + 1);
  await real.session.prompt("/restore 1");
  assertEquals(await state(), before);
  assertNoHookErrors(real.events);
});

Deno.test("git_checkpoint needs no more than the grants that it names", async () => {
  await using folder = new Folder({ "kept.txt": "first\n" });
  await execCommand("git", ["init", "-q"], folder.path);
  const source = await Deno.readTextFile(join(EXAMPLES, "git_checkpoint.ts"));
  const grants = [...source.matchAll(/--allow-exec="([^"]*)"/g)].map(([, line]) => `--allow-exec=${line}`);
  const args = [
    ...grants,
    "--hook",
    join(EXAMPLES, "git_checkpoint.ts"),
    "--session",
    join(folder.path, "s.jsonl"),
  ];
  const script = folder.script("echo changed > kept.txt");
  const one = await run(["run", "change it", "--script", script, ...args], { cwd: folder.path });
  const two = await run(["run", "/restore 1", ...args], { cwd: folder.path });
  assertEquals([one.code, one.stderr, two.code], [0, "", 0]);
  assertStringIncludes(two.stderr, "info: The files are as they were before: change it");
  assertEquals(await Deno.readTextFile(join(folder.path, "kept.txt")), "first\n");
});
