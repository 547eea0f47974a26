import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Terminal, terminalTest } from "../terminal.ts";
import { enter, startChat } from "./chat.ts";
import { Folder, MAIN } from "./program.ts";

const MODES = { "in the process": ["--in-process"], isolated: [] };

const NOTHING = "export default () => {};";

terminalTest("chat completes no file by a name that steers the terminal or cannot be seen", async () => {
  const names = {
    "zq\x1b]0;taken\x07": "",
    "zq\x9b2J": "",
    "zq\u202eb": "",
    "zq\nb": "",
    "zqplain": "",
    "zqother": "",
  };
  await using chat = await startChat({ "hook.ts": NOTHING }, { inFolder: names });
  const { terminal } = chat;
  await terminal.type("look at ./zq");
  await terminal.press("Tab");
  const screen = await terminal.waitFor("zqplain");
  assertStringIncludes(screen, "zqother");
  assertEquals(screen.match(/^.*zq.*$/gm)?.length, 3, screen);
  assertEquals(await terminal.title(), "");
});

terminalTest("chat stops a command of the person, and one of a hook that waits, by Ctrl+C", async () => {
  const hook = `export default (pi) => pi.registerCommand("wait", { handler: async (_args, ctx) => {
    const never = ctx.ui.custom(() => new Promise(() => {}));
    ctx.ui.notify("got " + await never);
  } });`;
  await using chat = await startChat({ "hook.ts": hook });
  const { terminal } = chat;
  await enter(terminal, "!echo begun > begun; sleep 1000");
  while (await Deno.stat(`${chat.folder.path}/begun`).catch(() => undefined) === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await terminal.press("C-c");
  await terminal.waitFor("(exit code 143)");
  await enter(terminal, "/wait");
  await terminal.waitFor((screen) => screen.includes("\n/wait"));
  await terminal.press("Escape");
  await terminal.waitFor("got undefined");
});

terminalTest("chat is left by /quit at once, whatever runs", async () => {
  const turns = [{ toolCalls: [{ name: "bash", arguments: { command: "sleep 1000" } }] }];
  await using chat = await startChat({ "hook.ts": NOTHING }, { turns });
  await enter(chat.terminal, "go");
  await chat.terminal.waitFor("● bash sleep 1000");
  await enter(chat.terminal, "/quit");
  assertEquals(await chat.terminal.ended(), { code: 0, changed: [] });
});

for (const [mode, flags] of Object.entries(MODES)) {
  terminalTest(`chat, ${mode}: hooks that ask without end do not keep the person`, async () => {
    const hook = `export default (pi) => pi.on("session_start", async (_event, ctx) => {
      void (async () => { for (let i = 1;; i++) await ctx.ui.confirm("Question " + i, ""); })();
    });`;
    await using chat = await startChat({ "hook.ts": hook }, { mode: flags });
    await chat.terminal.waitFor("Question 1");
    await chat.terminal.press("C-c", "C-c", "C-c", "C-c");
    assertEquals(await chat.terminal.ended(), { code: 0, changed: [] });
  });

  terminalTest(`chat, ${mode}: no hook takes the keys that text is typed with`, async () => {
    const hook = `export default (pi) => {
      for (const key of ["a", "enter", "tab", "space", "backspace", "ctrl+m", "up", "ctrl+x"]) {
        pi.registerShortcut(key, { handler: (ctx) => ctx.ui.notify("hook has " + key) });
      }
    };`;
    await using chat = await startChat({ "hook.ts": hook }, { mode: flags, rows: 40, turns: [{ text: "answered" }] });
    const { terminal } = chat;
    assertStringIncludes(await terminal.waitFor("shortcut enter of a hook is not used"), "shortcut a of a hook");
    await terminal.type("ba b");
    await terminal.press("C-x");
    await terminal.waitFor("hook has ctrl+x");
    await terminal.press("Enter");
    const screen = await terminal.waitFor("answered");
    assertMatch(screen, /> ba b\n/);
    assertEquals(screen.match(/hook has/g)?.length, 1);
  });
}

terminalTest("chat goes on when the process of a hook is killed while its question or component is open", async () => {
  const hook = `export default (pi) => {
    pi.registerCommand("ask", { handler: async (_args, ctx) => { await ctx.ui.confirm("Open?", "" + Deno.pid); } });
    pi.registerCommand("draw", { handler: async (_args, ctx) => {
      await ctx.ui.custom(() => ({ render: () => ["pid " + Deno.pid] }));
    } });
  };`;
  await using chat = await startChat({ "hook.ts": hook }, { mode: ["--budget", "60000"] });
  const { terminal } = chat;
  for (const [command, pattern] of [["/ask", /Open\?\n (\d+)/], ["/draw", /pid (\d+)/]] as const) {
    await enter(terminal, command);
    const screen = await terminal.waitFor(pattern);
    Deno.kill(Number(pattern.exec(screen)![1]), "SIGKILL");
    await terminal.waitFor((shown) => !pattern.test(shown) && shown.includes("error:"));
  }
  await enter(terminal, "/help");
  await terminal.waitFor("/quit");
});

terminalTest("chat shows what a hook prints by any means of the console, and lets it clear nothing", async () => {
  const hook = `export default (pi) => pi.registerCommand("print", { handler: () => {
    console.table([{ cell: "in a table" }]);
    console.dir({ dir: 1 });
    console.count("counted");
    console.clear();
  } });`;
  await using chat = await startChat({ "hook.ts": hook });
  await enter(chat.terminal, "/print");
  const screen = await chat.terminal.waitFor("counted: 1");
  for (const text of ["xcsh-hooks", "in a table", "{ dir: 1 }"]) assertStringIncludes(screen, text);
});

terminalTest("chat writes no record of the screen, whatever the terminal library is told to do", async () => {
  await using chat = await startChat({ "hook.ts": NOTHING }, {
    env: { PI_TUI_WRITE_LOG: "screen.log", PI_DEBUG_REDRAW: "1", PI_TUI_DEBUG: "1" },
  });
  await enter(chat.terminal, "/help");
  await chat.terminal.waitFor("/quit");
  await chat.terminal.resize(60, 20);
  await chat.terminal.waitFor(/^─{60}$/m);
  assert(![...Deno.readDirSync(chat.folder.path)].some(({ name }) => name === "screen.log"));
});

terminalTest("chat lets Ctrl+C in the person's editor end neither the session nor the terminal", async () => {
  await using chat = await startChat({ "hook.ts": NOTHING }, {
    inFolder: { "edit.sh": "trap 'exit 3' INT\necho editor runs\nwhile :; do sleep 0.1; done" },
    env: { EDITOR: "sh edit.sh" },
  });
  const { terminal } = chat;
  await terminal.press("C-g");
  await terminal.waitFor("editor runs");
  await terminal.press("C-c");
  await terminal.waitFor("ended with exit code 3");
  await enter(terminal, "/help");
  await terminal.waitFor("/quit");
  await enter(terminal, "/quit");
  assertEquals(await terminal.ended(), { code: 0, changed: [] });
});

terminalTest("chat says that it needs a terminal that it can draw on", async () => {
  for (const TERM of ["", "dumb", "unknown"]) {
    await using terminal = await Terminal.startCli(["chat"], { env: { TERM } });
    await terminal.waitFor(`TERM is ${TERM || "not set"}`);
    assertEquals((await terminal.ended()).code, 2);
  }
});

terminalTest("chat takes the terminal again after a shell has stopped it and brought it back", async () => {
  await using folder = new Folder({ "script.json": '{ "turns": [] }' });
  await using terminal = await Terminal.start("bash", ["--norc", "-i"], { cwd: folder.path, env: { PS1: "prompt> " } });
  await terminal.waitFor("prompt>");
  const command = [Deno.execPath(), "run", "-A", MAIN, "chat", "--script", "script.json", "--no-discovery"];
  await enter(terminal, `${command.join(" ")} & echo $! > pid; fg`);
  await terminal.waitFor("0 hooks");
  Deno.kill(Number(Deno.readTextFileSync(`${folder.path}/pid`)), "SIGSTOP");
  await terminal.waitFor(/Stopped[^]*\nprompt>$/);
  await enter(terminal, "fg");
  await terminal.waitFor(/\n0 hooks.*$/);
  await enter(terminal, "/help");
  await terminal.waitFor("End the session");
  await enter(terminal, "/quit");
  await terminal.waitFor(/prompt>$/);
});
