import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Folder, run } from "./program.ts";

const HOOKS = {
  "hooks/guard.ts": `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default (pi: HookAPI) => pi.on("tool_call", () => {});
`,
  "hooks/deep/index.ts": `import { HookAPI } from "@oh-my-pi/pi-coding-agent";
import { readFileSync } from "node:fs";
export default function (pi: HookAPI) {
  pi.on("session", async (event, context) => {
    readFileSync("./notes.md");
    await pi.exec("git", ["status", "--porcelain"]);
    await fetch("https://example.com/");
    process.env.HOME_TOWN;
    pi.registerProvider("x", {});
    context.ui.setEditorComponent(undefined);
  });
}
`,
  "hooks/bun.ts": `export default function (pi) {
  pi.on("turn_end", () => Bun.spawn(["ls"]));
}
`,
  "hooks/helper.ts": "export const help = 1;\n",
  "hooks/guard_test.ts": "export default 1;\n",
  "hooks/node_modules/x/index.js": "export default 1;\n",
};

Deno.test("import says of each hook of a folder whether it loads, what it lacks and what it needs", async () => {
  await using folder = new Folder(HOOKS);
  const { code, stdout } = await run(["import", "hooks", "--json"], { cwd: folder.path });
  const { hooks, summary } = JSON.parse(stdout);
  assertEquals([code, summary], [1, { loads: 1, loadsWithWarnings: 1, cannot: 1 }]);
  const [bun, deep, guard] = hooks;
  assertEquals([bun.verdict, deep.verdict, guard.verdict], ["cannot", "loads with warnings", "loads"]);
  assertMatch(bun.errors.join(), /bun\.ts:2: uses Bun\.spawn, which only Bun has; in Deno it is pi\.exec/);
  assertEquals(guard.registers.events, ["tool_call"]);
  assertMatch(deep.warnings.join(), /pi\.on\("session"\) is an older form, and works; write pi\.on\("session_start"\)/);
  assertEquals(deep.lacks.map(({ name, line }: { name: string; line: number }) => [name, line]), [
    ["pi.registerProvider", 9],
    ["ctx.ui.setEditorComponent", 10],
  ]);
  assertEquals(deep.needs, {
    env: ["HOME_TOWN"],
    exec: ["git status --porcelain"],
    net: ["example.com"],
    read: ["./notes.md"],
  });
});

Deno.test("import says it to people as well, with the flags to grant", async () => {
  await using folder = new Folder(HOOKS);
  const { code, stdout } = await run(["import", "hooks/deep/index.ts"], { cwd: folder.path });
  assertEquals(code, 0);
  for (
    const text of [
      "hooks/deep/index.ts  loads with warnings",
      "lacks: pi.registerProvider, at hooks/deep/index.ts:9",
      "--allow-read=./notes.md",
      "--allow-exec='git status --porcelain'",
      "1 hook: 0 without a warning, 1 with warnings, 0 cannot be loaded",
    ]
  ) assertStringIncludes(stdout, text);
});

Deno.test("import says what to do about a hook that needs grants to be loaded, and takes them", async () => {
  await using folder = new Folder({
    "config.json": '{ "branch": "main" }',
    "guard.ts": `import { readFileSync } from "node:fs";
import config from "./config.json";
export default (pi) => pi.on("tool_call", (event) => void readFileSync(event.input.path + config.branch));
`,
  });
  const { stdout } = await run(["import", "guard.ts"], { cwd: folder.path });
  for (
    const text of [
      "it was not loaded to the end; import it again with what it needs",
      "needs     --allow-read=./config.json",
      "and       read, of what its code names only while it runs; to see it: xcsh-hooks permissions record guard.ts",
    ]
  ) assertStringIncludes(stdout, text);
  const granted = await run(["import", "guard.ts", "--allow-read=config.json"], { cwd: folder.path });
  assertStringIncludes(granted.stdout, "guard.ts  loads\n");
});

Deno.test("import of nothing says what is wrong", async () => {
  await using folder = new Folder({ "empty/x.ts": "export const x = 1;\n" });
  const missing = await run(["import", "nowhere.ts"], { cwd: folder.path });
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "nowhere.ts: there is no such file");
  const empty = await run(["import", "empty"], { cwd: folder.path });
  assertEquals(empty.code, 2);
  assertStringIncludes(empty.stderr, "no file in it has a default export");
});
