import { assertEquals } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import {
  EVENT_NAMES,
  type HookPermissions,
  HookRunner,
  HookToolWrapper,
  loadHooks,
  type Tool,
  type ToolResult,
} from "@xcsh/hooks";
import { SessionManager } from "@xcsh/hooks/session";
import { makeEvent } from "../../src/testing/default_events.ts";
import { lay } from "./support.ts";

/** A hook under both regimes: what came of it is written down, so that it can be compared. */
interface Stage {
  readonly runner: HookRunner;
  readonly session: SessionManager;
  readonly log: unknown[];
  /** Runs a tool behind the hooks. */
  tool(input: Record<string, unknown>, result?: unknown, name?: string): Promise<unknown>;
}

type Act = (stage: Stage) => Promise<unknown>;

async function play(root: string, paths: string[], permissions: HookPermissions | undefined, act: Act) {
  const project = join(root, "project");
  const { hooks, errors, warnings } = await loadHooks(paths, project, permissions === undefined ? {} : { permissions });
  const log: unknown[] = [];
  const session = SessionManager.inMemory(project);
  session.appendMessage({ role: "user", content: "hello", timestamp: 1 });
  const runner = new HookRunner(hooks, project, session, {
    getAvailable: () => [{ id: "m", provider: "p" }],
    find: () => undefined,
    getApiKey: () => Promise.resolve("key"),
  });
  const note = (what: string) => (...args: unknown[]) => void log.push([what, ...args]);
  runner.initialize({
    getModel: () => ({ id: "m", provider: "p" }),
    sendMessageHandler: note("sent"),
    appendEntryHandler: note("appended"),
    newSessionHandler: async (options) => {
      const fresh = SessionManager.inMemory(project);
      await options?.setup?.(fresh);
      log.push(["new session", fresh.getEntries().map(({ type }) => type)]);
      return { cancelled: false };
    },
    hasUI: true,
    uiContext: {
      select: (...args) => (log.push(["select", ...args.slice(0, 2)]), Promise.resolve(args[1][0])),
      confirm: (...args) => (log.push(["confirm", ...args.slice(0, 2)]), Promise.resolve(true)),
      input: (title, placeholder = "") => (log.push(["input", title, placeholder]), Promise.resolve("typed")),
      editor: (...args) => (log.push(["editor", args[0], args[1]]), Promise.resolve(args[1])),
      notify: note("notify"),
      setStatus: note("status"),
      setWidget: note("widget"),
      setEditorText: note("editor text"),
      getEditorText: () => "text",
      custom: () => Promise.resolve(undefined),
      theme: new Proxy({}, { get: () => (...args: string[]) => args.at(-1) }) as never,
    },
  });
  runner.onError(({ hookPath, event, error }) => log.push(["error", hookPath, event, error]));
  runner.onDecision(({ hookPath, effect, reason }) => log.push(["decision", hookPath, effect, reason]));
  const stage: Stage = {
    runner,
    session,
    log,
    async tool(
      input,
      result = { content: [{ type: "text", text: "r" }], details: { a: 1 }, isWarning: true },
      name = "bash",
    ) {
      const tool = {
        name,
        execute: () =>
          result instanceof Error || typeof result === "string" ? Promise.reject(result) : Promise.resolve(result),
      } as unknown as Tool<Record<string, unknown>, ToolResult>;
      try {
        return { answered: await new HookToolWrapper(tool, runner, { redactErrors: true }).execute("1", input) };
      } catch (error) {
        return { threw: error instanceof Error ? [error.name, error.message] : error };
      }
    },
  };
  try {
    const outcome = await act(stage);
    const registered = {
      handlers: hooks.map((hook) => [...hook.handlers].map(([event, list]) => [event, list.length])),
      commands: runner.getRegisteredCommands().map(({ name, description }) => [name, description]),
      renderers: hooks.map((hook) => [...hook.messageRenderers.keys()]),
    };
    return plain({ errors, warnings, outcome, log, registered });
  } finally {
    await runner.dispose();
  }
}

/** Without what differs from run to run. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, item) => item instanceof Set ? ["set", ...item] : item);
  return JSON.parse(
    text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "x").replaceAll(/"[0-9a-f]{8}"/g, '"x"').replaceAll(
      /\b\d{13}\b/g,
      "0",
    ).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "T").replaceAll(/"(?:id|parentId)":"[^"]*"/g, '"id":"x"'),
  );
}

async function same(name: string, files: Record<string, string>, act: Act, permissions: HookPermissions = {}) {
  await withProject(files, async (root) => {
    const paths = Object.keys(files).filter((path) => path.startsWith("hooks/")).map((path) =>
      join(root, "project", path)
    );
    const here = await play(root, paths, undefined, act);
    const there = await play(root, paths, permissions, act);
    assertEquals(there, here, name);
  });
}

async function withProject(files: Record<string, string>, run: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "xcsh-both-" }));
  try {
    await lay(join(root, "project"), files);
    await run(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const on = (event: string, handler: string) => `pi.on(${JSON.stringify(event)}, ${handler});`;
const hook = (...lines: string[]) => `export default (pi) => { ${lines.join("\n")} };`;

Deno.test("A.1: modules load, or do not, with the same words", async () => {
  const modules: Record<string, string> = {
    "none": "export const x = 1;",
    "text": `export default "x";`,
    "throws": `export default () => { throw new Error("boom"); };`,
    "throws text": `export default () => { throw "boomstr"; };`,
    "sends": `export default (pi) => { pi.sendMessage({ customType: "x", content: "", display: true }); };`,
    "appends": `export default (pi) => { pi.appendEntry("x"); };`,
    "class": "export default class Foo {}",
    "async": `export default async (pi) => { pi.on("turn_start", () => {}); await 1; pi.on("turn_end", () => {}); };`,
    "unknown event": `export default (pi) => { pi.on("toolcall", () => {}); };`,
    "no handler": `export default (pi) => { pi.on("tool_call"); };`,
    "command":
      `export default (pi) => { pi.registerCommand("c", { name: "other", description: "d", handler() {} }); };`,
    "renderers":
      `export default (pi) => { pi.registerMessageRenderer("x", () => {}); pi.registerMessageRenderer("x", () => {}); };`,
    "syntax": "export default (pi => {",
  };
  const files = Object.fromEntries(Object.entries(modules).map(([name, text]) => [`hooks/${name}.ts`, text]));
  await same("A.1", files, () => Promise.resolve());
});

Deno.test("A.2: handlers of tools come to the same", async () => {
  const vectors: Record<string, [text: string, result?: unknown]> = {
    "none": [hook()],
    "assigns the input": [hook(on("tool_call", "(e) => { e.input.x = 42; }"))],
    "assigns deep": [hook(on("tool_call", "(e) => { e.input.deep.list.push(1); }"))],
    "block": [hook(on("tool_call", "() => ({ block: true })"))],
    "block, empty": [hook(on("tool_call", `() => ({ block: true, reason: "" })`))],
    "block 1": [hook(on("tool_call", `() => ({ block: 1, reason: "one" })`))],
    "reason is no text": [hook(on("tool_call", `() => ({ block: true, reason: { z: 1 } })`))],
    "TypeError": [hook(on("tool_call", `() => { throw new TypeError("tt"); }`))],
    "RangeError, async": [hook(on("tool_call", `async () => { throw new RangeError("rr"); }`))],
    "throws a text": [hook(on("tool_call", `() => { throw "ss"; }`))],
    "throws an object": [hook(on("tool_call", `() => { throw { a: 1 }; }`))],
    "throws undefined": [hook(on("tool_call", `() => { throw undefined; }`))],
    "block: false": [hook(on("tool_call", `() => ({ block: false, reason: "x" })`), on("tool_call", "() => {}"))],
    "blocked, no result": [
      hook(on("tool_call", "() => ({ block: true })"), on("tool_result", "() => ({ content: [] })")),
    ],
    "returns true": [hook(on("tool_call", "() => true"))],
    ...Object.fromEntries(
      [
        "undefined",
        "{}",
        "true",
        `"abc"`,
        "{ isError: true }",
        "{ content: null, details: null }",
        "{ content: [], details: 0 }",
        "{ content: 5 }",
      ]
        .map((answer) => [`result ${answer}`, [hook(on("tool_result", `() => (${answer})`))]]),
    ),
    "two fields": [
      hook(
        on("tool_result", `() => ({ content: [{ type: "text", text: "A" }] })`),
        on("tool_result", `() => ({ details: "D" })`),
      ),
    ],
    "edits": [
      hook(
        on("tool_result", `(e) => { e.content[0].text = "edited"; e.content.push({ type: "text", text: "more" }); }`),
      ),
    ],
    "assigns": [hook(on("tool_result", `(e) => { e.content = []; }`))],
    "edits and throws": [hook(on("tool_result", `(e) => { e.content.length = 0; throw new Error("te"); }`))],
    "tool fails": [
      hook(
        on("tool_result", `(e) => ({ content: "fixed " + e.isError + e.content[0].text + e.details, isError: false })`),
      ),
      new RangeError("fail"),
    ],
    "tool fails with a text": [hook(on("tool_result", `(e) => { console.log(e.content); }`)), "strfail"],
    "odd details": [
      hook(
        on(
          "tool_result",
          `(e) => ({ details: [e.details.set instanceof Set, e.details.none === undefined, e.details.when instanceof Date, e.details.nan] })`,
        ),
      ),
      {
        content: [],
        details: { set: new Set([1]), none: undefined, when: new Date(0), nan: NaN },
      },
    ],
  };
  await Promise.all(
    Object.entries(vectors).map(([name, [text, result]]) =>
      same(name, { "hooks/hook.ts": text }, (stage) => stage.tool({ x: 1, deep: { list: [] } }, result))
    ),
  );
});

Deno.test("A.3: emissions come to the same", async () => {
  const h1 = hook(on("session_before_switch", "() => ({ x: 1 })"), on("session_before_switch", "() => {}"));
  const h2 = hook(
    on("session_before_switch", `() => { throw new Error("E"); }`),
    on("session_before_switch", `() => ({ cancel: true, why: 2 })`),
    on("session_before_switch", `() => { pi.appendEntry("third"); }`),
    on("agent_start", "() => ({ cancel: true })"),
    on("session.compacting", `() => ({ prompt: "a" })`),
    on("session.compacting", `() => ({ context: ["c"] })`),
    on("session.compacting", "() => null"),
    on("context", `(e) => ({ messages: [...e.messages, { role: "user", content: "b", timestamp: 1 }] })`),
    on("context", "() => ({ messages: null })"),
    on("context", `(e) => { e.messages.push({ role: "user", content: "inplace", timestamp: 2 }); }`),
    on("before_agent_start", "() => ({})"),
    on(
      "before_agent_start",
      `(e) => ({ message: { customType: "images" in e, content: "1", display: true }, extra: 1 })`,
    ),
    on("before_agent_start", `() => ({ message: { customType: "2", content: "2", display: true } })`),
    on("tool_call", `(e) => { if (e.toolName === "x") pi.on("turn_start", () => pi.appendEntry("late")); }`),
  );
  await same("A.3", { "hooks/1.ts": h1, "hooks/2.ts": h2 }, async ({ runner, session, tool }) => [
    await runner.emit({ type: "session_before_switch", reason: "new" }),
    await runner.emit({ type: "agent_start" }),
    await runner.emit(makeEvent("session.compacting", {}, session, 1)),
    await runner.emitContext([{ role: "user", content: "x", timestamp: 0 }]),
    await runner.emitBeforeAgentStart("p"),
    await tool({}, undefined, "x"),
    await runner.emit({ type: "turn_start", turnIndex: 0, timestamp: 0 }),
  ]);
});

Deno.test("every event arrives as it was sent, and every way to reach the session does the same", async () => {
  const seen = hook(
    ...EVENT_NAMES.map((name) =>
      on(
        name,
        `(e, ctx) => {
        const { signal, ...rest } = e;
        const sets = e.preparation?.fileOps?.read instanceof Set;
        const at = e.timestamp === undefined ? {} : { timestamp: 0 };
        pi.appendEntry("seen", [{ ...rest, ...at }, sets, signal instanceof AbortSignal, Object.keys(e).sort()]);
        if (e.type !== "turn_end") return;
        const s = ctx.sessionManager;
        pi.appendEntry("context", [ctx.cwd.length > 0, ctx.hasUI, ctx.model, ctx.isIdle(), ctx.hasQueuedMessages(),
          s.getEntries().length, s.getBranch().map((x) => x.type), s.getLeafEntry()?.type, s.getSessionFile(), s.getSessionDir(),
          s.getTree().length, s.getEntry("nope"), s.getLabel("nope"), ctx.modelRegistry.getAvailable(), ctx.ui.getEditorText(),
          ctx.ui.theme.bold("x")]);
        ctx.ui.notify("n", "warning"); ctx.ui.setStatus("k", "v"); ctx.ui.setStatus("k", undefined); ctx.ui.setEditorText("t");
      }`,
      )
    ),
    `pi.registerCommand("go", { description: "goes", async handler(args, ctx) {
      pi.sendMessage({ customType: "c", content: args, display: true }, { triggerTurn: true, deliverAs: "followUp" });
      await ctx.waitForIdle();
      const chosen = [await ctx.ui.select("s", ["a", "b"]), await ctx.ui.confirm("c", "m"), await ctx.ui.input("i"), await ctx.ui.editor("e", "p")];
      const { cancelled } = await ctx.newSession({ setup(session) {
        session.appendMessage({ role: "user", content: "m", timestamp: 1 });
        session.appendCustomEntry("e", { a: 1 });
        session.appendCustomMessageEntry("m", "text", true);
      } });
      pi.appendEntry("went", [chosen, cancelled, await ctx.branch("x"), await ctx.navigateTree("y", { summarize: true })]);
    } });
    pi.registerMessageRenderer("c", (message, { expanded }, theme) => ({ render: (width) => [theme.bold(message.content), expanded + " " + width] }));`,
  );
  await same("events", { "hooks/hook.ts": seen }, async ({ runner, session, log }) => {
    for (const name of EVENT_NAMES) await runner.emit(makeEvent(name, {}, session, 1));
    await runner.getCommand("go")!.handler("now", runner.createCommandContext());
    const message = { role: "custom", customType: "c", content: "drawn", display: true, timestamp: 1 } as never;
    const component = runner.getMessageRenderer("c")!(message, { expanded: true }, runner.getUIContext().theme)!;
    await component.whenDrawn?.(40);
    return [component.render(40), log.length];
  });
});

const EXAMPLES: Record<string, { permissions?: HookPermissions; act: Act }> = {
  block_unsafe_bash: {
    act: async (
      { tool },
    ) => [
      await tool({ command: "ls" }),
      await tool({ command: "rm -rf /" }),
      await tool({ command: 'sh -c "git push -f"' }),
    ],
  },
  filter_context: {
    act: async ({ runner }) =>
      await runner.emitContext([
        { role: "user", content: "x", timestamp: 0 },
        {
          role: "toolResult",
          toolCallId: "1",
          toolName: "read",
          content: [{ type: "text", text: "y".repeat(50_000) }],
          isError: false,
          timestamp: 1,
        } as never,
        { role: "user", content: "z", timestamp: 2 },
      ]),
  },
  protect_paths: {
    act: async ({ tool }) => [
      await tool({ path: ".env" }, undefined, "read"),
      await tool({ path: "src/a.ts" }, undefined, "write"),
      await tool({ command: "cat ~/.ssh/id_rsa" }),
    ],
  },
  redact_secrets: {
    act: async ({ tool }) => [
      await tool({}, {
        content: [{ type: "text", text: "password: hunter2xyz\nghp_" + "a".repeat(36) }],
        details: { password: "hunter2" },
      }),
      await tool({}, new Error("https://u:secretpass@example.org failed")),
    ],
  },
  inject_project_rules: {
    permissions: { read: ["."] },
    act: async ({ runner }) => [await runner.emitBeforeAgentStart("p"), await runner.emitBeforeAgentStart("q")],
  },
  notes: {
    act: async ({ runner }) => {
      await runner.getCommand("note")!.handler("mind the gap", runner.createCommandContext());
      await runner.getCommand("note")!.handler(" ", runner.createCommandContext());
    },
  },
  handoff: {
    act: async ({ runner }) => {
      for (const command of runner.getRegisteredCommands()) {
        await Promise.resolve(command.handler("go on", runner.createCommandContext())).catch(() => {});
      }
    },
  },
};

for await (const { name } of Deno.readDir(new URL("../../examples/hooks", import.meta.url))) {
  if (!name.endsWith(".ts")) continue;
  const example = name.replace(/\.ts$/, "");
  Deno.test(`the example ${example} does the same in both`, async () => {
    const { permissions = {}, act = () => Promise.resolve() } = EXAMPLES[example] ?? {};
    const path = fromFileUrl(new URL(`../../examples/hooks/${name}`, import.meta.url));
    const act2: Act = async (stage) => {
      const outcome = [await act(stage)];
      for (const event of EVENT_NAMES) {
        outcome.push(await stage.runner.emit(makeEvent(event, {}, stage.session, 1)));
      }
      return outcome;
    };
    await withProject({ "AGENTS.md": "Be kind.", ".xcsh/rules/a.md": "No tabs.", "src/a.ts": "" }, async (root) => {
      const here = await play(root, [path], undefined, act2);
      const there = await play(root, [path], permissions, act2);
      const loaded = (played: unknown) => (played as { registered: unknown }).registered;
      assertEquals(loaded(there), loaded(here));
      if (example in EXAMPLES) assertEquals(there, here);
    });
  });
}
