/**
 * Isolated hooks in a folder of their own, and what they leave behind.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { dirname, join } from "@std/path";
import {
  type HookDecision,
  type HookError,
  type HookPermissions,
  HookRunner,
  type HookRunnerOptions,
  HookToolWrapper,
  type IsolationOptions,
  type LoadedHook,
  loadHooks,
  type LoadHooksOptions,
} from "@xcsh/hooks";
import { SessionManager } from "@xcsh/hooks/session";

/** How a call of a tool behind gates ended. */
export interface Called {
  /** Whether the tool ran. */
  ran: boolean;
  /** Why it did not. */
  reason: string;
  /** Whether a gate broke, which is not the same as a gate that denied. */
  broken: boolean;
  /** What the model reads. */
  text: string;
}

/** What an {@linkcode Arena} is made of. */
export interface ArenaOptions {
  /** Text of the hook, or files by path from the project: the first one is the hook. */
  hook: string | Record<string, string>;
  /** Grants; none when absent. */
  permissions?: HookPermissions;
  /** How isolated hooks are run. */
  isolation?: IsolationOptions;
  /** More files, by path from the arena's root: `project/…` or `outside/…`. */
  files?: Record<string, string>;
  /** Further preparation of the folder. */
  prepare?: (root: string) => void | Promise<void>;
  /** Options of loading. */
  load?: LoadHooksOptions;
  /** What the runner is told. */
  host?: Partial<HookRunnerOptions>;
  /** Whether the hook is expected not to load. */
  mayFail?: boolean;
  /** Where the session works, from the root; `project` when absent. */
  cwd?: string;
}

/** A hook at work in a folder of its own. */
export class Arena implements AsyncDisposable {
  readonly errors: HookError[] = [];
  readonly decisions: HookDecision[] = [];
  readonly printed: string[] = [];
  readonly sent: unknown[] = [];
  readonly appended: unknown[] = [];
  loadErrors: string[] = [];
  warnings: string[] = [];
  hooks: LoadedHook[] = [];
  runner!: HookRunner;
  session!: SessionManager;
  #nests = new Set<string>();

  constructor(readonly root: string) {}

  get project(): string {
    return join(this.root, "project");
  }

  get outside(): string {
    return join(this.root, "outside");
  }

  get hook(): LoadedHook {
    return this.hooks[0]!;
  }

  /** Calls a tool behind the hook. */
  async call(input: Record<string, unknown> = {}, name = "bash"): Promise<Called> {
    let ran = false;
    const execute = () => {
      ran = true;
      return Promise.resolve({ content: [{ type: "text" as const, text: "done" }] });
    };
    this.note();
    try {
      const { content } = await new HookToolWrapper({ name, execute }, this.runner).execute("1", input);
      return { ran, reason: "", broken: false, text: (content[0] as { text: string }).text };
    } catch (error) {
      const { name, message } = error as Error;
      return { ran, reason: message, broken: name === "HookBrokenError", text: "" };
    } finally {
      this.note();
    }
  }

  /** Processes that belong to this arena. */
  processes(): number[] {
    return processesOf(this.root);
  }

  /** Ids of the processes that run the hook. */
  children(): number[] {
    return this.processes().filter((pid) => readProc(pid, "cmdline").includes("isolation/boot.ts"));
  }

  /** Remembers the temporary folders in use. */
  note(): void {
    for (const pid of this.children()) {
      const folder = /DENO_DIR=([^\0]*\/xcsh-hooks-[^/\0]+)/.exec(readProc(pid, "environ"))?.[1];
      if (folder !== undefined) this.#nests.add(folder);
    }
  }

  /** Ends the hooks, and fails when something of them is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.note();
    await this.runner?.dispose();
    for (const hook of this.runner === undefined ? this.hooks : []) await hook.dispose?.();
    try {
      assertEquals(this.processes().map((pid) => readProc(pid, "cmdline")), [], "no process is left");
      for (const folder of this.#nests) assertEquals(exists(folder), false, `${folder} is gone`);
    } finally {
      for (const pid of this.processes()) Deno.kill(pid, "SIGKILL");
      await Deno.remove(this.root, { recursive: true });
    }
  }
}

/** Loads a hook into a process of its own, with a project and a folder outside of it. */
export async function arena(options: ArenaOptions): Promise<Arena> {
  const made = new Arena(await Deno.realPath(await Deno.makeTempDir({ prefix: "xcsh-arena-" })));
  try {
    const files = typeof options.hook === "string" ? { "hooks/hook.ts": options.hook } : options.hook;
    await lay(made.project, files);
    await lay(made.root, options.files ?? {});
    await Deno.mkdir(made.outside, { recursive: true });
    await options.prepare?.(made.root);
    const cwd = join(made.root, options.cwd ?? "project");
    const { hooks, errors, warnings } = await loadHooks([join(made.project, Object.keys(files)[0]!)], cwd, {
      permissions: options.permissions ?? {},
      isolation: { print: (_path, line) => void made.printed.push(line), ...options.isolation },
      ...options.load,
    });
    made.hooks = hooks;
    made.loadErrors = errors.map(({ error }) => error);
    made.warnings = warnings.map(({ warning }) => warning);
    if (!options.mayFail) assertEquals(made.loadErrors, []);
    made.session = SessionManager.inMemory(cwd);
    made.runner = new HookRunner(hooks, cwd, made.session, {
      getAvailable: () => [{ id: "m", provider: "p" }],
      find: (provider, id) => provider === "p" && id === "m" ? { id, provider } : undefined,
      getApiKey: () => Promise.resolve("key"),
    });
    made.runner.initialize({
      getModel: () => ({ id: "m", provider: "p" }),
      sendMessageHandler: (message, sendOptions) => void made.sent.push([message, sendOptions]),
      appendEntryHandler: (type, data) => void made.appended.push([type, data]),
      ...options.host,
    });
    made.runner.onError((error) => made.errors.push(error));
    made.runner.onDecision((decision) => made.decisions.push(decision));
    made.note();
    return made;
  } catch (error) {
    await made[Symbol.asyncDispose]().catch(() => {});
    throw error;
  }
}

/** Writes files below a folder. */
export async function lay(folder: string, files: Record<string, string>): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(join(folder, name)), { recursive: true });
    await Deno.writeTextFile(join(folder, name), text);
  }
}

/** Processes whose folder, command line or environment names a text. */
export function processesOf(text: string): number[] {
  const found: number[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === Deno.pid) continue;
    const pid = Number(name);
    if (readProc(pid, "stat").replace(/.*\) /s, "").startsWith("Z")) continue;
    let cwd = "";
    try {
      cwd = Deno.readLinkSync(`/proc/${pid}/cwd`);
    } catch {
      // It is gone, or nobody's.
    }
    if (cwd.startsWith(text) || readProc(pid, "cmdline").includes(text)) found.push(pid);
  }
  return found;
}

/** A file of `/proc`; empty when the process is gone. */
export function readProc(pid: number, name: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${name}`);
  } catch {
    return "";
  }
}

/** Whether there is a file. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Waits until something holds; fails after 20 s. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const limit = Date.now() + ms;
  while (!await holds()) {
    if (Date.now() > limit) throw new Error(`Waited too long until ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** A server that counts who comes. */
export class Listener implements AsyncDisposable {
  connections = 0;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #done = this.#accept();

  get port(): number {
    return (this.#listener.addr as Deno.NetAddr).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      this.connections++;
      connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#done.catch(() => {});
  }
}
