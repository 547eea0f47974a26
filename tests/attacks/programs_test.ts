import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { exists, processesOf, readProc, until } from "../isolation/support.ts";
import { assertAlive, assertAllRefused, assertBroken, assertNothing, attack, lootOf } from "./_attack.ts";

Deno.test("12: no program is started by any interface", async () => {
  await using a = await attack("12_starts_a_program.ts");
  const mark = join(a.outside, "mark");
  const found = lootOf(await a.call({ mark }));
  assertEquals(Object.entries(found).filter(([, text]) => text.startsWith("got 0")), []);
  assertEquals(exists(mark), false);
  assertEquals(a.processes().length, a.children().length, "nothing but the hook itself");
  await assertAlive(a);
});

Deno.test("12: with a grant they are, so that the test above can fail", async () => {
  await using a = await attack("12_starts_a_program.ts", { permissions: { run: ["touch"] } });
  const mark = join(a.outside, "mark");
  await a.call({ mark });
  assertEquals(exists(mark), true);
});

async function git(cwd: string, ...args: string[]): Promise<void> {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
  const { code, stderr } = await new Deno.Command("git", { args: [...identity, ...args], cwd }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
}

for (const repository of [true, false]) {
  Deno.test(`13: a granted git starts nothing else, in a project that is ${repository ? "a" : "no"} repository`, async () => {
    await using a = await attack("13_abuses_git.ts", {
      permissions: { read: ["."], exec: ["git status --porcelain", "git log -1 *"] },
      isolation: { budget: 30_000 },
      files: { "project/data/x": "", "project/f": "" },
      async prepare(root) {
        if (!repository) return;
        await git(join(root, "project"), "init", "-q");
        await git(join(root, "project"), "add", ".");
        await git(join(root, "project"), "commit", "-qm", "x");
      },
    });
    const mark = join(a.outside, "mark");
    const found = lootOf(await a.call({ mark, project: a.project }));
    assertEquals(exists(mark), false);
    if (repository) assertMatch(found["what is granted"]!, /^got 0 /);
    assertMatch(
      found.alias!,
      /^refused: git was not granted to this hook with these arguments; grant it with --allow-exec="git -c /,
    );
    assertMatch(found["GIT_SSH_COMMAND"]!, /^refused: A program run by an exec grant gets no environment/);
    assertMatch(found["a folder it may write"]!, /^refused: Requires write access/);
    assertMatch(found["another folder"]!, /^refused: An exec grant runs programs in the project, not in \//);
    await assertAlive(a);
  });
}

Deno.test("13: git shows differences without the programs that settings name for it", async () => {
  await using a = await attack("13_abuses_git.ts", {
    permissions: { exec: ["git diff", "git diff --stat", "git log -1 -p", "git show HEAD"] },
    files: { "project/f": "one\n", "project/.gitattributes": "f diff=evil\n" },
    async prepare(root) {
      const project = join(root, "project");
      await git(project, "init", "-q");
      await git(project, "add", ".");
      await git(project, "commit", "-qm", "x");
      await Deno.writeTextFile(join(project, "f"), "two\n");
      // As if somebody had been there before.
      for (const key of ["diff.external", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor", "core.pager"]) {
        await git(project, "config", key, `touch ${root}/outside/mark; cat`);
      }
    },
  });
  const found = JSON.parse((await a.call({ mark: join(a.outside, "mark"), project: a.project })).reason);
  assertMatch(found.output, /^refused/);
  assertEquals(exists(join(a.outside, "mark")), false);
  const { runGranted } = await import("../../src/isolation/exec_gate.ts");
  const { resolveGrants } = await import("../../src/isolation/grants.ts");
  const grants = await resolveGrants({ exec: ["git diff", "git log -1 -p", "git show HEAD"] }, {
    project: a.project,
    hookFiles: [],
  });
  const signal = new AbortController().signal;
  for (
    const [args, shown] of [[["diff"], "+two"], [["log", "-1", "-p"], "+one"], [["show", "HEAD"], "+one"]] as const
  ) {
    const { code, stdout, stderr } = await runGranted(grants, a.project, ["git", args], signal);
    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(stdout, shown);
  }
  assertEquals(exists(join(a.outside, "mark")), false);
});

/** A project with a submodule, as in the attack on it: `sub/.git` is a file that says where its settings are. */
async function withSubmodule(root: string, mark: string): Promise<string> {
  const project = join(root, "project");
  await Deno.mkdir(project);
  await git(root, "init", "-q", "inner");
  await Deno.writeTextFile(join(root, "inner/a.txt"), "a\n");
  await git(join(root, "inner"), "add", ".");
  await git(join(root, "inner"), "commit", "-qm", "x");
  await git(project, "init", "-q");
  await Deno.writeTextFile(join(project, "f"), "one\n");
  await Deno.writeTextFile(join(project, ".gitattributes"), "f diff=evil\n");
  await git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "sub");
  await git(project, "add", ".");
  await git(project, "commit", "-qm", "x");
  const settings = join(project, ".git/modules/sub");
  for (const key of ["filter.e.clean", "core.fsmonitor", "diff.external"]) {
    await git(project, "config", "-f", join(settings, "config"), key, `touch ${mark}; cat`);
  }
  await Deno.mkdir(join(settings, "info"), { recursive: true });
  await Deno.writeTextFile(join(settings, "info/attributes"), "* filter=e\n");
  await Deno.writeTextFile(join(project, "sub/a.txt"), "b\n");
  await Deno.writeTextFile(join(project, "f"), "two\n");
  // What the repository itself names for differences.
  for (const key of ["diff.external", "diff.evil.textconv", "diff.evil.command"]) {
    await git(project, "config", key, `touch ${mark}; cat`);
  }
  // Overrides the setting of the same purpose, but no flag.
  await git(project, "config", "submodule.sub.ignore", "none");
  return project;
}

Deno.test("13: git does not start itself in a submodule, nor what is named for differences, wherever the subcommand stands", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "xcsh-git-" }));
  try {
    const mark = join(root, "mark");
    const project = await withSubmodule(root, mark);
    await git(project, "status", "--porcelain");
    assertEquals(exists(mark), true, "else this test could not fail");
    await Deno.remove(mark);
    const lines = [
      ["status", "--porcelain"],
      ["--no-pager", "status", "--short"],
      ["diff"],
      ["--no-pager", "diff"],
      ["-C", ".", "diff"],
      ["-c", "color.ui=never", "--no-pager", "diff", "--stat"],
      ["-C", "sub", "log", "-1", "-p"],
      ["diff-index", "-p", "HEAD"],
      ["diff-files", "-p"],
      ["--no-pager", "log", "-1", "-p"],
      ["blame", "f"],
      ["diff-tree", "-p", "--root", "HEAD"],
      ["reflog", "show", "-p"],
      ["stash", "list"],
      ["format-patch", "--stdout", "--root", "HEAD"],
    ];
    const { runGranted } = await import("../../src/isolation/exec_gate.ts");
    const { resolveGrants } = await import("../../src/isolation/grants.ts");
    const exec = lines.map((args) => ["git", ...args].join(" "));
    const grants = await resolveGrants({ exec }, { project, hookFiles: [] });
    for (const args of lines) {
      const { code, stdout, stderr } = await runGranted(
        grants,
        project,
        ["git", args],
        new AbortController().signal,
      );
      assertEquals([code, stderr, exists(mark)], [0, "", false], args.join(" "));
      if (args.includes("status")) assertEquals(stdout, " M f\n");
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("13: git beside a grant to write the project is refused before the hook runs", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "xcsh-git-" }));
  try {
    const project = await withSubmodule(root, join(root, "mark"));
    const { loadHooks } = await import("../../mod.ts");
    await Deno.writeTextFile(join(root, "hook.ts"), "export default () => {};\n");
    const { hooks, errors } = await loadHooks([join(root, "hook.ts")], project, {
      permissions: { read: ["."], write: ["."], exec: ["git status --porcelain"] },
    });
    assertEquals(hooks.length, 0);
    assertMatch(errors[0]!.error, /"git status --porcelain" would let the hook run any program: .+ grant run=git/);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("13: no program runs in a folder that the hook may write", async () => {
  const project = await Deno.realPath(await Deno.makeTempDir({ prefix: "xcsh-exec-" }));
  try {
    await Deno.mkdir(join(project, "data/deep"), { recursive: true });
    const { runGranted } = await import("../../src/isolation/exec_gate.ts");
    const { resolveGrants } = await import("../../src/isolation/grants.ts");
    const grants = await resolveGrants({ write: ["data"], exec: ["true"] }, { project, hookFiles: [] });
    const signal = new AbortController().signal;
    for (const cwd of ["data", "data/deep", join(project, "data")]) {
      const error = await assertRejects(() => runGranted(grants, project, ["true", [], { cwd }], signal));
      assertMatch((error as Error).message, /^An exec grant runs no program in \S+, which this hook may write/);
    }
    assertEquals((await runGranted(grants, project, ["true", []], signal)).code, 0);
  } finally {
    await Deno.remove(project, { recursive: true });
  }
});

Deno.test("18: the programs of a hook hold no more output together than the host lets them", async () => {
  const { OutputBudget, runProgram } = await import("../../src/exec.ts");
  const budget = new OutputBudget(100_000);
  const print = (bytes: number) =>
    runProgram("sh", ["-c", `head -c ${bytes} /dev/zero | tr '\\0' x; sleep 0.5`], { cwd: "/", budget });
  const runs = await Promise.all([print(80_000), print(80_000), print(80_000)]);
  const kept = runs.map(({ stdout }) => stdout.replace(/\n\[output cut.*\n$/, "").length);
  assertEquals(kept.reduce((a, b) => a + b), 100_000);
  const cut = runs.filter(({ stdout }) => stdout.includes("[output cut"));
  assert(cut.length >= 1);
  for (const { stdout, killed, code } of cut) {
    assertMatch(stdout, /\n\[output cut: the programs that run at once hold more than 100000 bytes together\]\n$/);
    assertEquals([killed, code !== 0], [true, true]);
  }
  // It is given back, whole.
  assertEquals((await print(100_000)).stdout.length, 100_000);
  assertMatch(
    (await runProgram("sh", ["-c", "head -c 50 /dev/zero"], { cwd: "/", budget, maxOutputBytes: 10 })).stdout,
    /\[output cut: more than 10 bytes\]/,
  );
});

Deno.test("14: a Worker has no more rights than the hook", async () => {
  await using a = await attack("14_worker_permissions.ts");
  for (const how of ["plain", "node", "nested"]) {
    const found = assertNothing(await a.call({ secret: join(a.outside, "secret.txt"), how }));
    assertStringIncludes(found[how]!, "Requires read access");
  }
  await assertAlive(a);
  // Asking for more ends the process, since that is an unstable API: the gate is closed and says so.
  for (const permissions of ["inherit", { read: true }]) {
    assertBroken(await a.call({ secret: join(a.outside, "secret.txt"), permissions }));
    a.runner.enable(a.hook.path);
  }
  await assertAlive(a);
});

Deno.test("21: the host and everyone else live on", async () => {
  await using a = await attack("21_kills_its_parent.ts");
  const bystander = new Deno.Command("sleep", { args: ["300"] }).spawn();
  try {
    assertAllRefused(await a.call({ pid: bystander.pid }));
    await assertAlive(a);
    assertEquals(readProc(bystander.pid, "cmdline").includes("sleep"), true);
  } finally {
    bystander.kill("SIGKILL");
    await bystander.status;
  }
});

Deno.test("25: what a hook starts, which it may, ends with it", async () => {
  const a = await attack("25_forks_a_daemon.ts", { permissions: { run: true, env: true } });
  try {
    const found = lootOf(await a.call({ project: a.project }));
    assert(Object.values(found).every((text) => text === "got started"), JSON.stringify(found));
    await until("they run", () => processesOf(a.root).length > 6);
  } finally {
    // Fails when one is left.
    await a[Symbol.asyncDispose]();
  }
});

Deno.test("25, limit: a program in a session of its own, for which it needs a run grant, outlives the hook", async () => {
  const a = await attack("25_forks_a_daemon.ts", { permissions: { run: true, env: true } });
  assertEquals((await a.call({ project: a.project, left: true })).reason, "left");
  await until("it runs", () => processesOf(a.root).some((pid) => readProc(pid, "cmdline").includes("sleep")));
  await a.runner.dispose();
  const left = processesOf(a.root);
  for (const pid of left) Deno.kill(pid, "SIGKILL");
  await until("it is gone", () => processesOf(a.root).length === 0);
  await a[Symbol.asyncDispose]();
  assertEquals(left.length, 1);
});
