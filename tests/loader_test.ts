import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import {
  HookRunner,
  type LoadedHook,
  loadHooks,
  type LoadHooksOptions,
  type LoadHooksResult,
  type ModelRegistry,
  type ReadonlySessionManager,
} from "@xcsh/hooks";

/** Writes files to a folder that is gone afterwards. */
async function withFiles(
  files: Record<string, string>,
  run: (folder: string) => void | Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, name), text);
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Loads one hook from its source. */
async function load(source: string, name = "hook.ts", options?: LoadHooksOptions): Promise<LoadHooksResult> {
  let result: LoadHooksResult | undefined;
  await withFiles({ [name]: source }, async (folder) => void (result = await loadHooks([name], folder, options)));
  return result!;
}

/** The one error that there is. */
function errorOf({ hooks, errors }: LoadHooksResult): string {
  assertEquals([hooks.length, errors.length], [0, 1]);
  return errors[0]!.error;
}

function hookOf({ hooks, errors }: LoadHooksResult): LoadedHook {
  assertEquals(errors, []);
  return hooks[0]!;
}

const models: ModelRegistry = {
  getAvailable: () => [],
  find: () => undefined,
  getApiKey: () => Promise.resolve(undefined),
};

function runnerOf(hooks: LoadedHook[]): HookRunner {
  return new HookRunner(hooks, "/project", {} as ReadonlySessionManager, models);
}

Deno.test("loadHooks() calls the default export with the API (C1.1, C1.5)", async () => {
  const hook = hookOf(
    await load(`
    export default function (pi) {
      pi.on("tool_call", () => ({ block: true }));
      pi.on("tool_call", () => {});
      pi.registerCommand("hello", { description: "Greets", handler: async () => {} });
      pi.registerMessageRenderer("note", () => undefined);
      for (const level of ["debug", "info", "warn", "error"]) pi.logger[level]("loading", { level });
      if (typeof pi.exec !== "function") throw new Error("no exec");
    }`),
  );
  assertEquals(hook.path, "hook.ts");
  assertEquals(hook.handlers.get("tool_call")?.length, 2);
  assertEquals([...hook.commands.keys()], ["hello"]);
  assertEquals(hook.commands.get("hello")?.description, "Greets");
  assertEquals([...hook.messageRenderers.keys()], ["note"]);
});

Deno.test("loadHooks() hands pi.logger to the host's logger (C1.5)", async () => {
  const lines: unknown[] = [];
  const write = (level: string) => (message: string, context?: Record<string, unknown>) =>
    void lines.push([level, message, context]);
  await load(`export default (pi) => { pi.logger.warn("careful", { n: 1 }); pi.logger.info("so"); }`, "hook.js", {
    logger: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
  });
  assertEquals(lines, [["warn", "careful", { n: 1 }], ["info", "so", undefined]]);
});

Deno.test("loadHooks() awaits an async factory (C1.2, A.1: the reference does not)", async () => {
  const hook = hookOf(
    await load(`
    export default async (pi) => {
      pi.on("agent_start", () => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
      pi.on("agent_end", () => {});
    }`),
  );
  assertEquals([...hook.handlers.keys()], ["agent_start", "agent_end"]);
});

Deno.test("pi.on() inside a handler counts from the next emission (C1.2)", async () => {
  const hook = hookOf(
    await load(`
    export default (pi) => {
      let n = 0;
      pi.on("agent_start", () => {
        const mine = ++n;
        pi.on("session_before_switch", () => ({ cancel: false, n: mine }));
      });
    }`),
  );
  const runner = runnerOf([hook]);
  assertEquals(await runner.emit({ type: "session_before_switch", reason: "new" }), undefined);
  await runner.emit({ type: "agent_start" });
  const result: unknown = await runner.emit({ type: "session_before_switch", reason: "new" });
  assertEquals(result, { cancel: false, n: 1 });
});

Deno.test("loadHooks() reports what a factory does wrong (C1.2, C1.3, C2.2, A.1)", async (t) => {
  const rows: [name: string, source: string, expected: string | RegExp][] = [
    ["no default export", "export const x = 1;", "Hook must export a default function"],
    ["an empty file", "", "Hook must export a default function"],
    ["a string", 'export default "hook";', "Hook must export a default function"],
    ["null", "export default null;", "Hook must export a default function"],
    ["a throw", 'export default () => { throw new Error("boom"); };', "Failed to load hook: boom"],
    ["a thrown string", 'export default () => { throw "boomstr"; };', "Failed to load hook: boomstr"],
    ["thrown undefined", "export default () => { throw undefined; };", "Failed to load hook: undefined"],
    ["a rejection", 'export default async () => { throw new Error("late"); };', "Failed to load hook: late"],
    ["a value that cannot be shown", "export default () => { throw Object.create(null); };", /^Failed to load hook: ./],
    [
      "sendMessage too early",
      'export default (pi) => pi.sendMessage({ customType: "a", content: "b", display: true });',
      "Failed to load hook: sendMessage handler not initialized",
    ],
    [
      "appendEntry too early",
      'export default (pi) => pi.appendEntry("a");',
      "Failed to load hook: appendEntry handler not initialized",
    ],
    ["a class", "export default class Foo {}", /^Failed to load hook: .*Foo.*'new'/],
    ["a throw at top level", 'throw new Error("top");', "Failed to load hook: top"],
    [
      "no handler",
      'export default (pi) => pi.on("tool_call");',
      /pi\.on\("tool_call", handler\) needs a function, not undefined/,
    ],
    [
      "a command without handler",
      'export default (pi) => pi.registerCommand("x", {});',
      /pi\.registerCommand\("x", \{ handler \}\) needs a function/,
    ],
    [
      "a renderer that is none",
      'export default (pi) => pi.registerMessageRenderer("x", "y");',
      /pi\.registerMessageRenderer\("x", renderer\) needs a function, not the string "y"/,
    ],
  ];
  for (const [name, source, expected] of rows) {
    await t.step(name, async () => {
      const error = errorOf(await load(source, "hook.js"));
      if (typeof expected === "string") assertEquals(error, expected);
      else assertMatch(error, expected);
    });
  }
});

Deno.test("loadHooks() names file and line of a syntax error, on one line (C2.2)", async (t) => {
  const rows: [name: string, source: string, place: RegExp][] = [
    ["hook.ts", "export default () => {\n  const x = ;\n};\n", /hook\.ts:2:\d+$/],
    ["hook.js", "export default () => {\n\n  return 1 +;\n};\n", /hook\.js:3:\d+$/],
    ["hook.ts", "const x: = 1;\nexport default () => {};\n", /hook\.ts:1:\d+$/],
    ["hook.ts", 'import "./missing.ts";\nexport default () => {};\n', /missing\.ts".*hook\.ts:1:\d+$/],
  ];
  for (const [name, source, place] of rows) {
    await t.step(`${name}: ${source.split("\n")[0]}`, async () => {
      const error = errorOf(await load(source, name));
      assertMatch(error, /^Failed to load hook: /);
      assertMatch(error, place);
      assert(!error.includes("\n") && !error.includes("\x1b"), error);
    });
  }
});

Deno.test("loadHooks() names place and cause when a module of a hook has a syntax error (C2.2)", async () => {
  await withFiles(
    { "hook.ts": 'import "./part.ts";\nexport default () => {};', "part.ts": "\n\nlet = =;\n" },
    async (folder) => assertMatch(errorOf(await loadHooks(["hook.ts"], folder)), /SyntaxError.*part\.ts:3:\d+$/),
  );
});

Deno.test("loadHooks() reports what is no module (C2.2, C2.3, A.1)", async (t) => {
  await withFiles({ "guard.sh": "#!/bin/sh\nexit 2\n", "notes.md": "# no", guard: "#!/bin/sh\n" }, async (folder) => {
    const rows: [path: string, expected: string][] = [
      ["guard.sh", "shell hooks run only through the legacy shell adapter"],
      ["guard", "shell hooks run only through the legacy shell adapter"],
      ["notes.md", "is not a JavaScript or TypeScript module"],
      ["missing.ts", `${join(folder, "missing.ts")} does not exist`],
      ["guard.sh/x.ts", join(folder, "guard.sh/x.ts")],
      [folder, `${folder} is a directory; name the hook file in it`],
      [".", "is a directory"],
      ["", "is empty"],
      ["a\0.ts", "holds a NUL byte"],
      ["~nobody/x.ts", "another user's home"],
    ];
    for (const [path, expected] of rows) {
      await t.step(JSON.stringify(path), async () => {
        const result = await loadHooks([path], folder);
        assertEquals(result.errors[0]?.path, path);
        const error = errorOf(result);
        assertMatch(error, /^Failed to load hook: /);
        assertStringIncludes(error, expected);
      });
    }
  });
});

Deno.test("loadHooks() loads modules of every kind", async (t) => {
  const source = 'export default (pi) => pi.on("agent_end", () => {});';
  const rows: [name: string, source: string][] = [
    [
      "hook.ts",
      'import type { HookAPI } from "x"; export default (pi: HookAPI): void => pi.on("agent_end", () => {});',
    ],
    ["hook.mts", source],
    ["hook.js", source],
    ["hook.mjs", source],
    ["hook.cjs", 'module.exports = (pi) => pi.on("agent_end", () => {});'],
    ["we ird#%?ü.ts", source],
  ];
  for (const [name, text] of rows) {
    await t.step(name, async () => assertEquals([...hookOf(await load(text, name)).handlers.keys()], ["agent_end"]));
  }
});

Deno.test("loadHooks() goes on after a bad hook and keeps the order in every list (C2.1, A.1)", async () => {
  await withFiles({
    "a.ts": "export default () => {};",
    "b.ts": 'export default () => { throw new Error("b"); };',
    "c.ts": 'export default (pi) => { pi.on("tool_cal", () => {}); };',
    "d.ts": "export default 1;",
    "e.ts": 'export default (pi) => { pi.on("toolResult", () => {}); };',
  }, async (folder) => {
    const { hooks, errors, warnings } = await loadHooks(
      ["a.ts", "b.ts", join(folder, "c.ts"), "missing.ts", "./d.ts", "../" + folder.split("/").at(-1) + "/e.ts"],
      folder,
    );
    assertEquals(hooks.map((hook) => hook.resolvedPath), ["a.ts", "c.ts", "e.ts"].map((name) => join(folder, name)));
    assertEquals(hooks[1]!.path, join(folder, "c.ts"));
    assertEquals(errors.map((error) => error.path), ["b.ts", "missing.ts", "./d.ts"]);
    assertEquals(warnings.map((warning) => warning.path), [hooks[1]!.path, hooks[2]!.path]);
  });
});

Deno.test("loadHooks() warns of an event that there is not, with the nearest name (C1.4)", async (t) => {
  const rows: [event: string, expected: RegExp][] = [
    ["tool_cal", /There is no event "tool_cal".*did you mean "tool_call"\?/],
    ["toolResult", /did you mean "tool_result"\?/],
    ["session_compacting", /did you mean "session.compacting"\?/],
    ["xyz", /the events are session_start, .*tool_result$/],
    ["constructor", /There is no event "constructor"/],
  ];
  for (const [event, expected] of rows) {
    await t.step(event, async () => {
      const { hooks, errors, warnings } = await load(`export default (pi) => pi.on("${event}", () => {});`);
      assertEquals([hooks.length, errors.length, warnings.length], [1, 0, 1]);
      assertMatch(warnings[0]!.warning, expected);
    });
  }
});

Deno.test("loadHooks() loads a path twice when it is given twice (A.1)", async () => {
  await withFiles({
    "hook.ts": `
      let runs = 0;
      export default (pi) => { const run = ++runs; pi.registerCommand("run" + run, { handler() {} }); };`,
  }, async (folder) => {
    const { hooks } = await loadHooks(["hook.ts", "hook.ts"], folder);
    assertEquals(hooks.map((hook) => [...hook.commands.keys()]), [["run1"], ["run2"]]);
  });
});

Deno.test("pi.registerMessageRenderer() and pi.registerCommand() keep the last of one name (A.1)", async () => {
  const hook = hookOf(
    await load(`
    export default (pi) => {
      pi.registerMessageRenderer("note", () => ({ render: () => ["first"] }));
      pi.registerMessageRenderer("note", () => ({ render: () => ["second"] }));
      pi.registerCommand("a", { description: "first", handler() {} });
      pi.registerCommand("b", { handler() {} });
      pi.registerCommand("a", { description: "second", handler() {} });
    }`),
  );
  const draw = hook.messageRenderers.get("note") as unknown as () => { render(): string[] };
  assertEquals(draw().render(), ["second"]);
  assertEquals([...hook.commands.keys()], ["a", "b"]);
  assertEquals(hook.commands.get("a")?.description, "second");
});

Deno.test("pi.registerCommand() keeps the name that a person types (A.1: the reference lets an option override it)", async () => {
  const hook = hookOf(await load('export default (pi) => pi.registerCommand("c", { name: "other", handler() {} });'));
  assertEquals(hook.commands.get("c")?.name, "c");
});

Deno.test("loadHooks() gives up a hook that does not finish, and goes on", async (t) => {
  const rows: [name: string, source: string][] = [
    ["a factory that never settles", "export default () => new Promise(() => {});"],
    ["a thenable that never settles", "export default () => ({ then() {} });"],
  ];
  for (const [name, source] of rows) {
    await t.step(name, async () => {
      await withFiles({ "never.ts": source, "good.ts": "export default () => {};" }, async (folder) => {
        const start = performance.now();
        const { hooks, errors } = await loadHooks(["never.ts", "good.ts"], folder, { timeout: 2_000 });
        assertLess(performance.now() - start, 9_000);
        assertEquals(hooks.map((hook) => hook.path), ["good.ts"]);
        const expected = `Failed to load hook: ${join(folder, "never.ts")} did not finish loading within 2000 ms`;
        assertEquals(errors, [{ path: "never.ts", error: expected }]);
      });
    });
  }
  await t.step("a limit that is more than a timer can hold is none", async () => {
    hookOf(await load("export default () => new Promise((r) => setTimeout(r, 50));", "hook.ts", { timeout: Infinity }));
  });
});

Deno.test("loadHooks() keeps a hook from ending the process", async (t) => {
  const rows: [name: string, source: string][] = [
    ["process.exit at top level", "process.exit(3); export default () => {};"],
    ["Deno.exit at top level", "Deno.exit(3); export default () => {};"],
    ["process.exit in the factory", "export default () => process.exit(3);"],
    ["Deno.exit in the factory", "export default () => Deno.exit(3);"],
    ["exit of node:process at top level", 'import { exit } from "node:process"; exit(3); export default () => {};'],
    ["exit of node:process in the factory", 'import { exit } from "node:process"; export default () => exit(3);'],
    ["after an await", "export default async () => { await new Promise((r) => setTimeout(r, 5)); process.exit(3); };"],
    [
      "after an await at top level",
      "await new Promise((r) => setTimeout(r, 5)); Deno.exit(3); export default () => {};",
    ],
    ["in what it imports", 'import "./part.ts"; export default () => {};'],
    ["in what it imports later", 'export default () => import("./part.ts");'],
  ];
  for (const [name, source] of rows) {
    await t.step(name, async () => {
      await withFiles(
        {
          "hook.ts": source,
          "part.ts": 'import process from "node:process"; process.exit(3);',
          "good.ts": "export default () => {};",
        },
        async (folder) => {
          const exit = Deno.exit;
          const { hooks, errors } = await loadHooks(["hook.ts", "good.ts"], folder);
          assertEquals(hooks.map((hook) => hook.path), ["good.ts"]);
          assertEquals(
            errors.map(({ error }) => error),
            ["Failed to load hook: it called exit(3) while loading; a hook must not end the session"],
          );
          assertEquals(Deno.exit, exit);
          assertEquals(Deno.exitCode, 0);
        },
      );
    });
  }
});

Deno.test("loadHooks() leaves the host's own exit open while hooks load", async () => {
  await withFiles(
    { "slow.ts": "export default () => new Promise(() => setTimeout(() => {}, 60_000));" },
    async (folder) => {
      const script = `
      const { loadHooks } = await import(${JSON.stringify(new URL("../mod.ts", import.meta.url).href)});
      setTimeout(() => Deno.exit(7), 50);
      await loadHooks(["slow.ts"], ${JSON.stringify(folder)});`;
      const { code } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          `--config=${new URL("../deno.json", import.meta.url).pathname}`,
          `data:text/javascript,${encodeURIComponent(script)}`,
        ],
      }).output();
      assertEquals(code, 7);
    },
  );
});

Deno.test("pi.exec() runs in the folder given to loadHooks(), or in its own (C5.1)", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await withFiles({
    "hook.ts": `
      export default (pi) => pi.on("before_agent_start", async () => {
        const [here, there] = [await pi.exec("pwd", ["-P"]), await pi.exec("pwd", ["-P"], { cwd: "/" })];
        return { message: { customType: "pwd", content: here.stdout + there.stdout, display: false } };
      });`,
  }, async (folder) => {
    const runner = runnerOf((await loadHooks(["hook.ts"], folder)).hooks);
    assertEquals((await runner.emitBeforeAgentStart("go"))?.message?.content, `${folder}\n/\n`);
  });
});

Deno.test("pi.exec() with a shell line says what to write instead (C5.5)", async () => {
  const error = errorOf(await load('export default (pi) => pi.exec("git status", { cwd: "/" });', "hook.js"));
  assertStringIncludes(error, 'call exec("git", ["status"])');
});

Deno.test("loadHooks() says which permission an import needs (C2.2)", async () => {
  await withFiles({ "hook.ts": "export default () => {};" }, async (folder) => {
    const script = `
      const { loadHooks } = await import(${JSON.stringify(new URL("../mod.ts", import.meta.url).href)});
      console.log(JSON.stringify(await loadHooks(["hook.ts"], ${JSON.stringify(folder)})));`;
    const root = new URL("..", import.meta.url).pathname;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        `--allow-read=${root}`,
        `--config=${root}deno.json`,
        `data:text/javascript,${encodeURIComponent(script)}`,
      ],
    }).output();
    const decoder = new TextDecoder();
    const { hooks, errors } = JSON.parse(decoder.decode(stdout) || decoder.decode(stderr));
    assertEquals(hooks, []);
    assertMatch(
      errors[0].error,
      /^Failed to load hook: it may not read .*hook\.ts; grant it with --allow-read=.*hook\.ts$/,
    );
  });
});
