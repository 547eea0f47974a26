import { assert, assertEquals, assertLess, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { execCommand, ExecError } from "@xcsh/hooks";

const POSIX = { ignore: Deno.build.os === "windows" };
const sh = (script: string, options?: Parameters<typeof execCommand>[3]) =>
  execCommand("sh", ["-c", script], Deno.cwd(), options);

/** Whether a process is there and not merely waiting to be reaped. */
async function lives(pid: number): Promise<boolean> {
  if (Deno.build.os === "linux") {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => ") Z");
    return !stat.slice(stat.lastIndexOf(")")).startsWith(") Z");
  }
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  const state = new TextDecoder().decode(stdout).trim();
  return state !== "" && !state.startsWith("Z");
}

/** Waits until a condition holds; fails after ten seconds. */
async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; performance.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Not within ten seconds: ${what}`);
}

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readPids(file: string): Promise<number[]> {
  return (await Deno.readTextFile(file).catch(() => "")).split("\n").filter(Boolean).map(Number);
}

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  return [await run(), performance.now() - start];
}

Deno.test("execCommand() gives both streams, the code and killed (C5.1, A.5)", POSIX, async (t) => {
  // As in the reference, but that a killed program never has code 0.
  const rows: [name: string, script: string, expected: { stdout?: string; stderr?: string; code: number }][] = [
    ["output on both streams", "echo out; echo err >&2", { stdout: "out\n", stderr: "err\n", code: 0 }],
    ["exit 3", "exit 3", { code: 3 }],
    ["exit 143", "exit 143", { code: 143 }],
    ["ended by a SIGTERM of somebody else", "kill -TERM $$", { code: 143 }],
    ["ended by a SIGKILL of somebody else", "kill -KILL $$", { code: 137 }],
    ["no standard input", "cat", { code: 0 }],
    ["output without newline, not trimmed", "printf '  a  '", { stdout: "  a  ", code: 0 }],
  ];
  for (const [name, script, expected] of rows) {
    await t.step(name, async () => {
      assertEquals(await sh(script), { stdout: "", stderr: "", killed: false, ...expected });
    });
  }
});

Deno.test("execCommand() uses no shell (C5.1)", POSIX, async () => {
  const { stdout } = await execCommand("echo", ["$HOME;", "*", "a  b"], Deno.cwd());
  assertEquals(stdout, "$HOME; * a  b\n");
});

Deno.test(
  "execCommand() runs in the given folder with the given variables on top of the host's (C5.1)",
  POSIX,
  async () => {
    await withFolder(async (folder) => {
      const real = await Deno.realPath(folder);
      const { stdout } = await execCommand("sh", ["-c", 'pwd -P; echo "$ADDED:${PATH:+host}"'], folder, {
        env: { ADDED: "yes" },
      });
      assertEquals(stdout, `${real}\nyes:host\n`);
    });
  },
);

Deno.test("execCommand() keeps a byte order mark", POSIX, async () => {
  assertEquals((await sh("printf '\\357\\273\\277x'")).stdout, "\uFEFFx");
});

Deno.test("execCommand() rejects for what cannot run, naming program and flag (C5.2)", POSIX, async (t) => {
  await t.step("missing program", async () => {
    const error = await assertRejects(() => execCommand("no-such-program-here", [], Deno.cwd()), ExecError);
    assertEquals(error.name, "ExecError");
    assertStringIncludes(error.message, '"no-such-program-here"');
    assertStringIncludes(error.message, "--allow-run=no-such-program-here");
  });
  await t.step("missing folder", async () => {
    await withFolder(async (folder) => {
      const missing = join(folder, "missing");
      const error = await assertRejects(() => execCommand("sh", ["-c", "true"], missing), ExecError);
      assertStringIncludes(error.message, `${missing} does not exist`);
      assertStringIncludes(error.message, "--allow-run=sh");
    });
  });
  await t.step("a file for a folder", async () => {
    const file = await Deno.makeTempFile();
    try {
      const error = await assertRejects(() => execCommand("sh", ["-c", "true"], file), ExecError);
      assertStringIncludes(error.message, `${file} is not a directory`);
    } finally {
      await Deno.remove(file);
    }
  });
  await t.step("a file that may not be executed", async () => {
    const file = await Deno.makeTempFile();
    try {
      const error = await assertRejects(() => execCommand(file, [], Deno.cwd()), ExecError);
      assertStringIncludes(error.message, file);
    } finally {
      await Deno.remove(file);
    }
  });
});

Deno.test("execCommand() rejects arguments that are no array, with the right call (C5.5)", async (t) => {
  const rows: [args: unknown, command: string, expected: string][] = [
    [{ cwd: "/" }, "git log --format=%h,%s", 'call exec("git", ["log", "--format=%h,%s"])'],
    [undefined, "ls", 'call exec("ls", [])'],
    ["-la", "ls", 'call exec("ls", [])'],
    [undefined, "a && b", 'exec("sh", ["-c", "a && b"])'],
    [[1], "ls", 'Argument 0 of exec("ls") is the number 1, not a string'],
    [["a", null], "ls", 'Argument 1 of exec("ls") is null, not a string'],
  ];
  for (const [args, command, expected] of rows) {
    await t.step(`${command} ${JSON.stringify(args)}`, async () => {
      const error = await assertRejects(() => execCommand(command, args as string[], Deno.cwd()), TypeError);
      assertStringIncludes(error.message, expected);
    });
  }
  await t.step("no program", async () => {
    await assertRejects(() => execCommand("", [], Deno.cwd()), TypeError, "the name of a program");
  });
});

Deno.test("execCommand() ends a program when time is up (C5.3, A.5)", POSIX, async (t) => {
  await t.step("sleep: 143 where the reference has 0", async () => {
    const [result, ms] = await timed(() => execCommand("sleep", ["60"], Deno.cwd(), { timeout: 200 }));
    assertEquals(result, { stdout: "", stderr: "", code: 143, killed: true });
    assertLess(ms, 30_000);
  });
  await t.step("a trap's exit code and output", async () => {
    // What the shell says of its ended children differs between shells.
    const { stdout, code, killed } = await sh(
      'echo begun; trap "echo trapped; exit 7" TERM; while :; do sleep 0.05; done',
      {
        timeout: 500,
      },
    );
    assertEquals([stdout, code, killed], ["begun\ntrapped\n", 7, true]);
  });
  await t.step("a trap that exits with 0 is not taken for success", async () => {
    const { code, killed } = await sh('trap "exit 0" TERM; while :; do sleep 0.05; done', { timeout: 300 });
    assertEquals([code, killed], [143, true]);
  });
  await t.step("SIGKILL for who ignores SIGTERM: 137 where the reference has 0", async () => {
    const [{ stdout, code, killed }, ms] = await timed(() =>
      sh('echo begun; trap "" TERM; while :; do sleep 0.05; done', { timeout: 300 })
    );
    assertEquals([stdout, code, killed], ["begun\n", 137, true]);
    assert(ms >= 1_200, `${ms} ms leave no second between the signals`);
  });
  await t.step("no limit: 0, -5 and more than a timer can hold", async () => {
    for (const timeout of [0, -5, NaN, Infinity, 2 ** 40]) {
      assertEquals((await sh("sleep 0.1; echo done", { timeout })).stdout, "done\n", `timeout ${timeout}`);
    }
  });
});

Deno.test("execCommand() ends a program when its signal aborts (C5.3, A.5)", POSIX, async (t) => {
  await t.step("before it began: 143 where the reference has 0", async () => {
    const { code, killed } = await execCommand("sleep", ["60"], Deno.cwd(), { signal: AbortSignal.abort() });
    assertEquals([code, killed], [143, true]);
  });
  await t.step("while it runs", async () => {
    await withFolder(async (folder) => {
      const controller = new AbortController();
      const running = sh(`touch ${folder}/begun; sleep 60`, { signal: controller.signal });
      await until("the program has begun", () => Deno.stat(`${folder}/begun`).then(() => true, () => false));
      controller.abort();
      const { code, killed } = await running;
      assertEquals([code, killed], [143, true]);
    });
  });
  await t.step("afterwards nothing happens", async () => {
    const controller = new AbortController();
    const result = await sh("echo x", { signal: controller.signal });
    controller.abort();
    assertEquals(result, { stdout: "x\n", stderr: "", code: 0, killed: false });
  });
});

Deno.test("execCommand() ends the whole process tree (C5.3)", POSIX, async (t) => {
  // Each writes the pids of all that it started.
  const rows: [name: string, script: (pids: string) => string][] = [
    ["grandchildren", (pids) => `sleep 60 & echo $! >>${pids}; sh -c 'echo $$ >>${pids}; sleep 60'; wait`],
    [
      "grandchildren that ignore SIGTERM",
      (pids) => `sh -c 'trap "" TERM; echo $$ >>${pids}; while :; do sleep 0.1; done'; wait`,
    ],
    ["a grandchild in a session of its own", (pids) => `setsid sh -c 'echo $$ >>${pids}; sleep 60'; wait`],
    [
      "one in a session of its own that has lost its parent",
      (pids) => `(setsid sh -c 'echo $$ >>${pids}; sleep 60' &); (sh -c 'echo $$ >>${pids}; sleep 60' &); sleep 60`,
    ],
    [
      "one in a session of its own that ignores SIGTERM",
      (pids) => `setsid sh -c 'trap "" TERM; echo $$ >>${pids}; while :; do sleep 0.1; done'; wait`,
    ],
  ];
  for (const [name, script] of rows) {
    const ignore = name.includes("session") && Deno.build.os !== "linux";
    await t.step({
      name,
      ignore,
      fn: () =>
        withFolder(async (folder) => {
          const controller = new AbortController();
          const pids = join(folder, "pids");
          const running = sh(script(pids), { signal: controller.signal });
          const count = name === "grandchildren" || name.includes("lost") ? 2 : 1;
          await until("all have begun", async () => (await readPids(pids)).length === count);
          controller.abort();
          const { code, killed } = await running;
          assertEquals([code > 128, killed], [true, true]);
          for (const pid of await readPids(pids)) await until(`${pid} is gone`, async () => !(await lives(pid)));
        }),
    });
  }
});

Deno.test("execCommand() does not wait for a grandchild that holds a pipe (C5.3, A.5)", POSIX, async () => {
  // The reference waits for it.
  await withFolder(async (folder) => {
    const [result, ms] = await timed(() => sh(`sleep 60 & echo $! >${folder}/pid; echo x`));
    assertEquals(result, { stdout: "x\n", stderr: "", code: 0, killed: false });
    assertLess(ms, 30_000);
    const [pid] = await readPids(`${folder}/pid`);
    assert(await lives(pid!), "what a program leaves behind on purpose is not ended");
    Deno.kill(pid!, "SIGKILL");
  });
});

Deno.test(
  "execCommand() keeps all output of a program that ended while this process was busy (C5.3)",
  POSIX,
  async () => {
    await withFolder(async (folder) => {
      const running = sh(`head -c 60000 /dev/zero | tr '\\0' x; touch ${folder}/done`);
      // Busy until well after the end, so that timers are late.
      while (!existsSync(`${folder}/done`)) { /* wait */ }
      for (const end = performance.now() + 300; performance.now() < end;) { /* block */ }
      assertEquals((await running).stdout.length, 60_000);
    });
  },
);

function existsSync(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

Deno.test("execCommand() cuts output at its limit and ends the program (C5.4)", POSIX, async (t) => {
  await t.step("with a notice", async () => {
    const { stdout, stderr, code, killed } = await sh("echo err >&2; yes", { maxOutputBytes: 1_000 });
    assertEquals(stdout, `${"y\n".repeat(500)}\n[output cut: more than 1000 bytes]\n`);
    assertEquals([stderr, code, killed], ["err\n", 143, true]);
  });
  await t.step("each stream by itself", async () => {
    const { stdout, stderr } = await sh("printf 12345; yes >&2", { maxOutputBytes: 5 });
    assertEquals(stdout, "12345");
    assertEquals(stderr, "y\ny\ny\n[output cut: more than 5 bytes]\n");
  });
  await t.step("exactly the limit is not cut", async () => {
    const { stdout, killed } = await sh("printf 12345", { maxOutputBytes: 5 });
    assertEquals([stdout, killed], ["12345", false]);
  });
  await t.step("in the middle of a character", async () => {
    const { stdout } = await sh("printf 'aé'; sleep 60", { maxOutputBytes: 2 });
    assertEquals(stdout, "a\n[output cut: more than 2 bytes]\n");
  });
  await t.step("51 MiB against the default of 50", async () => {
    const { stdout, code, killed } = await sh("head -c 53477376 /dev/zero | tr '\\0' x");
    const notice = "\n[output cut: more than 52428800 bytes]\n";
    assertEquals([stdout.length, stdout.slice(-notice.length)], [50 * 1024 * 1024 + notice.length, notice]);
    assert(killed && code !== 0);
  });
});

Deno.test("execCommand() needs little memory for many small writes (C5.4)", POSIX, async () => {
  const before = Deno.memoryUsage();
  const writes = 4_000;
  const { stdout } = await execCommand(Deno.execPath(), [
    "eval",
    `for (let i = 0; i < ${writes}; i++) { Deno.stdout.writeSync(new Uint8Array([120])); if (i % 50 === 0) await new Promise((r) => setTimeout(r, 1)); }`,
  ], Deno.cwd());
  const after = Deno.memoryUsage();
  assertEquals(stdout.length, writes);
  assertLess(after.external - before.external, 60 * 1024 * 1024);
});

Deno.test("execCommand() replaces bytes that are no UTF-8 (C5.1)", POSIX, async () => {
  assertEquals((await sh("printf 'a\\377b'")).stdout, "a\uFFFDb");
});

/** Runs a script that imports the library, in a process of its own. */
function host(script: string, flags: string[] = ["-A"]): Deno.ChildProcess {
  const library = new URL("../mod.ts", import.meta.url);
  const config = new URL("../deno.json", import.meta.url);
  const source = `const { execCommand, handleSignalsInHost } = await import(${
    JSON.stringify(library.href)
  });\n${script}`;
  const args = [
    "run",
    "--no-prompt",
    `--config=${config.pathname}`,
    ...flags,
    `data:text/javascript,${encodeURIComponent(source)}`,
  ];
  return new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
}

async function outputOf(
  child: Deno.ChildProcess,
): Promise<{ code: number; signal: string | null; out: string; err: string }> {
  const { code, signal, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, signal, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

Deno.test("execCommand() leaves no program behind when the host ends (C5.3)", POSIX, async (t) => {
  const program = (pids: string) =>
    `execCommand("sh", ["-c", "echo $$ >>${pids}; sleep 60 & echo $! >>${pids}; wait"], ".")`;
  const rows: [name: string, script: (pids: string) => string, end: Deno.Signal | undefined, expected: unknown][] = [
    ["by SIGINT", (pids) => `await ${program(pids)};`, "SIGINT", { signal: "SIGINT", code: 130 }],
    ["by SIGTERM", (pids) => `await ${program(pids)};`, "SIGTERM", { signal: "SIGTERM", code: 143 }],
    ["by SIGHUP", (pids) => `await ${program(pids)};`, "SIGHUP", { signal: "SIGHUP", code: 129 }],
    [
      "by SIGTERM, with a program that ignores it",
      (pids) =>
        `await execCommand("sh", ["-c", "trap '' TERM; echo $$ >>${pids}; echo $$ >>${pids}; while :; do sleep 0.1; done"], ".");`,
      "SIGTERM",
      { signal: "SIGTERM", code: 143 },
    ],
    ["by Deno.exit", (pids) => `${program(pids)}; ${whenBegun(pids)} Deno.exit(5);`, undefined, {
      signal: null,
      code: 5,
    }],
    [
      "by an error that nobody handles",
      (pids) => `${program(pids)}; ${whenBegun(pids)} setTimeout(() => { throw new Error("lost"); });`,
      undefined,
      { signal: null, code: 1 },
    ],
    [
      "by a rejection that nobody handles",
      (pids) => `${program(pids)}; ${whenBegun(pids)} setTimeout(() => Promise.reject(new Error("lost")));`,
      undefined,
      { signal: null, code: 1 },
    ],
  ];
  function whenBegun(pids: string): string {
    return `while ((await Deno.readTextFile(${
      JSON.stringify(pids)
    }).catch(() => "")).split("\\n").length < 3) await new Promise((r) => setTimeout(r, 20));`;
  }
  for (const [name, script, end, expected] of rows) {
    await t.step(name, () =>
      withFolder(async (folder) => {
        const pids = join(folder, "pids");
        const child = host(script(pids));
        const output = outputOf(child);
        await until("the program has begun", async () => (await readPids(pids)).length === 2);
        if (end !== undefined) child.kill(end);
        const { signal, code, err } = await output;
        assertEquals({ signal, code }, expected as { signal: string | null; code: number }, err);
        for (const pid of await readPids(pids)) await until(`${pid} is gone`, async () => !(await lives(pid)));
      }));
  }
});

Deno.test("execCommand() leaves signals to a host that handles them (C5.3)", POSIX, async () => {
  await withFolder(async (folder) => {
    const child = host(`
      handleSignalsInHost();
      const controller = new AbortController();
      Deno.addSignalListener("SIGTERM", () => controller.abort());
      const { code, killed } = await execCommand("sh", ["-c", "touch ${folder}/begun; sleep 60"], ".", { signal: controller.signal });
      console.log(JSON.stringify({ code, killed }));
      Deno.exit(0);`);
    const output = outputOf(child);
    await until("the program has begun", () => existsSync(`${folder}/begun`));
    child.kill("SIGTERM");
    assertEquals(await output, { code: 0, signal: null, out: '{"code":143,"killed":true}\n', err: "" });
  });
});

Deno.test("execCommand() works for a second time after a signal that the host outlived (C5.3)", POSIX, async () => {
  await withFolder(async (folder) => {
    const child = host(`
      let heard = 0;
      Deno.addSignalListener("SIGTERM", () => heard++);
      const { killed } = await execCommand("sh", ["-c", "touch ${folder}/begun; sleep 60"], ".");
      const { stdout } = await execCommand("echo", ["still here"], ".");
      console.log(killed, heard > 0, stdout.trim());
      Deno.exit(0);`);
    const output = outputOf(child);
    await until("the program has begun", () => existsSync(`${folder}/begun`));
    child.kill("SIGTERM");
    assertEquals((await output).out, "true true still here\n");
  });
});

Deno.test("execCommand() ends the whole process tree where environments cannot be seen (C5.3)", POSIX, async () => {
  await withFolder(async (folder) => {
    const pids = join(folder, "pids");
    const script =
      `trap "" TERM; (sh -c 'echo $$ >>${pids}; sleep 60' &); sh -c 'echo $$ >>${pids}; sleep 60' & sleep 60`;
    const child = host(
      `const controller = new AbortController();
       const running = execCommand("sh", ["-c", ${JSON.stringify(script)}], ".", { signal: controller.signal });
       while ((await Deno.readTextFile("${pids}").catch(() => "")).split("\\n").length < 3) await new Promise((r) => setTimeout(r, 20));
       controller.abort();
       console.log(JSON.stringify(await running));`,
      ["--allow-run", "--allow-read"],
    );
    const { out, err } = await outputOf(child);
    assertEquals([JSON.parse(out || "{}").killed, err], [true, ""]);
    for (const pid of await readPids(pids)) await until(`${pid} is gone`, async () => !(await lives(pid)));
  });
});

Deno.test("execCommand() asks for no more permissions than the program's own (C5.2)", POSIX, async (t) => {
  await t.step("--allow-run=sh is enough to run and to end it", async () => {
    const { out, err } = await outputOf(host(
      `const { code, killed } = await execCommand("sh", ["-c", "exec sleep 60"], ".", { timeout: 100 });
       console.log(code, killed);`,
      ["--allow-run=sh", "--allow-read"],
    ));
    assertEquals([out, err], ["143 true\n", ""]);
  });
  await t.step("a program that is not granted", async () => {
    const { out } = await outputOf(host(
      `try { await execCommand("ls", [], "."); } catch (error) { console.log(error.name, error.message); }`,
      ["--allow-run=sh", "--allow-read"],
    ));
    assertMatch(out, /^ExecError Cannot run "ls": it is not permitted; grant it with --allow-run=ls\n$/);
  });
});
