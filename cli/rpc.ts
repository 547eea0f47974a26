/**
 * `xcsh-hooks run --rpc`: a session whose UI is the program at the other end of standard input and standard output.
 *
 * @module
 */

import deno from "../deno.json" with { type: "json" };
import { Lines } from "../src/rpc/lines.ts";
import {
  type ClientMessage,
  type ClientMessageType,
  type ClientRequest,
  isRequest,
  MAX_LINE,
  readMessage,
  type RequestId,
  RPC_VERSION,
  RpcError,
  type Send,
} from "../src/rpc/protocol.ts";
import { RpcSurface } from "../src/rpc/surface.ts";
import { AgentBusyError, type AgentSession, UnknownCommandError } from "../src/session/agent_session.ts";
import { SessionManager } from "../src/session/store.ts";
import { settle } from "../src/session/wait.ts";
import { errorText } from "../src/values.ts";
import type { Output } from "./output.ts";
import { sessionCommands, submit } from "./session_commands.ts";

/** Most prompts and command lines that may be open: more of them nobody waits for. */
const MAX_WORK = 256;
/** How long what was asked for may go on when the session ends, in ms. */
const GRACE = 1_000;

/** Does what a client asks for. */
export class RpcServer {
  /** Where hooks meet the person. */
  readonly surface: RpcSurface;
  readonly #output: Output;
  readonly #send: Send;
  /** Requests without a response, by their ids. */
  readonly #open = new Map<RequestId, ClientRequest>();
  /** How many of them are work. */
  #work = 0;
  /** What is done for them; never rejects. */
  readonly #running = new Set<Promise<void>>();
  /** Resolves when the session is to end, whatever it does. */
  readonly #stop = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #ending = false;
  #interrupted = false;
  /** Resolves when the agent works on a prompt that came before; `undefined` when none is under way. */
  #begun: Promise<void> | undefined;

  /**
   * Greets the client. From here on, standard output is for records alone.
   *
   * @param output Where records are printed.
   */
  constructor(output: Output) {
    this.#output = output;
    this.#send = (type, fields) => output.record({ type, ...fields });
    this.surface = new RpcSurface(this.#send);
    output.queue();
    this.#send("rpc", { version: RPC_VERSION, program: `xcsh-hooks ${deno.version}`, maxLine: MAX_LINE });
  }

  /**
   * Serves until the client has no more requests and all are done, it wants the end, or it is gone; then ends the session.
   *
   * @param session The session.
   * @param cwd The folder that it works in.
   */
  async serve(session: AgentSession, cwd: string): Promise<void> {
    this.#output.closed.addEventListener("abort", () => this.#shutDown());
    try {
      const started = session.start();
      await Promise.race([this.#read(session, cwd), this.#stop.promise, started.then(() => this.#stop.promise)]);
      this.#end("end_of_input");
      await Promise.race([this.#finish(session, started), this.#stop.promise]);
    } finally {
      this.#shutDown();
      await session.abort();
      // Whatever waited for an answer goes on now, and may have something to say.
      await settle(this.#done(), AbortSignal.abort(), GRACE).catch(() => {});
      await session.dispose();
      this.#respondToTheRest();
      const written = this.#output.written();
      await (this.#interrupted ? settle(written, AbortSignal.abort(), GRACE).catch(() => {}) : written);
      this.#ended.resolve();
    }
    // The process ends as the signal wants it.
    if (this.#interrupted) await new Promise(() => {});
  }

  /** Ends the session because of a signal; resolves when it has ended. The process has to be ended then. */
  interrupt(): Promise<void> {
    this.#interrupted = true;
    this.#shutDown();
    return this.#ended.promise;
  }

  async #read(session: AgentSession, cwd: string): Promise<void> {
    const lines = new Lines();
    for await (const bytes of Deno.stdin.readable) {
      for (const line of lines.push(bytes)) {
        const told = this.#take(line, session, cwd);
        if (told !== undefined) await told;
        // Who asks faster than it reads the answers waits for them.
        const caughtUp = this.#output.caughtUp();
        if (caughtUp !== undefined) await caughtUp;
      }
    }
    for (const line of lines.end()) this.#take(line, session, cwd);
  }

  /** Waits for what was asked for, and for what hooks make of it. */
  async #finish(session: AgentSession, started: Promise<void>): Promise<void> {
    await started;
    await this.#done();
    await session.waitForIdle();
  }

  /** Waits for what was asked for. */
  async #done(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #end(reason: "end_of_input" | "shutdown"): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#send("closing", { reason });
    this.surface.end(reason);
  }

  #shutDown(): void {
    this.#end("shutdown");
    this.#stop.resolve();
  }

  /** Takes a line of the client; resolves when what it asks to be told is told, and is `undefined` for all else. */
  #take(line: string | RpcError, session: AgentSession, cwd: string): Promise<void> | undefined {
    if (line instanceof RpcError) return void this.#refuse(line, null, null);
    if (line.trim() === "") return undefined;
    const reading = readMessage(line);
    if ("error" in reading) return void this.#refuse(reading.error, reading.id, reading.to);
    const { message } = reading;
    try {
      if (this.#ending) throw new RpcError("closing", "The session is about to end");
      if (!isRequest(message)) return void this.surface.take(message);
      if (this.#open.has(message.id)) throw new RpcError("duplicate_id", "A request with this id is still open");
      if (isWork(message) && this.#work >= MAX_WORK) {
        throw new RpcError(
          "busy",
          `More than ${MAX_WORK} prompts and command lines are open; wait for their responses`,
        );
      }
    } catch (error) {
      return void this.#refuse(error, "id" in message ? message.id : null, message.type);
    }
    this.#open.set(message.id, message);
    if (message.type === "shutdown") return void this.#shutDown();
    if (isWork(message)) this.#work++;
    const running: Promise<void> = this.#act(message, session, cwd).finally(() => {
      if (isWork(message)) this.#work--;
    }).then(
      (result) => this.#respond(message, result),
      (error) => this.#open.delete(message.id) && this.#refuse(error, message.id, message.type),
    ).then(() => void this.#running.delete(running));
    this.#running.add(running);
    return isWork(message) || message.type === "abort" ? undefined : running;
  }

  #respond({ id, type }: ClientRequest, result: object): void {
    if (this.#open.delete(id)) this.#send("response", { id, to: type, ok: true, result });
  }

  #refuse(error: unknown, id: RequestId | null, to: ClientMessageType | null): void {
    this.#send("response", { id, to, ok: false, error: { code: codeOf(error), message: errorText(error) } });
  }

  /** Nothing comes after the response to what has ended the session. */
  #respondToTheRest(): void {
    const rest = [...this.#open.values()];
    this.#open.clear();
    const ended = new RpcError("closing", "The session has ended");
    for (const { id, type } of rest) if (type !== "shutdown") this.#refuse(ended, id, type);
    for (const { id, type } of rest) {
      if (type === "shutdown") this.#send("response", { id, to: type, ok: true, result: {} });
    }
  }

  async #act(request: ClientRequest, session: AgentSession, cwd: string): Promise<object> {
    switch (request.type) {
      case "prompt":
        return await this.#prompt(request, session, cwd);
      case "bash": {
        const { excludeFromContext = false } = request;
        const { output, exitCode, cancelled } = await session.runBash(request.command, { excludeFromContext });
        return { output, exitCode: exitCode ?? null, ...cancelled && { cancelled } };
      }
      case "abort":
        await session.abort();
        return {};
      case "state":
        return this.#state(session, cwd);
      case "entries": {
        const { sessionManager } = session;
        return { entries: sessionManager.getEntries(), leafId: sessionManager.getLeafId() };
      }
      case "sessions":
        return { sessions: SessionManager.list(cwd) };
      case "shutdown":
        return {};
    }
  }

  async #prompt(
    { id, text, images, deliverAs }: ClientMessage<"prompt">,
    session: AgentSession,
    cwd: string,
  ): Promise<object> {
    const say = (printed: string) => this.#send("output", { id, text: printed });
    const submitted = () =>
      submit(text, { session, cwd, say }, { ...images && { images: [...images] }, ...deliverAs && { deliverAs } });
    if (text.trim() === "") throw new RpcError("invalid_field", "The prompt is empty; say what to do");
    if (deliverAs !== undefined || text.startsWith("/")) {
      // What is to be read later comes after what is said now, also when hooks still look at that.
      if (deliverAs !== undefined) await this.#begun;
      const handledAs = await submitted();
      if (handledAs === "quit") this.#shutDown();
      return { handledAs: handledAs === "quit" ? "session" : handledAs };
    }
    if (this.#begun !== undefined) throw new AgentBusyError(BUSY);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#begun = promise;
    const unsubscribe = session.subscribe((event) => event.type === "agent_start" && resolve());
    try {
      return { handledAs: await submitted() };
    } finally {
      unsubscribe();
      resolve();
      this.#begun = undefined;
    }
  }

  #state(session: AgentSession, cwd: string): object {
    const { sessionManager, runner, model, isIdle, toolNames } = session;
    const own = sessionCommands().map((command) => ({ ...command, of: "session" }));
    const ofHooks = runner.getRegisteredCommands().map(({ name, description }) => ({
      name,
      description: description ?? "",
      of: "hook",
    }));
    return {
      cwd,
      sessionId: sessionManager.getSessionId(),
      sessionFile: sessionManager.getSessionFile() ?? null,
      sessionName: sessionManager.getSessionName() ?? null,
      leafId: sessionManager.getLeafId(),
      model: model === undefined ? null : `${model.provider}/${model.id}`,
      isIdle,
      hooks: runner.getHookPaths().map((path) => ({ path, enabled: runner.isEnabled(path) })),
      commands: [...own, ...ofHooks],
      tools: toolNames,
      statuses: this.surface.statuses,
      questions: this.surface.questions,
    };
  }
}

const BUSY = 'The agent is at work; wait for the response to the prompt before, or say "deliverAs"';

/** Whether a request takes as long as the agent, a hook or a program does. */
function isWork({ type }: ClientRequest): boolean {
  return type === "prompt" || type === "bash";
}

function codeOf(error: unknown): RpcError["code"] {
  if (error instanceof RpcError) return error.code;
  if (error instanceof AgentBusyError) return "busy";
  if (error instanceof UnknownCommandError) return "unknown_command";
  return "failed";
}
