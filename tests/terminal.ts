/**
 * Runs programs in a terminal that nobody sees, to type into it and read its screen. Each terminal is a tmux server of its own,
 * with its files in a folder of its own, so any number of them can run at a time.
 *
 * @module
 */
import { dirname, join, resolve } from "@std/path";
import { MAIN } from "./cli/program.ts";

/** Whether there is tmux, which draws the terminals. */
export const HAS_TERMINAL: boolean = (() => {
  try {
    return new Deno.Command("tmux", { args: ["-V"], stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
})();

/** Registers a test that needs a terminal; without tmux it is ignored, and its name says why. */
export function terminalTest(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  Deno.test({ name: HAS_TERMINAL ? name : `${name} (ignored: there is no tmux)`, ignore: !HAS_TERMINAL, fn });
}

/** Options of {@linkcode Terminal.start}. */
export interface TerminalOptions {
  /** Cells of a line; 80 when absent. */
  columns?: number;
  /** Lines; 24 when absent. */
  rows?: number;
  /** The folder that the program runs in, as seen from its home; its home when absent. */
  cwd?: string;
  /** Texts of files that its home begins with, by their paths in it. */
  files?: Record<string, string>;
  /** Variables, beside PATH, HOME, TERM, LC_ALL and what Deno needs to find its cache. */
  env?: Record<string, string>;
}

/** How a program ended. */
export interface ProgramEnd {
  /** Its exit code; 128 and more when a signal ended it. */
  code: number;
  /** What it left changed in the settings of the terminal, such as `-echo`; empty when they are as they were. */
  changed: string[];
}

/** How long a condition may take to come true, in ms: as long as a slow machine under load takes. */
const LIMIT = 60_000;
/** What goes to tmux at once; it takes 16 KB. */
const PIECES = /[^]{1,2000}/gu;

/** A program in a terminal. */
export class Terminal implements AsyncDisposable {
  /** The home of the program, which is empty at first. */
  readonly home: string;
  readonly #folder: string;
  readonly #server: Deno.ChildProcess;
  #pane = 0;

  private constructor() {
    this.#folder = Deno.makeTempDirSync({ prefix: "xcsh-terminal-" });
    this.home = join(this.#folder, "home");
    Deno.mkdirSync(this.home);
    Deno.writeTextFileSync(
      join(this.#folder, "tmux.conf"),
      // Programs may set the clipboard and the title here, so that a test sees it when one does.
      "set -g set-clipboard on\nset -g status off\nset -g escape-time 0\nset -g history-limit 10000\n",
    );
    this.#server = new Deno.Command("tmux", {
      args: ["-S", this.#socket, "-f", join(this.#folder, "tmux.conf"), "-D"],
      cwd: this.#folder,
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", HOME: this.home, LC_ALL: "C.UTF-8" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
  }

  /** Starts a program in a terminal. */
  static async start(command: string, args: string[], options: TerminalOptions = {}): Promise<Terminal> {
    const terminal = new Terminal();
    try {
      await terminal.#run([command, ...args], options);
    } catch (error) {
      await terminal[Symbol.asyncDispose]();
      throw error;
    }
    return terminal;
  }

  /** Starts `xcsh-hooks` in a terminal. */
  static startCli(args: string[], options: TerminalOptions = {}): Promise<Terminal> {
    return Terminal.start(Deno.execPath(), ["run", "-A", MAIN, ...args], options);
  }

  /** Types text as it is. */
  async type(text: string): Promise<void> {
    for (const [piece] of text.matchAll(PIECES)) await this.#tmux("send-keys", "-l", "--", piece);
  }

  /** Presses keys, by the names that tmux has for them: `Enter`, `Escape`, `Tab`, `Up`, `BSpace`, `C-c`, `M-Enter`. */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux("send-keys", "--", ...keys);
  }

  /** Pastes text; a program that asked for it gets it in brackets. */
  async paste(text: string): Promise<void> {
    const file = join(this.#folder, "paste");
    Deno.writeTextFileSync(file, text);
    await this.#tmux("load-buffer", "-b", "pasted", file);
    await this.#tmux("paste-buffer", "-p", "-r", "-d", "-b", "pasted");
  }

  /** Gives the terminal another size. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux("resize-window", "-x", `${columns}`, "-y", `${rows}`);
  }

  /** The lines on the screen, without blanks at their ends; with `colours`, as SGR codes. */
  async screen(options: { colours?: boolean } = {}): Promise<string> {
    return trimmed(await this.#tmux("capture-pane", "-p", ...options.colours ? ["-e"] : []));
  }

  /** All that was printed, also what the screen has no room for any more; lines that the terminal wrapped are whole again. */
  async transcript(): Promise<string> {
    return trimmed(await this.#tmux("capture-pane", "-p", "-J", "-S", "-"));
  }

  /** The title of the window; empty until a program sets one. */
  async title(): Promise<string> {
    return (await this.#tmux("display-message", "-p", "#{pane_title}")).trimEnd();
  }

  /** What programs put on the clipboard; `undefined` when none did. */
  async clipboard(): Promise<string | undefined> {
    if ((await this.#tmux("list-buffers")).trim() === "") return undefined;
    return await this.#tmux("show-buffer");
  }

  /** Where the cursor is, from 0, and whether it can be seen. */
  async cursor(): Promise<{ column: number; row: number; visible: boolean }> {
    const format = "#{cursor_x} #{cursor_y} #{cursor_flag}";
    const [column = 0, row = 0, visible] = (await this.#tmux("display-message", "-p", format)).split(" ").map(Number);
    return { column, row, visible: visible === 1 };
  }

  /**
   * Waits for the screen to show something.
   *
   * @param condition A part of the screen, a pattern, or a test of it.
   * @param limit How long it may take, in ms.
   * @returns The screen.
   * @throws When it does not come, or cannot come any more because the program has ended, with the last screen.
   */
  async waitFor(condition: string | RegExp | ((screen: string) => boolean), limit = LIMIT): Promise<string> {
    const holds = typeof condition === "string"
      ? (screen: string) => screen.includes(condition)
      : condition instanceof RegExp
      ? (screen: string) => condition.test(screen)
      : condition;
    // What a program printed last may be drawn a moment after its end.
    let after = 10;
    for (const end = performance.now() + limit;;) {
      const over = this.#end() !== undefined && after-- === 0;
      const screen = await this.screen();
      if (holds(screen)) return screen;
      if (over || performance.now() > end) {
        const why = over ? `The program ended with ${this.#end()!.code}` : `After ${limit} ms there is still`;
        throw new Error(`${why}, no ${condition} on the screen:\n${frame(screen)}`);
      }
      await sleep();
    }
  }

  /** Waits for the end of the program. */
  async ended(limit = LIMIT): Promise<ProgramEnd> {
    for (const until = performance.now() + limit; performance.now() < until; await sleep()) {
      const end = this.#end();
      if (end !== undefined) return end;
    }
    throw new Error(`After ${limit} ms the program still runs:\n${frame(await this.screen())}`);
  }

  /** Sends a signal to the program, and not to what it started. */
  signal(signal: Deno.Signal): void {
    Deno.kill(Number(this.#read("pid")), signal);
  }

  /** Ends the program and all that it started, and removes every file of the terminal. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let left = this.#descendants(); left.length > 0; left = this.#descendants()) {
      for (const pid of left) {
        try {
          Deno.kill(pid, "SIGKILL");
        } catch {
          // It has ended.
        }
      }
      await sleep();
    }
    try {
      this.#server.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#server.status;
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #run(command: string[], options: TerminalOptions) {
    const { columns = 80, rows = 24, cwd = ".", files = {}, env = {} } = options;
    for (const [name, text] of Object.entries(files)) {
      Deno.mkdirSync(dirname(join(this.home, name)), { recursive: true });
      Deno.writeTextFileSync(join(this.home, name), text);
    }
    const variables = Object.entries({
      PATH: Deno.env.get("PATH") ?? "",
      HOME: this.home,
      TERM: "tmux-256color",
      LC_ALL: "C.UTF-8",
      DENO_DIR: denoDir(),
      DENO_NO_UPDATE_CHECK: "1",
      ...env,
    }).map(([name, value]) => `${name}=${value}`);
    const script = join(this.#folder, "run.sh");
    // What waits for the program outlives the keys that end it, and keeps the terminal open to be read.
    Deno.writeTextFileSync(
      script,
      `cd ${quote(this.#folder)}
stty -a > before
trap : HUP INT QUIT TERM
(cd ${quote(resolve(this.home, cwd))} && exec sh -c 'echo $$ > "$0"; exec "$@"' ${
        [join(this.#folder, "pid"), "env", "-i", ...variables, ...command].map(quote).join(" ")
      })
echo $? > status
stty -a > after
mv status code
exec sleep 1000000
`,
    );
    const size = ["-x", `${columns}`, "-y", `${rows}`];
    const end = performance.now() + LIMIT;
    // The server takes a moment until it listens.
    for (;;) {
      const pane = await this.#attempt("new-session", "-d", ...size, "-P", "-F", "#{pane_pid}", "sh", script);
      if (pane.success) {
        this.#pane = Number(pane.stdout);
        break;
      }
      if (performance.now() > end) throw new Error(`tmux does not start: ${pane.stderr}`);
      await sleep();
    }
    await this.#tmux("select-pane", "-T", "");
    while (this.#read("pid") === "") await sleep();
  }

  get #socket(): string {
    return join(this.#folder, "socket");
  }

  #end(): ProgramEnd | undefined {
    const code = this.#read("code");
    if (code === "") return undefined;
    const before = new Set(this.#read("before").split(/[;\s]+/));
    return { code: Number(code), changed: this.#read("after").split(/[;\s]+/).filter((word) => !before.has(word)) };
  }

  #read(name: string): string {
    try {
      return Deno.readTextFileSync(join(this.#folder, name));
    } catch {
      return "";
    }
  }

  async #tmux(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await this.#attempt(...args);
    if (!success) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  async #attempt(...args: string[]): Promise<{ success: boolean; stdout: string; stderr: string }> {
    // A semicolon at the end of an argument would begin another command.
    const escaped = args.map((arg) => arg.replace(/;$/, "\\;"));
    const { success, stdout, stderr } = await new Deno.Command("tmux", {
      args: ["-u", "-N", "-S", this.#socket, ...escaped],
      cwd: this.#folder,
    }).output();
    return { success, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }

  /** What runs in the terminal. */
  #descendants(): number[] {
    const found = this.#pane === 0 ? [] : [this.#pane];
    const all = processes();
    for (const pid of found) found.push(...all.flatMap((each) => each.parent === pid ? [each.pid] : []));
    return found.filter((pid) => all.some((each) => each.pid === pid && !each.ended));
  }
}

/** All processes that there are. */
function processes(): { pid: number; parent: number; ended: boolean }[] {
  const { stdout } = new Deno.Command("ps", { args: ["-A", "-o", "pid=,ppid=,state="] }).outputSync();
  return new TextDecoder().decode(stdout).trim().split("\n").map((line) => {
    const [pid, parent, state = ""] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), ended: state.startsWith("Z") };
  });
}

/** Where Deno keeps what it has compiled, which takes seconds to make anew. */
function denoDir(): string {
  const home = Deno.env.get("HOME") ?? "";
  return Deno.env.get("DENO_DIR") ??
    (Deno.build.os === "darwin"
      ? join(home, "Library", "Caches", "deno")
      : join(Deno.env.get("XDG_CACHE_HOME") ?? join(home, ".cache"), "deno"));
}

function sleep(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function trimmed(screen: string): string {
  return screen.split("\n").map((line) => line.trimEnd()).join("\n").trimEnd();
}

function frame(screen: string): string {
  return screen.split("\n").map((line) => `  │ ${line}`).join("\n");
}
