import { assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import {
  HookRunner,
  type HookUIContext,
  type LoadedHook,
  loadHooks,
  type LoadHooksResult,
  plainTheme,
} from "@xcsh/hooks";
import { SessionManager } from "@xcsh/hooks/session";
import { World, type WorldOptions } from "./_world.ts";

const FOLDER = fromFileUrl(new URL("../fixtures/compat", import.meta.url));

/** A form of public hooks, the hook that has it, and what the hook does. */
interface Row {
  form: string;
  fixture: string | string[];
  /** What a person sees. */
  does: (world: World) => unknown;
  is: unknown;
  world?: WorldOptions;
  /** The warning of loading. */
  warns?: RegExp;
  /** The warning that comes when it is used; one, however often. */
  logs?: RegExp;
}

const blocked = async (world: World) => (await world.say()).blocked;
const notes = async (world: World) => (await world.say()).notes;
const gate = (form: string, fixture: string, reason: string): Row => ({ form, fixture, does: blocked, is: [reason] });

const GREET: WorldOptions = {
  turns: [{ toolCalls: [{ name: "greet", arguments: { name: "you" } }] }, { text: "done" }],
};
const tool = (form: string, fixture: string): Row => ({
  form,
  fixture,
  world: GREET,
  does: async (world) => {
    await world.say();
    const { tools } = world.requests[0]!;
    const greet = tools.find(({ name }) => name === "greet");
    const type = (greet?.parameters as { properties: { name: object } }).properties.name;
    return ["hello you", "greet"].map((text) => JSON.stringify(world.session.messages).includes(text)).concat(
      typeof type === "object",
    );
  },
  is: [true, true, true],
});
const drawn = async (world: World) => {
  const message = { role: "custom" as const, customType: "note", content: "first\nlast", display: true, timestamp: 0 };
  const view = world.session.runner.getMessageRenderer("note")!(message, { expanded: true }, plainTheme)!;
  await view.whenDrawn?.(20);
  return view.render(20).map((line) => line.trimEnd());
};
const pickTwo: Partial<HookUIContext> = {
  custom: async (factory) => {
    let closed: unknown;
    const view = await factory(undefined, plainTheme, (result) => void (closed = result));
    for (const key of ["\x1b[B", "\r"]) {
      await view.whenDrawn?.(40);
      view.render(40);
      view.handleInput?.(key);
    }
    for (let i = 0; i < 500 && closed === undefined; i++) await new Promise((resolve) => setTimeout(resolve, 10));
    return closed as never;
  },
};

const ROWS: readonly Row[] = [
  gate("import type … from pi-coding-agent/hooks", "type_import.ts", "erased"),
  gate("import { type … } from oh-my-pi/extensibility/hooks", "type_inline.ts", "inline"),
  gate("unmarked type import", "type_unmarked.ts", "unmarked"),
  gate("@f5-sales-demo/xcsh/hooks", "xcsh_hooks.ts", "xcsh hooks"),
  gate("@f5-sales-demo/xcsh", "xcsh_root.ts", "xcsh"),
  gate("@oh-my-pi/pi-coding-agent/hooks", "omp_hooks.ts", "omp hooks"),
  gate("@oh-my-pi/pi-coding-agent/extensibility/extensions", "omp_extensions.ts", "omp extensions"),
  gate("@earendil-works/pi-coding-agent, a function and a type", "earendil.ts", "earendil"),
  gate("@xcsh/hooks, unmarked", "own_package.ts", "own"),
  {
    form: "pi-tui: components",
    fixture: "pi_tui.ts",
    does: drawn,
    is: [" first", " last", "", "wide 2"],
  },
  {
    form: "pi-tui: a dialog that takes keys",
    fixture: "pi_tui_dialog.ts",
    world: { ui: pickTwo },
    does: async (world) => (await world.say("/pick")).notes,
    is: ["picked two"],
  },
  {
    form: "pi-coding-agent: values",
    fixture: "coding_agent_values.ts",
    does: drawn,
    is: ["─".repeat(20), "last", "2.0KB"],
  },
  gate(
    "pi-coding-agent: more of its values",
    "coding_agent_more.ts",
    "first, second, .xcsh, python, 2, enter to go on, body, long... [truncated], 2",
  ),
  tool("@sinclair/typebox", "typebox_old.ts"),
  tool("typebox", "typebox_new.ts"),
  tool("pi-ai: StringEnum and Type", "pi_ai.ts"),
  tool("pi.typebox", "pi_typebox.ts"),
  gate("@sinclair/typebox/value", "typebox_value.ts", "Expected string length less or equal to 5"),
  gate("typebox/compile", "typebox_compiler.ts", "only pwd"),
  {
    ...tool("a tool that gets onUpdate before ctx and signal", "old_tool.ts"),
    warns: /execute\(toolCallId, params, onUpdate, ctx, signal\) is an older form/,
  },
  {
    form: "pi-agent-core: types alone",
    fixture: "agent_core.ts",
    does: async (world) => (await world.say("original")).read().includes("original"),
    is: false,
  },
  {
    form: "pi-tui: what only the package has",
    fixture: "npm_pi_tui.ts",
    does: drawn,
    is: ["<bold> link (x)", "", "→ Loud  yes", "true", "first", "last"],
  },
  gate("pi-tui: members of a namespace that only the package has", "npm_namespace.ts", "function object"),
  gate("pi-tui: required, of the package alone", "npm_required.js", "x function"),
  gate("pi-tui: passed on by a module of the hook", "npm_passed_on.ts", "x function"),
  gate("pi-tui: needed in a way that its text does not show", "npm_unseen.ts", "function"),
  gate("@sinclair/typebox: what only the package has", "npm_typebox_old.ts", "true false"),
  gate("typebox: what only the package has", "npm_typebox_new.ts", "true"),
  gate("typebox/format", "npm_typebox_path.ts", "true false"),
  gate("types of pi-tui and typebox, unmarked", "types_of_package.ts", "types 1"),
  gate("./x.ts", "exact.ts", "from the library"),
  gate("./x.js for x.ts", "js_for_ts.ts", "from the library"),
  gate("no extension", "no_extension.ts", "from the library"),
  gate("a folder", "directory.ts", "from the library"),
  gate("./x.mjs for x.mts", "mts.ts", "from an mts"),
  gate("JSON without attribute", "json_plain.ts", "from data"),
  gate("JSON with attribute", "json_attribute.ts", "from data"),
  gate("require of a built-in", "require_builtin.ts", "required"),
  gate("require of files", "require_file.ts", "from a cjs, from the library"),
  gate("__dirname, __filename", "dirname.ts", "compat/dirname.ts"),
  gate("process, Buffer", "node_globals.ts", "node string"),
  gate("built-ins without node:", "bare_builtin.ts", "barestring"),
  gate("module.exports", "module_exports.js", "exported"),
  gate(".cjs", "plain.cjs", "common"),
  gate(".mjs", "plain.mjs", "mjs"),
  {
    form: 'pi.on("session")',
    fixture: "old_session.ts",
    does: async (world) => {
      await world.session.start();
      const { cancelled } = await world.session.newSession();
      return [cancelled, ...world.notes];
    },
    is: [true, "session start 1 null", "session before_new 1 null"],
    warns: /pi\.on\("session"\) is an older form/,
  },
  {
    form: 'pi.on("session") before a compaction',
    fixture: "old_compaction.ts",
    does: async (world) => {
      const user = { role: "user" as const, content: "word ".repeat(90_000), timestamp: 0 };
      for (let i = 0; i < 3; i++) world.session.sessionManager.appendMessage(user);
      const session = new World(world.hooks, { turns: [] }, world.session.sessionManager);
      const { summary } = await session.session.compact();
      return [summary, ...session.notes];
    },
    is: ["by a hook", "entry true"],
    warns: /older form/,
  },
  {
    form: "a message without customType",
    fixture: "plain_message.ts",
    does: async (world) => (await world.say()).read().includes("mind the style"),
    is: true,
  },
  {
    form: 'pi.on("branch")',
    fixture: "old_branch.ts",
    does: async (world) => {
      await world.say("first");
      const id = world.session.sessionManager.getEntries()[0]!.id;
      return (await world.session.branch(id)).cancelled;
    },
    is: true,
    warns: /session_before_branch/,
  },
  {
    form: "session_before_fork, ctx.fork",
    fixture: "fork.ts",
    does: async (world) => (await (await world.say()).say("/fork")).notes,
    is: ["session_before_fork string", "true"],
  },
  gate("pi-tui: keys with several modifiers", "key_names.ts", "true true true true false"),
  {
    form: "pi.send(text)",
    fixture: "old_send.ts",
    does: async (world) => {
      await world.say("/say");
      await world.until(() => world.requests.length > 0);
      await world.session.waitForIdle();
      return world.read().includes("said by a hook");
    },
    is: true,
    logs: /pi\.send\(text\) is an older form.*pi\.sendUserMessage/,
  },
  {
    form: "ctx.exec",
    fixture: "old_ctx_exec.ts",
    does: notes,
    is: ["from exec"],
    logs: /ctx\.exec is an older form.*pi\.exec/,
  },
  {
    form: "ctx.sessionFile",
    fixture: "old_session_file.ts",
    does: notes,
    is: ["null"],
    logs: /ctx\.sessionFile is an older form.*getSessionFile/,
  },
  {
    form: "sendMessage(message, true)",
    fixture: "old_trigger.ts",
    does: async (world) => {
      await world.say("/go");
      await world.until(() => world.requests.length > 0);
      await world.session.waitForIdle();
      return world.read().includes("go on");
    },
    is: true,
    logs: /sendMessage\(message, true\) is an older form.*triggerTurn: true/,
  },
  { form: "pi.log", fixture: "old_log.ts", does: blocked, is: [], warns: /pi\.logger\.info/ },
  {
    form: "event.result, and { result }",
    fixture: "old_result.ts",
    does: async (world) => (await world.say()).read().includes("LISTED"),
    is: true,
    logs: /event\.result is an older form.*event\.content/,
  },
  {
    form: 'pi.exec("line", { … })',
    fixture: "wrong_exec.ts",
    does: async (world) => /exec\("git", \["status"\]\)/.test((await notes(world))[0] ?? ""),
    is: true,
  },
  {
    form: "an event that there is not",
    fixture: "wrong_event.ts",
    does: blocked,
    is: [],
    warns: /There is no event "tool_cal".*did you mean "tool_call"/,
  },
  { form: "{ block: false, reason }", fixture: "block_false.ts", does: blocked, is: [] },
  {
    form: "{} for an answer",
    fixture: "empty_answer.ts",
    does: async (
      world,
    ) => [(await world.say()).read().includes("listed"), (await world.session.newSession()).cancelled],
    is: [true, false],
  },
  { form: "a factory that returns early", fixture: "returns_early.ts", does: blocked, is: [] },
  gate("an async factory", "async_factory.ts", "after a wait"),
  gate("pi.on inside a handler", "on_in_handler.ts", "added later"),
  { form: "ctx after an await, hasUI unasked", fixture: "ctx_after_await.ts", does: notes, is: ["false 0 false"] },
  {
    form: "input",
    fixture: "input.ts",
    does: async (world) => {
      const { handledAs } = await world.session.prompt("ping");
      const before = world.requests.length;
      await world.say("hello");
      return [handledAs, before, world.read().includes("hello!")];
    },
    is: ["hook", 0, true],
  },
  {
    form: "user_bash",
    fixture: "user_bash.ts",
    does: async (world) => {
      const hidden = await world.session.runBash("secret");
      const run = await world.session.runBash("echo run");
      return [hidden.output, hidden.exitCode, run.output, run.exitCode];
    },
    is: ["not shown", 1, "run\n", 0],
  },
  {
    form: "message_start, message_update, message_end",
    fixture: "messages.ts",
    world: { turns: [{ text: "hi" }] },
    does: notes,
    is: [
      "message_start user, message_end user, message_start assistant, message_update assistant, hi, message_end assistant",
    ],
  },
  {
    form: "tool_execution_start, _update, _end",
    fixture: "tool_execution.ts",
    does: notes,
    is: ["start bash ls -la, update half, end false listed"],
  },
  {
    form: "model_select",
    fixture: "model_select.ts",
    does: async (world) => {
      world.session.setModel({ provider: "test", id: "second", async *stream() {} });
      await world.until(() => world.notes.length > 0);
      return world.notes;
    },
    is: ["first to second"],
  },
  {
    form: "before_provider_request",
    fixture: "provider_request.ts",
    does: async (world) => (await world.say()).requests.map(({ systemPrompt }) => systemPrompt),
    is: ["Say little.", "Say little."],
  },
  {
    form: "session_stop",
    fixture: "session_stop.ts",
    world: { turns: [{ text: "done" }, { text: "tested" }] },
    does: async (world) => [(await world.say()).requests.length, world.read().includes("run the tests")],
    is: [2, true],
  },
  {
    form: "registerFlag, getFlag",
    fixture: "flags.ts",
    world: { flags: { strict: true } },
    does: async (world) => [...await blocked(world), ...world.session.runner.getRegisteredFlags().keys()],
    is: ["level low", "strict", "level"],
  },
  {
    form: "sendUserMessage",
    fixture: "user_message.ts",
    does: async (world) => {
      await world.say("/ask what now");
      await world.until(() => world.requests.length > 0);
      await world.session.waitForIdle();
      return JSON.stringify(world.session.messages[0]).includes("what now");
    },
    is: true,
  },
  {
    form: "getAllTools, setActiveTools, getActiveTools",
    fixture: "active_tools.ts",
    world: { turns: [{ text: "done" }] },
    does: async (world) => [...await notes(world), ...world.requests[0]!.tools.map(({ name }) => name)],
    is: ["read", "read"],
  },
  {
    form: "events between hooks",
    fixture: ["bus_says.ts", "bus_hears.ts"],
    does: async (world) => {
      await world.say();
      // What was said reaches an isolated hook when it does.
      for (let i = 0; i < 100 && !world.notes.includes("1,started"); i++) await world.say("/heard");
      return world.notes.at(-1);
    },
    is: "1,started",
  },
  {
    form: "registerShortcut",
    fixture: "shortcut.ts",
    does: async (world) => {
      const shortcut = world.session.runner.getShortcuts().get("ctrl+g")!;
      await world.session.start();
      await shortcut.run();
      return [shortcut.description, ...world.notes];
    },
    is: ["Greet", "pressed"],
  },
  {
    form: "setSessionName",
    fixture: "session_name.ts",
    does: async (world) => (await world.say()).session.sessionManager.getSessionName(),
    is: "Named by a hook",
  },
  { form: "ctx.getContextUsage", fixture: "context_usage.ts", does: notes, is: ["100000 true true"] },
  {
    form: "ctx.compact",
    fixture: "compact.ts",
    does: async (world) => {
      await world.say("/shrink");
      await world.until(() => world.notes.length > 0);
      return /too small|Nothing/.test(world.notes[0]!);
    },
    is: true,
  },
  {
    form: "ui.setWidget",
    fixture: "widget.ts",
    does: async (world) => {
      await world.say();
      await world.until(() => world.widgets.has("drawn"));
      return Object.fromEntries(world.widgets);
    },
    is: { lines: ["one", "two"], drawn: ["80 cells"] },
  },
  {
    form: "dialog options timeout and signal",
    fixture: "dialog.ts",
    world: { ui: { confirm: () => new Promise(() => {}), select: () => new Promise(() => {}) } },
    does: notes,
    is: ["false undefined"],
  },
  {
    form: "ui.custom with the keys before done",
    fixture: "custom_with_keys.ts",
    world: { ui: pickTwo },
    does: async (world) => (await world.say("/pick")).notes,
    is: ["picked two"],
  },
  {
    form: "getCommands, setLabel, setModel, getThinkingLevel, hasPendingMessages, what a chat shows",
    fixture: "session_api.ts",
    does: async (world) => (await (await world.say()).say("/about")).notes,
    is: ["extension /about: Tells of the session, start, off, true, false, false"],
  },
  {
    form: "{ systemPrompt } from before_agent_start",
    fixture: "system_prompt.ts",
    does: async (world) => (await world.say()).requests[0]!.systemPrompt,
    is: "You are a coding agent. Y Be brief.",
  },
];

const REFUSED: readonly [form: string, fixture: string, error: RegExp][] = [
  ["Bun.spawn", "bun_spawn.ts", /bun_spawn\.ts:4 uses Bun\.spawn, .*pi\.exec/],
  ["import.meta.dir", "bun_dir.ts", /bun_dir\.ts:3 uses import\.meta\.dir, .*import\.meta\.dirname/],
  ['import … from "bun"', "bun_shell.ts", /bun_shell\.ts:1 uses bun, /],
  ["Bun in a module of the hook", "in_library.ts", /lib_bun\.ts:2 uses Bun\.file, .*Deno\.readTextFile/],
  [
    "an invented package",
    "invented.ts",
    /invented\.ts:1 imports "@xcsh\/sdk".*import type \{ HookAPI \} from "@xcsh\/hooks"/,
  ],
  ["a name that nobody has", "lacking_name.ts", /"Picture" from "@mariozechner\/pi-tui", .*lacking_name\.ts:2/],
  ["a member that nobody has", "lacking_member.ts", /"Picture" from "@mariozechner\/pi-tui", .*lacking_member\.ts:6/],
  [
    "a required name that nobody has",
    "lacking_required.js",
    /"Picture" from "@mariozechner\/pi-tui", .*lacking_required\.js:1/,
  ],
  [
    "a kind of schema that nobody has",
    "lacking_kind.ts",
    /"Type\.Anything" from "@sinclair\/typebox", .*lacking_kind\.ts:4/,
  ],
  ["a kind of schema, by default", "lacking_default.ts", /"default\.Anything" from "typebox", .*lacking_default\.ts:5/],
  ["a module that a package lacks", "lacking_path.ts", /"typebox\/anything".*lacking_path\.ts:1/],
  ["no default export", "no_default.ts", /^Hook must export a default function$/],
  ["a file that there is not", "missing_file.ts", /Module not found .*nowhere\.js.*missing_file\.ts:1:/],
];

const silent = { debug() {}, info() {}, error() {} };
const MODES = ["in process", "isolated"] as const;

/** Warnings that came after loading. */
const logged: string[] = [];
const logger = { ...silent, warn: (text: string) => void logged.push(text) };

function load(mode: typeof MODES[number], fixtures: string[]): Promise<LoadHooksResult> {
  const paths = fixtures.map((fixture) => join(FOLDER, fixture));
  const permissions = { read: [join(FOLDER, "data.json"), join(FOLDER, "lib")], exec: ["echo *"] };
  return loadHooks(paths, FOLDER, {
    logger,
    ...(mode === "isolated" ? { permissions, isolation: { print() {} } } : {}),
  });
}

for (const mode of MODES) {
  Deno.test(`hooks of other hosts load and do their job, ${mode}`, async (t) => {
    logged.length = 0;
    const fixtures = [...new Set(ROWS.flatMap(({ fixture }) => fixture))];
    const { hooks, errors, warnings } = await load(mode, fixtures);
    assertEquals(errors, []);
    const byPath = new Map(hooks.map((hook) => [hook.path, hook]));
    const unused = new Set<LoadedHook>(hooks);
    try {
      for (const { form, fixture, does, is, world, warns, logs } of ROWS) {
        await t.step(form, async () => {
          const paths = [fixture].flat().map((name) => join(FOLDER, name));
          const used = paths.map((path) => byPath.get(path)!);
          for (const hook of used) unused.delete(hook);
          const said = warnings.filter(({ path }) => paths.includes(path)).map(({ warning }) => warning);
          if (warns === undefined) assertEquals(said, []);
          else assertMatch(said.join(), warns);
          assertEquals(said.length, warns === undefined ? 0 : 1);
          await using session = new World(used, world);
          assertEquals(await does(session), is);
          assertEquals(session.faults, []);
          const later = logged.filter((text) => paths.some((path) => text.startsWith(path)));
          assertEquals(later.length, logs === undefined ? 0 : 1, later.join("\n"));
          if (logs !== undefined) assertMatch(later[0]!, logs);
        });
      }
    } finally {
      for (const hook of unused) await hook.dispose?.();
    }
  });

  Deno.test(`hooks that cannot run are refused with the line and the way to write it, ${mode}`, async () => {
    logged.length = 0;
    const { hooks, errors } = await load(mode, REFUSED.map(([, fixture]) => join("refused", fixture)));
    for (const hook of hooks) await hook.dispose?.();
    assertEquals(hooks.map(({ path }) => path), []);
    for (const [i, [, , expected]] of REFUSED.entries()) assertMatch(errors[i]!.error, expected);
    assertMatch(logged.join("\n"), /^\S+no_default\.ts: write: export default function \(pi\).*$/);
  });
}

Deno.test("the table has a row for each fixture", async () => {
  const named = new Set([
    ...ROWS.flatMap(({ fixture }) => fixture),
    ...REFUSED.map(([, fixture]) => `refused/${fixture}`),
  ]);
  const found: string[] = [];
  for (const folder of ["", "refused/"]) {
    for await (const { name, isFile } of Deno.readDir(join(FOLDER, folder))) {
      if (isFile && /\.[cm]?[jt]s$/.test(name) && !name.startsWith("lib_")) found.push(folder + name);
    }
  }
  assertEquals(found.filter((name) => !named.has(name)), []);
  assertEquals(found.length >= 40, true);
});

Deno.test("the bus between hooks reaches those of one runner alone", async () => {
  const { hooks } = await load("in process", ["bus_hears.ts"]);
  const other = await load("in process", ["bus_says.ts"]);
  const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
  const session = SessionManager.inMemory("/");
  new HookRunner(other.hooks, "/", session, models);
  const runner = new HookRunner(hooks, "/", session, models);
  const notes: string[] = [];
  const context = Object.create(runner.createCommandContext(), {
    ui: { value: { notify: (note: string) => notes.push(note) } },
  });
  await runner.getCommand("heard")!.handler("", context);
  assertEquals(notes, [""]);
});
