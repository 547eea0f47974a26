import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { exists, lay } from "../isolation/support.ts";
import { assertAlive, assertAllRefused, assertNothing, attack, lootOf, SECRET } from "./_attack.ts";

Deno.test("01: a file is read by no interface without a grant", async () => {
  await using a = await attack("01_reads_secret.ts");
  const input = { secret: join(a.outside, "secret.txt"), folder: a.outside };
  assertAllRefused(await a.call(input));
  await assertAlive(a);
  assertEquals(a.printed.join("\n").includes(SECRET), false);
});

Deno.test("01: a grant is what opens it, so that the test above can fail", async () => {
  await using a = await attack("01_reads_secret.ts", { permissions: { read: ["../outside"] } });
  const found = lootOf(await a.call({ secret: join(a.outside, "secret.txt"), folder: a.outside }));
  for (const way of ["Deno.readTextFile", "fs.readFileSync", "fetch file:", "import text", "fs.createReadStream"]) {
    assertStringIncludes(found[way]!, SECRET);
  }
});

const files = {
  "project/hooks/outside/secret.txt": `${SECRET}\n`,
  "project/hooks/outside/secret.json": `{"password":"${SECRET}"}`,
};

for (const [row, name] of [["02", "02_static_text_import.ts"], ["03", "03_static_json_import.ts"]] as const) {
  Deno.test(`${row}: a static import of a secret keeps the hook from being loaded`, async () => {
    await using a = await attack(name, { mayFail: true, files });
    assertEquals(a.hooks, []);
    assertMatch(
      a.loadErrors.join(),
      /^Failed to load hook: it may not read .*outside\/secret\.\w+; grant it with --allow-read=/,
    );
    assertEquals((a.loadErrors.join() + a.printed.join()).includes(SECRET), false);
  });

  Deno.test(`${row}: with a grant it is loaded`, async () => {
    await using a = await attack(name, { permissions: { read: ["hooks/outside"] }, files });
    assertStringIncludes((await a.call({})).reason, SECRET);
  });
}

Deno.test("04: literal dynamic imports, and what a hook names in a comment, are checked", async () => {
  await using a = await attack("04_literal_dynamic_import.ts");
  assertAllRefused(await a.call({ secret: true }));
  await assertAlive(a);
});

Deno.test("04, limit: modules below its own folder that a hook names can be read by it", async () => {
  await using a = await attack("04_literal_dynamic_import.ts", {
    beside: { "hooks/nested.ts": `export default ${JSON.stringify(SECRET)};` },
  });
  assertStringIncludes(lootOf(await a.call({ secret: true })).nested!, SECRET);
});

Deno.test("05: a folder that holds a link out of it is not granted", async () => {
  for (const [link, target] of [["link", "secret.txt"], ["folder", "."]] as const) {
    await using a = await attack("05_symlink.ts", {
      permissions: { read: ["data"] },
      mayFail: true,
      async prepare(root) {
        await Deno.mkdir(join(root, "project/data"));
        await Deno.symlink(join(root, "outside", target), join(root, "project/data", link));
      },
    });
    assertMatch(
      a.loadErrors.join(),
      /^Failed to load hook: The read grant \S+\/data holds the link \S+, which leads out of it, to \S+outside/,
    );
  }
});

Deno.test("05: a hook makes no link by itself", async () => {
  await using a = await attack("05_symlink.ts", {
    permissions: { read: ["data"], write: ["data"] },
    files: { "project/data/x": "" },
  });
  const input = { project: a.project, secret: join(a.outside, "secret.txt") };
  assertAllRefused(await a.call(input));
  await assertAlive(a);
});

Deno.test("05, limit: a link that comes to be later, by another program or by insisting, is followed", async () => {
  await using a = await attack("05_symlink.ts", { permissions: { read: ["data"] }, files: { "project/data/x": "" } });
  await Deno.symlink(join(a.outside, "secret.txt"), join(a.project, "data/link"));
  assertStringIncludes(lootOf(await a.call({ project: a.project })).link!, SECRET);
});

Deno.test("06: no spelling of a path leads out of a granted folder", async () => {
  await using a = await attack("06_ways_out_of_a_folder.ts", { permissions: { read: ["."] } });
  assertNothing(await a.call({ project: a.project, secret: join(a.outside, "secret.txt") }));
  await assertAlive(a);
});

Deno.test("06: the folder itself is readable, so that the test above can fail", async () => {
  await using a = await attack("06_ways_out_of_a_folder.ts", { permissions: { read: [".", "../outside"] } });
  assertStringIncludes(lootOf(await a.call({ project: a.project, secret: "" }))[".."]!, SECRET);
});

Deno.test("07: no variable of the host is seen", async () => {
  Deno.env.set("XCSH_ATTACK_SECRET", SECRET);
  await using a = await attack("07_environment.ts");
  assertNothing(await a.call({ name: "XCSH_ATTACK_SECRET" }));
  await assertAlive(a);
  for (const pid of a.children()) {
    assertEquals(Deno.readTextFileSync(`/proc/${pid}/environ`).includes(SECRET), false, "it is not even there");
  }
});

Deno.test("07: a variable that was granted is seen, and no other", async () => {
  Deno.env.set("XCSH_ATTACK_SECRET", SECRET);
  Deno.env.set("XCSH_ATTACK_OTHER", SECRET);
  await using a = await attack("07_environment.ts", { permissions: { env: ["XCSH_ATTACK_SECRET"] } });
  assertStringIncludes(lootOf(await a.call({ name: "XCSH_ATTACK_SECRET" }))["Deno.env"]!, SECRET);
  assertNothing(await a.call({ name: "XCSH_ATTACK_OTHER" }));
});

Deno.test("26: a hook that may write the project does not change its own files", async () => {
  await using a = await attack("26_changes_itself.ts", { permissions: { read: ["."], write: ["."] } });
  const folder = join(a.project, "hooks");
  const hook = join(folder, "26_changes_itself.ts");
  const before = await Promise.all([hook, join(folder, "_loot.ts")].map((path) => Deno.readTextFile(path)));
  const found = lootOf(await a.call({ hook, folder }));
  assertEquals(Object.values(found).filter((text) => text.includes("written")), []);
  assertStringIncludes(found["what it may"]!, "allowed");
  assertEquals(await Promise.all([hook, join(folder, "_loot.ts")].map((path) => Deno.readTextFile(path))), before);
  await assertAlive(a);
});

Deno.test("26: nor by another path, where the project is reached through a link", async () => {
  await using a = await attack("26_changes_itself.ts", {
    permissions: { read: ["."], write: ["."] },
    cwd: "alias",
    prepare: (root) => Deno.symlink(join(root, "project"), join(root, "alias")),
  });
  const alias = join(a.root, "alias/hooks");
  const name = "26_changes_itself.ts";
  const before = await Deno.readTextFile(join(a.project, "hooks", name));
  for (const folder of [alias, join(a.project, "hooks")]) {
    const found = lootOf(await a.call({ hook: join(folder, name), folder, real: join(a.project, "hooks", name) }));
    assertEquals(Object.values(found).filter((text) => text.includes("written")), []);
  }
  assertEquals(await Deno.readTextFile(join(a.project, "hooks", name)), before);
});

Deno.test("26: a file that somebody else changed is not started again", async () => {
  await using a = await attack("20_exits.ts");
  await Deno.writeTextFile(join(a.project, "hooks/20_exits.ts"), "export default () => {};");
  await a.call({ how: "process.exit" });
  const called = await a.call({});
  assertEquals([called.ran, called.broken], [false, true]);
  assertMatch(called.reason, /its code has changed since it was loaded/);
});

Deno.test("27: settings of the project do not remap what a hook imports", async () => {
  const evil = `export const which = "evil";`;
  await using a = await attack("27_remapped_dependency.ts", {
    permissions: { read: ["."] },
    beside: { "hooks/_dep.ts": `export const which = "real";` },
    files: Object.fromEntries(["project", "project/hooks"].flatMap((folder) => [
      [
        `${folder}/deno.json`,
        `{"imports":{"./hooks/_dep.ts":"./evil.ts","./_dep.ts":"./evil.ts","dep":"./evil.ts"},"importMap":"./map.json"}`,
      ],
      [`${folder}/import_map.json`, `{"imports":{"dep":"./evil.ts"}}`],
      [`${folder}/package.json`, `{"imports":{"#dep":"./evil.js"},"dependencies":{"dep":"1.0.0"}}`],
      [`${folder}/node_modules/dep/package.json`, `{"name":"dep","version":"1.0.0","main":"./index.js"}`],
      [`${folder}/node_modules/dep/index.js`, `exports.which = "evil";`],
      [`${folder}/evil.ts`, evil],
      [`${folder}/evil.js`, evil],
    ])),
  });
  assertEquals((await a.call({ ask: true })).reason.includes("evil"), false);
  assertMatch((await a.call({ ask: true })).reason, /^real /);
});

Deno.test("30: no name of a file, a folder or a grant is read as a flag or as two paths", async () => {
  const name = "30_names_with_flags.ts";
  for (const folder of ["--allow-all", "-A", "a b", "a\nb", 'a"b', "$(touch x)", "%2e%2e", "a=b", "*", "ü"]) {
    await using a = await attack(name, { folder, permissions: folder.includes("\n") ? {} : { read: [folder] } });
    assertNothing(await a.call({ secret: join(a.outside, "secret.txt") }));
    await assertAlive(a);
  }
});

Deno.test("30: a hook whose path holds a comma is refused, since the flag for it would grant another path", async () => {
  // The name of this folder spells the path of the secret: a flag would end the hook's path there and begin another one.
  for (const folder of ["a,b", "a,/etc/hostname,"]) {
    await using a = await attack("30_names_with_flags.ts", { folder, mayFail: true });
    assertMatch(a.loadErrors.join(), /^Failed to load hook: \S+ holds a comma, which Deno's flags cannot carry/);
    assertEquals(a.hooks, []);
  }
});

Deno.test("31: nothing is written to descriptors and caches that are not the hook's own", async () => {
  await using a = await attack("31_writes_to_descriptors.ts", { permissions: { write: ["."] } });
  const [pid] = a.children();
  const cmdline = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0");
  const boot = cmdline.find((word) => word.endsWith("isolation/boot.ts"))!;
  const before = await Deno.readTextFile(boot);
  const called = await a.call({ how: "descriptors" });
  assertEquals(called.ran, false);
  // Whatever it broke was its own: a new child starts, from the same caches, and works.
  await a.call({});
  a.runner.enable(a.hook.path);
  await assertAlive(a);
  assertEquals(await Deno.readTextFile(boot), before);
  const caches = Array.from(
    Deno.readDirSync(join(boot, "../../../deno")),
    ({ name }) => join(boot, "../../../deno", name),
  );
  for (const file of caches.filter((file) => Deno.statSync(file).isFile)) {
    assertEquals(new TextDecoder().decode(Deno.readFileSync(file)).includes(SECRET), false, file);
  }
});

Deno.test("31: a grant for the temporary folder opens neither the runtime's caches nor those of other hooks", async () => {
  const temporary = await Deno.realPath(Deno.env.get("TMPDIR") ?? "/tmp");
  await using a = await attack("31_writes_to_descriptors.ts", {
    permissions: { read: [temporary], write: [temporary], links: true },
  });
  const [pid] = a.children();
  const nest = /DENO_DIR=([^\0]*\/xcsh-hooks-[^/\0]+)/.exec(Deno.readTextFileSync(`/proc/${pid}/environ`))![1]!;
  const boot = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0").find((word) => word.endsWith("boot.ts"))!;
  assertAllRefused(await a.call({ how: "paths", nest, boot, cache: join(boot, "../../../deno") }));
  assertEquals(exists(join(nest, "poison")), false);
  await assertAlive(a);
});

Deno.test("32: a source map that leads out of the hook's folder keeps it from being loaded", async () => {
  for (const url of ["file:///dev/zero", "/etc/hostname", "../secret.map", "file:x", "%2e%2e/x", "\\\\x"]) {
    await using a = await attack("32_source_map.js", {
      mayFail: true,
      prepare: async (root) => {
        const path = join(root, "project/hooks/32_source_map.js");
        await Deno.writeTextFile(path, (await Deno.readTextFile(path)).replace("@TARGET@", url));
      },
    });
    assertMatch(a.loadErrors.join(), /names a source map outside of its folder/, url);
  }
});

Deno.test("32, limit: code that a hook writes can name one; the runtime then reads it, and a FIFO hangs the hook alone", async () => {
  await using a = await attack("32_source_map.js", {
    permissions: { read: ["data"], write: ["data"] },
    isolation: { budget: 1_000 },
    prepare: async (root) => {
      const path = join(root, "project/hooks/32_source_map.js");
      await Deno.writeTextFile(path, (await Deno.readTextFile(path)).replace("@TARGET@", "32_source_map.js.map"));
      await Deno.mkdir(join(root, "project/data"));
      await Deno.writeTextFile(
        join(root, "outside/map"),
        JSON.stringify({ version: 3, sources: ["named-by-a-map.ts"], names: [], mappings: "AAAA" }),
      );
      await new Deno.Command("mkfifo", { args: [join(root, "outside/fifo")] }).output();
    },
  });
  assertStringIncludes(
    (await a.call({ data: join(a.project, "data"), map: join(a.outside, "map") })).reason,
    "named-by-a-map.ts",
  );
  assertEquals((await a.call({ data: join(a.project, "data"), map: join(a.outside, "fifo") })).broken, true);
  await assertAlive(a);
});

Deno.test("33: nothing is kept for the next run or for another hook", async () => {
  for (const how of ["keep", "look"]) {
    await using a = await attack("33_keeps_data.ts");
    const called = await a.call({ how, folder: a.outside });
    assertEquals(called.ran, false);
    if (how === "look") assertNothing(called);
    // `heap` and the like end the process where they are not refused; that is the hook's own affair.
    await a.call({});
    assertEquals(Array.from(Deno.readDirSync(a.outside), ({ name }) => name).sort(), [
      "secret.json",
      "secret.ts",
      "secret.txt",
    ]);
    assertEquals(exists(join(a.project, "kept.db")), false);
    await assertAlive(a);
  }
});

Deno.test("35: links are not moved to where they lead out", async () => {
  const plant: [string, string][] = [["a/b/link", "../../x"], ["repo", "../.git"], ["a/git", ".git"], ["top", ".."]];
  for (const [link, target] of plant) {
    await using a = await attack("35_moves_links.ts", {
      permissions: { read: ["."], write: ["."] },
      mayFail: true,
      async prepare(root) {
        await lay(join(root, "project"), { ".git/config": "", "data/x": "", "data/a/b/x": "", "data/a/.git/x": "" });
        await Deno.symlink(target, join(root, "project/data", link));
      },
    });
    assertMatch(a.loadErrors.join(), /^Failed to load hook: The (?:read|write) grant \S+ holds the link /, link);
  }
});

Deno.test("35: nor does a link inside of a granted folder lead to what is denied in it", async () => {
  for (
    const [target, permissions] of [
      ["../.git", { write: ["."] }],
      ["..", { write: ["."] }],
      ["secrets", { read: ["."], deny: { read: ["data/secrets"] } }],
    ] as const
  ) {
    await using a = await attack("35_moves_links.ts", {
      permissions,
      mayFail: true,
      async prepare(root) {
        await lay(join(root, "project"), { ".git/config": "", "data/secrets/x": "" });
        // Absolute, so that it cannot be moved.
        await Deno.symlink(join(root, "project/data", target), join(root, "project/data/link"));
      },
    });
    assertMatch(a.loadErrors.join(), /holds the link \S+\/link, which leads to what is denied/);
  }
});

Deno.test("35: harmless links are granted", async () => {
  await using a = await attack("35_moves_links.ts", {
    permissions: { read: ["."], write: ["."] },
    async prepare(root) {
      await lay(join(root, "project"), { "AGENTS.md": "", ".git/config": "kept", "data/x": "" });
      await Deno.symlink("AGENTS.md", join(root, "project/CLAUDE.md"));
    },
  });
  const input = { data: join(a.project, "data"), git: join(a.project, ".git") };
  assertAllRefused(await a.call(input));
  assertEquals(await Deno.readTextFile(join(a.project, ".git/config")), "kept");
  await assertAlive(a);
});
