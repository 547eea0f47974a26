/**
 * Tells a runtime that asks from code in it that writes to the runtime's own socket, so as to get an answer for what it asks next. A
 * runtime waits for its answer and does nothing else; the kernel shows that.
 *
 * @module
 */

/** Numbers of the system calls `read` and `recvfrom`, on x86-64 and on arm64. */
const READING = new Set(["0", "45", "63", "207"]);
/** Descriptors that a child speaks to its host by. */
const OWN_DESCRIPTORS = 5;
/** How long a runtime may take from asking to waiting, in ms. */
const PATIENCE = 2_000;
/** How long bytes that lie in a socket take at most to be told of, in ms. */
const SETTLE = 1;

/** Watches one runtime. */
export class Witness {
  readonly #pid: number;
  readonly #call: string;
  readonly #descriptor: number;
  readonly #socket: string;

  private constructor(pid: number, call: string, descriptor: number, socket: string) {
    this.#pid = pid;
    this.#call = call;
    this.#descriptor = descriptor;
    this.#socket = socket;
  }

  /**
   * Begins to watch a runtime while it asks its first question, which it does before it runs code of a hook.
   *
   * @param pid The runtime's process.
   * @returns The witness; `undefined` where the system does not show what a process waits for.
   */
  static async of(pid: number): Promise<Witness | undefined> {
    if (Deno.build.os !== "linux") return undefined;
    const end = performance.now() + PATIENCE;
    while (performance.now() < end) {
      const seen = waitsOf(pid);
      if (seen === undefined) return undefined;
      const waits = seen
        .filter(({ call, descriptor }) => READING.has(call) && descriptor >= OWN_DESCRIPTORS)
        .flatMap(({ call, descriptor }) => {
          const socket = linkOf(pid, descriptor);
          return socket?.startsWith("socket:") ? [new Witness(pid, call, descriptor, socket)] : [];
        });
      if (waits.length > 1) return undefined;
      if (waits[0] !== undefined) return waits[0];
      await pause(SETTLE);
    }
    return undefined;
  }

  /** Whether the runtime waits for an answer, and has not asked more meanwhile. */
  async waits(pid: number, asksMore: () => boolean): Promise<boolean> {
    if (pid !== this.#pid) return false;
    const end = performance.now() + PATIENCE;
    while (performance.now() < end && !asksMore()) {
      if (this.#waitsNow()) {
        await pause(SETTLE);
        return !asksMore() && this.#waitsNow();
      }
      await pause(SETTLE);
    }
    return false;
  }

  #waitsNow(): boolean {
    return linkOf(this.#pid, this.#descriptor) === this.#socket &&
      (waitsOf(this.#pid) ?? []).some(({ call, descriptor }) => call === this.#call && descriptor === this.#descriptor);
  }
}

/** What the threads of a process wait for. */
function waitsOf(pid: number): { call: string; descriptor: number }[] | undefined {
  try {
    return [...Deno.readDirSync(`/proc/${pid}/task`)].flatMap(({ name }) => {
      const [call = "", first = ""] = Deno.readTextFileSync(`/proc/${pid}/task/${name}/syscall`).split(" ");
      return /^\d+$/.test(call) ? [{ call, descriptor: Number(first) }] : [];
    });
  } catch {
    return undefined;
  }
}

function linkOf(pid: number, descriptor: number): string | undefined {
  try {
    return Deno.readLinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
