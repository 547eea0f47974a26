/**
 * Finds out what a hook needs by running it: each permission that it asks for is asked of a broker, which keeps what was asked.
 *
 * @module
 */

import type { HookAPI } from "../api.ts";
import { covers } from "../check/granted.ts";
import type { HookEvent } from "../events.ts";
import { hookModules } from "../compat/modules.ts";
import { runProgram } from "../exec.ts";
import { type LoadedHook, silentLogger } from "../hook.ts";
import { cacheFolder } from "../isolation/boot_folder.ts";
import { execEnvironment, runGranted } from "../isolation/exec_gate.ts";
import {
  type EffectiveGrants,
  GrantError,
  type HookPermissions,
  parseGrants,
  resolveGrants,
  type SandboxExit,
  sandboxExits,
} from "../isolation/grants.ts";
import { loadHooks } from "../loader.ts";
import { resolveHookPath } from "../paths.ts";
import { HookRunner } from "../runner.ts";
import { SessionManager } from "../session/store.ts";
import { userFilesClosedToHooks } from "../user_settings.ts";
import { errorText } from "../values.ts";
import { Broker } from "./broker.ts";
import type { RecordedEvent } from "./events.ts";
import { harmlessEnvironment, Policy, type RecordedRequest } from "./policy.ts";
import { execLine, flagsOf, type Proposal, propose } from "./proposal.ts";

/** What {@linkcode recordHook} needs. */
export interface RecordOptions {
  /** The hook's path, as {@linkcode resolveHookPath} reads it. */
  path: string;
  /** The project's folder. */
  cwd: string;
  /**
   * What the hook may do while it is recorded, beside reading the project. What it may not do is denied and recorded all the same.
   */
  permissions: HookPermissions;
  /** Let it do whatever it asks for: only for a hook that was read. */
  allowAll?: boolean;
  /** The events; or what feeds them to the hook by itself. */
  events: readonly RecordedEvent[] | ((hook: LoadedHook) => Promise<number>);
  /** Gets each line that the hook prints. */
  print?: (line: string) => void;
  /** The folder that the hook is told it works in; the project when absent. */
  contextCwd?: string;
}

/** What came of a recording. */
export interface Recording extends Proposal {
  /** All that the hook asked for. */
  requests: RecordedRequest[];
  /** The grants as flags, quoted for a shell. */
  flags: string[];
  /** Which of the grants do not bound the hook. */
  exits: SandboxExit[];
  /** How many events it was given. */
  events: number;
  /** Events that it handles and that were not among those; none when a session was played. */
  unheard: string[];
  /** What it threw, with the line of the event. */
  errors: { line?: number; event: string; error: string }[];
  /** Why the hook could not be loaded, or the recording cannot be trusted. */
  fault?: string;
  /** Whether a hook that is written to deceive the recorder would have been found out; so on Linux. */
  watched: boolean;
}

/**
 * Runs a hook, and records what it asks for.
 *
 * It may read the project, which its own data cannot leave: the network, programs, writing, native code and other people's code are
 * denied unless they were granted, and so is every file elsewhere. Its environment holds what was granted and a few harmless variables.
 * What is denied is recorded like what is not.
 *
 * @param options See {@linkcode RecordOptions}.
 * @returns What it asked for, and the least grants for that.
 * @throws {GrantError} When the grants for the recording cannot be used.
 * @throws {Error} On Windows.
 */
export async function recordHook(options: RecordOptions): Promise<Recording> {
  const { path, cwd } = options;
  const resolvedPath = resolveHookPath(path, cwd);
  const hookFiles = hookModules(resolvedPath).files;
  const cache = cacheFolder();
  const closed = userFilesClosedToHooks();
  const during = duringRecording(options);
  const grants = await resolveGrants(during, {
    project: cwd,
    hookFiles,
    closed,
    unwritable: cache === undefined ? [] : [cache],
  });
  await using broker = await Broker.start({ decide: (request) => policy.decide(request) });
  const policy = new Policy({
    grants,
    project: await Deno.realPath(cwd),
    closed: [broker.folder, await Deno.realPath(broker.folder)],
  });
  const { hooks: [hook], errors: [loadError] } = await loadHooks([{ path, permissions: during }], cwd, {
    logger: silentLogger,
    exec: () => recordedExec(policy, grants, options),
    isolation: {
      environment: { ...harmlessEnvironment(), ...broker.environment },
      print: (_path, line) => {
        if (!/^Warning Permission broker is an experimental feature/.test(line)) options.print?.(line);
      },
      ...(options.contextCwd === undefined ? {} : { contextCwd: options.contextCwd }),
    },
  });
  const errors: Recording["errors"] = [];
  let events = 0;
  const given = typeof options.events === "function"
    ? undefined
    : new Set<string>(options.events.map(({ event }) => event.type));
  const unheard = [...hook?.handlers.keys() ?? []].filter((name) => given?.has(name) === false);
  try {
    if (hook !== undefined) {
      events = typeof options.events === "function"
        ? await options.events(hook)
        : await feed(hook, cwd, options.events, errors);
    }
  } finally {
    await hook?.dispose?.();
  }
  const fault = broker.fault === undefined
    ? loadError?.error
    : `it spoke to the recorder in place of the runtime (${broker.fault}), so it was stopped, and nothing here can be trusted`;
  const requests = policy.requests.filter(({ kind, value }) => kind !== "read" || !hookFiles.includes(value ?? ""));
  const proposal = await propose(requests, { project: cwd, hookFiles, closed });
  return {
    requests,
    ...proposal,
    flags: flagsOf(proposal.permissions),
    exits: sandboxExits(proposal.permissions),
    events,
    unheard,
    errors,
    watched: broker.watched,
    ...(fault === undefined ? {} : { fault }),
  };
}

/** What a hook may do while it is recorded. */
function duringRecording({ permissions, allowAll }: RecordOptions): HookPermissions {
  const given = parseGrants(permissions);
  // The broker looks where links lead, each time.
  if (!allowAll) return { ...given, read: given.read === true ? true : [".", ...given.read ?? []], links: true };
  return {
    ...given,
    read: true,
    write: true,
    net: true,
    env: true,
    run: true,
    sys: true,
    ffi: true,
    import: true,
    links: true,
  };
}

function recordedExec(policy: Policy, grants: EffectiveGrants, { cwd, allowAll }: RecordOptions): HookAPI["exec"] {
  return async (command, args) => {
    const line = execLine(command, args);
    const call = [command, args, undefined];
    const { signal } = new AbortController();
    try {
      const run = allowAll === true || covers("run", grants.allow.run, command, false)
        ? await runProgram(command, args, { cwd, env: execEnvironment(), clearEnv: true })
        : await runGranted(grants, cwd, call, signal);
      policy.noteExec(line, true);
      return run;
    } catch (error) {
      policy.noteExec(line, !(error instanceof GrantError));
      // Under its own name the child would try to start the program by itself.
      throw new Error(error instanceof GrantError ? `${command} is not run while recording` : errorText(error));
    }
  };
}

async function feed(
  hook: LoadedHook,
  cwd: string,
  events: readonly RecordedEvent[],
  errors: Recording["errors"],
): Promise<number> {
  const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
  const runner = new HookRunner([hook], cwd, SessionManager.inMemory(cwd), models);
  runner.initialize({ getModel: () => undefined, sendMessageHandler() {}, appendEntryHandler() {} });
  let line = 0;
  runner.onError(({ event, error }) => void errors.push({ line, event, error }));
  for (const { event, line: at } of events) {
    line = at;
    try {
      await emit(runner, event);
    } catch (error) {
      errors.push({ line, event: event.type, error: errorText(error) });
    }
  }
  return events.length;
}

async function emit(runner: HookRunner, event: HookEvent): Promise<void> {
  switch (event.type) {
    case "tool_call":
      return void await runner.emitToolCall(event);
    case "context":
      return void await runner.emitContext(event.messages);
    case "before_agent_start":
      return void await runner.emitBeforeAgentStart(event.prompt, event.images);
    default:
      return void await runner.emit(event);
  }
}
