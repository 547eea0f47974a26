import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { join } from "@std/path";
import {
  denoFlags,
  execWords,
  GrantError,
  type HookPermissions,
  matchExec,
  mergeGrants,
  parseGrants,
  resolveGrants,
  sandboxExits,
} from "../../src/isolation/grants.ts";
import { lay } from "./support.ts";

Deno.test("parseGrants() refuses what cannot be passed on unchanged, and names the key and the cause", () => {
  const refused: [unknown, RegExp][] = [
    [null, /^permissions must be an object of grants, not null$/],
    [[], /^permissions must be an object of grants, not an array$/],
    ["read", /^permissions must be an object of grants, not the string "read"$/],
    [{ reed: [] }, /^permissions has a key "reed", which is no kind of permission; did you mean read\?$/],
    [{ "": [] }, /which is no kind of permission; the kinds are read, write, net, env, run, sys, ffi, import, exec/],
    [{ all: true }, /^permissions has a key "all"/],
    [JSON.parse('{"__proto__":[]}'), /^permissions has a key "__proto__"/],
    [{ read: "x" }, /^permissions\.read must be a list of strings or true, not the string "x"$/],
    [{ read: false }, /^permissions\.read must be a list of strings or true, not the boolean false$/],
    [{ read: null }, /^permissions\.read must be .*, not null$/],
    [{ read: {} }, /^permissions\.read must be .*, not an object$/],
    [{ read: [1] }, /^permissions\.read\[0\] must be a string, not the number 1$/],
    [{ read: [""] }, /^permissions\.read\[0\] is empty; leave it out to grant nothing$/],
    [{ read: ["x", "  "] }, /^permissions\.read\[1\] is empty/],
    [{ read: ["a,b"] }, /^permissions\.read\[0\] holds a comma, which Deno's flags cannot carry: "a,b"$/],
    [{ write: ["a\nb"] }, /^permissions\.write\[0\] holds a control character: "a\\nb"$/],
    [{ write: ["a\0b"] }, /holds a control character/],
    [{ write: ["a\x7f"] }, /holds a control character/],
    [{ net: ["--allow-all"] }, /^permissions\.net\[0\] begins with a dash, as if it were a flag: "--allow-all"$/],
    [{ net: ["a b"] }, /^permissions\.net\[0\] holds a space: "a b"$/],
    ...[
      "http://x",
      "x/y",
      "x:",
      "x:99999",
      "x:y",
      "a..b",
      ".a",
      "*",
      "a.*",
      "[::zz]",
      "[::1",
      "1.2.3.4/99",
      "a.b/8",
      "é.com",
      "unix:/x",
      "a@b",
      "a?b",
    ].map((host): [unknown, RegExp] => [{ net: [host] }, /^permissions\.net\[0\] is no host or host:port: /]),
    [{ import: ["https://deno.land"] }, /^permissions\.import\[0\] is no host or host:port/],
    [{ env: ["A=b"] }, /^permissions\.env\[0\] is no name of a variable: "A=b"$/],
    [{ env: ["*A"] }, /is no name of a variable/],
    [{ sys: ["everything"] }, /^permissions\.sys\[0\] is none of hostname, /],
    [{ sys: ["inspector"] }, /^permissions\.sys\[0\] is none of hostname, /],
    [{ run: ["-c"] }, /begins with a dash/],
    [{ exec: true }, /^permissions\.exec must be a list of strings, not the boolean true$/],
    [{ exec: ["git 'x"] }, /^permissions\.exec\[0\] has a quote that does not close: "git 'x"$/],
    [{ exec: ["*"] }, /^permissions\.exec\[0\] must begin with a program: "\*"$/],
    [{ exec: ["..."] }, /must begin with a program/],
    [{ exec: ["--x"] }, /begins with a dash/],
    [{ exec: ["./x"] }, /^permissions\.exec\[0\] must name its program alone or by an absolute path: "\.\/x"$/],
    [{ exec: ["git ... x"] }, /^permissions\.exec\[0\] may have \.\.\. only as its last word: "git \.\.\. x"$/],
    [{ deny: [] }, /^permissions\.deny must be an object, not an array$/],
    [{ deny: { exec: [] } }, /^permissions\.deny has a key "exec"/],
    [{ deny: { read: [""] } }, /^permissions\.deny\.read\[0\] is empty/],
    [{ links: 1 }, /^permissions\.links must be true or false, not the number 1$/],
  ];
  for (const [value, text] of refused) {
    const error = assertThrows(() => parseGrants(value), GrantError, undefined, JSON.stringify(value));
    assertMatch(error.message, text);
  }
  assertThrows(() => parseGrants({ read: 1 }, "--allow-read"), GrantError, "--allow-read.read must be");
});

Deno.test("parseGrants() keeps what can be passed on, once", () => {
  const grants: HookPermissions = {
    read: [".", "~/x", "/a b/ü", "a=b", "--odd"],
    write: true,
    net: ["x", "x:80", "*.x.com", "[::1]:80", "127.0.0.1", "10.0.0.0/8", "a_b.c", "x:0"],
    env: ["A", "A_*"],
    run: ["git"],
    sys: ["hostname"],
    ffi: [],
    import: ["deno.land"],
    exec: ["git 'a b' * ...", "/bin/ls"],
    deny: { read: ["./secrets"], net: true },
    links: false,
  };
  assertEquals(parseGrants(grants), grants);
  assertEquals(parseGrants({ read: ["a", "a"], net: undefined }), { read: ["a"] });
  assertEquals(parseGrants({}), {});
});

Deno.test("execWords() splits as a shell does, quotes alone", () => {
  assertEquals(execWords(`git  log "a b" 'c "d' e"f"g ''`), ["git", "log", "a b", 'c "d', "efg", ""]);
  assertEquals(execWords(""), []);
  assertEquals(execWords(`a "`), undefined);
  assertEquals(execWords("a $X `b` \\c"), ["a", "$X", "`b`", "\\c"]);
});

Deno.test("mergeGrants() lets a hook's own grants take the place of the run's, and denials add up", () => {
  const run: HookPermissions = { read: ["a"], net: true, deny: { read: ["x"], env: ["A"] } };
  assertEquals(mergeGrants(run, undefined), run);
  assertEquals(mergeGrants(run, { write: ["b"] }), { write: ["b"], deny: { read: ["x"], env: ["A"] } });
  assertEquals(mergeGrants(run, { deny: { read: ["y", "x"], env: true } }), {
    deny: { read: ["x", "y"], env: true },
  });
  assertEquals(mergeGrants({ deny: { read: true } }, { deny: { read: ["y"] } }), { deny: { read: true } });
  assertEquals(mergeGrants({}, { read: true }), { read: true });
});

async function project(run: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "xcsh-grants-" }));
  try {
    await lay(join(root, "project"), { "hooks/hook.ts": "", "src/a.ts": "", "secrets/key": "", "tool": "" });
    await lay(join(root, "other"), { "x": "" });
    await Deno.chmod(join(root, "project/tool"), 0o755);
    await run(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("resolveGrants() makes paths absolute, and lets a hook read its own code alone", async () => {
  await project(async (root) => {
    const p = join(root, "project");
    const scope = { project: p, hookFiles: [join(p, "hooks/hook.ts")] };
    assertEquals(await resolveGrants({}, scope), { allow: { read: [join(p, "hooks/hook.ts")] }, deny: {}, exec: [] });
    const { allow, deny } = await resolveGrants({ read: [".", "./src/", "../other", join(p, "src/a.ts")] }, scope);
    assertEquals(allow.read, [p, `${p}/src`, `${root}/other`, `${p}/src/a.ts`, `${p}/hooks/hook.ts`]);
    assertEquals(deny, {});
    const written = await resolveGrants({ write: ["."] }, scope);
    const denied = written.deny.write as string[];
    for (const closed of [".git", ".xcsh", ".claude", "hooks/hook.ts", "hooks"]) {
      assertEquals(denied.includes(join(p, closed)), true, closed);
    }
    assertEquals(denied.includes(join(p, "src")), false);
  });
});

Deno.test("resolveGrants() refuses, and says why", async () => {
  await project(async (root) => {
    const p = join(root, "project");
    await Deno.symlink(join(root, "other"), join(p, "link"));
    await Deno.symlink("/bin/ls", join(p, "ls"));
    const scope = { project: p, hookFiles: [], path: `${p}:${root}/other:/usr/bin:/bin` };
    const refused: [HookPermissions, RegExp][] = [
      [
        { read: ["nowhere"] },
        /^The read grant nowhere \(\S+\) does not exist, and a path that comes to be later could be/,
      ],
      [{ read: ["link"] }, /^The read grant link is a link to \S+other; grant \S+other itself$/],
      [{ read: ["link/x"] }, /^The read grant link\/x leads through a link to \S+other\/x; grant/],
      [
        { read: ["."] },
        /^The read grant \S+ holds the link \S+link, which leads out of it, to \S+other; grant less, or insist/,
      ],
      [{ read: ["~somebody"] }, /names another user's home/],
      [
        { exec: ["nothing-of-the-name"] },
        /^The exec grant "nothing-of-the-name" names the program \S+, which is not on the PATH$/,
      ],
      [
        { exec: ["tool"] },
        /^The exec grant "tool" would run \S+tool, which lies in the project and can be changed there$/,
      ],
      [{ exec: [join(p, "ls")] }, /would run \S+, which lies in the project/],
      [
        { write: ["src"], deny: { write: ["src/deep/er"] } },
        /is denied, but the write grant \S+src lets the hook move \S+src\/deep/,
      ],
      [{ write: ["src", ".git/info"] }, /does not exist/],
    ];
    for (const [grants, text] of refused) {
      const error = await assertRejects(() => resolveGrants(parseGrants(grants), scope), GrantError);
      assertMatch(error.message, text);
    }
    await Deno.writeTextFile(join(root, "other/prog"), "#!/bin/sh\n");
    await Deno.chmod(join(root, "other/prog"), 0o755);
    const error = await assertRejects(() => resolveGrants({ exec: ["prog"], write: ["../other"] }, scope), GrantError);
    assertMatch(error.message, /which lies where this hook may write$/);
    assertEquals((await resolveGrants({ exec: ["prog"] }, scope)).exec.map(({ program }) => program), [
      join(root, "other/prog"),
    ]);
    assertEquals((await resolveGrants({ read: ["."], links: true }, scope)).allow.read, [p]);
  });
});

Deno.test("resolveGrants() closes and protects by every path to the project", async () => {
  await project(async (root) => {
    await Deno.symlink(join(root, "project"), join(root, "alias"));
    const { allow, deny } = await resolveGrants(
      { read: ["."], write: ["."], deny: { read: ["secrets"] } },
      {
        project: join(root, "alias"),
        hookFiles: [join(root, "alias/hooks/hook.ts")],
        closed: [join(root, "project/src")],
      },
    );
    assertEquals(allow.write, [join(root, "project"), join(root, "alias")]);
    for (const name of ["project", "alias"]) {
      for (const path of ["secrets", "src"]) {
        assertEquals((deny.read as string[]).includes(join(root, name, path)), true, `${name}/${path}`);
      }
      for (const path of [".git", "hooks", "hooks/hook.ts", "src"]) {
        assertEquals((deny.write as string[]).includes(join(root, name, path)), true, `${name}/${path}`);
      }
    }
  });
});

Deno.test("resolveGrants() protects the settings of a worktree, and what is above the project", async () => {
  await project(async (root) => {
    await lay(root, {
      "project/.git": `gitdir: ${root}/other/.git/worktrees/x\n`,
      "other/.git/worktrees/x/HEAD": "",
    });
    const { deny } = await resolveGrants({ write: ["../other", ".."] }, {
      project: join(root, "project"),
      hookFiles: [],
    });
    for (const path of ["other/.git/worktrees/x", "other/.git", ".git", "project/.git"]) {
      assertEquals((deny.write as string[]).includes(join(root, path)), true, path);
    }
  });
});

Deno.test("resolveGrants() leaves out what grants nothing or is denied altogether", async () => {
  await project(async (root) => {
    const scope = { project: join(root, "project"), hookFiles: [] };
    const empty = await resolveGrants({ import: [], net: [], run: [], read: [] }, scope);
    assertEquals(denoFlags(empty), []);
    const denied = await resolveGrants({ net: ["x"], import: true, deny: { net: true, import: true } }, scope);
    assertEquals(denoFlags(denied), []);
  });
});

Deno.test("denoFlags() leaves empty lists out", () => {
  assertEquals(
    denoFlags({
      allow: { read: ["/a", "/b c"], write: [], net: true, env: ["A"] },
      deny: { read: ["/a/x"] },
      exec: [],
    }),
    ["--allow-read=/a,/b c", "--allow-net", "--allow-env=A", "--deny-read=/a/x"],
  );
  assertEquals(denoFlags({ allow: {}, deny: {}, exec: [] }), []);
});

Deno.test("matchExec() takes a command line that matches whole, and no other", () => {
  const grants = ["git status --porcelain", "git log -1 * x", "git diff ...", "npm run *"].map((line) => {
    const words = execWords(line)!;
    return { line, words, program: `/usr/bin/${words[0]}` };
  });
  const table: [string, string[], boolean][] = [
    ["git", ["status", "--porcelain"], true],
    ["/usr/bin/git", ["status", "--porcelain"], true],
    ["git", ["status"], false],
    ["git", ["status", "--porcelain", "x"], false],
    ["git", ["-c", "a=b", "status", "--porcelain"], false],
    ["git", ["Status", "--porcelain"], false],
    ["./git", ["status", "--porcelain"], false],
    ["git ", ["status", "--porcelain"], false],
    ["git", ["log", "-1", "a", "x"], true],
    ["git", ["log", "-1", "--output=y", "x"], false],
    ["git", ["log", "-1", "-", "x"], false],
    ["git", ["log", "-1", "", "x"], true],
    ["git", ["log", "-1", "x"], false],
    ["git", ["diff"], true],
    ["git", ["diff", "--output=y", "z"], true],
    ["git", ["diffs"], false],
    ["npm", ["run", "*"], true],
    ["npm", ["run"], false],
    ["npm", ["run", "a", "b"], false],
    ["sh", [], false],
    ["", [], false],
  ];
  for (const [command, args, matches] of table) {
    assertEquals(matchExec(grants, command, args) !== undefined, matches, `${command} ${args.join(" ")}`);
  }
});

Deno.test("sandboxExits() names the grants that do not bound a hook", () => {
  const named = (grants: HookPermissions) => sandboxExits(grants).map(({ grant }) => grant);
  assertEquals(
    named({ read: ["."], write: ["."], net: ["a.b", "*.a.b"], env: ["CI"], import: ["a.b"], exec: ["git status"] }),
    [],
  );
  assertEquals(named({ run: ["git", "x"], ffi: ["/x"], read: true, write: true, links: true }), [
    "run=git",
    "run=x",
    "ffi",
    "read",
    "write",
    "links",
  ]);
  assertEquals(named({ run: true, exec: ["git diff ...", "sh -c *", "npm test", "ls -l"] }), [
    "run",
    "exec=git diff ...",
    "exec=sh -c *",
  ]);
  assertEquals(named({ write: ["."], exec: ["npm test", "git status"] }), ["exec=npm test"]);
});

Deno.test("sandboxExits() tells what a grant opens: running, reading or writing", () => {
  const why = (grants: HookPermissions) => sandboxExits(grants).map(({ why }) => why).join("|");
  const table: [HookPermissions, RegExp | ""][] = [
    [{ exec: ["cat *"] }, /^cat reads whatever file \* names, also one that no grant opens$/],
    [{ exec: ["/bin/cat -n *"] }, /^cat reads whatever file/],
    ...["tee *", "dd *", "cp * *", "rm -rf *"].map((line): [HookPermissions, RegExp] => [
      { exec: [line] },
      /^(?:tee|dd|cp|rm) writes or deletes whatever file \* names, also one that no grant opens$/,
    ]),
    [{ exec: ["prettier *"] }, /^prettier may read or write whatever file \* names/],
    [{ exec: ["cat ..."] }, /^further arguments can make cat read or write any file, or start programs$/],
    [{ exec: ["git log *"] }, /^git may run what stands in place of \*$/],
    [{ exec: ["cat a"] }, ""],
    [{ net: true }, /any host/],
    [{ env: true }, /every variable/],
    [{ import: true }, /load code from any host/],
    [{ net: ["0.0.0.0/0"] }, /a large part of all hosts/],
    [{ net: ["128.0.0.0/1:443"] }, /a large part of all hosts/],
    [{ import: ["0.0.0.0/7"] }, /a large part of all hosts/],
    [{ net: ["*.com:443"] }, /any host below com/],
    [{ net: ["10.0.0.0/8", "0.0.0.0", "*.localhost", "*.a.com"] }, ""],
  ];
  for (const [grants, text] of table) {
    if (text === "") assertEquals(why(grants), "", JSON.stringify(grants));
    else assertMatch(why(grants), text, JSON.stringify(grants));
  }
});

async function git(cwd: string, ...args: string[]): Promise<void> {
  const identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
  const { code, stderr } = await new Deno.Command("git", { args: [...identity, ...args], cwd }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
}

Deno.test("resolveGrants() refuses to run git beside a grant to write what git reads", async () => {
  await project(async (root) => {
    const p = join(root, "project");
    const scope = { project: join(p, "src"), hookFiles: [] };
    const fault = async (grants: HookPermissions) => {
      try {
        await resolveGrants(parseGrants(grants), scope);
        return "";
      } catch (error) {
        if (error instanceof GrantError) return error.message;
        throw error;
      }
    };
    const exec = ["git status --porcelain"];
    assertMatch(
      await fault({ write: ["."], exec }),
      /^The exec grant "git status --porcelain" would let the hook run any program: it may write \S+src, and git takes what it runs from files in \S+: nested \.git, attributes, settings; leave out the write grant, let it write only a folder outside the repository .+, or grant run=git/,
    );
    assertMatch(await fault({ write: true, exec }), /it may write every file/);
    assertMatch(await fault({ write: [root], exec }), /it may write/);
    assertEquals(await fault({ write: ["."], exec, deny: { write: true } }), "");
    assertEquals(await fault({ read: ["."], exec: [...exec, "git -C x diff", "git push"] }), "");
    // Beside the project there is no repository yet, so git does not look there.
    assertEquals(await fault({ write: [join(p, "secrets"), join(root, "other")], exec }), "");
    await git(p, "init", "-q");
    assertMatch(await fault({ write: [join(p, "secrets")], exec }), /from files in \S+project: nested \.git/);
    assertEquals(await fault({ write: [join(root, "other")], exec: [...exec, "git log -1 *"] }), "");
    for (
      const line of ["git push", "git -C ../other status", "git --git-dir=/x status", "git fetch *", "git ...", "git"]
    ) {
      assertMatch(
        await fault({ write: [join(root, "other")], exec: [line] }),
        /git could be led there/,
        line,
      );
    }
    // By another name.
    const real = (await resolveGrants({ exec }, scope)).exec[0]!.program;
    await lay(root, { "bin/x": "" });
    await Deno.symlink(real, join(root, "bin/vcs"));
    assertMatch(await fault({ write: ["."], exec: [`${root}/bin/vcs status`] }), /would let the hook run any program/);
    assertMatch(
      await fault({ write: [join(root, "other")], exec: [`${root}/bin/vcs status`] }),
      /would let the hook run any program/,
    );
    assertMatch(await fault({ write: ["."], exec: [`${real} status`] }), /would let the hook run any program/);
    // Settings that lie where the hook may write, though there is nothing there yet.
    await git(p, "config", "include.path", "../../other/settings");
    assertMatch(
      await fault({ write: [join(root, "other")], exec }),
      /it may write \S+other, and git takes settings from \S+other\/settings;/,
    );
    await git(p, "config", "--unset", "include.path");
    await git(p, "config", "core.worktree", join(root, "other"));
    assertMatch(await fault({ write: [join(root, "other")], exec }), /git takes settings from \S+other;/);
    await Deno.writeTextFile(join(p, ".git/config"), "[nonsense");
    assertMatch(await fault({ write: [join(root, "other")], exec }), /cannot be found out \(.*bad config/);
  });
});

Deno.test("resolveGrants() takes what holds the settings of a worktree for what git reads", async () => {
  await project(async (root) => {
    await lay(root, {
      "project/.git": `gitdir: ${root}/main/.git/worktrees/x\n`,
      "main/.git/worktrees/x/HEAD": "",
      "main/src/a": "",
    });
    const error = await assertRejects(() =>
      resolveGrants({ write: ["../main"], exec: ["git status"] }, { project: join(root, "project"), hookFiles: [] })
    );
    assertMatch((error as Error).message, /git takes what it runs from files in \S+main\/\.git/);
  });
});
