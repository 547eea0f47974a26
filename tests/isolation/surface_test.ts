/**
 * Everything that a hook can use works in a process of its own.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import type { Component, HookUIContext, WidgetContent } from "@xcsh/hooks";
import { createNoOpUIContext, HookRunner, plainTheme } from "@xcsh/hooks";
import { SessionManager } from "@xcsh/hooks/session";
import { BOOT_FILES } from "../../src/isolation/boot_files.ts";
import { COMPAT_FILES } from "../../src/isolation/compat_files.ts";
import { SessionView } from "../../src/session/view.ts";
import { arena, until } from "./support.ts";

const ignore = Deno.build.os === "windows";

Deno.test(
  { name: "isolated: every event reaches its handler, with sets, signals and undefined as they were", ignore },
  async () => {
    await using a = await arena({
      hook: `export default (pi) => {
      const say = (text) => pi.sendMessage({ customType: "t", content: text, display: false });
      pi.on("session_before_compact", async (event, ctx) => {
        say([event.preparation.fileOps.read instanceof Set, [...event.preparation.fileOps.read], event.signal.aborted].join(" "));
        event.signal.addEventListener("abort", () => say("aborted"));
        await new Promise((done) => event.signal.addEventListener("abort", done));
        return { cancel: true };
      });
      pi.on("before_agent_start", (event) => {
        say(["images" in event, event.images].join(" "));
        return { message: { customType: "m", content: "hello", display: true, details: new Map([["a", 1n]]) } };
      });
      pi.on("session_tree", (event) => say([event.newLeafId, "summaryEntry" in event].join(" ")));
    };`,
    });
    const controller = new AbortController();
    const settings = { enabled: true, reserveTokens: 1, keepRecentTokens: 1 };
    const compacting = a.runner.emit({
      type: "session_before_compact",
      preparation: {
        firstKeptEntryId: "x",
        messagesToSummarize: [],
        turnPrefixMessages: [],
        recentMessages: [],
        isSplitTurn: false,
        tokensBefore: 0,
        fileOps: { read: new Set(["a", "b"]), written: new Set(), edited: new Set() },
        settings,
      },
      branchEntries: [],
      signal: controller.signal,
    });
    await until("it happened", () => a.sent.length === 1);
    controller.abort();
    assertEquals(await compacting, { cancel: true });
    const answer = await a.runner.emitBeforeAgentStart("go");
    assertEquals(answer?.message?.details, new Map([["a", 1n]]));
    await a.runner.emit({ type: "session_tree", newLeafId: null, oldLeafId: "x" });
    assertEquals(a.sent.map((sent) => (sent as [{ content: string }])[0].content), [
      "true a,b false",
      "aborted",
      "true ",
      " false",
    ]);
  },
);

Deno.test({ name: "isolated: pi.exec starts what a run grant names, and its end is the hook's", ignore }, async () => {
  await using a = await arena({
    hook: `export default (pi) => {
      pi.on("tool_call", async (event) => {
        const { what } = event.input;
        if (what === "fine") return { block: true, reason: JSON.stringify(await pi.exec("sh", ["-c", "echo out; exit 3"])) };
        if (what === "slow") return { block: true, reason: JSON.stringify(await pi.exec("sleep", ["30"], { timeout: 100 })) };
        if (what === "abort") {
          const controller = new AbortController();
          const run = pi.exec("sleep", ["30"], { signal: controller.signal });
          controller.abort();
          return { block: true, reason: JSON.stringify(await run) };
        }
        await pi.exec("ls", []);
      });
    };`,
    permissions: { run: ["sh", "sleep"] },
  });
  assertEquals(JSON.parse((await a.call({ what: "fine" })).reason), {
    stdout: "out\n",
    stderr: "",
    code: 3,
    killed: false,
  });
  for (const what of ["slow", "abort"]) {
    const { killed, code } = JSON.parse((await a.call({ what })).reason);
    assertEquals(killed, true);
    assert(code !== 0);
  }
  const refused = await a.call({ what: "else" });
  assertEquals(refused.ran, false);
  assertStringIncludes(refused.reason, "--allow-run=ls");
});

Deno.test({ name: "isolated: pi.exec by an exec grant can be aborted, and times out", ignore }, async () => {
  await using a = await arena({
    hook: `export default (pi) => {
      pi.on("tool_call", async (event) => {
        const controller = new AbortController();
        const options = event.input.abort ? { signal: controller.signal } : { timeout: 100 };
        const run = pi.exec("sleep", ["30"], options);
        if (event.input.abort) setTimeout(() => controller.abort(), 50);
        return { block: true, reason: JSON.stringify(await run) };
      });
    };`,
    permissions: { exec: ["sleep 30"] },
  });
  for (const input of [{ abort: true }, {}]) {
    const { killed, code } = JSON.parse((await a.call(input)).reason);
    assertEquals([killed, code], [true, 143]);
  }
});

/** A UI that answers, and remembers. */
function answering(): HookUIContext & { asked: unknown[][] } {
  const asked: unknown[][] = [];
  const answer = <T>(name: string, value: T) => (...args: unknown[]) => {
    asked.push([name, ...args.slice(0, 2)]);
    return Promise.resolve(value);
  };
  return {
    ...createNoOpUIContext(),
    asked,
    select: answer("select", "b"),
    confirm: answer("confirm", true),
    input: answer("input", "typed"),
    editor: answer("editor", undefined),
    notify: (...args) => void asked.push(["notify", ...args]),
    setStatus: (...args) => void asked.push(["setStatus", ...args]),
    setEditorText: (...args) => void asked.push(["setEditorText", ...args]),
    getEditorText: () => "in the editor",
    theme: { ...plainTheme, fg: (color, text) => `<${color}>${text}` },
  };
}

Deno.test(
  { name: "isolated: a handler asks and tells the person, and reads the context as it is now", ignore },
  async () => {
    const uiContext = answering();
    let idle = false;
    await using a = await arena({
      hook: `export default (pi) => {
      pi.on("tool_call", async (_event, ctx) => {
        const { ui } = ctx;
        ui.notify("note", "warning");
        ui.setStatus("k", "v");
        ui.setStatus("k", undefined);
        ui.setEditorText("new");
        const answers = [
          await ui.select("which", ["a", "b"]), await ui.confirm("sure", "really"), await ui.input("what", "here"),
          await ui.editor("text", "old"), ui.getEditorText(), ui.theme.fg("error", "red"), ctx.hasUI, ctx.isIdle(),
          ctx.hasQueuedMessages(), ctx.model?.id, ctx.modelRegistry.find("p", "m")?.id, await ctx.modelRegistry.getApiKey({}),
          ctx.cwd, ctx.sessionManager.getSessionId() !== "",
        ];
        return { block: true, reason: JSON.stringify(answers) };
      });
    };`,
      host: {
        uiContext,
        hasUI: true,
        isIdle: () => idle,
        hasQueuedMessages: () => true,
        getModel: () => ({ id: "m1", provider: "p" }),
      },
    });
    const expected = (isIdle: boolean) => [
      "b",
      true,
      "typed",
      null,
      "in the editor",
      "<error>red",
      true,
      isIdle,
      true,
      "m1",
      "m",
      null,
      a.project,
      true,
    ];
    assertEquals(JSON.parse((await a.call()).reason), expected(false));
    idle = true;
    assertEquals(JSON.parse((await a.call()).reason), expected(true));
    assertEquals(uiContext.asked.slice(0, 8), [
      ["notify", "note", "warning"],
      ["setStatus", "k", "v"],
      ["setStatus", "k", undefined],
      ["setEditorText", "new"],
      ["select", "which", ["a", "b"]],
      ["confirm", "sure", "really"],
      ["input", "what", "here"],
      ["editor", "text", "old"],
    ]);
  },
);

Deno.test({ name: "isolated: ui.custom is drawn by the child and shown by the host", ignore }, async () => {
  let component!: Component;
  let redraws = 0;
  const uiContext: HookUIContext = {
    ...createNoOpUIContext(),
    async custom<T>(factory: Parameters<HookUIContext["custom"]>[0]): Promise<T | undefined> {
      const { promise, resolve } = Promise.withResolvers<T | undefined>();
      component = await factory({ requestRender: () => redraws++ }, plainTheme, (result) => resolve(result as T));
      return await promise;
    },
  };
  await using a = await arena({
    hook: `export default (pi) => {
      pi.on("tool_call", async (event, ctx) => {
        const result = await ctx.ui.custom((tui, theme, done) => {
          let typed = "";
          return {
            render: (width) => [theme.bold("typed " + typed), "width " + width],
            handleInput: (data) => {
              if (data === "!") throw new Error("cannot take that");
              if (data === "\\r") done(typed);
              typed += data;
              tui.requestRender();
            },
            dispose: () => pi.appendEntry("disposed"),
          };
        });
        return { block: true, reason: String(result) };
      });
    };`,
    host: { uiContext, hasUI: true },
    // A dialog takes as long as it takes.
    isolation: { budget: 400 },
  });
  const blocked = a.call();
  await until("it happened", () => component !== undefined);
  await component.whenDrawn!(40);
  assertEquals(component.render(40), ["typed ", "width 40"]);
  component.handleInput!("a");
  component.handleInput!("b");
  await until("it happened", () => component.render(40)[0] === "typed ab");
  assert(redraws > 0);
  await component.whenDrawn!(20);
  assertEquals(component.render(20), ["typed ab", "width 20"]);
  await new Promise((done) => setTimeout(done, 700));
  component.handleInput!("\r");
  assertEquals((await blocked).reason, "ab");
  await until("it happened", () => a.appended.length === 1);

  const first = component;
  const failing = a.call();
  await until("it happened", () => component !== first);
  await component.whenDrawn!(40);
  component.handleInput!("!");
  const { ran, reason } = await failing;
  assertEquals(ran, false);
  assertStringIncludes(reason, "cannot take that");
});

Deno.test(
  { name: "isolated: what a dead process drew is taken away, and no other one draws in its place", ignore },
  async () => {
    const widgets = new Map<string, WidgetContent>();
    const uiContext: HookUIContext = {
      ...createNoOpUIContext(),
      setWidget: (key, content) => void widgets.set(key, content),
    };
    await using a = await arena({
      hook: `export default (pi) => pi.on("tool_call", (event, ctx) => {
      const { key, lines } = event.input;
      if (key === undefined) Deno.exit(1);
      ctx.ui.setWidget(key, lines ?? (() => ({ render: () => ["drawn for " + key] })));
    });`,
      host: { uiContext, hasUI: true },
    });
    const drawn = async (content: WidgetContent) => {
      const component = (content as (tui: unknown, theme: unknown) => Component)({}, plainTheme);
      await component.whenDrawn!(40);
      return component.render(40);
    };
    await a.call({ key: "first" });
    await a.call({ key: "lines", lines: ["kept"] });
    await until("it is there", () => widgets.size === 2);
    const first = widgets.get("first");
    assertEquals(await drawn(first), ["drawn for first"]);
    assertEquals((await a.call()).broken, true);
    assertEquals([...widgets], [["first", undefined], ["lines", ["kept"]]]);
    await a.call({ key: "second" });
    await until("it is there", () => widgets.size === 3);
    assertEquals(await drawn(widgets.get("second")), ["drawn for second"]);
    // A UI that holds on to it.
    assertEquals(await drawn(first), []);
  },
);

Deno.test({ name: "isolated: a hook that shows things without end keeps the newest", ignore }, async () => {
  const shown = new Map<string, unknown>();
  const show = (key: string, content: unknown) =>
    void (content === undefined ? shown.delete(key) : shown.set(key, content));
  const uiContext: HookUIContext = { ...createNoOpUIContext(), setStatus: show, setWidget: show };
  await using a = await arena({
    hook: `export default (pi) => pi.on("tool_call", async (_event, ctx) => {
      for (let i = 0; i < 1_000; i++) ctx.ui[i % 2 ? "setStatus" : "setWidget"]("key " + i, i % 2 ? "x".repeat(10_000) : ["x".repeat(10_000)]);
      ctx.ui.setStatus("k".repeat(10_000), "last");
      ctx.ui.setWidget("lines", Array(10_000).fill("line"));
    });`,
    host: { uiContext, hasUI: true },
  });
  assertEquals((await a.call()).ran, true);
  assertEquals(shown.size, 100);
  assertEquals([...shown.keys()].slice(-3).map((key) => key.length), [7, 200, 5]);
  assertEquals((shown.get("lines") as string[]).length, 200);
  assert(JSON.stringify([...shown]).length < 500_000);
});

Deno.test(
  { name: "isolated: what a hook has the host keep by an action, or for other hooks, is bounded", ignore },
  async () => {
    for (const flood of ["pi.setSessionName(text)", 'pi.events.emit("news", text)', "ctx.ui.setTitle(text)"]) {
      await using a = await arena({
        hook: `export default (pi) => pi.on("tool_call", async (_event, ctx) => {
        const text = "x".repeat(1 << 20);
        for (let i = 0; i < 100; i++) {
          ${flood};
          await ctx.ui.confirm("", "");
        }
      });`,
        host: { actions: { setSessionName() {} } },
      });
      const { ran, reason } = await a.call();
      assertEquals(ran, false);
      assertStringIncludes(reason, "it has the host keep more than it can take");
    }
  },
);

Deno.test({
  name: "isolated: a hook that does not read what others tell it is ended, and the host's memory is bounded",
  ignore,
}, async () => {
  await using a = await arena({
    hook: `export default (pi) => pi.on("tool_call", () => void setTimeout(() => { for (;;); }));`,
  });
  assertEquals((await a.call()).ran, true);
  const text = "x".repeat(1 << 20);
  for (let i = 0; i < 100; i++) a.hook.bus!.deliver("news", text);
  await until("it is ended", () => a.children().length === 0);
});

Deno.test({ name: "isolated: without UI a custom component is never made", ignore }, async () => {
  await using a = await arena({
    hook: `export default (pi) => pi.on("tool_call", async (_event, ctx) => {
      let made = false;
      const result = await ctx.ui.custom(() => { made = true; return { render: () => [] }; });
      return { block: true, reason: [result, made, ctx.hasUI].join() };
    });`,
  });
  assertEquals((await a.call()).reason, ",false,false");
});

Deno.test({ name: "isolated: a message renderer draws in the child", ignore }, async () => {
  await using a = await arena({
    hook: `export default (pi) => {
      pi.registerMessageRenderer("note", (message, { expanded }, theme) =>
        message.content === "plain" ? undefined : { render: (width) => [theme.bold(message.content), expanded + " " + width] });
    };`,
  });
  const draw = async (content: string) => {
    const message = { role: "custom" as const, customType: "note", content, display: true, timestamp: 0 };
    const component = a.runner.getMessageRenderer("note")!(message, { expanded: true }, plainTheme)!;
    await component.whenDrawn!(30);
    return component.render(30);
  };
  assertEquals(await draw("hello"), ["hello", "true 30"]);
  assertEquals(await draw("plain"), ["[note]", "", "plain"]);
});

Deno.test({ name: "isolated: the session is what it is now, also after a switch to another", ignore }, async () => {
  await using a = await arena({
    hook: `export default (pi) => pi.on("tool_call", (_event, ctx) => {
      const s = ctx.sessionManager;
      return { block: true, reason: JSON.stringify({
        ids: s.getEntries().map((e) => e.id), branch: s.getBranch().map((e) => e.id), leaf: s.getLeafId(), leafEntry: s.getLeafEntry()?.id,
        id: s.getSessionId(), cwd: s.getCwd(), file: s.getSessionFile() ?? null, name: s.getSessionName() ?? null, header: s.getHeader()?.id,
        label: s.getLabel(s.getEntries()[0]?.id) ?? null, roots: s.getTree().length, from: s.getBranch("none").length,
      }) };
    });`,
  });
  let current = a.session;
  const view = new SessionView(() => current);
  const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
  const runner = new HookRunner(a.hooks, a.project, view, models);
  const seen = async () =>
    JSON.parse((await runner.emitToolCall({ type: "tool_call", toolName: "x", toolCallId: "1", input: {} }))!.reason!);
  const now = () => {
    const s = current;
    return {
      ids: s.getEntries().map((e) => e.id),
      branch: s.getBranch().map((e) => e.id),
      leaf: s.getLeafId(),
      id: s.getSessionId(),
      cwd: s.getCwd(),
      file: s.getSessionFile() ?? null,
      name: s.getSessionName() ?? null,
      header: s.getHeader()?.id,
      roots: s.getTree().length,
      label: s.getLabel(s.getEntries()[0]?.id ?? "") ?? null,
      from: s.getBranch("none").length,
      ...s.getLeafEntry() === undefined ? {} : { leafEntry: s.getLeafEntry()!.id },
    };
  };
  assertEquals(await seen(), now());
  const user = (content: string) => current.appendMessage({ role: "user", content, timestamp: 0 });
  const first = user("one");
  // More than one answer carries.
  for (let i = 0; i < 4_500; i++) user(`more ${i}`);
  assertEquals(await seen(), now());
  a.session.appendLabelChange(first, "start");
  a.session.branch(first);
  user("aside");
  assertEquals(await seen(), now());
  current = SessionManager.inMemory(a.project);
  assertEquals(await seen(), now());
  user("other");
  assertEquals(await seen(), now());
});

Deno.test({ name: "isolated: commands do what only commands may, and fill a new session", ignore }, async () => {
  const done: unknown[] = [];
  const other = SessionManager.inMemory("/other");
  await using a = await arena({
    hook: `export default (pi) => {
      let kept;
      pi.registerCommand("go", { description: "goes", handler: async (args, ctx) => {
        kept = ctx;
        await ctx.waitForIdle();
        const made = await ctx.newSession({ parentSession: "p.jsonl", setup: async (s) => {
          const id = s.appendMessage({ role: "user", content: "first " + args, timestamp: 0 });
          s.appendCustomEntry("mine", { id });
          s.appendCustomMessageEntry("note", "seen", true, { d: 1 }, "user");
          s.appendLabelChange(id, "start");
          if (s.getEntry(id).message.content !== "first now" || s.getLabel(id) !== "start") throw new Error("not there");
        } });
        const branched = await ctx.branch("e1");
        const moved = await ctx.navigateTree("e2", { summarize: true });
        pi.appendEntry("did", [made, branched, moved]);
      } });
      pi.registerCommand("fails", { handler: () => { throw new RangeError("no such luck"); } });
      pi.on("agent_start", async () => { await kept.branch("e3"); });
    };`,
    host: {
      waitForIdle: () => Promise.resolve(void done.push("idle")),
      newSessionHandler: async (options) => {
        done.push(["new", options?.parentSession]);
        await options?.setup?.(other);
        return { cancelled: false };
      },
      branchHandler: (id) => Promise.resolve({ cancelled: done.push(["branch", id]) > 100 }),
      navigateTreeHandler: (id, options) => Promise.resolve({ cancelled: done.push(["tree", id, options]) > 0 }),
    },
  });
  assertEquals(a.runner.getRegisteredCommands().map(({ name, description }) => [name, description]), [["go", "goes"], [
    "fails",
    undefined,
  ]]);
  await a.runner.getCommand("go")!.handler("now", a.runner.createCommandContext());
  assertEquals(done, ["idle", ["new", "p.jsonl"], ["branch", "e1"], ["tree", "e2", { summarize: true }]]);
  assertEquals(a.appended, [["did", [{ cancelled: false }, { cancelled: false }, { cancelled: true }]]]);
  assertEquals(other.getEntries().map(({ type }) => type), ["message", "custom", "custom_message", "label"]);
  let failure: unknown;
  try {
    await a.runner.getCommand("fails")!.handler("", a.runner.createCommandContext());
  } catch (error) {
    failure = error;
  }
  assert(failure instanceof RangeError);
  assertStringIncludes(failure.message, "no such luck");
  // What only a command may do, the handler of an event may not, with a context that it kept either.
  await a.runner.emit({ type: "agent_start" });
  assertEquals(done.length, 4);
  assertStringIncludes(a.errors[0]!.error, "Only a slash command may do this");
});

Deno.test({ name: "isolated: pi.on in a handler counts from the event's next emission (C1.2)", ignore }, async () => {
  await using a = await arena({
    hook: `export default (pi) => {
      pi.on("tool_call", () => { pi.on("tool_call", () => ({ block: true, reason: "registered late" })); });
    };`,
  });
  assertEquals((await a.call()).ran, true);
  assertEquals((await a.call()).reason, "registered late");
});

Deno.test(
  { name: "isolated: what a hook prints comes with its name, and no faster than a person reads", ignore },
  async () => {
    const lines: string[] = [];
    await using a = await arena({
      hook: `export default (pi) => {
      console.log("one\\x1b[2J");
      pi.on("agent_start", () => { for (let i = 0; i < 5_000; i++) console.log("line " + i); });
      pi.on("agent_end", () => pi.logger.warn("logged", { a: 1 }));
    };`,
      isolation: { print: (path, line) => void lines.push(`${path}|${line}`) },
      load: { logger: { debug() {}, info() {}, error() {}, warn: (...args) => void lines.push(JSON.stringify(args)) } },
    });
    await until("it happened", () => lines.length > 0);
    assertMatch(lines[0]!, /hook\.ts\|one$/);
    await a.runner.emit({ type: "agent_start" });
    await a.runner.emit({ type: "agent_end", messages: [] });
    await until("it happened", () => lines.some((line) => line.includes("logged")));
    assert(lines.includes(JSON.stringify(["logged", { a: 1 }])));
    assert(lines.length < 1_000, `${lines.length} lines`);
  },
);

Deno.test({ name: "isolated: a hook reads and writes just what it was granted", ignore }, async () => {
  await using a = await arena({
    hook: `export default (pi) => pi.on("tool_call", async (event) => {
      const { path, text } = event.input;
      if (text !== undefined) await Deno.writeTextFile(path, text);
      return { block: true, reason: await Deno.readTextFile(path) };
    });`,
    files: { "project/in/a.txt": "inside", "project/b.txt": "beside" },
    permissions: { read: ["in"], write: ["in"] },
  });
  assertEquals((await a.call({ path: join(a.project, "in/a.txt") })).reason, "inside");
  assertEquals((await a.call({ path: "in/new.txt", text: "fresh" })).reason, "fresh");
  for (const input of [{ path: "b.txt" }, { path: "b.txt", text: "x" }]) {
    const { ran, reason, broken } = await a.call(input);
    assertEquals([ran, broken], [false, false]);
    assertMatch(reason, /Requires (?:read|write) access/);
  }
  assertEquals(await Deno.readTextFile(join(a.project, "b.txt")), "beside");
});

Deno.test(
  { name: "isolated: no grant opens the folder from which the host takes what it imports", ignore },
  async () => {
    const before = Deno.env.get("DENO_DIR");
    try {
      await using a = await arena({
        hook: `export default (pi) => pi.on("tool_call", async (event) => {
        await Deno.writeTextFile(event.input.file, "evil");
      });`,
        files: { "project/caches/deno/npm.js": "good" },
        prepare: (root) => Deno.env.set("DENO_DIR", join(root, "project/caches/deno")),
        permissions: { write: ["."] },
      });
      assertEquals((await a.call({ file: "caches.txt" })).ran, true);
      assertStringIncludes((await a.call({ file: "caches/deno/npm.js" })).reason, "write access");
      assertEquals(await Deno.readTextFile(join(a.project, "caches/deno/npm.js")), "good");
    } finally {
      if (before === undefined) Deno.env.delete("DENO_DIR");
      else Deno.env.set("DENO_DIR", before);
    }
  },
);

Deno.test("BOOT_FILES holds every module that the child's modules import", () => {
  for (const [name, text] of Object.entries({ ...BOOT_FILES, ...COMPAT_FILES })) {
    const files = { ...BOOT_FILES, ...COMPAT_FILES };
    for (
      const [, clause, specifier] of text.matchAll(/(import type |import |export |import\()[^;]*?"(\.{1,2}\/[^"]+)"/g)
    ) {
      if (clause === "import type ") continue;
      const path = new URL(specifier!, `file:///${name}`).pathname.slice(1);
      assert(Object.hasOwn(files, path), `${name} imports ${path}`);
    }
  }
});
