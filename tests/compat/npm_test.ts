import { assert, assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { loadHooks } from "@xcsh/hooks";
import { plainTheme } from "@xcsh/hooks";
import { giveTo } from "../../src/compat/from_npm.ts";
import { packageNeeds } from "../../src/compat/needs.ts";
import { usePackage } from "../../src/compat/npm.ts";
import { PACKAGES } from "../../src/compat/packages.ts";
import { digestOf, DIGESTS, graphOf, packageFiles } from "../../src/isolation/package_files.ts";
import { Folder } from "../cli/program.ts";

const ROOT = fromFileUrl(new URL("../..", import.meta.url));
const NEEDS_EDITOR = `import { Text } from "@mariozechner/pi-tui";
import { Editor } from "@mariozechner/pi-tui";
export default (pi) => {
  pi.on("tool_call", () => ({ block: true, reason: new Text("x", 0, 0).render(1) + typeof new Editor({}, {}) }));
};
`;
const GATE = `import { TUI_KEYBINDINGS } from "@mariozechner/pi-tui";
const count = Object.keys(TUI_KEYBINDINGS).length;
export default (pi) => pi.on("tool_call", () => ({ block: true, reason: "closed, as it is written: " + (count > 9) }));
`;

/** Loads hooks in a program of its own, calls a tool behind them, and prints what came of it as a line of JSON. */
const PROGRAM = `
import { HookRunner, HookToolWrapper, loadHooks } from "@xcsh/hooks";
import { SessionManager } from "@xcsh/hooks/session";
const [mode, ...paths] = Deno.args;
const options = mode === "isolated" ? { permissions: {} } : {};
const { hooks, errors } = await loadHooks(paths, Deno.cwd(), options);
const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
const runner = new HookRunner(hooks, Deno.cwd(), SessionManager.inMemory(), models);
let answer = "ran";
const tool = { name: "bash", execute: () => Promise.resolve({ content: [] }) };
await new HookToolWrapper(tool, runner).execute("1", {}).catch((error) => answer = error.message);
await runner.dispose();
console.log(JSON.stringify({ errors: errors.map(({ error }) => error), answer }));
`;

interface Outcome {
  errors: string[];
  answer: string;
}

async function loadElsewhere(
  folder: Folder,
  mode: string,
  hook: string,
  env: Record<string, string>,
  flags: string[] = [],
) {
  const program = folder.write("program.ts", PROGRAM);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--config", join(ROOT, "deno.json"), ...flags, program, mode, hook],
    cwd: folder.path,
    env,
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert(text.startsWith("{"), new TextDecoder().decode(stderr));
  return JSON.parse(text) as Outcome;
}

for (const mode of ["in process", "isolated"]) {
  Deno.test(`a package that cannot be fetched is a load error with file, line, name and what to do, ${mode}`, async () => {
    await using folder = new Folder();
    const hook = folder.write("hooks/editor.ts", NEEDS_EDITOR);
    const port = await closedPort();
    const env = {
      NPM_CONFIG_REGISTRY: `http://127.0.0.1:${port}`,
      DENO_DIR: join(folder.path, "deno"),
      XDG_CACHE_HOME: join(folder.path, "cache"),
    };
    const { errors, answer } = await loadElsewhere(folder, mode, hook, env, ["--node-modules-dir=none"]);
    assertEquals([errors.length, answer], [1, "ran"]);
    assertMatch(errors[0]!, /^Failed to load hook: it needs "Editor" of "@mariozechner\/pi-tui" \(.*editor\.ts:2\)/);
    assertMatch(
      errors[0]!,
      /could not be fetched: .*; where npm can be reached, run: deno cache npm:@mariozechner\/pi-tui@/,
    );
  });
}

async function closedPort(): Promise<number> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return await Promise.resolve(port);
}

Deno.test("a hook without such names needs no package, and loads where none can be fetched", async () => {
  await using folder = new Folder();
  const text = NEEDS_EDITOR.replace(/import \{ Editor.*\n/, "").replace("new Editor({}, {})", "1");
  const hook = folder.write("hooks/text.ts", text);
  const env = { DENO_DIR: join(folder.path, "deno"), NPM_CONFIG_REGISTRY: `http://127.0.0.1:${await closedPort()}` };
  const outcome = await loadElsewhere(folder, "in process", hook, env, ["--node-modules-dir=none"]);
  assertEquals(outcome, { errors: [], answer: "xnumber" });
});

Deno.test("what somebody planted among the laid modules is not what a hook gets", async () => {
  await using folder = new Folder();
  const hook = folder.write("hooks/gate.ts", GATE);
  const cache = join(folder.path, "cache");
  const env = { XDG_CACHE_HOME: cache };
  const expected = { errors: [], answer: "closed, as it is written: true" };
  assertEquals(await loadElsewhere(folder, "isolated", hook, env), expected);
  const planted: string[] = [];
  for (const path of filesBelow(cache)) {
    if (!/npm[/\\]@mariozechner.*keybindings\.js$|npm_now\.ts$/.test(path)) continue;
    Deno.writeTextFileSync(path, "export const TUI_KEYBINDINGS = {}; Deno.exit(7);\n");
    planted.push(path);
  }
  assertEquals(planted.length, 2);
  assertEquals(await loadElsewhere(folder, "isolated", hook, env), expected);
  for (const path of planted) assertEquals(Deno.readTextFileSync(path).includes("Deno.exit"), false);
});

function filesBelow(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder)).flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(join(folder, name)) : join(folder, name)
  );
}

Deno.test("a package that is not what it was when it was pinned has another digest", async () => {
  const graph = await graphOf("pi_tui", PACKAGES.pi_tui);
  assertEquals(await digestOf(graph), DIGESTS.pi_tui);
  const texts = { ...graph.texts, [graph.entry]: `${graph.texts[graph.entry]}\n` };
  assertEquals(await digestOf({ ...graph, texts }) === DIGESTS.pi_tui, false);
  assertEquals(await digestOf({ ...graph, texts: { ...graph.texts, "npm/more.js": "" } }) === DIGESTS.pi_tui, false);
});

Deno.test("modules are laid with imports that lead to what is laid, or to Deno's own", async () => {
  await using folder = new Folder();
  const hook = folder.write(
    "all.ts",
    'import "@mariozechner/pi-tui"; import "typebox/compile"; import "@sinclair/typebox/value";',
  );
  const texts = await packageFiles(new Set(["pi_tui", "typebox", "sinclair_typebox"] as const), [hook]);
  for (const [name, text] of Object.entries(texts)) {
    if (!name.startsWith("npm/")) continue;
    for (const [, specifier] of text.matchAll(/^(?:import|export)\b[^;"'`]*?from\s*["']([^"']+)["']/gm)) {
      const isLaid = Object.hasOwn(texts, new URL(specifier!, `file:///${name}`).pathname.slice(1));
      assert(specifier!.startsWith("node:") || isLaid, `${name} imports ${specifier}`);
    }
  }
});

Deno.test("packageNeeds() tells values from types", async (t) => {
  const rows: [text: string, name: string | undefined][] = [
    ['import { Editor } from "@mariozechner/pi-tui"; new Editor();', "Editor"],
    ['import { type Editor } from "@mariozechner/pi-tui"; let x: Editor;', undefined],
    ['import type { Editor } from "@mariozechner/pi-tui"; let x: Editor;', undefined],
    ['import { Editor } from "@mariozechner/pi-tui"; let x: Editor; f<Editor>(y as Editor);', undefined],
    ['import { Editor as E } from "@mariozechner/pi-tui"; class X extends E {}', "Editor"],
    ['import { Component } from "@mariozechner/pi-tui"; interface X extends Component {}', undefined],
    ['import { Editor } from "@mariozechner/pi-tui"; // new Editor()\nconst text = "new Editor()";', undefined],
    ['import { Editor, Text } from "@mariozechner/pi-tui"; f(Text, Editor);', "Editor"],
    ['import { Editor } from "@mariozechner/pi-tui"; const make = Editor;', "Editor"],
    ['import { Editor } from "@mariozechner/pi-tui"; type Make = Editor;', undefined],
    ['import { Editor } from "@mariozechner/pi-tui"; x instanceof Editor;', "Editor"],
    ['export { Editor } from "@mariozechner/pi-tui";', "Editor"],
    ['import * as tui from "@mariozechner/pi-tui"; const x: tui.Editor = y; new tui.Text();', undefined],
    ['import * as tui from "@mariozechner/pi-tui"; new tui.Editor();', "Editor"],
    ['const { Text, Editor: E } = await import("@mariozechner/pi-tui");', "Editor"],
    ['let x: import("@mariozechner/pi-tui").Editor;', undefined],
    ['(await import("@mariozechner/pi-tui")).Editor;', "Editor"],
    ['import("@mariozechner/pi-tui").then(({ Editor }) => new Editor());', "Editor"],
    ['const tui = require("@mariozechner/pi-tui"); tui.Editor;', "Editor"],
    ['import { Type, Static } from "typebox"; type X = Static<typeof y>; Type.Object({});', undefined],
    ['import { Type } from "typebox"; Type.Object({ x: Type.Refine(y) });', "Type.Refine"],
    ['import { Type as T } from "typebox"; const x: T.TNever = y;', undefined],
    ['import Type from "typebox"; Type.Refine(x);', "default.Refine"],
    ['import { Value } from "typebox/value"; Value.Repair(x);', "Value.Repair"],
    ['import { Key } from "@mariozechner/pi-tui"; Key.escape; Key.ctrl("c");', undefined],
  ];
  await using folder = new Folder();
  for (const [i, [text, name]] of rows.entries()) {
    await t.step(text, async () => {
      const needs = [...(await packageNeeds([folder.write(`${i}.ts`, text)])).values()];
      assertEquals(needs.map((need) => need.name), name === undefined ? [] : [name]);
    });
  }
});

Deno.test("a hook gets a package whole, also where it shares a module with one that does not need it", async () => {
  await using folder = new Folder({ "shared.ts": 'export { Text } from "@mariozechner/pi-tui";\n' });
  const write = (name: string, more: string) =>
    folder.write(
      name,
      `import { Text as Shared } from "./shared.ts"; import { Text${more} } from "@mariozechner/pi-tui";
export default (pi) => pi.registerMessageRenderer("x", () => new Text(String(Shared === Text)${more}));\n`,
    );
  const without = write("a.ts", "");
  const needing = write("b.ts", ", TUI_KEYBINDINGS");
  for (const path of [without, needing]) {
    const { hooks, errors } = await loadHooks([path], folder.path);
    assertEquals(errors, []);
    const message = { role: "custom" as const, customType: "x", content: "", display: true, timestamp: 0 };
    const drawn = hooks[0]!.messageRenderers.get("x")!(message, { expanded: false }, plainTheme)!.render(8);
    assertEquals(drawn.join("").trim(), "true", path);
  }
});

Deno.test("giveTo() gives the files that hooks share the packages of both", () => {
  assertEquals(giveTo(["file:///a.ts", "file:///both.ts"], new Set(["pi_tui"] as const)).anew, false);
  const { packages, anew } = giveTo(["file:///b.ts", "file:///both.ts"], new Set(["typebox"] as const));
  assertEquals([[...packages].sort(), anew], [["pi_tui", "typebox"], true]);
});

// The last of this file: what it does counts for all hooks that are loaded later.
Deno.test("usePackage() has hooks draw with the very module that the host draws with", async () => {
  await using folder = new Folder();
  const hook = folder.write(
    "text.ts",
    'import { Text } from "@earendil-works/pi-tui";\nexport default (pi) => pi.registerMessageRenderer("x", () => new Text("x"));\n',
  );
  const { Text } = await usePackage("pi_tui") as { Text: new () => unknown };
  const { hooks, errors } = await loadHooks([hook], folder.path);
  assertEquals(errors, []);
  const message = { role: "custom" as const, customType: "x", content: "", display: true, timestamp: 0 };
  assert(hooks[0]!.messageRenderers.get("x")!(message, { expanded: false }, plainTheme) instanceof Text);
});
