import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { moduleFiles, programFiles } from "../../src/trust/graph.ts";
import { importsOf } from "../../src/trust/imports.ts";
import { Project } from "../discovery/_project.ts";

async function modules(source: string, name = "hook.ts"): Promise<string[]> {
  return (await importsOf(source, name)).modules.sort();
}

Deno.test("importsOf() finds every form of import, wherever it hides", async () => {
  const found: Array<[string, string[], string?]> = [
    ['import "./a.ts"', ["./a.ts"]],
    ['import a, { b as c } from "./a.ts"; import * as d from\n/* x */ "./b.ts"', ["./a.ts", "./b.ts"]],
    ['export * from "./a.ts"; export { x } from "./b.ts"; export * as y from "./c.ts"', ["./a.ts", "./b.ts", "./c.ts"]],
    ['import j from "./a.json" with { type: "json" }; import t from "./b.md" with { type: "text" }', [
      "./a.json",
      "./b.md",
    ]],
    ["await import('./a.ts'); import(`./b.ts`); import('./c' + '.ts')", ["./a.ts", "./b.ts", "./c.ts"]],
    ['import("./a.json", { with: { type: "json" } })', ["./a.json"]],
    ['import { type T } from "./a.ts"; import b, { type U } from "./b.ts"', ["./a.ts", "./b.ts"]],
    ['import type from "./a.ts"; import type, { X } from "./b.ts"', ["./a.ts", "./b.ts"]],
    ['import fs = require("./a.cjs"); export import q = require("./b.cjs")', ["./a.cjs", "./b.cjs"]],
    ['const x = require("./a.cjs"); module.require("./b"); require.resolve("./c")', ["./a.cjs", "./b", "./c"], "h.cjs"],
    ['import { createRequire } from "node:module"; createRequire(import.meta.url)("./a.cjs")', [
      "./a.cjs",
      "node:module",
    ]],
    ['import.meta.resolve("./a.ts"); new Worker(import.meta.resolve("./b.ts"))', ["./a.ts", "./b.ts"]],
    [
      "/** @jsxImportSource ./evil */ export default () => <a/>",
      ["./evil/jsx-dev-runtime", "./evil/jsx-runtime"],
      "h.tsx",
    ],
    ['import "\\x2e/a.ts"; import("\\u{2e}/b.ts"); import(`\\x2e/c.ts`)', ["./a.ts", "./b.ts", "./c.ts"]],
    ['const r = /[/*]"/; import "./a.ts"; const s = a / b; import "./b.ts" //', ["./a.ts", "./b.ts"]],
    ['const t = `${`${await import("./a.ts")}`}`', ["./a.ts"]],
    ['class A { @dec(() => import("./a.ts")) static { void import("./b.ts"); } accessor x = import("./c.ts") }', [
      "./a.ts",
      "./b.ts",
      "./c.ts",
    ]],
    ['const f = <T,>(x: T) => x; enum E { A = 1 } namespace N { export const y = import("./a.ts"); }', ["./a.ts"]],
    ['function f(x = import("./a.ts")) {} ; ({ [await import("./b.ts")]: 1 })', ["./a.ts", "./b.ts"]],
    ['<string>(import("./a.ts") as unknown); (import("./b.ts"))!; using z = import("./c.ts")', [
      "./a.ts",
      "./b.ts",
      "./c.ts",
    ]],
    ['import source w from "./a.wasm"', ["./a.wasm"]],
    ['import defer * as d from "./a.ts"', ["./a.ts"]],
    ['<!-- import "./a.ts"\nimport("./b.ts")', ["./b.ts"], "h.cjs"],
    ["\ufeffimport './a.ts'", ["./a.ts"]],
    ["#!/usr/bin/env deno\nimport './a.ts'", ["./a.ts"]],
    [`${"(".repeat(300)}import("./a.ts")${")".repeat(300)}`, ["./a.ts"]],
  ];
  for (const [source, expected, name] of found) assertEquals(await modules(source, name), expected, source);
});

Deno.test("importsOf() leaves out what is never loaded", async () => {
  for (
    const source of [
      'import type { A } from "./a.ts"; import type B from "./b.ts"; import type * as c from "./c.ts"',
      'export type { A } from "./a.ts"; let x: import("./b.ts").B; type Y = typeof import("./c.ts")',
      'import type fs = require("./a.cjs")',
      '// import "./a.ts"\n/* import("./b.ts") */ const s = \'import "./c.ts"\'; const r = /import("d")/',
      "const t = `import './a.ts'`",
    ]
  ) assertEquals(await modules(source), [], source);
});

Deno.test("importsOf() tells what a list of files cannot cover", async () => {
  const { uncovered } = await importsOf(
    'import(name);\nrequire(x);\neval("1");\nnew Function("1");\nnew Worker(url);\nnew URL(n, import.meta.url);\nimport.meta.resolve(n);\nimport(`./${x}.ts`)',
    "hook.ts",
  );
  assertEquals(uncovered.sort(), [
    "line 1: an import whose module is computed",
    "line 2: an import whose module is computed",
    "line 3: `eval` runs text as code",
    "line 4: `Function` runs text as code",
    "line 5: a worker whose module is computed",
    "line 6: a file beside the hook whose name is computed",
    "line 7: a module whose name is computed",
    "line 8: an import whose module is computed",
  ]);
});

Deno.test("importsOf() refuses what it cannot parse", async () => {
  await assertRejects(() => importsOf("import {", "/p/hook.ts"), Error, "/p/hook.ts cannot be parsed");
});

Deno.test("moduleFiles() follows imports, and names that a module looks for beside itself", async () => {
  using project = new Project({
    "h/hook.ts":
      'import "../lib/a.js"; import "./dir"; import r from "./r.json?x=1#y" with { type: "json" };\nconst d = new URL("./d.txt", import.meta.url); Deno.readTextFileSync(join(import.meta.dirname!, "e.txt")); import("zod"); import "node:fs"; import "npm:x@1";',
    "lib/a.ts": 'export * from "./b";',
    "lib/b.mts": 'import "./missing.ts";',
    "h/dir/index.ts": "",
    "h/r.json": "{}",
    "h/d.txt": "",
    "h/e.txt": "",
    "h/other.txt": "",
  });
  const { files, externals, uncovered, faults } = await moduleFiles(project.path("h/hook.ts"));
  assertEquals([...files.keys()].map((path) => path.replace(`${project.cwd}/`, "")).sort(), [
    "h/d.txt",
    "h/dir/index.ts",
    "h/e.txt",
    "h/hook.ts",
    "h/r.json",
    "lib/a.ts",
    "lib/b.mts",
  ]);
  assertEquals(externals, ["node:fs", "npm:x@1", "zod"]);
  assertEquals(uncovered, ['../lib/b.mts imports "./missing.ts", which does not exist']);
  assertEquals(faults, []);
});

Deno.test("moduleFiles() refuses imports that would leave the approved bytes", async () => {
  for (
    const specifier of ["/etc/x.ts", "file:///etc/x.ts", "FILE:///etc/x.ts", "data:text/javascript,1", "//host/x.ts"]
  ) {
    using project = new Project({ "hook.ts": `import ${JSON.stringify(specifier)};` });
    const { faults } = await moduleFiles(project.path("hook.ts"));
    assertStringIncludes(faults.join(), "only relative imports can be approved", specifier);
  }
});

Deno.test("moduleFiles() reads nothing that could block or never end", async () => {
  using project = new Project({
    "hook.ts": 'import "./zero.ts"; new URL("./tty.txt", import.meta.url)',
  });
  Deno.symlinkSync("/dev/zero", project.path("zero.ts"));
  Deno.symlinkSync("/dev/tty", project.path("tty.txt"));
  const { files, uncovered } = await moduleFiles(project.path("hook.ts"));
  assertEquals(files.size, 1);
  assertEquals(uncovered.length, 2);
});

Deno.test("programFiles() follows the programs that scripts and commands name", async () => {
  using project = new Project({
    ".claude/hooks/check.sh":
      '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\npython3 "$CLAUDE_PROJECT_DIR/tools/x.py"\ncat README.md\n',
    ".claude/hooks/lib.sh": "node ./y.mjs",
    ".claude/hooks/y.mjs": 'import "./z.mjs";',
    ".claude/hooks/z.mjs": "",
    "tools/x.py": "",
    "README.md": "",
  });
  const options = { bases: [project.cwd], within: [project.cwd] };
  const names = async (command: string) =>
    [...(await programFiles({ command, ...options })).files.keys()].map((path) => path.replace(`${project.cwd}/`, ""))
      .sort();
  const all = [
    ".claude/hooks/check.sh",
    ".claude/hooks/lib.sh",
    ".claude/hooks/y.mjs",
    ".claude/hooks/z.mjs",
    "tools/x.py",
  ];
  assertEquals(await names('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh --now'), all);
  assertEquals(await names("${CLAUDE_PROJECT_DIR}/.claude/hooks/check.sh"), all);
  assertEquals(await names(`sh ${join(project.cwd, ".claude/hooks/check.sh")}`), all);
  assertEquals(await names("npm test && cat README.md"), []);
  assertEquals(await names("cd .claude/hooks && ./lib.sh"), all.slice(1, 4));
  assertEquals(await names("PATH=./tools:$PATH python3 tools/x.py"), ["tools/x.py"]);
  project.write(".claude/my hooks/ünï.sh", "");
  project.write("pkg/index.mjs", "");
  const odd = [".claude/my hooks/ünï.sh"];
  assertEquals(await names('"$CLAUDE_PROJECT_DIR/.claude/my hooks/ünï.sh"'), odd);
  assertEquals(await names("$CLAUDE_PROJECT_DIR/.claude/my\\ hooks/ünï.sh"), odd);
  assertEquals(await names("node --import=./pkg"), ["pkg/index.mjs"]);
});
