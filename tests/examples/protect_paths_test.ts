import { assertEquals } from "@std/assert";
import { testHook } from "@xcsh/hooks/testing";
import protectPaths from "../../examples/hooks/protect_paths.ts";
import { assertNoHookErrors, realSession, toolEnds } from "./real_session.ts";

Deno.test("protect_paths knows which files may be read and changed", async () => {
  const t = await testHook(protectPaths, { cwd: "/proj" });
  const blocks = async (toolName: string, input: Record<string, unknown>) =>
    (await t.fire("tool_call", { toolName, input }))?.block ?? false;
  for (
    const path of [
      ".env",
      "./.env",
      "src/../.env",
      "/proj/.env",
      "@.env",
      "app/.env.local",
      "/home/ann/.ssh/config",
      "~/.aws/credentials",
      "../other/.env",
      "key.pem",
      ".npmrc",
    ]
  ) {
    assertEquals([path, await blocks("read", { path }), await blocks("write", { path })], [path, true, true]);
  }
  for (const path of [".git/config", "node_modules/a/index.js", "package-lock.json", "sub/deno.lock"]) {
    assertEquals([path, await blocks("read", { path }), await blocks("edit", { path })], [path, false, true]);
  }
  for (const path of [".env.example", "src/env.ts", ".gitignore", "environment", "keys.ts"]) {
    assertEquals([path, await blocks("write", { path })], [path, false]);
  }
  assertEquals(await blocks("edit", { file_path: ".env" }), true);
  assertEquals(await blocks("grep", { pattern: "x" }), false);
});

Deno.test("protect_paths looks for secrets in bash commands", async () => {
  const t = await testHook(protectPaths, { cwd: "/proj" });
  const blocks = async (command: string) => (await t.fire("tool_call", { input: { command } }))?.block ?? false;
  for (
    const command of ["cat .env", "cat <.env", 'cat "./.env"', "cp ~/.ssh/id_rsa .", "X=.env; cat $X", "(cat .env)"]
  ) {
    assertEquals([command, await blocks(command)], [command, true]);
  }
  for (const command of ["ls", "cat .env.example", "git status", "env", "echo environment"]) {
    assertEquals([command, await blocks(command)], [command, false]);
  }
});

Deno.test("protect_paths keeps the tools of a real session away", async () => {
  const turns = [{
    toolCalls: [
      { name: "read", arguments: { path: ".env" } },
      { name: "write", arguments: { path: "deno.lock", content: "{}" } },
      { name: "read", arguments: { path: "deno.lock" } },
    ],
  }];
  await using real = await realSession("protect_paths", turns, { ".env": "A=1", "deno.lock": "kept" });
  await real.session.prompt("look");
  const ends = toolEnds(real.events);
  assertEquals(ends.map(({ blocked }) => blocked), [true, true, false]);
  assertEquals(await Deno.readTextFile(`${real.cwd}/deno.lock`), "kept");
  assertNoHookErrors(real.events);
});
