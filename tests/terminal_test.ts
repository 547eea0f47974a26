import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Terminal, terminalTest } from "./terminal.ts";

const start = (script: string, options = {}) => Terminal.start("sh", ["-c", script], options);

terminalTest("Terminal types, presses keys and reads the screen", async () => {
  await using terminal = await start("read -r line; printf 'got <%s>\\n' \"$line\"; exec cat");
  await terminal.type("a;b 'c' -;");
  await terminal.press("Enter");
  await terminal.waitFor("got <a;b 'c' -;>");
  await terminal.type("日本語 👍");
  await terminal.press("Enter");
  await terminal.waitFor(/日本語 👍\n日本語 👍/);
  await terminal.paste("pasted\n");
  await terminal.waitFor("pasted\npasted");
  await terminal.press("C-d");
  assertEquals(await terminal.ended(), { code: 0, changed: [] });
});

terminalTest("Terminal gives the program its size, an empty home and no other variables", async () => {
  await using terminal = await start("stty size; ls -A ~; env | cut -d= -f1 | sort; exec cat", {
    columns: 200,
    rows: 50,
    env: { ONE: "1" },
  });
  const screen = await terminal.waitFor("TERM");
  assertStringIncludes(screen, "50 200");
  const names = screen.split("\n").slice(1);
  assertEquals(
    names.filter((name) => name !== "PWD" && name !== "OLDPWD" && name !== "_"),
    ["DENO_DIR", "DENO_NO_UPDATE_CHECK", "HOME", "LC_ALL", "ONE", "PATH", "TERM"],
  );
});

terminalTest("Terminal tells a program that its size has changed", async () => {
  await using terminal = await start("trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done");
  await terminal.waitFor("ready");
  await terminal.resize(40, 10);
  await terminal.waitFor("10 40");
});

terminalTest("Terminal shows colours, title, clipboard and cursor", async () => {
  await using terminal = await start(
    "printf '\\033[31mred\\033[0m '; read -r _; printf '\\033]2;mine\\a\\033]52;c;aGk=\\a\\033[?25lx'; cat",
  );
  await terminal.waitFor("red");
  assertEquals([await terminal.title(), await terminal.clipboard()], ["", undefined]);
  assertEquals(await terminal.cursor(), { column: 4, row: 0, visible: true });
  assertStringIncludes(await terminal.screen({ colours: true }), "\x1b[31mred\x1b[");
  await terminal.press("Enter");
  await terminal.waitFor("x");
  assertEquals([await terminal.title(), await terminal.clipboard()], ["mine", "hi"]);
  assertEquals((await terminal.cursor()).visible, false);
});

terminalTest("Terminal keeps what scrolled away, and what is left of a program that ended", async () => {
  await using terminal = await start("seq 1 100; exit 7", { rows: 10 });
  assertEquals((await terminal.ended()).code, 7);
  const screen = await terminal.waitFor("100");
  assert(!screen.includes("50"));
  assertStringIncludes(await terminal.transcript(), "\n50\n");
});

terminalTest("Terminal tells how a signal or a key ended the program, and what it did to the terminal", async () => {
  await using first = await start("stty -echo; echo ready; exec sleep 100");
  await using second = await start("echo ready; exec sleep 100");
  await Promise.all([first.waitFor("ready"), second.waitFor("ready")]);
  first.signal("SIGTERM");
  await second.press("C-c");
  assertEquals(await first.ended(), { code: 143, changed: ["-echo"] });
  assertEquals(await second.ended(), { code: 130, changed: [] });
});

terminalTest("Terminal says what is on the screen when a condition does not come true", async () => {
  await using terminal = await start("echo here; exec cat");
  await terminal.waitFor("here");
  await assertRejects(() => terminal.waitFor("there", 100), Error, "no there on the screen:\n  │ here");
  await terminal.press("C-d");
  await terminal.ended();
  await assertRejects(() => terminal.waitFor("there"), Error, "The program ended with 0, no there");
});

terminalTest("Terminal leaves no process and no file", async () => {
  let pid: number;
  let home: string;
  {
    await using terminal = await start("trap '' HUP TERM INT; sleep 12345 & echo pid $!; while :; do sleep 0.1; done");
    home = terminal.home;
    pid = Number(/pid (\d+)/.exec(await terminal.waitFor(/pid \d+/))![1]);
  }
  await assertRejects(() => Deno.stat(home), Deno.errors.NotFound);
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "state=", "-p", `${pid}`] }).output();
  assert(["", "Z"].includes(new TextDecoder().decode(stdout).trim().slice(0, 1)), "it still runs");
});
