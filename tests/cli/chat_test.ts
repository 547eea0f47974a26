import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Terminal, terminalTest } from "../terminal.ts";
import { asked, enter, leave, startChat } from "./chat.ts";
import { Folder } from "./program.ts";

/** A hook whose command `/ask` asks one of each kind, and tells the answers. */
const ASKS = `
export default (pi) => {
  pi.on("session_shutdown", () => Deno.writeTextFileSync(PATH, "seen"));
  const commands = {
    select: (ui, dialog) => ui.select("Which one?", ["one", "two", "three"], dialog),
    confirm: (ui, dialog) => ui.confirm("Really?", "It cannot be undone.", dialog),
    input: (ui, dialog) => ui.input("Your name?", "first and last", dialog),
    editor: (ui, dialog) => ui.editor("Your text?", "before", dialog),
    custom: (ui, dialog) => ui.custom((tui, theme, done) => {
      let keys = "";
      return {
        render: (width) => [theme.fg("accent", "keys: " + keys), "width: " + width],
        handleInput(data) {
          if (data === "q") done(keys);
          if (data === "x") throw new Error("no x here");
          keys += data;
          tui.requestRender();
        },
      };
    }, dialog),
  };
  for (const [name, ask] of Object.entries(commands)) {
    pi.registerCommand(name, {
      description: "asks",
      handler: async (args, ctx) => {
        const dialog = args === "" ? undefined : { timeout: Number(args) };
        ctx.ui.notify("answer: " + JSON.stringify({ got: await ask(ctx.ui, dialog), hasUI: ctx.hasUI }));
      },
    });
  }
};
`;

const MODES = { "in the process": ["--in-process"], isolated: ["--allow-write=shutdown"] };

for (const [mode, flags] of Object.entries(MODES)) {
  terminalTest(`chat, ${mode}: each kind of dialog is answered`, async () => {
    await using chat = await startChat({ "asks.ts": ASKS }, { mode: flags });
    const { terminal } = chat;
    await enter(terminal, "/select");
    assertStringIncludes(await terminal.waitFor(asked("Which one?")), "─ ./asks.ts asks ─");
    await terminal.press("Down", "Enter");
    await terminal.waitFor('answer: {"got":"two","hasUI":true}');

    await enter(terminal, "/confirm");
    assertStringIncludes(await terminal.waitFor(asked("It cannot be undone.")), "→ No");
    await terminal.press("Enter");
    await terminal.waitFor('answer: {"got":false,"hasUI":true}');
    await enter(terminal, "/confirm");
    await terminal.waitFor(asked("It cannot be undone."));
    await terminal.press("y");
    await terminal.waitFor('answer: {"got":true,"hasUI":true}');

    await enter(terminal, "/input");
    await terminal.waitFor(asked("first and last"));
    await enter(terminal, "Ada 漢字");
    await terminal.waitFor('answer: {"got":"Ada 漢字","hasUI":true}');

    await enter(terminal, "/editor");
    await terminal.waitFor(asked("Your text?"));
    await enter(terminal, " and");
    await terminal.type("after");
    await terminal.press("C-s");
    await terminal.waitFor('answer: {"got":"before and\\nafter","hasUI":true}');

    await enter(terminal, "/custom");
    assertStringIncludes(await terminal.waitFor(asked("keys:")), "─ ./asks.ts ─");
    await terminal.type("ab");
    await terminal.waitFor("keys: ab");
    await terminal.type("q");
    await terminal.waitFor('answer: {"got":"ab","hasUI":true}');
    await leave(terminal);
    assertEquals(Deno.readTextFileSync(`${chat.folder.path}/shutdown`), "seen");
  });

  terminalTest(`chat, ${mode}: each kind of dialog is cancelled, by Escape and by Ctrl+C`, async () => {
    await using chat = await startChat({ "asks.ts": ASKS }, { mode: flags, rows: 60 });
    const { terminal } = chat;
    const shown = { select: "Which one?", confirm: "Really?", input: "Your name?", editor: "Your text?" };
    for (const [name, title] of Object.entries(shown)) {
      const got = name === "confirm" ? '{"got":false,' : '{"hasUI":';
      for (const [i, key] of ["Escape", "C-c"].entries()) {
        await enter(terminal, `/${name}`);
        await terminal.waitFor(asked(title));
        await terminal.press(key);
        await terminal.waitFor((screen) => !screen.includes(title) && screen.split(`answer: ${got}`).length > i + 1);
      }
    }
    // A component gets the keys; one that does not listen is closed by Ctrl+C twice.
    await enter(terminal, "/custom");
    await terminal.waitFor(asked("keys:"));
    await terminal.press("C-c", "C-c");
    await terminal.waitFor((screen) => !screen.includes("keys:"));
    // It does not count as a request to end the session.
    await enter(terminal, "/confirm");
    await terminal.waitFor(asked("Really?"));
  });

  terminalTest(`chat, ${mode}: each kind of dialog is closed when its time is over`, async () => {
    await using chat = await startChat({ "asks.ts": ASKS }, { mode: flags, rows: 60 });
    const { terminal } = chat;
    for (const name of ["select", "confirm", "input", "editor", "custom"]) {
      await enter(terminal, `/${name} 700`);
      await terminal.waitFor((screen) => screen.split("answer:").length > 1 && !screen.includes("./asks.ts"));
      const got = name === "confirm" ? '{"got":false,' : '{"hasUI":';
      await terminal.waitFor(new RegExp(`/${name} 700\\n\\ninfo: answer: ${got}`));
    }
  });

  terminalTest(`chat, ${mode}: the component of a hook that throws is closed, and says why`, async () => {
    await using chat = await startChat({ "asks.ts": ASKS }, { mode: flags });
    const { terminal } = chat;
    await enter(terminal, "/custom");
    await terminal.waitFor(asked("keys:"));
    await terminal.type("x");
    await terminal.waitFor("no x here");
    await terminal.waitFor((screen) => !screen.includes("keys:"));
    await enter(terminal, "/confirm");
    await terminal.waitFor(asked("Really?"));
  });

  terminalTest(`chat, ${mode}: two hooks that ask at once are asked one after the other`, async () => {
    const gate = (name: string) => `
      export default (pi) => pi.on("agent_start", async (_event, ctx) => {
        ctx.ui.notify("${name} got " + await ctx.ui.confirm("Does ${name} go on?", ""));
      });`;
    const both = `
      export default (pi) => pi.registerCommand("both", { handler: async (_args, ctx) => {
        const [a, b] = await Promise.all([ctx.ui.confirm("First?", ""), ctx.ui.input("Second?")]);
        ctx.ui.notify("both: " + a + " " + b);
      } });`;
    await using chat = await startChat({ "a.ts": gate("a"), "b.ts": gate("b"), "both.ts": both }, {
      mode: flags,
      turns: [{ text: "done" }],
    });
    const { terminal } = chat;
    await enter(terminal, "/both");
    assert(!(await terminal.waitFor(asked("First?"))).includes("Second?"));
    await terminal.press("y");
    await terminal.waitFor(asked("Second?"));
    await enter(terminal, "text");
    await terminal.waitFor("both: true text");

    await enter(terminal, "go");
    assertStringIncludes(await terminal.waitFor(asked("Does a go on?")), "─ ./a.ts asks ─");
    await terminal.press("y");
    await terminal.waitFor("a got true");
    assertStringIncludes(await terminal.waitFor(asked("Does b go on?")), "─ ./b.ts asks ─");
    await terminal.press("n");
    await terminal.waitFor("b got false");
    await terminal.waitFor("done");
  });

  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    terminalTest(`chat, ${mode}: ${signal} while a dialog is open gives the terminal back`, async () => {
      await using chat = await startChat({ "asks.ts": ASKS }, { mode: flags });
      const { terminal } = chat;
      await enter(terminal, "/confirm");
      await terminal.waitFor(asked("Really?"));
      terminal.signal(signal);
      assertEquals(await terminal.ended(), { code, changed: [] });
      assertEquals(Deno.readTextFileSync(`${chat.folder.path}/shutdown`), "seen");
      assert((await terminal.cursor()).visible);
    });
  }

  terminalTest(`chat, ${mode}: a dialog and a component follow the size of the terminal`, async () => {
    await using chat = await startChat({ "asks.ts": ASKS }, { mode: flags });
    const { terminal } = chat;
    await enter(terminal, "/custom");
    await terminal.waitFor(asked("width: 80"));
    await terminal.resize(40, 20);
    await terminal.waitFor("width: 40");
    await terminal.resize(200, 50);
    await terminal.waitFor("width: 200");
    await terminal.type("q");
    await terminal.waitFor("answer:");
    await enter(terminal, "/confirm");
    await terminal.waitFor(asked("Really?"));
    await terminal.resize(40, 20);
    await terminal.waitFor((screen) => /^─ \.\/asks\.ts asks ─{23}$/m.test(screen));
    await terminal.press("y");
    await terminal.waitFor('answer: {"got":true,"hasUI":true}');
  });
}

terminalTest("chat shows text, tool calls with their state, and who blocked one and why", async () => {
  const gate = `export default (pi) => pi.on("tool_call", (event) => {
    if (event.input.command.startsWith("rm")) return { block: true, reason: "nothing is removed here" };
  });`;
  const turns = [
    {
      text: "First **this**, then that.",
      toolCalls: ["seq 20", "rm -r build", "exit 3"].map((command) => ({ name: "bash", arguments: { command } })),
    },
    { text: "All done." },
  ];
  await using chat = await startChat({ "gate.ts": gate }, { turns, rows: 60 });
  const { terminal } = chat;
  await enter(terminal, "clean up");
  const screen = await terminal.waitFor("All done.");
  assertStringIncludes(screen, "> clean up");
  assertStringIncludes(screen, "First this, then that.");
  assertMatch(screen, /● bash seq 20\n {2}✓ done\n {4}1\n {4}2\n[^]*… 14 more lines · Ctrl\+O/);
  assertMatch(screen, /● bash rm -r build\n {2}✗ blocked by \.\/gate\.ts\n {4}nothing is removed here/);
  assertMatch(screen, /● bash exit 3\n {2}✗ failed/);
  await terminal.press("C-o");
  await terminal.waitFor(/ {4}19\n {4}20/);
  await terminal.press("C-o");
  await terminal.waitFor((text) => !/ {4}19\n {4}20/.test(text));
  await leave(terminal);
});

terminalTest("chat shows a hook's messages by its renderer, and whole or not", async () => {
  const hook = `export default (pi) => {
    pi.registerMessageRenderer("note", (message, { expanded }) => ({
      render: () => [(expanded ? "whole: " : "short: ") + message.content],
    }));
    pi.registerMessageRenderer("bad", () => { throw new Error("cannot draw"); });
    pi.registerCommand("note", { handler: () => {
      pi.sendMessage({ customType: "note", content: "drawn", display: true });
      pi.sendMessage({ customType: "bad", content: "as text", display: true });
      pi.sendMessage({ customType: "plain", content: "1\\n2\\n3\\n4\\n5\\nsixth", display: true });
      pi.sendMessage({ customType: "hidden", content: "never", display: false });
    } });
  };`;
  for (const mode of Object.values(MODES)) {
    await using chat = await startChat({ "hook.ts": hook }, { mode });
    const { terminal } = chat;
    await enter(terminal, "/note");
    const screen = await terminal.waitFor("short: drawn");
    await terminal.waitFor("[plain]");
    assertStringIncludes(await terminal.waitFor("as text"), "cannot draw");
    assert(!screen.includes("sixth") && !screen.includes("never"));
    await terminal.press("C-o");
    await terminal.waitFor("whole: drawn");
    await terminal.waitFor("sixth");
  }
});

terminalTest("chat lets no text of a hook, a tool or the model steer the terminal", async () => {
  const evil = "\\x1b]0;taken\\x07\\x1b]52;c;dGFrZW4=\\x07\\x1b[2J\\x1b[H\\x1b[31mred\\u202egnp.exe";
  const hook = `export default (pi) => {
    const evil = "${evil}";
    pi.on("session_start", (_event, ctx) => {
      ctx.ui.setStatus("s", "status " + evil);
      ctx.ui.setWidget("w", ["widget " + evil]);
    });
    pi.on("tool_result", () => ({ content: [{ type: "text", text: "result " + evil }] }));
    pi.registerCommand("evil" + evil, { description: evil, handler() {} });
    pi.registerCommand("evil", { handler: async (_args, ctx) => {
      ctx.ui.notify("note " + evil);
      pi.sendMessage({ customType: "type" + evil, content: "message " + evil, display: true });
      ctx.ui.setEditorText("text " + evil);
      await ctx.ui.select("title " + evil, ["option " + evil]);
      await ctx.ui.custom((_tui, _theme, done) => ({ render: () => ["drawn " + evil], handleInput: () => done() }));
    } });
  };`;
  const text = JSON.parse(`"${evil.replaceAll("\\x", "\\u00")}"`);
  const turns = [{ text: `model ${text}`, toolCalls: [{ name: "bash", arguments: { command: `printf '${text}'` } }] }, {
    text: "over",
  }];
  await using chat = await startChat({ "evil.ts": hook }, { turns, rows: 50 });
  const { terminal } = chat;
  await enter(terminal, "go");
  await terminal.waitFor("over");
  await enter(terminal, "/evil");
  await terminal.waitFor(asked("option"));
  await terminal.press("Enter");
  await terminal.waitFor(asked("drawn"));
  const screen = await terminal.screen();
  for (const what of ["xcsh-hooks", "> go", "model ", "result ", "note ", "message ", "widget ", "status "]) {
    assertStringIncludes(screen, what);
  }
  assert(!/[\u202e]|taken|dGFrZW4=/.test(screen), screen);
  assertEquals(await terminal.clipboard(), undefined);
  assert(!(await terminal.title()).includes("taken"));
  await terminal.press("q");
  assertStringIncludes(await terminal.waitFor((shown) => !shown.includes("drawn")), "\ntext red");
  await terminal.press("C-u");
  await leave(terminal);
});

terminalTest("chat completes commands, keeps what was typed, and takes several lines", async () => {
  const hook = `export default (pi) => pi.registerCommand("handoff", {
    description: "hands over",
    handler: (args, ctx) => ctx.ui.notify("handed over <" + args + ">"),
  });`;
  await using chat = await startChat({ "handoff.ts": hook }, { turns: [{ text: "answer" }] });
  const { terminal } = chat;
  await terminal.type("/hand");
  await terminal.waitFor("hands over");
  await terminal.press("Tab");
  await enter(terminal, "to you");
  await terminal.waitFor("handed over <to you>");
  await terminal.press("Up");
  await terminal.waitFor("/handoff to you");
  await terminal.press("C-c");
  chat.folder.write("some_file.txt", "");
  await terminal.type("look at some_");
  await terminal.press("Tab");
  await terminal.waitFor("look at some_file.txt");
  await terminal.press("M-Enter");
  await enter(terminal, "second line");
  await terminal.waitFor(/> look at some_file\.txt\s*\n {2}second line/);
  await terminal.waitFor("answer");
  await enter(terminal, "/handofx");
  await terminal.waitFor("did you mean /handoff?");
});

terminalTest("chat stops the agent on Ctrl+C, and ends on the second", async () => {
  await using chat = await startChat({ "hook.ts": "export default () => {};" }, {
    turns: [{ toolCalls: [{ name: "bash", arguments: { command: "sleep 60" } }] }],
  });
  const { terminal } = chat;
  await enter(terminal, "go");
  await terminal.waitFor("● bash sleep 60");
  await terminal.waitFor("Working…");
  await terminal.press("C-c");
  await terminal.waitFor((screen) => !screen.includes("Working…"));
  await terminal.press("C-c");
  assertEquals((await terminal.ended()).code, 0);
});

terminalTest("chat runs the shortcuts of hooks", async () => {
  for (const mode of Object.values(MODES)) {
    await using chat = await startChat({
      "keys.ts": `export default (pi) => {
        pi.registerShortcut("ctrl+x", { description: "x", handler: (ctx) => ctx.ui.notify("pressed in " + typeof ctx.cwd) });
        pi.registerShortcut("ctrl+c", { handler: (ctx) => ctx.ui.notify("stolen") });
      };`,
    }, { mode });
    const { terminal } = chat;
    await terminal.waitFor("The shortcut ctrl+c of a hook is not used");
    await terminal.press("C-x");
    await terminal.waitFor("pressed in string");
    await leave(terminal);
  }
});

terminalTest("chat uses no colours with NO_COLOR, and is readable with 40 columns", async () => {
  const hook = `export default (pi) => pi.registerCommand("red", { handler: (_args, ctx) => {
    ctx.ui.setStatus("s", "\\x1b[31mred 漢字 \\u{1f469}\\u200d\\u{1f467}\\x1b[0m");
    ctx.ui.setWidget("w", ["\\x1b[32m" + "wide ".repeat(20)]);
  } });`;
  await using chat = await startChat({ "red.ts": hook }, { columns: 40, env: { NO_COLOR: "1" } });
  const { terminal } = chat;
  await enter(terminal, "/red");
  await terminal.waitFor("red 漢字");
  await terminal.waitFor(/wide wide .*…/);
  const screen = await terminal.screen({ colours: true });
  // deno-lint-ignore no-control-regex
  assert(!/\x1b\[(?:[0-9]+;)*[39][0-7]/.test(screen), JSON.stringify(screen));
  await leave(terminal);
});

terminalTest("chat says what to use where there is no terminal to draw on", async () => {
  await using folder = new Folder({ "script.json": '{"turns":[]}' });
  await using terminal = await Terminal.startCli(["chat", "--script", "script.json"], {
    cwd: folder.path,
    env: { TERM: "dumb" },
  });
  assertEquals((await terminal.ended()).code, 2);
  assertStringIncludes(await terminal.transcript(), "TERM is dumb; run reads prompts line by line");
});

terminalTest("chat opens the person's editor, for the prompt and for a question, and says why it failed", async () => {
  await using chat = await startChat({ "asks.ts": ASKS }, { env: { VISUAL: "sh edit.sh 'two words'" } });
  const { folder, terminal } = chat;
  folder.write("edit.sh", 'printf "%s was " "$1" > "$2.new" && cat "$2" >> "$2.new" && mv "$2.new" "$2"\n');
  await terminal.type("mine");
  await terminal.press("C-g");
  await terminal.waitFor("two words was mine");
  await terminal.press("C-u");
  await enter(terminal, "/editor");
  await terminal.waitFor(asked("Your text?"));
  await terminal.press("C-g");
  await terminal.waitFor("two words was before");
  folder.write("edit.sh", "exit 3");
  await terminal.press("C-g");
  await terminal.waitFor(/warning: .*3/);
  await terminal.press("C-s");
  await terminal.waitFor('answer: {"got":"two words was before","hasUI":true}');
  await leave(terminal);
});

terminalTest("chat goes on with a session, and shows what was said", async () => {
  const hook = "export default () => {};";
  const turns = [{ text: "noted", toolCalls: [{ name: "bash", arguments: { command: "echo output" } }] }, {
    text: "finished",
  }];
  await using chat = await startChat({ "hook.ts": hook }, { turns, mode: ["--session", "s.jsonl"] });
  await enter(chat.terminal, "remember");
  await chat.terminal.waitFor("finished");
  await leave(chat.terminal);
  await using again = await Terminal.startCli(
    ["chat", "--session", "s.jsonl", "--no-discovery", "--script", "script.json"],
    { cwd: chat.folder.path },
  );
  const screen = await again.waitFor("finished");
  assertMatch(screen, /> remember\n\nnoted\n\n● bash echo output\n {2}✓ done\n {4}output\n\nfinished/);
  await enter(again, "/new");
  await again.waitFor((shown) => shown.includes("now in session") && !shown.includes("remember"));
});

for (const [mode, flags] of Object.entries(MODES)) {
  terminalTest(`chat, ${mode}: hooks change the title, the header, the footer and what is said at work`, async () => {
    const hook = `export default (pi) => {
      pi.on("session_start", (_event, ctx) => {
        ctx.ui.setTitle("a\\x1b]0;taken\\x07 title");
        ctx.ui.setHeader((tui, theme) => ({ render: (width) => ["head " + width] }));
        ctx.ui.setFooter(["foot\\x1b[2J"]);
        ctx.ui.setWorkingMessage("Thinking hard");
        ctx.ui.setWidget("wide", () => ({ render: (width) => ["wide " + width] }), { placement: "belowEditor" });
      });
      pi.registerCommand("back", { handler: (_args, ctx) => {
        ctx.ui.setHeader(undefined);
        ctx.ui.setFooter(undefined);
        ctx.ui.setWidget("wide", undefined);
      } });
      pi.registerCommand("mode", { handler: (_args, ctx) => ctx.ui.notify("mode " + ctx.mode) });
    };`;
    const turns = [{ toolCalls: [{ name: "bash", arguments: { command: "sleep 60" } }] }];
    await using folder = new Folder({ "script.json": JSON.stringify({ turns }), "looks.ts": hook, shutdown: "" });
    await using terminal = await Terminal.startCli(
      [
        "chat",
        "--script",
        "script.json",
        "--no-discovery",
        "--hook",
        "./looks.ts",
        ...flags,
      ],
      { cwd: folder.path },
    );
    const screen = await terminal.waitFor((text) => text.includes("head 80") && text.includes("wide 80"));
    assertMatch(screen, /─ \.\/looks\.ts shows ─+\nfoot$/);
    assert(!screen.includes("1 hook"));
    assertEquals(await terminal.title(), "a title");
    await terminal.resize(100, 30);
    await terminal.waitFor((text) => text.includes("head 100") && text.includes("wide 100"));
    await enter(terminal, "/mode");
    await terminal.waitFor("mode tui");
    await enter(terminal, "/back");
    await terminal.waitFor((text) => text.includes("1 hook") && !/head|foot|wide/.test(text));
    await enter(terminal, "go");
    await terminal.waitFor("Thinking hard · Esc stops it");
    await terminal.press("C-c", "C-c");
    assertEquals((await terminal.ended()).code, 0);
    assertEquals(await terminal.title(), "");
  });
}
