import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { hookModules } from "../../src/compat/modules.ts";
import { bunUse, codeOf, commonJsNames } from "../../src/compat/source.ts";

Deno.test("hookModules() is not held up by a text that was made for it", async (t) => {
  const folder = await Deno.makeTempDir();
  const pieces = [
    "/*",
    "import type ",
    "{ typebox ",
    "const {",
    "=/[",
    "`${",
    'from "',
    'from "./nowhere";',
    '// from "@xcsh/none"\n',
    "from '\"",
    "import * as ",
    "require ( ",
    "/ ",
    '\\"',
    " ".repeat(50) + "/",
  ];
  try {
    for (const piece of pieces) {
      await t.step(JSON.stringify(piece), async () => {
        const path = join(folder, "hook.ts");
        await Deno.writeTextFile(path, `Bun; require; typebox;\n${piece.repeat(Math.ceil(2_000_000 / piece.length))}`);
        const start = performance.now();
        hookModules(path);
        assertEquals(performance.now() - start < 5_000, true, `${performance.now() - start} ms`);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("bunUse() finds code, and leaves comments, texts and guards alone", () => {
  const rows: [text: string, expected: string | undefined][] = [
    ["Bun.spawn([])", "Bun.spawn"],
    ["// Bun.spawn\n/* Bun.file */ const x = 'Bun.write';", undefined],
    ["const text = `Bun.file ${Bun.env.X}`;", "Bun.env"],
    ["if (typeof Bun !== 'undefined') Bun.gc();", undefined],
    ["const re = /Bun.spawn/;", undefined],
    ["x.Bun.spawn()", undefined],
    ["import { Database } from 'bun:sqlite';", "bun:sqlite"],
    ["const dir = import.meta.dir;", "import.meta.dir"],
    ["const dir = import.meta.dirname ?? import.meta.dir;", undefined],
  ];
  for (const [text, expected] of rows) assertEquals(bunUse(text)?.name, expected, text);
});

Deno.test("commonJsNames() gives the names that a module uses and does not define", () => {
  const rows: [text: string, expected: string[]][] = [
    ["const fs = require('fs');", ["require"]],
    ["import { createRequire } from 'module';\nconst require = createRequire(import.meta.url);\nrequire('fs');", []],
    ["const options = { require: true }; options.require;", []],
    ["const dir = __dirname + __filename;", ["__dirname", "__filename"]],
    ["const __dirname = import.meta.dirname; __dirname;", []],
    ["module.exports = () => {};", ["module"]],
    ["export default 1;\nmodule.exports = 1;", []],
    ["// require('x')", []],
  ];
  for (const [text, expected] of rows) assertEquals(commonJsNames(text), expected, text);
});

Deno.test("codeOf() keeps every character in its place", () => {
  const text = "const a = 'x'; // y\nconst b = `t ${a}`; /* z\n */ const c = /[/\"]/;\n";
  const code = codeOf(text);
  assertEquals(code.length, text.length);
  assertEquals(code, "const a =    ;     \nconst b =    ${a} ;     \n    const c =       ;\n");
});
