import { assertEquals, assertStringIncludes } from "@std/assert";
import { createHookRegistry, HOOK_PROVIDERS, type HookItem, HOOKS_CAPABILITY } from "../../mod.ts";
import { Project } from "./_project.ts";

/** What one provider finds, as `level type:tool:name path`. */
async function find(project: Project, provider: string, pluginDirs: string[] = []) {
  const registry = createHookRegistry();
  const result = await registry.load<HookItem>(HOOKS_CAPABILITY, {
    providers: [provider],
    cwd: project.cwd,
    home: project.home,
    pluginDirs,
    includeInvalid: true,
  });
  const found = result.items.map(({ level, type, tool, path, kind }) =>
    `${level} ${type}:${tool} ${kind} ${path.replace(`${project.root}/`, "")}`
  );
  return { ...result, found };
}

Deno.test("C2.6 every provider has an id and a priority of its own, xcsh first", () => {
  assertEquals(HOOK_PROVIDERS.map(({ id, priority }) => `${id} ${priority}`), [
    "xcsh 100",
    "omp 90",
    "pi 85",
    "claude 80",
    "plugins 70",
    "codex 65",
  ]);
});

for (
  const [id, folder, userFolders] of [
    ["xcsh", ".xcsh", [".xcsh/agent/hooks", ".xcsh/hooks"]],
    ["omp", ".omp", [".omp/agent/hooks", ".omp/hooks"]],
    ["pi", ".pi", [".pi/agent/hooks", ".pi/hooks"]],
    ["claude", ".claude", [".claude/hooks"]],
  ] as const
) {
  Deno.test(`C2.6 the provider ${id} reads the folders of the project and of the person`, async () => {
    using project = new Project({
      [`${folder}/hooks/pre/bash.ts`]: "",
      [`${folder}/hooks/post/read.sh`]: "",
      [`${folder}/hooks/guard.js`]: "",
    });
    for (const user of userFolders) project.write(`~/${user}/pre/edit.mts`, "");
    assertEquals((await find(project, id)).found, [
      `project pre:bash module project/${folder}/hooks/pre/bash.ts`,
      `project post:read script project/${folder}/hooks/post/read.sh`,
      `project pre:* module project/${folder}/hooks/guard.js`,
      ...userFolders.slice(0, 1).map((user) => `user pre:edit module home/${user}/pre/edit.mts`),
    ]);
  });
}

Deno.test("C2.6 the provider codex files pre-X and post-X under the tool X, and others under their own name", async () => {
  using project = new Project({
    ".codex/hooks/pre-bash.ts": "",
    ".codex/hooks/post-read.js": "",
    ".codex/hooks/audit.ts": "",
    "~/.codex/hooks/pre/write.ts": "",
  });
  assertEquals((await find(project, "codex")).found, [
    "project pre:audit module project/.codex/hooks/audit.ts",
    "project post:read module project/.codex/hooks/post-read.js",
    "project pre:bash module project/.codex/hooks/pre-bash.ts",
    "user pre:write module home/.codex/hooks/pre/write.ts",
  ]);
});

Deno.test("C2.6 the provider claude reads settings files, and takes no program that they start for a module", async () => {
  const command = (line: string, event = "PreToolUse") =>
    JSON.stringify({ hooks: { [event]: [{ matcher: "Bash", hooks: [{ type: "command", command: line }] }] } });
  using project = new Project({
    ".claude/settings.json": command("node .claude/hooks/check.mjs"),
    ".claude/settings.local.json": command("true", "PostToolUse"),
    "~/.claude/settings.json": command("false"),
    ".claude/hooks/check.mjs": "",
    ".claude/hooks/real.mjs": "",
  });
  const { found, items, warnings } = await find(project, "claude");
  assertEquals(found, [
    "project pre:* module project/.claude/hooks/real.mjs",
    "project pre:Bash command project/.claude/settings.json#PreToolUse[0].hooks[0]",
    "project post:Bash command project/.claude/settings.local.json#PostToolUse[0].hooks[0]",
    "user pre:Bash command home/.claude/settings.json#PreToolUse[0].hooks[0]",
  ]);
  assertEquals(items.at(-1)?.command, { event: "PreToolUse", matcher: "Bash", command: "false" });
  assertEquals(warnings, []);
});

Deno.test("C2.6 the provider plugins reads named roots, then the lists of the project and of the person", async () => {
  using project = new Project();
  const root = (name: string) => `${project.root}/plugins/${name}`;
  for (const name of ["named", "mine", "team", "local", "other"]) {
    Deno.mkdirSync(`${root(name)}/hooks/pre`, { recursive: true });
    Deno.writeTextFileSync(`${root(name)}/hooks/pre/${name}.ts`, "");
  }
  Deno.writeTextFileSync(
    `${root("mine")}/hooks/hooks.json`,
    JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: "${CLAUDE_PLUGIN_ROOT}/stop.sh" }] }] } }),
  );
  project.write(
    ".xcsh/plugins/installed_plugins.json",
    JSON.stringify({ plugins: { "team@m": { installPath: root("team") } } }),
  );
  project.write(
    "~/.claude/plugins/installed_plugins.json",
    JSON.stringify({
      version: 2,
      plugins: {
        "mine@m": [{ scope: "user", installPath: root("mine") }],
        "team@m": [{ scope: "user", installPath: root("other") }],
        "local@m": [{ scope: "local", installPath: root("local"), projectPath: project.cwd }],
        "other@m": [{ scope: "project", installPath: root("other"), projectPath: "/elsewhere" }],
      },
    }),
  );
  const { found, items } = await find(project, "plugins", [root("named")]);
  assertEquals(found, [
    "user pre:named module plugins/named/hooks/pre/named.ts",
    "project pre:team module plugins/team/hooks/pre/team.ts",
    "user pre:mine module plugins/mine/hooks/pre/mine.ts",
    "user pre:other module plugins/other/hooks/pre/other.ts",
    "project pre:local module plugins/local/hooks/pre/local.ts",
    "user pre:* command plugins/mine/hooks/hooks.json#Stop[0].hooks[0]",
  ]);
  assertEquals(items.at(-1)?.pluginRoot, root("mine"));
});

Deno.test("Bad input: a list of plugins that cannot be read is a warning", async () => {
  using project = new Project({
    ".xcsh/plugins/installed_plugins.json": "{",
    "~/.xcsh/plugins/installed_plugins.json": "[]",
    "~/.claude/plugins/installed_plugins.json": JSON.stringify({ plugins: { "a@b": { installPath: "a" } } }),
  });
  const { warnings } = await find(project, "plugins");
  assertEquals(warnings.length, 3);
  assertStringIncludes(warnings[0]!, "installed_plugins.json is no JSON");
  assertStringIncludes(warnings[1]!, 'has no object "plugins"');
  assertStringIncludes(warnings[2]!, 'the plugin "a@b" has no absolute "installPath"');
});

Deno.test("Bad input: settings that cannot be read, or hold odd things, are warnings with the file's path", async () => {
  using project = new Project({
    ".claude/settings.json": "no",
    ".claude/settings.local.json": '{ "hooks": { "PreToolUs": [], /* why */ "Notification": [], "Stop": 1 } }',
    "~/.claude/settings.json/x": "",
  });
  const { warnings } = await find(project, "claude");
  const path = (name: string) => `[Claude Code] ${project.path(name)}`;
  assertStringIncludes(warnings[0]!, `${path(".claude/settings.json")} is no JSON`);
  const local = path(".claude/settings.local.json");
  assertEquals(warnings.slice(1, 5), [
    `${local}: holds comments or trailing commas, which JSON does not allow; they were skipped`,
    `${local}: there is no event "PreToolUs", so its hooks never run; did you mean "PreToolUse"?`,
    `${local}: "Notification" is an event that does not exist here, so its hooks never run`,
    `${local}: "Stop" must be an array`,
  ]);
  assertEquals(warnings[5], `${path("~/.claude/settings.json")} is a folder, not a file`);
});

Deno.test("Bad input: settings and ignore files that would block or never end are not read", async () => {
  using project = new Project({ ".claude/hooks/pre/bash.ts": "", ".git/HEAD": "" });
  Deno.symlinkSync("/dev/zero", project.path(".claude/settings.json"));
  new Deno.Command("mkfifo", { args: [project.path(".claude/settings.local.json")] }).outputSync();
  Deno.symlinkSync("/dev/zero", project.path(".gitignore"));
  const { found, warnings } = await find(project, "claude");
  assertEquals(found, ["project pre:bash module project/.claude/hooks/pre/bash.ts"]);
  assertEquals(warnings, [
    `[Claude Code] ${project.path(".claude/settings.json")} cannot be read (it is not a regular file)`,
    `[Claude Code] ${project.path(".claude/settings.local.json")} cannot be read (it is not a regular file)`,
  ]);
});
