/**
 * A client of `run --rpc`, which drives the real program over its pipes.
 *
 * @module
 */
import { Folder, start } from "./program.ts";

// deno-lint-ignore no-explicit-any -- records are what the tests are about
export type Rec = Record<string, any>;

/** How long the program may take for what a test waits for, in ms. */
const PATIENCE = 30_000;

export class Client implements AsyncDisposable {
  /** All records so far. */
  readonly records: Rec[] = [];
  readonly child: Deno.ChildProcess;
  readonly stderr: Promise<string>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #reading: Promise<void>;
  #news = Promise.withResolvers<void>();
  #ended = false;
  #seen = 0;
  #ids = 0;

  constructor(args: string[], options: { env?: Record<string, string> } = {}) {
    this.child = start(["run", "--rpc", ...args], { stdin: "piped", ...options });
    this.#writer = this.child.stdin.getWriter();
    this.#reading = this.#read();
    this.stderr = new Response(this.child.stderr).text();
  }

  /** Sends a message. */
  async send(message: Rec): Promise<void> {
    await this.raw(`${JSON.stringify(message)}\n`);
  }

  /** Sends bytes or text as they are. */
  async raw(text: string | Uint8Array): Promise<void> {
    await this.#writer.write(typeof text === "string" ? this.#encoder.encode(text) : text);
  }

  /** Sends a request; its response is given back. */
  async request(type: string, fields: Rec = {}): Promise<Rec> {
    const id = `r${++this.#ids}`;
    await this.send({ type, id, ...fields });
    return await this.find((record) => record.type === "response" && record.id === id);
  }

  /** Waits for the next record of a type, after the one that was waited for last. */
  async next(type: string): Promise<Rec> {
    return await this.#wait(() => {
      for (let i = this.#seen; i < this.records.length; i++) {
        if (this.records[i]!.type !== type) continue;
        this.#seen = i + 1;
        return this.records[i];
      }
    }, type);
  }

  /** Waits for a record, wherever it stands. */
  async find(is: (record: Rec) => boolean): Promise<Rec> {
    return await this.#wait(() => this.records.find(is), String(is));
  }

  /** Ends the input. */
  async endInput(): Promise<void> {
    await this.#writer.close();
  }

  /** Waits for the end of the program. */
  async ended(): Promise<{ code: number; records: Rec[]; stderr: string }> {
    const { code } = await this.child.status;
    await this.#reading;
    return { code, records: this.records, stderr: await this.stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close().catch(() => {});
    const timer = setTimeout(() => this.child.kill("SIGKILL"), PATIENCE);
    await this.ended();
    clearTimeout(timer);
  }

  async #wait(look: () => Rec | undefined, what: string): Promise<Rec> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`No ${what} among ${JSON.stringify(this.records)}`)), PATIENCE);
    });
    try {
      for (;;) {
        const found = look();
        if (found !== undefined) return found;
        if (this.#ended) throw new Error(`The program ended without ${what}: ${JSON.stringify(this.records)}`);
        await Promise.race([this.#news.promise, late]);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of this.child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop()!;
      this.records.push(...lines.map((line) => JSON.parse(line)));
      this.#tell();
    }
    this.#ended = true;
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}

/** A hook that asks whatever its command says, and tells what came of it. */
export const ASKER = `
const say = (ctx, value) => ctx.ui.notify(JSON.stringify(value) ?? "undefined");
export default (pi) => {
  const command = (name, handler) => pi.registerCommand(name, { handler });
  command("select", async (_args, ctx) => say(ctx, await ctx.ui.select("Which?", ["red", "blue", "red"])));
  command("confirm", async (_args, ctx) => say(ctx, await ctx.ui.confirm("Sure?", "It is gone then")));
  command("input", async (_args, ctx) => say(ctx, await ctx.ui.input("Name?", "yours")));
  command("editor", async (_args, ctx) => say(ctx, await ctx.ui.editor("Text?", "a\\nb")));
  command("late", async (_args, ctx) => say(ctx, await ctx.ui.confirm("Quick?", "now", { timeout: 300 })));
  command("back", async (_args, ctx) => {
    const controller = new AbortController();
    const answer = ctx.ui.input("Never mind", "", { signal: controller.signal });
    await ctx.ui.confirm("Go on?", "");
    controller.abort();
    say(ctx, await answer);
  });
  command("two", async (_args, ctx) => {
    const answers = await Promise.all([ctx.ui.input("first"), ctx.ui.input("second")]);
    say(ctx, answers);
  });
  command("pick", async (_args, ctx) => {
    const picked = await ctx.ui.custom((tui, theme, done) => {
      let keys = "";
      return {
        render: (width) => ["keys: " + keys, theme.fg("error", "wide ") + "x".repeat(500), "evil\\x1b[2J\\x1b]0;t\\x07\\nline", String(width)],
        handleInput(data) {
          if (data === "q") return done({ keys });
          if (data === "!") throw new Error("no such key");
          keys += data;
        },
      };
    });
    say(ctx, picked);
  });
  command("look", async (_args, ctx) => {
    const before = ctx.ui.getEditorText();
    ctx.ui.setEditorText("from the hook\\x1b[2J");
    ctx.ui.setStatus("mode", "\\x1b[31mred\\x1b[0m\\x1b[2J");
    ctx.ui.setWidget("list", ["one\\x1b[2J"], { placement: "belowEditor" });
    say(ctx, [ctx.hasUI, before, ctx.ui.getEditorText()]);
  });
};
`;

/** A folder with a hook in it, and the arguments that load it isolated or in the process. */
export function project(options: { hook?: string; turns?: unknown[]; inProcess?: boolean } = {}) {
  const folder = new Folder({
    "hook.ts": options.hook ?? ASKER,
    "script.json": JSON.stringify({ turns: options.turns ?? [{ text: "done" }] }),
  });
  const args = [
    "--cwd",
    folder.path,
    "--no-session",
    "--script",
    `${folder.path}/script.json`,
    "--hook",
    `${folder.path}/hook.ts`,
    ...options.inProcess ? ["--in-process"] : [],
  ];
  return { folder, args, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}
