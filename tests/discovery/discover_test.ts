import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import {
  createHookRegistry,
  discoverAndLoadHooks,
  type DiscoverHooksOptions,
  HookRunner,
  type TrustGate,
} from "../../mod.ts";
import { SessionManager } from "../../src/session/mod.ts";
import { hookNamed, Project } from "./_project.ts";

const everything: TrustGate = { check: () => ({ trusted: true }) };

async function load(project: Project, options: DiscoverHooksOptions = {}, configured: string[] = []) {
  const result = await discoverAndLoadHooks(configured, project.cwd, {
    registry: createHookRegistry(),
    home: project.home,
    trust: everything,
    ...options,
  });
  return { ...result, paths: result.hooks.map(({ path }) => path.replace(`${project.root}/`, "")) };
}

Deno.test("C2.6 discoverAndLoadHooks() loads the project before the person, pre before post, in name order", async () => {
  using project = new Project({
    "~/.xcsh/hooks/pre/bash.ts": hookNamed("user pre"),
    "~/.xcsh/agent/hooks/post/read.ts": hookNamed("agent post"),
    ".xcsh/hooks/post/z.ts": hookNamed("z"),
    ".xcsh/hooks/post/a.js": hookNamed("a"),
    ".xcsh/hooks/pre/write.mjs": hookNamed("write"),
    ".xcsh/hooks/guard.ts": hookNamed("guard"),
  });
  assertEquals((await load(project)).paths, [
    "project/.xcsh/hooks/pre/write.mjs",
    "project/.xcsh/hooks/post/a.js",
    "project/.xcsh/hooks/post/z.ts",
    "project/.xcsh/hooks/guard.ts",
    "home/.xcsh/agent/hooks/post/read.ts",
    "home/.xcsh/hooks/pre/bash.ts",
  ]);
});

Deno.test("C7.2 discoverAndLoadHooks() runs no hook of the project without an approval", async () => {
  using project = new Project({
    ".xcsh/hooks/pre/bash.ts": "globalThis.untrustedRan = true; export default () => {};",
    "~/.xcsh/hooks/pre/bash.ts": hookNamed("mine"),
  });
  const { hooks, candidates } = await discoverAndLoadHooks([], project.cwd, {
    registry: createHookRegistry(),
    home: project.home,
    trust: { check: () => ({ trusted: false, reason: "never seen" }) },
  });
  assertEquals("untrustedRan" in globalThis, false);
  // The person's hook of the same name is not hidden by one that may not run.
  assertEquals(hooks.map(({ path }) => path), [project.path("~/.xcsh/hooks/pre/bash.ts")]);
  assertEquals(candidates.map(({ state, reason }) => [state, reason]), [
    ["loaded", undefined],
    ["untrusted", "never seen"],
  ]);
});

Deno.test("C2.4 discoverAndLoadHooks() puts discovered hooks first and loads a file once", async () => {
  using project = new Project({
    ".xcsh/hooks/pre/bash.ts": hookNamed("found"),
    "named.ts": hookNamed("named"),
  });
  Deno.symlinkSync(project.path("named.ts"), project.path("twin.ts"));
  const configured = ["named.ts", "./twin.ts", ".xcsh/hooks/pre/bash.ts", "missing.ts", ""];
  const { paths, errors, candidates } = await load(project, {}, configured);
  assertEquals(paths, ["project/.xcsh/hooks/pre/bash.ts", "named.ts"]);
  assertEquals(errors.map(({ path }) => path), ["missing.ts", ""]);
  assertEquals(candidates.map(({ state }) => state), [
    "loaded",
    "loaded",
    "duplicate",
    "duplicate",
    "failed",
    "failed",
  ]);
  assertEquals(candidates[2]!.reason, "the same file as named.ts");
});

Deno.test("C2.4 a hook that the person named runs although it lies in the project's hook folder", async () => {
  using project = new Project({ ".xcsh/hooks/guard.ts": hookNamed("named") });
  const { hooks } = await discoverAndLoadHooks([".xcsh/hooks/guard.ts"], project.cwd, {
    registry: createHookRegistry(),
    home: project.home,
    trust: { check: () => ({ trusted: false, reason: "never seen" }) },
  });
  assertEquals(hooks.length, 1);
});

Deno.test("Q-2 a discovered name with Unicode spaces, newlines or URL characters loads", async () => {
  using project = new Project({
    ".xcsh/hooks/pre/a\u00a0b.ts": hookNamed("space"),
    ".xcsh/hooks/pre/c\nd.ts": hookNamed("newline"),
    ".xcsh/hooks/pre/e%20#?.ts": hookNamed("url"),
    ".xcsh/hooks/pre/@f.ts": hookNamed("at"),
  });
  const { hooks, errors } = await load(project);
  assertEquals(errors, []);
  assertEquals(hooks.length, 4);
});

Deno.test("C2.7 a shell script is found and is a load error that names the adapter", async () => {
  using project = new Project({ ".xcsh/hooks/pre/bash.sh": "#!/bin/sh\n" });
  const { errors, candidates } = await load(project);
  assertStringIncludes(errors[0]!.error, "--shell-hooks");
  assertEquals(candidates.map(({ state, kind, tool }) => [state, kind, tool]), [["failed", "script", "bash"]]);
});

Deno.test("C2.6 hidden files, companions, node_modules and folders of helpers are no hooks", async () => {
  using project = new Project({
    ".xcsh/hooks/pre/.hidden.ts": "",
    ".xcsh/hooks/pre/README.md": "",
    ".xcsh/hooks/pre/rules.json": "{}",
    ".xcsh/hooks/pre/types.d.ts": "",
    ".xcsh/hooks/pre/bash.ts~": "",
    ".xcsh/hooks/node_modules/x.ts": "",
    ".xcsh/hooks/pre/node_modules/x.ts": "",
    ".xcsh/hooks/lib/helper.ts": "",
    ".xcsh/hooks/run.sh": "",
  });
  assertEquals((await load(project)).candidates, []);
});

Deno.test("C2.6 .gitignore leaves hooks of the project out, and says so; it does not reach the person's", async () => {
  using project = new Project({
    ".git/HEAD": "",
    ".gitignore": "*.local.ts\n/.xcsh/hooks/pre/gone.ts\n!kept.local.ts\n.xcsh/\nguard.ts\n",
    ".xcsh/hooks/pre/a.local.ts": hookNamed("a"),
    ".xcsh/hooks/pre/kept.local.ts": hookNamed("kept"),
    ".xcsh/hooks/pre/gone.ts": hookNamed("gone"),
    "~/.xcsh/hooks/guard.ts": hookNamed("guard"),
    "~/.xcsh/hooks/.gitignore": "mine.ts",
    "~/.xcsh/hooks/mine.ts": hookNamed("mine"),
  });
  const { paths, candidates } = await load(project);
  assertEquals(paths, ["project/.xcsh/hooks/pre/kept.local.ts", "home/.xcsh/hooks/guard.ts"]);
  const failed = candidates.filter(({ state }) => state === "failed");
  assertEquals(failed.map(({ path, reason }) => [path, reason]), [
    [project.path(".xcsh/hooks/pre/a.local.ts"), `left out by ${project.path(".gitignore")}:1`],
    [project.path(".xcsh/hooks/pre/gone.ts"), `left out by ${project.path(".gitignore")}:2`],
    [project.path("~/.xcsh/hooks/mine.ts"), `left out by ${project.path("~/.xcsh/hooks/.gitignore")}:1`],
  ]);
});

Deno.test("Bad input: each odd entry of a hook folder gets one sentence, and the others go on", async () => {
  using project = new Project({ ".xcsh/hooks/pre/good.ts": hookNamed("good"), ".xcsh/hooks/pre/bash.ts/x": "" });
  Deno.symlinkSync("/nowhere/gate.ts", project.path(".xcsh/hooks/pre/dead.ts"));
  Deno.symlinkSync("/nowhere/post", project.path(".xcsh/hooks/post"));
  project.write("~/.xcsh/hooks", "a file");
  const { paths, candidates, discoveryWarnings } = await load(project);
  assertEquals(paths, ["project/.xcsh/hooks/pre/good.ts"]);
  const reasons = candidates.filter(({ state }) => state === "failed").map(({ path, reason }) => `${path} ${reason}`);
  assertEquals(reasons, [
    `${project.path(".xcsh/hooks/pre/bash.ts")} is a folder; a hook is a file`,
    `${project.path(".xcsh/hooks/pre/dead.ts")} is a link to /nowhere/gate.ts, which does not exist`,
  ]);
  assertEquals(discoveryWarnings.slice(0, 2), [
    `[xcsh] ${
      project.path(".xcsh/hooks/post")
    } is a link to /nowhere/post, which does not exist, so no hook in it can be found`,
    `[xcsh] ${project.path("~/.xcsh/hooks")} is not a folder, so no hook in it can be found`,
  ]);
});

Deno.test("Bad input: a folder that may not be read is a warning with the flag to grant", async () => {
  using project = new Project({ ".xcsh/hooks/pre/good.ts": hookNamed("good") });
  const script = `import { discoverAndLoadHooks } from ${JSON.stringify(new URL("../../mod.ts", import.meta.url).href)};
    const { discoveryWarnings } = await discoverAndLoadHooks([], Deno.args[0]);
    console.log(discoveryWarnings.join("\\n"));`;
  const file = project.write("run.ts", script);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      `--config=${new URL("../../deno.json", import.meta.url).pathname}`,
      `--deny-read=${join(project.cwd, ".xcsh")}`,
      "--allow-read",
      file,
      project.cwd,
    ],
    cwd: new URL("../..", import.meta.url),
    env: { NO_COLOR: "1" },
  }).output();
  assertMatch(
    new TextDecoder().decode(stdout),
    /\.xcsh\/hooks may not be read; grant it with --allow-read=/,
  );
});

Deno.test("Bad input: a folder of 10 000 files is read, with a warning", async () => {
  using project = new Project();
  Deno.mkdirSync(project.path(".xcsh/hooks/pre"), { recursive: true });
  for (let i = 0; i < 10_000; i++) Deno.writeTextFileSync(project.path(`.xcsh/hooks/pre/n${i}.txt`), "");
  project.write(".xcsh/hooks/pre/good.ts", hookNamed("good"));
  const { paths, discoveryWarnings } = await load(project);
  assertEquals(paths, ["project/.xcsh/hooks/pre/good.ts"]);
  assertStringIncludes(discoveryWarnings[0]!, "holds 10001 files; a folder of hooks should hold hooks alone");
});

Deno.test("discoverAndLoadHooks() looks anew each time, and reads nothing twice in one run", async () => {
  using project = new Project({ ".xcsh/hooks/pre/a.ts": hookNamed("a") });
  const registry = createHookRegistry();
  assertEquals((await load(project, { registry })).paths.length, 1);
  const { misses, size } = registry.cacheStats();
  assertEquals(misses, size);
  project.write(".xcsh/hooks/pre/b.ts", hookNamed("b"));
  assertEquals((await load(project, { registry })).paths.length, 2);
});

Deno.test("disabledExtensions leaves single hooks out, and the report says so", async () => {
  using project = new Project({ ".xcsh/hooks/pre/a.ts": hookNamed("a"), "~/.xcsh/hooks/b.ts": hookNamed("b") });
  const { paths, candidates } = await load(project, { disabledExtensions: ["hook:pre:a:a.ts", "hook:pre:*:b.ts"] });
  assertEquals(paths, []);
  assertEquals(candidates.map(({ state, reason }) => [state, reason]), [
    ["disabled", "hook:pre:a:a.ts is disabled"],
    ["disabled", "hook:pre:*:b.ts is disabled"],
  ]);
});

Deno.test("C2.7 with the shell adapter, pre/<tool>.sh and post/<tool>.sh run for their tool, as does a script that is named", async () => {
  using project = new Project();
  project.write(".xcsh/hooks/pre/bash.sh", "#!/bin/sh\necho no >&2\nexit 2\n", 0o755);
  project.write(".xcsh/hooks/post/read.sh", "#!/bin/sh\necho seen >&2\nexit 2\n", 0o755);
  project.write(".xcsh/hooks/pre/bsh.sh", "#!/bin/sh\n", 0o644);
  project.write("gate.sh", "#!/bin/sh\ngrep -q secret && exit 2\nexit 0\n", 0o755);
  const { hooks, warnings, candidates } = await load(project, { shellHooks: true }, ["gate.sh"]);
  assertEquals(candidates.map(({ state, kind }) => `${state} ${kind}`), Array(4).fill("loaded script"));
  const path = project.path(".xcsh/hooks/pre/bsh.sh");
  assertEquals(warnings, [
    {
      path,
      warning:
        `${path} is not executable; make it so with: chmod +x ${path}; until then each tool that it is for is blocked`,
    },
    { path, warning: 'the matcher "bsh" names "bsh", which is no tool that is known; did you mean "bash"?' },
  ]);
  const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
  const runner = new HookRunner(hooks, project.cwd, SessionManager.inMemory(project.cwd), models);
  const gate = async (toolName: string, command: string) =>
    (await runner.emitToolCall({ type: "tool_call", toolName, toolCallId: "1", input: { command } }))?.reason;
  assertEquals(await gate("bash", "ls"), "no");
  assertEquals(await gate("write", "ls"), undefined);
  assertEquals(await gate("write", "secret"), "Denied by gate.sh");
  const result = await runner.emit({
    type: "tool_result",
    toolName: "read",
    toolCallId: "1",
    input: {},
    content: [{ type: "text", text: "a" }],
    details: undefined,
    isError: false,
  });
  assertEquals(result?.content, [{ type: "text", text: "a" }, { type: "text", text: "seen" }]);
});
