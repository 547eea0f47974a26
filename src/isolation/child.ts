/**
 * The process of an isolated hook: started with exactly its flags, spoken to by lines, and ended with all that it started.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { join } from "@std/path";
import { errorText } from "../values.ts";
import { type BootFolder, copyCache, keepCache, layBootFolder } from "./boot_folder.ts";
import { denoFlags, type EffectiveGrants } from "./grants.ts";
import { type ChildConfig, LineReader } from "./protocol.ts";
import { type Place, takePlace } from "./watchdog.ts";

/** What a child is started with. */
export interface ChildOptions {
  /** What it may do. */
  grants: EffectiveGrants;
  /** What its entry is told. */
  config: ChildConfig;
  /** Variables that it gets beside those that it was granted. */
  environment?: Readonly<Record<string, string>>;
  /** The folder that it runs in. */
  folder: string;
  /** Whether it imports the way other hosts do. */
  compat: boolean;
  /** Modules of packages from npm, where its hook needs any. */
  packages?: Readonly<Record<string, string>>;
  /** Most MiB of its heap. */
  heapLimit: number;
  /** Most bytes of one frame. */
  frameLimit: () => number;
  /** Gets each frame, as text. What it throws ends the child. */
  onFrame: (line: string) => void;
  /** Gets what it writes to its standard output and error. */
  onOutput: (text: string) => void;
}

/** Most KiB of data that a child may hold outside its heap, where the system can limit it (Linux): ArrayBuffers, and Workers' heaps. */
const DATA_LIMIT = 2 * 1024 * 1024;
const LAUNCH = `ulimit -c 0 2>/dev/null; ulimit -d ${DATA_LIMIT} 2>/dev/null; exec "$@"`;
/** Bytes of output that are read in one {@linkcode OUTPUT_PERIOD}; a child that writes more waits. */
const OUTPUT_LIMIT = 64 * 1024;
const OUTPUT_PERIOD = 250;

/** A running child. */
export class Child {
  /** Resolves with the reason when it has ended, and nothing of it is left. */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  readonly #frames: LineReader;
  #reason: string | undefined;

  /**
   * Starts a child.
   *
   * @param options See {@linkcode ChildOptions}.
   * @returns The child; that it runs does not say yet that the hook could be loaded.
   * @throws {Error} When this process may not start it.
   */
  static async start(options: ChildOptions): Promise<Child> {
    const place = takePlace();
    try {
      const boot = await layBootFolder(place.folder, options.compat, options.packages);
      const cache = join(place.folder, "deno");
      if (!await copyCache(boot, cache)) {
        await warmed(boot, place.folder);
        if (!await copyCache(boot, cache)) await Deno.mkdir(cache, { recursive: true });
      }
      // Where a folder is expected a file stands, so that localStorage and the Cache API keep nothing.
      await Deno.remove(join(cache, "location_data"), { recursive: true }).catch(() => {});
      await Deno.writeTextFile(join(cache, "location_data"), "");
      return new Child(options, boot, cache, place);
    } catch (error) {
      await place.leave();
      throw error;
    }
  }

  private constructor(options: ChildOptions, boot: BootFolder, cache: string, place: Place) {
    const { config, grants } = options;
    this.#frames = new LineReader(options.frameLimit);
    // Whoever may write a folder could make links in it by node:wasi, which asks for no permission; without a compiler there is
    // no WebAssembly, in Workers neither, and without that no WASI.
    this.#process = launch(
      [
        ...BASE_FLAGS,
        ...(grants.allow.import === undefined ? ["--no-remote"] : []),
        `--v8-flags=--max-old-space-size=${options.heapLimit}${grants.allow.write === undefined ? "" : ",--jitless"}`,
        ...denoFlags(keepOut(grants, place.nest)),
        boot.entry,
        JSON.stringify(config),
      ],
      options.folder,
      { ...environmentFor(grants), ...options.environment, DENO_DIR: cache },
    );
    const { pid, stdout, stderr } = this.#process;
    // Also, a pid that is none would make the group 0, which is our own.
    if (pid === undefined) {
      throw new Error(`its process could not be started in ${options.folder}, which may be gone`);
    }
    place.watch(pid);
    this.#in.on("error", () => {});
    this.#answers.on("error", () => {});
    const frames = this.#process.stdio[3] as Readable;
    frames.on("data", (bytes: Uint8Array) => this.#read(bytes, options.onFrame));
    frames.on("error", () => {});
    for (const stream of [stdout!, stderr!]) readOutput(stream, options.onOutput);
    this.ended = this.#watch(place);
    for (const stream of [this.#process, this.#in, this.#answers, frames, stdout, stderr]) {
      (stream as { unref?: () => void }).unref?.();
    }
  }

  get #in(): Writable {
    return this.#process.stdin!;
  }

  get #answers(): Writable {
    return this.#process.stdio[4] as Writable;
  }

  /** Whether it has ended, or is being ended. */
  get over(): boolean {
    return this.#reason !== undefined || this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Bytes that were sent to it and that it has not read. */
  get unread(): number {
    return this.#answers.writableLength + this.#in.writableLength;
  }

  /** Says whether this program is to stay for as long as the child runs. */
  hold(wait: boolean): void {
    try {
      if (wait) this.#process.ref();
      else if (!this.over) this.#process.unref();
    } catch {
      // It has just ended.
    }
  }

  /** Sends a frame. */
  send(text: string): void {
    if (!this.over) this.#in.write(text);
  }

  /** Answers a synchronous call. */
  answer(text: string): void {
    if (!this.over) this.#answers.write(text);
  }

  /** Ends it and all that it started, at once. */
  kill(reason: string): void {
    this.#reason ??= reason;
    const { pid } = this.#process;
    if (pid === undefined || this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    // Whoever waits for it is to hear of its end.
    this.hold(true);
    killGroup(pid, () => this.#process.kill("SIGKILL"));
  }

  /** Lets it end by itself, and ends it when it does not. */
  async close(grace: number): Promise<void> {
    this.#reason ??= "it was closed";
    this.hold(true);
    this.#in.end();
    const timer = setTimeout(() => this.kill("it was closed"), grace);
    await this.ended;
    clearTimeout(timer);
  }

  #read(bytes: Uint8Array, onFrame: (line: string) => void): void {
    try {
      for (const line of this.#frames.push(bytes)) {
        if (this.#reason !== undefined) return;
        onFrame(line);
      }
    } catch (error) {
      this.kill(errorText(error));
    }
  }

  async #watch(place: Place): Promise<string> {
    const how = await new Promise<string>((resolve) => {
      this.#process.on("error", (error: Error) => resolve(`its process could not be started: ${error.message}`));
      this.#process.on("exit", (code: number | null, signal: string | null) => {
        resolve(signal === null ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`);
      });
    });
    const { pid } = this.#process;
    // What it left in its group goes with it.
    if (pid !== undefined) killGroup(pid, () => {});
    for (const stream of this.#process.stdio) (stream as { destroy?: () => void } | null)?.destroy?.();
    await place.leave();
    return this.#reason ??= how;
  }
}

const BASE_FLAGS = ["run", "--no-prompt", "--no-config", "--no-lock", "--no-npm", "--quiet"];

function launch(args: string[], cwd: string, env: Record<string, string>): ChildProcess {
  const { shell, closes } = launcher();
  const script = `exec 5<&- 6<&- 7<&- 8<&- 9<&- ${closes}; ${LAUNCH}`;
  const [command, rest] = Deno.build.os === "windows"
    ? [Deno.execPath(), args]
    : [shell, ["-c", script, "xcsh-hooks", Deno.execPath(), ...args]];
  const child = spawn(command, rest, {
    cwd,
    env: { ...env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"],
    // A group of its own, which is ended as a whole.
    detached: Deno.build.os !== "windows",
    windowsHide: true,
  });
  // Told also when it could not be started, and then there is nothing else to listen to.
  child.on("error", () => {});
  return child;
}

/**
 * Descriptors that this process would hand on without knowing of them: pipes of a shell, of a build, of a parent agent. Known on
 * Linux, to a program that may read there.
 */
function inheritedBeyond(last: number): number[] {
  const found: number[] = [];
  try {
    for (const { name } of Deno.readDirSync("/proc/self/fdinfo")) {
      if (Number(name) <= last) continue;
      try {
        const flags = /^flags:\s*(\d+)/m.exec(Deno.readTextFileSync(`/proc/self/fdinfo/${name}`))?.[1] ?? "0";
        if ((parseInt(flags, 8) & 0o2000000) === 0) found.push(Number(name));
      } catch {
        // It is the one of the listing itself.
      }
    }
  } catch {
    // Nobody tells.
  }
  return found;
}

/** The shell that starts a child, and how it closes what the child must not have: only bash names descriptors of two digits. */
function launcher(): { shell: string; closes: string } {
  const inherited = inheritedBeyond(9);
  if (inherited.length > 0) {
    for (const shell of ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]) {
      try {
        if (Deno.statSync(shell).isFile) return { shell, closes: inherited.map((number) => `${number}<&-`).join(" ") };
      } catch {
        // Not here.
      }
    }
  }
  return { shell: "/bin/sh", closes: "" };
}

/** The folders of the other children are no child's business. */
function keepOut(grants: EffectiveGrants, nest: string): EffectiveGrants {
  const { allow, deny } = grants;
  if (allow.write === undefined) return grants;
  return { ...grants, deny: { ...deny, write: [...Array.isArray(deny.write) ? deny.write : [], nest] } };
}

/** The variables that a hook was granted, and those without which no program starts. */
function environmentFor({ allow }: EffectiveGrants): Record<string, string> {
  const all = Deno.env.toObject();
  if (allow.env === true) return all;
  const env: Record<string, string> = {};
  const needed = Deno.build.os === "windows" ? ["SystemRoot", "PATH", "TEMP", "TMP"] : ["PATH"];
  const granted = allow.env ?? [];
  // It is what tells a process where the home is; the name of the variable stays closed to the hook.
  if (allow.sys === true || allow.sys?.includes("homedir")) {
    needed.push(Deno.build.os === "windows" ? "USERPROFILE" : "HOME");
  }
  for (const [name, value] of Object.entries(all)) {
    const named = granted.some((entry) => entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry);
    if (named || needed.includes(name)) env[name] = value;
  }
  return env;
}

function killGroup(pid: number, otherwise: () => void): void {
  try {
    if (Deno.build.os === "windows") otherwise();
    else Deno.kill(-pid, "SIGKILL");
  } catch {
    otherwise();
  }
}

/** Reads what a child writes no faster than a person could: a flood fills its pipe, and it waits. */
function readOutput(stream: Readable, onOutput: (text: string) => void): void {
  const decoder = new TextDecoder();
  let size = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  stream.on("data", (bytes: Uint8Array) => {
    onOutput(decoder.decode(bytes, { stream: true }));
    size += bytes.length;
    timer ??= setTimeout(() => {
      timer = undefined;
      size = 0;
      stream.resume();
    }, OUTPUT_PERIOD);
    Deno.unrefTimer(timer as unknown as number);
    if (size > OUTPUT_LIMIT) stream.pause();
  });
  stream.on("close", () => clearTimeout(timer));
  stream.on("error", () => {});
}

/** Hosts start several children at once; one warm-up serves them all. */
const warming = new Map<string, Promise<void>>();

function warmed(boot: BootFolder, folder: string): Promise<void> {
  const running = warming.get(boot.entry) ?? warmUp(boot, folder).finally(() => warming.delete(boot.entry));
  warming.set(boot.entry, running);
  return running;
}

/** Starts a child without a hook, whose caches the next ones can start from. */
async function warmUp(boot: BootFolder, folder: string): Promise<void> {
  const cache = join(folder, "warm");
  const config: ChildConfig = {
    url: "data:text/javascript,export default () => {}",
    path: "",
    resolvedPath: "",
    cwd: folder,
    run: false,
  };
  const child = launch([...BASE_FLAGS, "--no-remote", boot.entry, JSON.stringify(config)], folder, {
    DENO_DIR: cache,
    ...environmentFor({ allow: {}, deny: {}, exec: [] }),
  });
  const exited = new Promise((resolve) => {
    child.on("exit", resolve);
    child.on("error", resolve);
  });
  for (const stream of child.stdio.slice(1, 4)) (stream as Readable).resume();
  for (const stream of child.stdio) stream?.on("error", () => {});
  (child.stdio[3] as Readable).once("data", () => child.stdin?.end());
  await exited;
  for (const stream of child.stdio) (stream as { destroy?: () => void } | null)?.destroy?.();
  await keepCache(boot, cache);
}
