/**
 * How long a key takes to the screen.
 *
 * @module
 */

import { join } from "@std/path";
import { type Component, loadHooks, plainTheme } from "@xcsh/hooks";
import { AgentSession } from "@xcsh/hooks/session";
import { uiContextsOf } from "../src/ui/surface.ts";
import { loadPiTui, type PiTui } from "../src/ui/tui/pi_tui.ts";
import { Screen } from "../src/ui/tui/screen.ts";
import { PretendedTerminal } from "../tests/ui/pretended_terminal.ts";
import { median } from "./measure.ts";
import { type Row, us } from "./row.ts";

const KEYS = 60;
/** Lines that were said before. */
const HISTORY = 1_000;
/** The library draws at most every 16 ms. */
const PAUSE = 25;

/** A terminal of which a key can be measured to what is written for it. */
class MeasuredTerminal extends PretendedTerminal {
  override columns = 100;
  override rows = 40;
  /** When the newest key was pressed. */
  pressed = 0;

  /** Resolves when a text is written. */
  async shows(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let seen = "";
    this.onWrite = (written) => {
      seen += written;
      if (seen.includes(text)) resolve();
    };
    await promise;
  }

  /** Presses a key, and resolves with the time until a text is written, in ms. */
  async key(data: string, text: string): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    const written = this.shows(text);
    this.pressed = performance.now();
    this.press(data);
    await written;
    return performance.now() - this.pressed;
  }
}

/** A component that shows how many keys it got, and much else. */
const COMPONENT = `(tui, done) => {
  let count = 0;
  return {
    render: (width) => [\`count \${count}.\`, ...Array.from({ length: 20 }, (_, i) => \`\\x1b[3\${i % 8}mline \${i} \`.repeat(3).slice(0, width))],
    handleInput: (data) => {
      if (data === "q") return done();
      count++;
      tui.requestRender();
    },
    invalidate() {},
  };
}`;

/** Measures pi-tui alone and the chat by turns, with the same component. */
async function compareWithPiTui(): Promise<{ value: number; detail: string }> {
  const lib = await loadPiTui();
  const make = new Function(`return ${COMPONENT}`)() as (
    tui: unknown,
    done: () => void,
  ) => Component & { invalidate(): void };
  const bare = new MeasuredTerminal();
  const tui = new lib.TUI(bare.asTerminal);
  const component = make(tui, () => {});
  for (let i = 0; i < HISTORY; i++) tui.addChild(new lib.Text(`line ${i}`));
  tui.addChild(component);
  tui.setFocus(component);
  tui.start();

  const { screen, terminal } = screenOf(lib);
  const drawn = terminal.shows("count 0.");
  const closing = new AbortController();
  const shown = screen.custom((own, _theme, done) => make(own, () => done(undefined)), {
    hookPath: "./hook.ts",
    signal: closing.signal,
    deadline: undefined,
  });
  await drawn;
  await takesKeys(screen);
  const times: [bare: number, own: number][] = [];
  for (let i = 1; i <= KEYS; i++) {
    times.push([await bare.key("x", `count ${i}.`), await terminal.key("x", `count ${i}.`)]);
  }
  closing.abort();
  await shown;
  tui.stop();
  screen.stop();
  const [less, more] = [median(times.map(([a]) => a)), median(times.map(([, b]) => b))];
  return { value: more - less, detail: `${us(more * 1_000)} against ${us(less * 1_000)}, below ${HISTORY} lines` };
}

function screenOf(lib: PiTui): { screen: Screen; terminal: MeasuredTerminal } {
  const terminal = new MeasuredTerminal();
  const screen = new Screen({
    lib,
    terminal: terminal.asTerminal,
    theme: plainTheme,
    autocomplete: new lib.CombinedAutocompleteProvider([], "/"),
    footer: () => "footer",
    onSubmit() {},
    onKey: () => false,
    onStop() {},
    onEnd() {},
    openEditor: () => Promise.resolve(undefined),
    notify() {},
  });
  for (let i = 0; i < HISTORY; i++) screen.add(new lib.Text(`line ${i}`));
  screen.start();
  return { screen, terminal };
}

/** Waits until a component takes keys, which is when a person has had the time to see it. */
async function takesKeys(screen: Screen): Promise<void> {
  while (!screen.takesKeys) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Measures a component that an isolated hook draws in its own process. */
async function drawIsolated(): Promise<{ value: number; detail: string }> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "hook.ts");
    await Deno.writeTextFile(
      path,
      `const make = ${COMPONENT};
export default (pi) => pi.registerCommand("draw", {
  handler: (_args, ctx) => ctx.ui.custom((tui, _theme, done) => make(tui, done)),
});`,
    );
    const { screen, terminal } = screenOf(await loadPiTui());
    const { hooks, errors } = await loadHooks([path], folder, { permissions: {} });
    if (errors.length > 0) throw new Error(errors[0]!.error);
    await using session = new AgentSession({
      cwd: folder,
      hooks,
      uiContext: uiContextsOf(screen),
      hasUI: true,
      handleSignals: false,
    });
    const drawn = terminal.shows("count 0.");
    const command = session.prompt("/draw");
    await drawn;
    await takesKeys(screen);
    const times: number[] = [];
    const { tui } = screen;
    const requestRender = tui.requestRender.bind(tui);
    let arrived = 0;
    tui.requestRender = (force) => {
      arrived = performance.now();
      requestRender(force);
    };
    const whole: number[] = [];
    for (let i = 1; i <= KEYS; i++) {
      const time = await terminal.key("x", `count ${i}.`);
      whole.push(time);
      times.push(arrived - terminal.pressed);
    }
    await terminal.key("q", "footer");
    await command;
    screen.stop();
    const detail = `21 lines, from the key on; ${
      us(median(whole) * 1_000)
    } until they are written, below ${HISTORY} lines`;
    return { value: median(times), detail };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Rows about the chat. */
export const screenRows: readonly Row[] = [
  {
    name: "a key to the screen of the chat, more than with pi-tui alone",
    unit: "ms",
    target: { atMost: 5 },
    run: compareWithPiTui,
  },
  {
    name: "a frame of a component that an isolated hook draws",
    unit: "ms",
    target: { atMost: 2 },
    run: drawIsolated,
  },
];
