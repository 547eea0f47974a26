import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { until, withFolder } from "../session/support.ts";
import { runTool } from "./support.ts";

Deno.test("bash gives back both streams in their order", () =>
  withFolder(async (folder) => {
    const { text, result } = await runTool(folder, "bash", { command: "echo a; echo b >&2; echo c; pwd" });
    assertEquals(text, `a\nb\nc\n${folder}`);
    assertEquals(result.details, { exitCode: 0, truncated: false });
  }));

Deno.test("bash fails with the output and the code of a command that fails", () =>
  withFolder(async (folder) => {
    const error = await assertRejects(() => runTool(folder, "bash", { command: "echo why; exit 3" }), Error);
    assertEquals(error.message, "why\n\nThe command ended with code 3");
  }));

Deno.test("bash ends a command whose time is up", () =>
  withFolder(async (folder) => {
    const run = () => runTool(folder, "bash", { command: "echo begun; sleep 60", timeout: 0.2 });
    const error = await assertRejects(run, Error);
    assertEquals(error.message, "begun\n\nThe command was ended after 0.2 s");
  }));

Deno.test("bash ends the whole process tree when it is aborted", () =>
  withFolder(async (folder) => {
    const controller = new AbortController();
    const command = "sh -c 'echo $$ > pid; sleep 60 & wait' & wait";
    const running = runTool(folder, "bash", { command }, controller.signal);
    const pid = () => Number(Deno.readTextFileSync(`${folder}/pid`).trim());
    await until("the grandchild runs", () => {
      try {
        return pid() > 0;
      } catch {
        return false;
      }
    });
    controller.abort();
    await assertRejects(() => running, Error, "The command was aborted");
    await until("the grandchild is gone", async () => {
      const state = await Deno.readTextFile(`/proc/${pid()}/stat`).catch(() => "gone");
      return state === "gone" || state.includes(") Z ");
    });
  }));

Deno.test("bash keeps the end of long output and says so", () =>
  withFolder(async (folder) => {
    const { text } = await runTool(folder, "bash", { command: "seq 1 5000" });
    const lines = text.split("\n");
    assertStringIncludes(lines[0]!, "characters before this were left out");
    assertEquals([lines[1], lines.at(-1), lines.length], ["3001", "5000", 2001]);
    const long = await runTool(folder, "bash", { command: "head -c 200000 /dev/zero | tr '\\0' x" });
    assert(long.text.length < 51_000);
  }));

Deno.test("read gives back lines from an offset, and says how to go on", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.txt`, "one\ntwo\nthree\nfour\n");
    assertEquals((await runTool(folder, "read", { path: "a.txt" })).text, "one\ntwo\nthree\nfour");
    const { text, result } = await runTool(folder, "read", { path: `${folder}/a.txt`, offset: 2, limit: 2 });
    assertEquals(text, "two\nthree\n\n[Lines 2 to 3; the file goes on: use offset 4]");
    assertEquals(result.details, { path: `${folder}/a.txt`, firstLine: 2, lastLine: 3, truncated: true });
    await assertRejects(
      () => runTool(folder, "read", { path: "a.txt", offset: 9 }),
      Error,
      "has 4 lines, so none at offset 9",
    );
  }));

Deno.test("read bounds files of many lines and lines of many characters", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/many.txt`, "line\n".repeat(100_000));
    const many = await runTool(folder, "read", { path: "many.txt" });
    assertStringIncludes(many.text, "[Lines 1 to 2000; the file goes on: use offset 2001]");
    await Deno.writeTextFile(`${folder}/long.txt`, "x".repeat(1_000_000));
    const long = await runTool(folder, "read", { path: "long.txt" });
    assertStringIncludes(long.text, "[Line 1 is longer than 50000 characters and was cut]");
    assert(long.text.length < 51_000);
  }));

Deno.test("read gives back an empty file, and refuses what is no text", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/empty`, "");
    assertEquals((await runTool(folder, "read", { path: "empty" })).text, "");
    await Deno.writeFile(`${folder}/binary`, new Uint8Array([1, 0, 2]));
    await assertRejects(() => runTool(folder, "read", { path: "binary" }), Error, "is a binary file (3 bytes)");
    await assertRejects(() => runTool(folder, "read", { path: "." }), Error, "folder");
    await assertRejects(() => runTool(folder, "read", { path: "none" }), Error, `There is no file ${folder}/none`);
  }));

Deno.test("read gives back a picture as an image", () =>
  withFolder(async (folder) => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 1]);
    await Deno.writeFile(`${folder}/a.png`, png);
    const { result } = await runTool(folder, "read", { path: "a.png" });
    assertEquals(result.content[1], { type: "image", data: "iVBORw0KGgoAAQ==", mimeType: "image/png" });
  }));

Deno.test("write makes folders and replaces what was there", () =>
  withFolder(async (folder) => {
    await runTool(folder, "write", { path: "a/b/c.txt", content: "one" });
    await runTool(folder, "write", { path: "a/b/c.txt", content: "zwei" });
    assertEquals(await Deno.readTextFile(`${folder}/a/b/c.txt`), "zwei");
    await assertRejects(
      () => runTool(folder, "write", { path: "a", content: "x" }),
      Error,
      `${folder}/a cannot be written`,
    );
  }));

Deno.test("edit replaces a text that stands exactly once", () =>
  withFolder(async (folder) => {
    const file = `${folder}/a.txt`;
    await Deno.writeTextFile(file, "one\ntwo $& two\nthree\n");
    const { result } = await runTool(folder, "edit", { path: "a.txt", oldText: "three", newText: "$1 3" });
    assertEquals(await Deno.readTextFile(file), "one\ntwo $& two\n$1 3\n");
    assertEquals(result.details, { path: file, line: 3 });
    const edit = (oldText: string, newText = "x") => () => runTool(folder, "edit", { path: "a.txt", oldText, newText });
    await assertRejects(edit("two"), Error, "stands 2 times");
    await assertRejects(edit("four"), Error, "does not stand in");
    await assertRejects(edit(""), Error, "oldText is empty");
    await assertRejects(edit("one", "one"), Error, "are the same");
  }));

Deno.test("edit keeps CRLF line ends and a byte order mark, and refuses bytes that are no text", () =>
  withFolder(async (folder) => {
    const file = `${folder}/a.txt`;
    await Deno.writeTextFile(file, "\uFEFFone\r\ntwo\r\nthree\r\n");
    await runTool(folder, "edit", { path: "a.txt", oldText: "one\ntwo", newText: "1\n2" });
    assertEquals(await Deno.readTextFile(file), "\uFEFF1\r\n2\r\nthree\r\n");
    await Deno.writeFile(file, new Uint8Array([0x61, 0xff, 0x62]));
    await assertRejects(
      () => runTool(folder, "edit", { path: "a.txt", oldText: "a", newText: "b" }),
      Error,
      "not UTF-8",
    );
  }));

Deno.test("grep lists matching lines and leaves out what nobody searches", () =>
  withFolder(async (folder) => {
    await runTool(folder, "write", { path: "src/a.ts", content: "const x = 1;\nconst y = 2;\n" });
    await runTool(folder, "write", { path: "node_modules/m/a.js", content: "const x" });
    await runTool(folder, "write", { path: ".git/x", content: "const x" });
    await runTool(folder, "write", { path: "out/a.js", content: "const x" });
    await runTool(folder, "write", { path: "src/keep.log", content: "const x" });
    await runTool(folder, "write", { path: "src/drop.log", content: "const x" });
    await runTool(folder, "write", { path: ".gitignore", content: "/out/\n*.log\n!keep.log\n# comment\n" });
    await Deno.writeFile(`${folder}/binary`, new Uint8Array([0, ...new TextEncoder().encode("const x")]));
    const { text, result } = await runTool(folder, "grep", { pattern: "const\\s+x" });
    assertEquals(text, "src/a.ts:1: const x = 1;\nsrc/keep.log:1: const x");
    assertEquals(result.details, { count: 2, truncated: false });
    assertEquals((await runTool(folder, "grep", { pattern: "y", path: "src/a.ts" })).text, "a.ts:2: const y = 2;");
    assertStringIncludes((await runTool(folder, "grep", { pattern: "nothing" })).text, "No line in");
    await assertRejects(() => runTool(folder, "grep", { pattern: "(" }), Error, "no regular expression");
    await assertRejects(
      () => runTool(folder, "grep", { pattern: "x", path: "none" }),
      Error,
      "There is no file or folder",
    );
  }));

Deno.test("grep is not hung by a catastrophic pattern", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.txt`, `${"a".repeat(5_000)}!\n${"x".repeat(5_000)}!\nfoo(bar) + baz;\n`);
    for (const pattern of ["^(a+)+$", "(x+x+)+y", "(a|aa)*q", "a*a*a*a*q"]) {
      const start = performance.now();
      assertStringIncludes((await runTool(folder, "grep", { pattern })).text, "No line in");
      assert(performance.now() - start < 5_000, pattern);
    }
    assertEquals(
      (await runTool(folder, "grep", { pattern: "\\w+\\(\\w+\\) \\+ .*;" })).text,
      "a.txt:3: foo(bar) + baz;",
    );
    await assertRejects(
      () => runTool(folder, "grep", { pattern: "(a)\\1(?=b)" }),
      Error,
      "cannot be matched in bounded time",
    );
  }));

Deno.test("grep and find bound what they list", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.txt`, "match\n".repeat(500));
    assertStringIncludes((await runTool(folder, "grep", { pattern: "match" })).text, "[Only the first 200 lines");
    await Deno.mkdir(`${folder}/many`);
    for (let i = 0; i < 1_001; i++) await Deno.writeTextFile(`${folder}/many/${i}.x`, "");
    const { result } = await runTool(folder, "find", { pattern: "*.x" });
    assertEquals(result.details, { count: 1_000, truncated: true });
  }));

Deno.test("find lists the files that match a glob", () =>
  withFolder(async (folder) => {
    for (const path of ["a.ts", "src/b.ts", "src/deep/c.ts", "src/d.js", "node_modules/e.ts"]) {
      await runTool(folder, "write", { path, content: "" });
    }
    assertEquals((await runTool(folder, "find", { pattern: "*.ts" })).text, "a.ts\nsrc/b.ts\nsrc/deep/c.ts");
    assertEquals((await runTool(folder, "find", { pattern: "src/*.ts" })).text, "src/b.ts");
    assertEquals(
      (await runTool(folder, "find", { pattern: "**/*.{ts,js}", path: "src" })).text,
      "b.ts\nd.js\ndeep/c.ts",
    );
    await assertRejects(() => runTool(folder, "find", { pattern: "*", path: "a.ts" }), Error, "is no folder");
  }));

Deno.test("every tool refuses to begin once it is aborted", () =>
  withFolder(async (folder) => {
    const calls: [string, Record<string, unknown>][] = [
      ["bash", { command: "touch x" }],
      ["read", { path: "x" }],
      ["write", { path: "x", content: "" }],
      ["edit", { path: "x", oldText: "a", newText: "b" }],
      ["grep", { pattern: "x" }],
      ["find", { pattern: "x" }],
    ];
    for (const [name, args] of calls) {
      await assertRejects(() => runTool(folder, name, args, AbortSignal.abort(new Error("stopped"))), Error, "stopped");
    }
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("bash says so when a command prints nothing", () =>
  withFolder(async (folder) => {
    const { text } = await runTool(folder, "bash", { command: "true" });
    assertEquals(text, "(no output)");
  }));
