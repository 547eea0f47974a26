/**
 * A program with all that it starts, and how that ends.
 *
 * @module
 */

/** How long a program may take to end after SIGTERM, in ms. */
const KILL_AFTER = 1_000;
const WINDOWS = Deno.build.os === "windows";
const SIGNAL_NUMBERS: Partial<Record<Deno.Signal, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** What a shell gives as the exit code of a program that a signal ended. */
export function exitCodeOfSignal(signal: Deno.Signal): number {
  return 128 + (SIGNAL_NUMBERS[signal] ?? 0);
}

/** Set in the environment of a program, so that all that it starts can be told by it. */
const MARK = "XCSH_HOOKS_RUN";
let marks = 0;

/**
 * A program and all that it starts. To be told to {@linkcode ProcessTree.forget} it once it has ended; until then it ends
 * with this process.
 *
 * What belongs to it is told by a mark in its environment where the system shows environments (Linux with `-A`), since there
 * a process group of its own would cost more than the program: it makes the system copy this process first. Elsewhere it
 * gets a group. Children of what belongs to it belong to it in either case.
 */
export class ProcessTree {
  /** Whether it was told to end. */
  killed = false;
  /** The program itself. */
  readonly child: Deno.ChildProcess;
  readonly #group: boolean;
  readonly #mark: string;
  /** Processes of it with the time at which they began, since another one may get the same number. */
  readonly #found = new Map<number, string>();
  #killAt = 0;
  #killTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Starts a program and watches it.
   *
   * @param spawn Spawns the program, with the environment and the setting of `detached` that it is given.
   * @param mayLeaveGroup Whether the program may leave the process group of this process.
   * @throws What `spawn` throws.
   */
  constructor(
    spawn: (options: { env: Record<string, string>; detached: boolean }) => Deno.ChildProcess,
    mayLeaveGroup: boolean,
  ) {
    const marked = showsEnvironments();
    this.#group = mayLeaveGroup && !marked && !WINDOWS;
    this.#mark = `${Deno.pid}.${++marks}.${crypto.randomUUID()}`;
    running.add(this);
    // Before it starts: a signal that comes in between must not leave it behind.
    watchHost();
    try {
      this.child = spawn({ env: marked ? { [MARK]: this.#mark } : {}, detached: this.#group });
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Asks it to end; what is left after a second is killed. */
  end(signal: Deno.Signal = "SIGTERM"): void {
    if (this.killed) return;
    this.killed = true;
    this.#killAt = performance.now() + KILL_AFTER;
    this.#killTimer = setTimeout(() => this.kill(), KILL_AFTER);
    this.#signal(signal);
  }

  /** Kills what there is of it, and what that starts meanwhile. */
  kill(): void {
    for (let round = 0; round < 5 && this.#signal("SIGKILL"); round++);
  }

  /** Resolves when nothing of a tree that was told to end is left, at the latest when the rest is killed. */
  async ended(): Promise<void> {
    if (!this.killed || WINDOWS || !maySignal()) return;
    for (let wait = 5; performance.now() < this.#killAt && this.#lives(); wait = Math.min(2 * wait, 50)) {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    this.kill();
  }

  /** Ends the watch. */
  forget(): void {
    clearTimeout(this.#killTimer);
    running.delete(this);
    watchHost();
  }

  /** Sends a signal to all of it, or to the program alone where no more is permitted. Whether there may be more of it. */
  #signal(signal: Deno.Signal): boolean {
    const { pid } = this.child;
    if (!maySignal()) {
      attempt(() => this.child.kill(signal));
      return false;
    }
    if (WINDOWS) {
      const args = ["/pid", `${pid}`, "/t", "/f"];
      attempt(() => new Deno.Command("taskkill", { args, stdout: "null", stderr: "null" }).outputSync());
      return false;
    }
    const members = this.#members();
    if (this.#group) attempt(() => Deno.kill(-pid, signal));
    for (const id of members ?? [pid]) attempt(() => Deno.kill(id, signal));
    return members !== undefined && members.length > 0;
  }

  #lives(): boolean {
    const members = this.#members();
    // Where nobody tells, ask the group; this signal does nothing to what runs.
    if (members === undefined) return this.#group && attempt(() => Deno.kill(-this.child.pid, "SIGCONT"));
    return members.length > 0 ||
      this.#group && processTable().values().some((info) => !info.ended && info.group === this.child.pid);
  }

  /** What runs of it, its group left out; `undefined` where nobody tells. */
  #members(): number[] | undefined {
    const { pid } = this.child;
    const all = processTable();
    if (all.size === 0) return undefined;
    for (const [id, start] of this.#found) {
      if (all.get(id)?.start !== start) this.#found.delete(id);
    }
    const tree = new Set([pid, ...this.#found.keys()]);
    for (const [id, { group, ended }] of all) {
      if (this.#group ? group === pid : !ended && hasMark(id, this.#mark)) tree.add(id);
    }
    for (let before = 0; before !== tree.size;) {
      before = tree.size;
      for (const [id, { parent }] of all) if (tree.has(parent)) tree.add(id);
    }
    const members: number[] = [];
    for (const id of tree) {
      const info = all.get(id);
      // What has ended stays until somebody reaps it, which in a container may be never.
      if (info === undefined || info.ended || (this.#group && info.group === pid)) continue;
      this.#found.set(id, info.start);
      members.push(id);
    }
    return members;
  }
}

/** A process and all that it started which is in its process group still: what shares its terminal. Itself first. */
export function familyOf(pid: number): number[] {
  const all = processTable();
  const group = all.get(pid)?.group;
  const family = [pid];
  for (const parent of family) {
    for (const [id, info] of all) if (info.parent === parent && info.group === group && !info.ended) family.push(id);
  }
  return family;
}

let environments: boolean | undefined;

/** Whether the system shows what is in the environment of other processes. */
function showsEnvironments(): boolean {
  return environments ??= Deno.build.os === "linux" && mayReadAll() && maySignal() &&
    attempt(() => Deno.readFileSync(`/proc/${Deno.pid}/environ`));
}

function hasMark(pid: number, mark: string): boolean {
  let found = false;
  attempt(() => found = Deno.readTextFileSync(`/proc/${pid}/environ`).includes(`${MARK}=${mark}`));
  return found;
}

interface ProcessInfo {
  readonly parent: number;
  readonly group: number;
  readonly start: string;
  /** Whether it merely waits to be reaped. */
  readonly ended: boolean;
}

/** All processes that there are; none where the system does not tell. */
function processTable(): Map<number, ProcessInfo> {
  const all = new Map<number, ProcessInfo>();
  const add = (id: string, [state, parent, group, ...start]: readonly (string | undefined)[]) =>
    all.set(Number(id), {
      parent: Number(parent),
      group: Number(group),
      start: start.join(" "),
      ended: state?.startsWith("Z") ?? true,
    });
  if (Deno.build.os === "linux" && mayReadAll()) {
    const read = attempt(() => {
      for (const { name } of Deno.readDirSync("/proc")) {
        if (!/^\d+$/.test(name)) continue;
        attempt(() => {
          // pid (name) state parent group …; the name may hold anything.
          const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
          const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
          add(name, [...fields.slice(0, 3), fields[19]]);
        });
      }
    });
    if (read) return all;
  }
  attempt(() => {
    const args = ["-A", "-o", "pid=,state=,ppid=,pgid=,lstart="];
    const { stdout } = new Deno.Command("ps", { args, stderr: "null" }).outputSync();
    for (const line of new TextDecoder().decode(stdout).trim().split("\n")) {
      const [id, ...fields] = line.trim().split(/\s+/);
      if (id) add(id, fields);
    }
  });
  return all;
}

/** Whether any file may be read. Asked for before reading, since at a terminal a denied access would ask the person. */
function mayReadAll(): boolean {
  return Deno.permissions.querySync({ name: "read" }).state === "granted";
}

/** Whether other processes than a direct child may be signalled. */
function maySignal(): boolean {
  return Deno.permissions.querySync({ name: "run" }).state === "granted";
}

/** Whether something could be done; what is gone already, or is not permitted, cannot. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

const running = new Set<ProcessTree>();
const FORWARDED: readonly Deno.Signal[] = WINDOWS ? [] : ["SIGINT", "SIGTERM", "SIGHUP"];
// No unload comes when nobody handles an error.
const ENDINGS = ["unload", "error", "unhandledrejection"];
const listeners = FORWARDED.map((signal) => [signal, () => void passOn(signal)] as const);
let hostHandlesSignals = false;
let passingOn = false;
let watching = false;
let listening = false;

/**
 * Says that this program ends its runs by itself when it gets SIGINT, SIGTERM or SIGHUP. Otherwise `execCommand` does so while
 * a program runs: programs are in process groups of their own, which a terminal's Ctrl-C does not reach, so the signal is
 * passed on to them and then ends this process as it would have.
 */
export function handleSignalsInHost(): void {
  hostHandlesSignals = true;
  watchHost();
}

/** Listens for what ends this process, for as long as programs run. */
function watchHost(): void {
  const watch = running.size > 0;
  if (watch !== watching) {
    watching = watch;
    for (const type of ENDINGS) {
      if (watch) globalThis.addEventListener(type, killAll);
      else globalThis.removeEventListener(type, killAll);
    }
  }
  const listen = watch && !hostHandlesSignals && !passingOn;
  if (listen !== listening) {
    listening = listen;
    for (const [signal, listener] of listeners) {
      if (listen) Deno.addSignalListener(signal, listener);
      else Deno.removeSignalListener(signal, listener);
    }
  }
}

async function passOn(signal: Deno.Signal): Promise<void> {
  const trees = [...running];
  for (const tree of trees) tree.end(signal);
  await Promise.all(trees.map((tree) => tree.ended()));
  passingOn = true;
  watchHost();
  // Signalling needs an unscoped --allow-run; a shell's way of saying the same does not.
  if (!maySignal()) Deno.exit(exitCodeOfSignal(signal));
  Deno.kill(Deno.pid, signal);
  // Still here after that: the host listens too, and goes on.
  Deno.unrefTimer(setTimeout(() => {
    passingOn = false;
    watchHost();
  }, KILL_AFTER));
}

function killAll(event: Event): void {
  // An error that somebody handles ends nothing.
  if (event.defaultPrevented) return;
  for (const tree of running) tree.kill();
}
