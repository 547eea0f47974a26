/** A session around hooks that were written for other hosts, and what a person sees of it. */

import { AgentSession, ScriptedModel, type ScriptedTurn, SessionManager, type SessionTool } from "@xcsh/hooks/session";
import { createNoOpUIContext, type HookUIContext, type LoadedHook } from "@xcsh/hooks";
import type { ModelRequest } from "../../src/models/model.ts";

/** How a world is made. */
export interface WorldOptions {
  /** The answers of the model; one call of bash, then a text, when absent. */
  turns?: ScriptedTurn[];
  /** What the person gave for flags. */
  flags?: Record<string, boolean | string>;
  /** What else the UI can do. */
  ui?: Partial<HookUIContext>;
}

/** A session, and what a person sees of it. */
export class World implements AsyncDisposable {
  readonly notes: string[] = [];
  readonly blocked: string[] = [];
  readonly widgets = new Map<string, string[]>();
  readonly requests: ModelRequest[] = [];
  readonly faults: string[] = [];
  readonly session: AgentSession;

  constructor(
    readonly hooks: readonly LoadedHook[],
    { turns, flags, ui }: WorldOptions = {},
    sessionManager: SessionManager = SessionManager.inMemory("/"),
  ) {
    const scripted = new ScriptedModel({
      turns: turns ?? [{ toolCalls: [{ name: "bash", arguments: { command: "ls -la" } }] }, { text: "done" }],
    });
    const { requests } = this;
    const model = {
      provider: "test",
      id: "first",
      contextWindow: 100_000,
      stream(request: ModelRequest) {
        requests.push(request);
        return scripted.stream(request);
      },
    };
    const bash: SessionTool = {
      name: "bash",
      parameters: { type: "object", properties: { command: { type: "string" } } },
      execute(_id, _params, _signal, onUpdate) {
        onUpdate?.({ content: [{ type: "text", text: "half" }] });
        return Promise.resolve({ content: [{ type: "text", text: "listed" }] });
      },
    };
    const read: SessionTool = { ...bash, name: "read" };
    this.session = new AgentSession({
      cwd: "/",
      model,
      hooks,
      tools: [bash, read],
      sessionManager,
      todos: { enabled: false },
      streamRules: { enabled: false },
      handleSignals: false,
      hasUI: ui !== undefined,
      ...(flags === undefined ? {} : { flags }),
      uiContext: {
        ...createNoOpUIContext(),
        notify: (message) => void this.notes.push(message),
        setWidget: (key, content) => {
          if (content === undefined) this.widgets.delete(key);
          else {
            const component = typeof content === "function" ? content(undefined, undefined) : { render: () => content };
            const draw = () => void this.widgets.set(key, component.render(80));
            if (component.whenDrawn === undefined) draw();
            else component.whenDrawn(80).then(draw);
          }
        },
        ...ui,
      },
    });
    this.session.subscribe((event) => {
      if (event.type === "tool_execution_end" && event.blocked) this.blocked.push(event.reason ?? "");
      if (event.type === "hook_error") this.faults.push(event.error);
      if (event.type === "notice" && event.level === "error") this.faults.push(event.message);
    });
  }

  /** Says something, and waits until the agent is idle. */
  async say(text = "go"): Promise<this> {
    await this.session.prompt(text);
    await this.session.waitForIdle();
    return this;
  }

  /** What the model read last, as text. */
  read(): string {
    return JSON.stringify(this.requests.at(-1)?.messages);
  }

  /** Waits for something that comes by itself. */
  async until(condition: () => boolean): Promise<void> {
    for (let i = 0; i < 500 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
    if (!condition()) throw new Error("it did not happen within 5 s");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session.dispose();
  }
}
