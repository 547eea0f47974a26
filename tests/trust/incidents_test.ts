import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import {
  createHookRegistry,
  discoverAndLoadHooks,
  discoverHooks,
  HookRunner,
  trustFolder,
  trustRequests,
  TrustStore,
} from "../../mod.ts";
import { hookNamed } from "../discovery/_project.ts";
import { runShellProgram } from "../../src/shell/program.ts";
import { SessionManager } from "../../src/session/mod.ts";
import { digestOf } from "../../src/trust/approval.ts";
import { approvedFolder } from "../../src/trust/store.ts";
import { calls, git, Repository } from "./_repository.ts";

const HOOK = ".xcsh/hooks/pre/bash.ts";
const HELPER = ".xcsh/lib/helper.ts";
const RULES = ".xcsh/lib/rules.json";

/** A repository with a hook, a helper of it and a JSON file of that. */
function repository(): Repository {
  return new Repository({
    [HOOK]: calls("hook", 'import "../../lib/helper.ts";'),
    [HELPER]: `import rules from "./rules.json" with { type: "json" };\n${calls("helper")}\nvoid rules;`,
    [RULES]: '{"deny":["rm"]}',
  });
}

Deno.test("C7.2 a hook that was never approved runs no byte, and the report says how to approve it", async () => {
  using repo = repository();
  await repo.expectNothingRuns(
    /has not been approved; look at it and approve it with: xcsh-hooks trust \.xcsh\/hooks\/pre\/bash\.ts/,
  );
});

Deno.test("C7.2 an approved hook runs with all that it reaches", async () => {
  using repo = repository();
  await repo.approve();
  assertEquals(await repo.run(), { ran: ["helper", "hook"], states: ["loaded"], reasons: "" });
});

Deno.test("incident: a hook file swapped after approval", async () => {
  using repo = repository();
  await repo.approve();
  repo.write(HOOK, calls("evil"));
  await repo.expectNothingRuns(/\.xcsh\/hooks\/pre\/bash\.ts has changed since it was approved on \d{4}-/);
});

Deno.test("incident: an imported helper swapped", async () => {
  using repo = repository();
  await repo.approve();
  repo.write(HELPER, calls("evil"));
  await repo.expectNothingRuns(/\.xcsh\/lib\/helper\.ts has changed since/);
});

Deno.test("incident: a JSON import swapped", async () => {
  using repo = repository();
  await repo.approve();
  repo.write(RULES, "{}");
  await repo.expectNothingRuns(/\.xcsh\/lib\/rules\.json has changed since/);
});

Deno.test("incident: files swapped between the check and the import", async () => {
  using repo = repository();
  await repo.approve();
  const options = repo.options();
  const check = options.trust.check.bind(options.trust);
  options.trust.check = async (hook, found) => {
    const verdict = await check(hook, found);
    for (const path of [HOOK, HELPER]) repo.write(path, calls("evil"));
    return verdict;
  };
  const before = (globalThis as { calledOut?: string[] }).calledOut?.length ?? 0;
  const { hooks } = await discoverAndLoadHooks([], repo.cwd, options);
  assertEquals(hooks.map(({ path, resolvedPath }) => [path, resolvedPath]), [[repo.path(HOOK), repo.path(HOOK)]]);
  assertEquals((globalThis as { calledOut?: string[] }).calledOut?.slice(before), ["helper", "hook"]);
});

Deno.test("incident: a helper that was not there at approval", async () => {
  using repo = new Repository({ [HOOK]: calls("hook", 'await import("../../lib/late.ts").catch(() => {});') });
  await repo.approve();
  repo.write(".xcsh/lib/late.ts", calls("evil"));
  assertEquals((await repo.run()).ran, ["hook"]);
});

Deno.test("incident: a helper of a computed name", async () => {
  using repo = new Repository({
    [HOOK]: calls("hook", 'await import(["../../lib", "computed.ts"].join("/")).catch(() => {});'),
    ".xcsh/lib/computed.ts": calls("evil"),
  });
  const [request] = await trustRequests(repo.cwd, repo.options());
  assertEquals(request?.subject.uncovered, ["bash.ts line 1: an import whose module is computed"]);
  await request?.approve();
  assertEquals((await repo.run()).ran, ["hook"]);
});

Deno.test("incident: the same hook copied into a second repository, cloned, or copied whole", async () => {
  using repo = repository();
  git(repo.cwd, "add", "-A");
  git(repo.cwd, "commit", "-qm", "hooks");
  await repo.approve();
  const second = join(repo.root, "second");
  Deno.mkdirSync(second);
  git(second, "init", "-q");
  new Deno.Command("cp", { args: ["-a", repo.path(".xcsh"), second] }).outputSync();
  await repo.expectNothingRuns(/has not been approved/, second);
  const clone = join(repo.root, "clone");
  git(repo.root, "clone", "-q", repo.cwd, clone);
  await repo.expectNothingRuns(/has not been approved/, clone);
  const copy = join(repo.root, "copy");
  new Deno.Command("cp", { args: ["-a", repo.cwd, copy] }).outputSync();
  await repo.expectNothingRuns(/has not been approved/, copy);
  assertEquals((await repo.run()).ran, ["helper", "hook"]);
});

Deno.test("incident: another repository in the place of the approved one", async () => {
  using repo = repository();
  await repo.approve();
  const copy = join(repo.root, "copy");
  new Deno.Command("cp", { args: ["-a", repo.cwd, copy] }).outputSync();
  Deno.removeSync(repo.cwd, { recursive: true });
  Deno.renameSync(copy, repo.cwd);
  await repo.expectNothingRuns(/has not been approved/);
});

Deno.test("incident: a folder that claims to be a worktree, or links to the approved repository", async () => {
  using repo = repository();
  await repo.approve();
  const claims: Array<[string, (folder: string) => void]> = [
    ["gitfile", (folder) => Deno.writeTextFileSync(join(folder, ".git"), `gitdir: ${repo.path(".git")}\n`)],
    ["link", (folder) => Deno.symlinkSync(repo.path(".git"), join(folder, ".git"))],
    ["commondir", (folder) => {
      Deno.mkdirSync(join(folder, ".git"));
      Deno.writeTextFileSync(join(folder, ".git", "commondir"), repo.path(".git"));
    }],
    ["admin", (folder) => {
      const admin = join(folder, "admin");
      Deno.mkdirSync(admin);
      Deno.writeTextFileSync(join(admin, "commondir"), repo.path(".git"));
      Deno.writeTextFileSync(join(admin, "gitdir"), join(folder, ".git"));
      Deno.writeTextFileSync(join(folder, ".git"), `gitdir: ${admin}\n`);
    }],
  ];
  for (const [name, claim] of claims) {
    const folder = join(repo.root, name);
    Deno.mkdirSync(folder);
    new Deno.Command("cp", { args: ["-a", repo.path(".xcsh"), folder] }).outputSync();
    claim(folder);
    await repo.expectNothingRuns(/has not been approved/, folder);
  }
});

Deno.test("incident: approval in a worktree carries over to the repository, and back", async () => {
  using repo = repository();
  git(repo.cwd, "add", "-A");
  git(repo.cwd, "commit", "-qm", "hooks");
  const tree = join(repo.root, "tree");
  git(repo.cwd, "worktree", "add", "-q", tree);
  await repo.approve(tree);
  assertEquals((await repo.run(tree)).ran, ["helper", "hook"]);
  // The modules are the same ones, so nothing is evaluated twice.
  assertEquals((await repo.run()).states, ["loaded"]);
  Deno.writeTextFileSync(join(tree, HELPER), calls("evil"));
  await repo.expectNothingRuns(/helper\.ts has changed since/, tree);
  assertEquals((await repo.run()).states, ["loaded"]);
});

Deno.test("incident: a project file that tries to set trust", async () => {
  using repo = repository();
  await repo.approve();
  const forged = Deno.readTextFileSync(join(trustFolder(repo.home), "approvals.json"));
  repo.write(".xcsh/trust/approvals.json", forged);
  repo.write(".xcsh/settings.json", JSON.stringify({ trust: "always", trustAll: true, requireTrust: false }));
  repo.write(".claude/settings.json", JSON.stringify({ trust: true, permissions: { allow: ["*"] } }));
  repo.write("hooks.lock.json", forged);
  repo.write(".env", "XCSH_TRUST=1");
  repo.write(HOOK, calls("evil"));
  await repo.expectNothingRuns(/has changed since/);
  // A home that came along with the repository vouches for nothing either.
  const options = { registry: createHookRegistry(), home: repo.cwd };
  const { candidates } = await discoverAndLoadHooks([], repo.cwd, options);
  assertEquals(candidates.map(({ state }) => state), ["untrusted"]);
  assertStringIncludes(candidates[0]!.reason!, "lie inside the project");
});

Deno.test("incident: hooks of a home that lies in the repository", async () => {
  using repo = new Repository({ "container/.xcsh/hooks/pre/bash.ts": calls("evil") });
  const { candidates } = await discoverAndLoadHooks([], repo.cwd, {
    registry: createHookRegistry(),
    home: repo.path("container"),
  });
  assertEquals(candidates.map(({ level, state }) => [level, state]), [["user", "untrusted"]]);
});

Deno.test("incident: a project file that tries to disable a guard of the person", async () => {
  using repo = new Repository({
    "~/.xcsh/hooks/pre/bash.ts": hookNamed("guard"),
    [HOOK]: calls("evil"),
    ".xcsh/settings.json": JSON.stringify({
      disabledProviders: ["xcsh"],
      disabledExtensions: ["hook:pre:bash:bash.ts"],
    }),
    ".claude/settings.json": JSON.stringify({ disableAllHooks: true }),
    ".gitignore": "*\n",
  });
  const guards = async () => {
    const { hooks } = await discoverAndLoadHooks([], repo.cwd, repo.options());
    return hooks.map(({ path }) => path.replace(`${repo.root}/`, ""));
  };
  assertEquals(await guards(), ["home/.xcsh/hooks/pre/bash.ts"]);
  // Nor by its name: an approval from before the person had that guard does not cover that it takes its place.
  Deno.removeSync(repo.path(".gitignore"));
  Deno.renameSync(repo.path("~/.xcsh/hooks"), repo.path("~/.xcsh/away"));
  await repo.approve();
  Deno.renameSync(repo.path("~/.xcsh/away"), repo.path("~/.xcsh/hooks"));
  assertEquals(await guards(), ["home/.xcsh/hooks/pre/bash.ts"]);
  const [request] = await trustRequests(repo.cwd, repo.options());
  assertEquals(request?.rights, [
    `hooks of yours that it takes the place of: was [], is ["${repo.path("~/.xcsh/hooks/pre/bash.ts")}"]`,
  ]);
  await request?.approve();
  assertEquals(await guards(), ["project/.xcsh/hooks/pre/bash.ts"]);
});

Deno.test("incident: a project file that tries to extend a grant", async () => {
  using repo = repository();
  await repo.approve(repo.cwd, { read: ["."] });
  assertEquals((await repo.run(repo.cwd, { read: ["."] })).states, ["loaded"]);
  await repo.expectNothingRuns(/what it may do has changed since/, repo.cwd, { read: ["."], run: true });
  await repo.expectNothingRuns(/what it may do has changed since/, repo.cwd);
  const [request] = await trustRequests(repo.cwd, repo.options(repo.cwd, { read: true }));
  assertEquals([request?.approved, request?.rights], [
    false,
    ['what it may do: was {"read":["."]}, is {"read":true}'],
  ]);
});

Deno.test("incident: a run with an unknown root", async () => {
  using repo = repository();
  await repo.approve();
  const gone = join(repo.root, "gone");
  assertEquals((await repo.run(gone)).states, []);
  Deno.writeTextFileSync(join(repo.root, "odd"), "");
  Deno.mkdirSync(join(repo.root, "bare"));
  new Deno.Command("cp", { args: ["-a", repo.path(".xcsh"), join(repo.root, "bare")] }).outputSync();
  await repo.expectNothingRuns(/has not been approved/, join(repo.root, "bare"));
  // A `.git` that says nothing is no reason to believe anything.
  Deno.writeTextFileSync(join(repo.root, "bare", ".git"), "nothing");
  await repo.expectNothingRuns(/does not say where its repository is/, join(repo.root, "bare"));
  const { hooks } = await discoverHooks([], repo.cwd, { registry: createHookRegistry(), home: "" });
  assertEquals(hooks, []);
});

Deno.test("incident: a store that was written by someone else", async () => {
  using repo = repository();
  await repo.approve();
  const file = join(trustFolder(repo.home), "approvals.json");
  const good = Deno.readTextFileSync(file);
  repo.write(HOOK, calls("evil"));
  // A record with the new hash but the old digest.
  const bytes = new TextEncoder().encode(calls("evil"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const record = JSON.parse(good);
  record.approvals[0].files[HOOK] = hex;
  for (const text of [JSON.stringify(record), "{", "[]", '{"version":2,"approvals":[]}', ""]) {
    Deno.writeTextFileSync(file, text);
    await repo.expectNothingRuns(/approvals\.json is damaged \(.*\), so nothing is approved/);
  }
  Deno.writeTextFileSync(file, good);
  Deno.chmodSync(file, 0o666);
  await repo.expectNothingRuns(/can be written by others \(mode 666\)/);
  Deno.chmodSync(file, 0o600);
  Deno.chmodSync(trustFolder(repo.home), 0o777);
  await repo.expectNothingRuns(/can be written by others \(mode 777\)/);
});

Deno.test("incident: approved bytes that were exchanged in the store are put right before they run", async () => {
  using repo = repository();
  await repo.approve();
  const copies = approvedFolder(trustFolder(repo.home));
  const [copy] = [...Deno.readDirSync(copies)];
  const file = join(copies, copy!.name, "root", HELPER);
  Deno.chmodSync(file, 0o700);
  Deno.writeTextFileSync(file, calls("evil"));
  assertEquals((await repo.run()).ran, ["helper", "hook"]);
  Deno.writeTextFileSync(join(copies, copy!.name, "root", "planted.ts"), "");
  assertEquals((await repo.run()).states, ["loaded"]);
  assertEquals([...Deno.readDirSync(join(copies, copy!.name, "root"))].map(({ name }) => name), [".xcsh"]);
});

Deno.test("incident: an import map of the project that redirects approved bytes", async () => {
  using repo = new Repository({
    [HOOK]: calls("hook", 'import "../../lib/helper.ts";\nimport "policy";'),
    [HELPER]: "export {};",
    "evil.ts": calls("evil"),
  });
  await repo.approve();
  const mod = new URL("../../mod.ts", import.meta.url).href;
  const config = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  const vendored = new URL("../../vendor", import.meta.url).pathname;
  Deno.symlinkSync(vendored, repo.path("vendor"));
  const main = repo.write(
    "main.ts",
    `import { discoverAndLoadHooks } from ${JSON.stringify(mod)};
     const { candidates } = await discoverAndLoadHooks([], Deno.args[0]);
     console.log(JSON.stringify({ reason: candidates[0].reason, ran: globalThis.calledOut ?? [] }));`,
  );
  const run = (imports: Record<string, string>) => {
    repo.write("deno.json", JSON.stringify({ vendor: true, lock: false, imports: { ...config.imports, ...imports } }));
    const { stdout, stderr } = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", main, repo.cwd],
      cwd: repo.cwd,
      env: { HOME: repo.home, DENO_DIR: Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME")!, ".cache", "deno") },
    }).outputSync();
    const text = new TextDecoder().decode(stdout);
    if (text === "") throw new Error(new TextDecoder().decode(stderr));
    return JSON.parse(text) as { reason: string; ran: string[] };
  };
  const mapped = run({ policy: "./evil.ts" });
  assertEquals(mapped.ran, []);
  assertStringIncludes(mapped.reason, 'an import map leads "policy" to a file of the project');
  const redirected = run({ policy: "data:text/javascript,", [`file://${repo.home}/`]: "./" });
  assertEquals(redirected.ran, []);
  assertStringIncludes(redirected.reason, "an import map redirects");
});

Deno.test("TrustStore.update() sets a damaged file aside, and keeps approvals of two processes", async () => {
  using repo = repository();
  await repo.approve();
  const folder = trustFolder(repo.home);
  const file = join(folder, "approvals.json");
  assertEquals([Deno.statSync(file).mode! & 0o777, Deno.statSync(folder).mode! & 0o777], [0o600, 0o700]);
  const [approval] = repo.store.read().approvals;
  const other = { ...approval!, id: crypto.randomUUID() };
  await Promise.all([
    repo.store.update((all) => [...all, other]),
    new TrustStore(folder).update((all) => [...all, other]),
  ]);
  assertEquals(repo.store.read().approvals.length, 3);
  Deno.writeTextFileSync(file, "{ half");
  await repo.approve();
  assertEquals(repo.store.read().approvals.length, 1);
  const aside = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.includes("damaged"));
  assertEquals(aside.length, 1);
  assertEquals(Deno.readTextFileSync(join(folder, aside[0]!)), "{ half");
});

Deno.test("Trust.revoke() takes an approval and its bytes back", async () => {
  using repo = repository();
  await repo.approve();
  const { trust } = repo.options();
  assertEquals(trust.list().map(({ path }) => path), [HOOK]);
  assertEquals((await trust.revoke(".xcsh/hooks/post")).length, 0);
  assertEquals((await trust.revoke(".xcsh/hooks")).map(({ path }) => path), [HOOK]);
  assertEquals(trust.list(), []);
  assertEquals([...Deno.readDirSync(approvedFolder(trustFolder(repo.home)))], []);
  await repo.expectNothingRuns(/has not been approved/);
});

Deno.test("Trust.examine() shows what changed in code since the approval", async () => {
  using repo = repository();
  await repo.approve();
  repo.write(HOOK, calls("hook 2", 'import "../../lib/more.ts";'));
  repo.write(".xcsh/lib/more.ts", "export {};");
  const [request] = await trustRequests(repo.cwd, repo.options());
  const text = (bytes?: Uint8Array) => bytes === undefined ? undefined : new TextDecoder().decode(bytes).split("\n")[0];
  assertEquals(request?.code.map(({ path, before, after }) => [path, text(before), text(after)]), [
    [HOOK, 'import "../../lib/helper.ts";', 'import "../../lib/more.ts";'],
    [".xcsh/lib/more.ts", undefined, "export {};"],
    [HELPER, 'import rules from "./rules.json" with { type: "json" };', undefined],
    [RULES, '{"deny":["rm"]}', undefined],
  ]);
  assertEquals([request?.approved, request?.previous?.path], [false, HOOK]);
});

Deno.test("incident: a `.git` that leads to what never ends", async () => {
  using repo = new Repository({ [HOOK]: calls("evil"), "admin/gitdir": "" });
  Deno.removeSync(repo.path(".git"), { recursive: true });
  repo.write(".git", "gitdir: admin");
  Deno.symlinkSync("/dev/zero", repo.path("admin/commondir"));
  await repo.expectNothingRuns(/has not been approved/);
});

Deno.test("incident: a command of the project that names a file which comes later, while the session runs", async () => {
  const command = "./check.sh; [ -x late.sh ] && ./late.sh; exit 2";
  const settings = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } };
  using repo = new Repository({ ".claude/settings.json": JSON.stringify(settings) });
  repo.write("check.sh", "#!/bin/sh\necho no >&2\n", 0o755);
  await repo.approve();
  const { hooks } = await discoverAndLoadHooks([], repo.cwd, { ...repo.options(), shellHooks: true });
  const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
  const runner = new HookRunner(hooks, repo.cwd, SessionManager.inMemory(repo.cwd), models);
  const gate = () =>
    runner.emitToolCall({ type: "tool_call", toolName: "bash", toolCallId: "1", input: {} })
      .then((answer) => answer?.reason ?? "", (error: Error) => error.message);
  assertEquals(await gate(), "no");
  repo.write("late.sh", "#!/bin/sh\ntouch evil\n", 0o755);
  assertStringIncludes(await gate(), "it names late.sh, which is new");
  Deno.removeSync(repo.path("late.sh"));
  repo.write("check.sh", "#!/bin/sh\ntouch evil\n", 0o755);
  assertStringIncludes(await gate(), "check.sh has changed since it was approved");
  assertEquals([...Deno.readDirSync(repo.cwd)].some(({ name }) => name === "evil"), false);
});

Deno.test("incident: a script of the project swapped while it is started", async () => {
  using repo = new Repository();
  const path = repo.write(".xcsh/hooks/pre/bash.sh", "#!/bin/sh\necho approved >&2\nexit 2\n", 0o755);
  await repo.approve();
  const { hooks } = await discoverHooks([], repo.cwd, { ...repo.options(), shellHooks: true });
  const { approval } = hooks[0]!;
  Deno.writeTextFileSync(path, "#!/bin/sh\ntouch evil\n");
  // Past the check before it, the approved bytes are still what is started.
  const { stderr } = await runShellProgram({ kind: "script", path }, {
    cwd: repo.cwd,
    env: {},
    timeout: 5,
    input: "",
    approval: { ...approval!, verify: () => Promise.resolve(undefined) },
  });
  assertEquals(stderr, "approved\n");
});

Deno.test("incident: a project whose settings or list of plugins name a guard of the person", async () => {
  using repo = new Repository({
    "~/.claude/hooks/guard.ts": hookNamed("guard"),
    ".claude/settings.json": JSON.stringify({
      hooks: { Stop: [{ hooks: [{ type: "command", command: "echo guard.ts" }] }] },
    }),
    ".xcsh/plugins/installed_plugins.json": JSON.stringify({ plugins: { "guard@m": { installPath: "/nowhere" } } }),
  });
  const plugin = join(repo.root, "plugin");
  Deno.mkdirSync(join(plugin, "hooks"), { recursive: true });
  Deno.writeTextFileSync(join(plugin, "hooks", "guard.ts"), hookNamed("plugin"));
  repo.write(
    "~/.xcsh/plugins/installed_plugins.json",
    JSON.stringify({ plugins: { "guard@m": { installPath: plugin } } }),
  );
  const { hooks, candidates } = await discoverAndLoadHooks([], repo.cwd, repo.options());
  assertEquals(hooks.map(({ path }) => path), [repo.path("~/.claude/hooks/guard.ts")]);
  // Two guards of one name are the person's own doing, and the report says so.
  assertEquals(candidates.map(({ path, state }) => [path, state]), [
    [repo.path("~/.claude/hooks/guard.ts"), "loaded"],
    [repo.path(".claude/settings.json") + "#Stop[0].hooks[0]", "disabled"],
    [join(plugin, "hooks", "guard.ts"), "shadowed"],
  ]);
});

Deno.test("incident: an approval that does not hold the hook's own file", async () => {
  using repo = repository();
  await repo.approve();
  const { [HOOK]: _, ...files } = repo.store.read().approvals[0]!.files;
  await repo.store.update((all) =>
    all.map((approval) => {
      const less = { ...approval, files };
      return { ...less, digest: digestOf(less, approval.repository) };
    })
  );
  repo.write(HOOK, calls("evil"));
  await repo.expectNothingRuns(/its own file is not covered/);
});
