import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Transcript } from "../../cli/chat/transcript.ts";
import type { HookUIContext } from "../../src/api.ts";
import { plainTheme } from "../../src/ui/noop.ts";
import { oneAtATime } from "../../src/ui/queue.ts";
import { uiContextsOf } from "../../src/ui/surface.ts";
import { loadPiTui } from "../../src/ui/tui/pi_tui.ts";
import { Screen } from "../../src/ui/tui/screen.ts";
import { PretendedTerminal } from "./pretended_terminal.ts";

const lib = await loadPiTui();

interface Shown extends Disposable {
  terminal: PretendedTerminal;
  screen: Screen;
  transcript: Transcript;
  ui: (hookPath: string) => HookUIContext;
  submitted: string[];
  ends: number;
  stops: number;
  /** The lines that the screen has now, from the top of the terminal. */
  lines(): string[];
  /** Waits for what is open to take keys. */
  seen(): Promise<void>;
}

function show(): Shown {
  const terminal = new PretendedTerminal();
  const shown: Partial<Shown> = { terminal, submitted: [], ends: 0, stops: 0 };
  const screen = new Screen({
    lib,
    terminal: terminal.asTerminal,
    theme: plainTheme,
    autocomplete: new lib.CombinedAutocompleteProvider([], "/"),
    footer: () => "the footer",
    onSubmit: (text) => shown.submitted!.push(text),
    onKey: () => false,
    onStop: () => shown.stops!++,
    onEnd: () => shown.ends!++,
    openEditor: () => Promise.resolve(undefined),
    notify: (message, type) => transcript.notify(message, type),
  });
  const transcript = new Transcript(lib, screen);
  screen.start();
  const { tui } = screen;
  return Object.assign(shown as Shown, {
    screen,
    transcript,
    ui: uiContextsOf(oneAtATime(screen)),
    lines: () => tui.render(terminal.columns).slice(-terminal.rows),
    async seen() {
      const until = performance.now() + 10_000;
      const open = () => tui.render(terminal.columns).slice(-terminal.rows).join("\n");
      while (!/Esc closes|^─ \S+ ─+$/m.test(open())) {
        assert(performance.now() < until, open());
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    [Symbol.dispose]: () => {
      screen.setActivity(undefined);
      screen.stop();
    },
  });
}

/** Waits until what was asked is drawn. */
async function drawn({ lines }: Shown, text: string): Promise<void> {
  for (const until = performance.now() + 10_000; !lines().join("\n").includes(text);) {
    assert(performance.now() < until, lines().join("\n"));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test("Screen takes no key for an answer that was pressed before the question can have been seen", async () => {
  using shown = show();
  const { terminal, ui, screen } = shown;
  const answer = ui("./gate.ts").confirm("Remove it?", "");
  terminal.press("y");
  await drawn(shown, "Remove it?");
  for (const key of ["y", "e", "s", "\r", "\x1b[200~y\x1b[201~"]) terminal.press(key);
  assert(!shown.lines().join("\n").includes("y yes"));
  await shown.seen();
  // What was typed on goes on where it was typed.
  assertEquals(screen.getEditorText(), "yyesy");
  terminal.press("n");
  assertEquals(await answer, false);
  assertEquals(shown.submitted, []);
});

Deno.test("Screen takes the second of two quick keys for no answer to the next question", async () => {
  using shown = show();
  const first = shown.ui("./a.ts").confirm("First?", "");
  const second = shown.ui("./b.ts").confirm("Second?", "");
  await drawn(shown, "First?");
  await shown.seen();
  shown.terminal.press("y");
  assertEquals(await first, true);
  await drawn(shown, "Second?");
  shown.terminal.press("y");
  await shown.seen();
  assertEquals(shown.screen.getEditorText(), "");
  shown.terminal.press("\x1b");
  assertEquals(await second, false);
});

Deno.test("Screen gives a component no key that was pressed before it can have been seen, and none that is released", async () => {
  using shown = show();
  const keys: string[] = [];
  const result = shown.ui("./c.ts").custom((_tui, _theme, done) => ({
    render: () => ["component"],
    handleInput: (data: string) => data === "q" ? done("left") : keys.push(data),
  }));
  await drawn(shown, "component");
  shown.terminal.press("\r");
  await shown.seen();
  shown.terminal.press("\x1b[99;5:3u");
  shown.terminal.press("a");
  shown.terminal.press("q");
  assertEquals(await result, "left");
  assertEquals(keys, ["a"]);
});

Deno.test("Screen sends no text of a hook by an Enter that was meant for its question", async () => {
  using shown = show();
  const closing = new AbortController();
  const asked = shown.ui("./a.ts").confirm("Really?", "", { signal: closing.signal });
  await drawn(shown, "Really?");
  shown.ui("./a.ts").setEditorText("!rm -rf /");
  closing.abort();
  await asked;
  shown.terminal.press("\r");
  shown.ui("./a.ts").setEditorText("!rm -rf ~");
  shown.terminal.press("\r");
  assertEquals(shown.submitted, []);
  // Who types has read it.
  shown.terminal.press("x");
  shown.terminal.press("\r");
  assertEquals(shown.submitted, ["!rm -rf ~x"]);
});

Deno.test("Screen is left by Ctrl+C though hooks ask without end", async () => {
  using shown = show();
  let asked = 0;
  const asks = (async () => {
    while (shown.ends === 0) asked++, await shown.ui("./a.ts").confirm(`Question ${asked}?`, "");
  })();
  for (const times of [1, 2, 3]) {
    await drawn(shown, `Question ${times}?`);
    shown.terminal.press("\x03");
  }
  await asks;
  assertEquals([shown.stops, shown.ends, asked], [2, 1, 3]);
});

Deno.test("Screen keeps who draws and who asks on the screen, however much they show", async () => {
  for (const rows of [24, 10, 6]) {
    using shown = show();
    shown.terminal.rows = rows;
    const fake = Array.from({ length: 100 }, (_, i) => `─ ./gate.ts asks ─ ${i}`);
    shown.ui("./evil.ts").setWidget?.("below", fake, { placement: "belowEditor" });
    const select = shown.ui("./evil.ts").select(fake.join("\n"), fake);
    await drawn(shown, "─ ./evil.ts asks ─");
    await shown.seen();
    shown.terminal.press("\x1b");
    await select;
    void shown.ui("./evil.ts").custom(() => ({ render: () => fake }));
    await drawn(shown, "─ ./gate.ts asks ─ 99");
    assert(shown.lines().some((line) => line.startsWith("─ ./evil.ts ─")), shown.lines().join("\n"));
    assertStringIncludes(shown.lines().at(-1)!, "the footer");
  }
});

Deno.test("Screen says whose a widget is, and leaves room for the rest", () => {
  using shown = show();
  for (let i = 0; i < 10_000; i++) shown.ui("./w.ts").setWidget?.(`${i}`, [`widget ${i}`, "\x1b[2Jmore\r\n"]);
  const lines = shown.lines();
  assert(lines.some((line) => line.startsWith("─ ./w.ts shows ─")));
  assert(lines.length < 15, lines.join("\n"));
});

Deno.test("Screen draws whatever a part of it does, at every size", async () => {
  using shown = show();
  const { terminal, transcript, ui, screen } = shown;
  const call = (type: string, more: object) =>
    transcript.event({ type, toolCallId: "1", ...more } as never, undefined as never);
  call("tool_execution_start", { toolName: "ba\n● bash\tls\x9b2J", args: { command: "漢字\ud800" } });
  const text = `tab\ttab\tend\n${"漢字".repeat(99)}\n\ud800\u2028x${"\u0301".repeat(9999)}`;
  call("tool_execution_end", { toolName: "bash", content: [{ type: "text", text }], isError: false, blocked: false });
  transcript.event({ type: "agent_start" } as never, undefined as never);
  ui("./w.ts").setWidget?.("bad", () => ({ render: () => [Object.create(null)] }));
  ui("./w.ts").setWidget?.("wide", ["\x1b]8;;http://x\x07link\x1b]8;;\x07", lib.CURSOR_MARKER, "漢".repeat(200)]);
  const clear = () => new Promise((resolve) => setTimeout(resolve));
  for (
    const ask of [
      () => ui("./a.ts").confirm("title 漢字", "message", { timeout: 12_345_678 }),
      () => ui("./a.ts").select("title", ["漢字漢字漢字", "b"], { timeout: 12_345_678 }),
      () => ui("./a.ts").input("title", "placeholder"),
      () => ui("./a.ts").editor("title", "漢字漢字漢字"),
      () => ui("./a.ts").custom(() => ({ render: () => ["x".repeat(400), "漢字"] })),
    ]
  ) {
    const asked = ask();
    await clear();
    for (const [columns, rows] of [[1, 1], [2, 1], [3, 2], [5, 3], [300, 100], [80, 24]] as const) {
      Object.assign(terminal, { columns, rows });
      // deno-lint-ignore no-control-regex -- it is what no line may hold
      const steers = /[\x00-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[0-9;]*m)/;
      for (const line of screen.tui.render(columns)) {
        assert(lib.visibleWidth(line) <= columns, JSON.stringify({ columns, line }));
        const rest = line.replace(lib.CURSOR_MARKER, "");
        assert(!steers.test(rest) && rest.isWellFormed() && rest.length < 2_000, JSON.stringify(rest));
      }
    }
    terminal.press("\x03");
    terminal.press("\x03");
    await asked;
  }
});

Deno.test("Screen stays quick under floods of status, text and messages", () => {
  using shown = show();
  const { ui, transcript, terminal } = shown;
  const flood = "漢字 word ".repeat(100_000);
  for (let i = 0; i < 10_000; i++) ui("./a.ts").setStatus(`${i}`, flood);
  ui("./a.ts").setWidget?.("w", [flood]);
  ui("./a.ts").setEditorText(flood);
  transcript.notify(flood, "error");
  const runner = { getMessageRenderer: () => undefined } as never;
  const message = { role: "custom", customType: "t", display: true, content: "word ".repeat(1_000) };
  for (let i = 0; i < 1_000; i++) transcript.event({ type: "message_end", message } as never, runner);
  const renderer = { getMessageRenderer: () => () => ({ render: () => (drawnOf++, ["drawn"]) }) } as never;
  let drawnOf = 0;
  for (let i = 0; i < 1_000; i++) transcript.event({ type: "message_end", message } as never, renderer);
  shown.lines();
  drawnOf = 0;
  const start = performance.now();
  shown.lines();
  assert(performance.now() - start < 2_000);
  assert(drawnOf <= 50, `${drawnOf}`);
  assert(terminal.columns === 80);
});

Deno.test("Screen lets no overlay of a hook steer the terminal, or break the screen", async () => {
  using shown = show();
  const { terminal, screen } = shown;
  screen.tui.showOverlay({ render: () => ["over\x1b]0;taken\x07lay"], invalidate() {} });
  const until = performance.now() + 10_000;
  while (!terminal.written.includes("overlay")) {
    assert(performance.now() < until, terminal.written);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert(!terminal.written.includes("taken"));
  screen.tui.showOverlay({
    render() {
      throw new Error("no overlay here");
    },
    invalidate() {},
  });
  await drawn(shown, "error: no overlay here");
});

Deno.test("Screen says which message cannot be drawn, and keeps the others", async () => {
  using shown = show();
  const { transcript } = shown;
  const message = { role: "custom", customType: "bad", display: true, content: "as text" };
  transcript.notify("before", "info");
  const runner = { getMessageRenderer: () => () => ({ render: () => [Object.create(null)] }) } as never;
  transcript.event({ type: "message_end", message } as never, runner);
  transcript.notify("after", "info");
  await drawn(shown, "The renderer of bad failed");
  const lines = shown.lines().join("\n");
  for (const text of ["info: before", "[bad]", "as text", "info: after", "the footer"]) {
    assertStringIncludes(lines, text);
  }
});
