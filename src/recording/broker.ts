/**
 * Deno's permission broker: a runtime that is told of it by `DENO_PERMISSION_BROKER_PATH` asks it for each permission, whatever
 * flags it was given.
 *
 * @module
 */

import { join } from "@std/path";
import { isRecord } from "../values.ts";
import { Witness } from "./witness.ts";

/** What a runtime asks for. */
export interface BrokerRequest {
  /** The kind of permission, as Deno calls it. */
  permission: string;
  /** A path, a host, a variable, a program; `null` for all there is. */
  value: string | null;
  /** The process that asks, as it says itself. */
  pid: number;
}

/** What {@linkcode Broker.start} needs. */
export interface BrokerOptions {
  /** Whether a request is granted. */
  decide: (request: BrokerRequest) => boolean;
}

/** A broker, on a socket in a folder that nobody but this user can open. */
export class Broker implements AsyncDisposable {
  /** What its clients' environment must hold. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why it stopped answering, when a client asked as no runtime does. */
  fault: string | undefined;
  /** Whether the system showed that each question came from the runtime itself. */
  watched = true;
  readonly #folder: string;
  readonly #listener: Deno.UnixListener;
  readonly #open = new Set<Deno.UnixConn>();
  readonly #decide: BrokerOptions["decide"];
  readonly #done: Promise<void>;

  private constructor(folder: string, options: BrokerOptions) {
    const path = join(folder, "broker.sock");
    this.#folder = folder;
    this.#decide = options.decide;
    this.environment = { DENO_PERMISSION_BROKER_PATH: path };
    this.#listener = Deno.listen({ transport: "unix", path });
    this.#done = this.#accept();
  }

  /**
   * Starts a broker.
   *
   * @param options See {@linkcode BrokerOptions}.
   * @returns The broker, which must be disposed of.
   * @throws {Error} On Windows, where there are no Unix sockets for it.
   */
  static async start(options: BrokerOptions): Promise<Broker> {
    if (Deno.build.os === "windows") {
      throw new Error(
        "recording needs a Unix socket, which Deno has not on Windows; record in WSL or a container, or let `check` tell what the code needs",
      );
    }
    // Readable and writable for this user alone.
    const folder = await Deno.makeTempDir({ prefix: "xcsh-record-" });
    try {
      return new Broker(folder, options);
    } catch (error) {
      await Deno.remove(folder, { recursive: true });
      throw error;
    }
  }

  /** Where it keeps its socket. */
  get folder(): string {
    return this.#folder;
  }

  /** Closes it, and removes its socket. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.#closeAll();
    await this.#done;
    await Deno.remove(this.#folder, { recursive: true });
  }

  #closeAll(): void {
    for (const connection of this.#open) close(connection);
    this.#open.clear();
  }

  async #accept(): Promise<void> {
    const serving: Promise<void>[] = [];
    try {
      for await (const connection of this.#listener) {
        if (this.fault !== undefined) {
          connection.close();
          continue;
        }
        this.#open.add(connection);
        serving.push(this.#serve(connection));
      }
    } catch {
      // It was closed.
    }
    await Promise.all(serving);
  }

  /** Answers one runtime: a question, an answer, and so on. Without an answer the runtime ends itself. */
  async #serve(connection: Deno.UnixConn): Promise<void> {
    const inbox = new Inbox(connection);
    let lastId = 0;
    let pid: number | undefined;
    let witness: Witness | undefined;
    try {
      for (;;) {
        const line = await inbox.next();
        if (line === undefined) return;
        const request = readRequest(line);
        // Code in a runtime can write to the runtime's socket, to get an answer that the runtime takes for one to what it asks
        // next. But it asks while the runtime does not wait, or twice at once, or under a number that is used again.
        if (request.id !== lastId + 1) throw new BrokerFault("it asked under a number out of turn");
        lastId = request.id;
        if (lastId === 1) {
          // Asked before code of a hook runs, so the number is true.
          pid = request.pid;
          witness = await Witness.of(request.pid);
          if (witness === undefined) this.watched = false;
        }
        if (inbox.hasMore || (witness !== undefined && !await witness.waits(request.pid, () => inbox.hasMore))) {
          throw new BrokerFault("it asked and did not wait for the answer");
        }
        const result = this.#decide(request) ? "allow" : "deny";
        await writeAll(connection, `${JSON.stringify({ id: request.id, result, reason: REASON })}\n`);
      }
    } catch (error) {
      if (error instanceof BrokerFault) this.#stop(error.message);
    } finally {
      this.#open.delete(connection);
      close(connection);
      // Code that closes its runtime's way to the broker could put another one in its place.
      if (pid !== undefined) end(pid);
      await inbox.ended;
    }
  }

  #stop(fault: string): void {
    this.fault ??= fault;
    this.#closeAll();
  }
}

const REASON = "not while recording";

class BrokerFault extends Error {}

/** Ends a runtime and what it started, if it has not ended. */
function end(pid: number): void {
  if (!Number.isInteger(pid) || pid <= 1 || pid === Deno.pid) return;
  for (const target of [-pid, pid]) {
    try {
      Deno.kill(target, "SIGKILL");
    } catch {
      // It has ended, or leads no group.
    }
  }
}

function close(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}

const MAX_LINE = 1024 * 1024;

/** Reads all the time, so that it shows at once when more is asked. */
class Inbox {
  /** Resolves when there is nothing more to read. */
  readonly ended: Promise<void>;
  readonly #lines: string[] = [];
  #rest = "";
  #over = false;
  #wake: () => void = () => {};

  constructor(connection: Deno.UnixConn) {
    this.ended = this.#read(connection);
  }

  /** Whether something has come that {@linkcode next} has not given. */
  get hasMore(): boolean {
    return this.#lines.length > 0 || this.#rest !== "" || this.#over;
  }

  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0) {
      if (this.#over) return undefined;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#lines.shift();
  }

  async #read(connection: Deno.UnixConn): Promise<void> {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(16 * 1024);
    try {
      for (;;) {
        const length = await connection.read(buffer);
        if (length === null || this.#rest.length > MAX_LINE) return;
        const lines = (this.#rest + decoder.decode(buffer.subarray(0, length), { stream: true })).split("\n");
        this.#rest = lines.pop()!;
        this.#lines.push(...lines);
        this.#wake();
      }
    } catch {
      // It was closed.
    } finally {
      this.#over = true;
      this.#wake();
    }
  }
}

async function writeAll(connection: Deno.UnixConn, text: string): Promise<void> {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(await connection.write(bytes));
}

function readRequest(line: string): BrokerRequest & { id: number } {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch {
    throw new BrokerFault("it asked in no JSON");
  }
  if (
    !isRecord(given) || given.v !== 1 || typeof given.id !== "number" || typeof given.permission !== "string" ||
    typeof given.pid !== "number" || (given.value !== null && typeof given.value !== "string")
  ) throw new BrokerFault("it asked for what no runtime asks for");
  return { id: given.id, permission: given.permission, value: given.value, pid: given.pid };
}
