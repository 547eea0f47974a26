import { assertEquals } from "@std/assert";
import {
  createHookRegistry,
  discoverAndLoadHooks,
  type Json,
  Trust,
  trustFolder,
  trustRequests,
  TrustStore,
} from "../../mod.ts";
import { Project } from "../discovery/_project.ts";

/** A project that is a repository of git, with a home beside it. */
export class Repository extends Project {
  constructor(files: Record<string, string> = {}) {
    super(files);
    git(this.cwd, "init", "-q");
  }

  get store(): TrustStore {
    return new TrustStore(trustFolder(this.home));
  }

  /** Approves all hooks of a folder, as they are now. */
  async approve(cwd: string = this.cwd, grants?: Json, path?: string): Promise<void> {
    for (const request of await trustRequests(cwd, this.options(cwd, grants), path)) await request.approve();
  }

  options(cwd: string = this.cwd, grants?: Json) {
    const trust = new Trust({ cwd, store: this.store, ...(grants === undefined ? {} : { grants: () => grants }) });
    return { registry: createHookRegistry(), home: this.home, trust };
  }

  /** Loads what may be loaded: the names that the hooks call out, and what became of each candidate. */
  async run(cwd: string = this.cwd, grants?: Json): Promise<{ ran: string[]; states: string[]; reasons: string }> {
    const before = called().length;
    const { candidates } = await discoverAndLoadHooks([], cwd, this.options(cwd, grants));
    return {
      ran: called().slice(before),
      states: candidates.map(({ state }) => state),
      reasons: candidates.map(({ reason }) => reason ?? "").join("\n"),
    };
  }

  /** Runs and expects that nothing of the project did. */
  async expectNothingRuns(reason: RegExp, cwd: string = this.cwd, grants?: Json): Promise<void> {
    const { ran, reasons } = await this.run(cwd, grants);
    assertEquals(ran, []);
    if (!reason.test(reasons)) throw new Error(`${reasons} does not match ${reason}`);
  }
}

/** What modules called out while they were evaluated. */
function called(): string[] {
  const global = globalThis as { calledOut?: string[] };
  return global.calledOut ??= [];
}

/** Source of a hook that calls out when it is evaluated, after other code. */
export function calls(name: string, before = ""): string {
  return `${before}\n(globalThis.calledOut ??= []).push(${JSON.stringify(name)});\nexport default () => {};\n`;
}

export function git(cwd: string, ...args: string[]): void {
  const { code, stderr } = new Deno.Command("git", {
    args: ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", ...args],
    cwd,
    stdout: "null",
    stderr: "piped",
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
  }).outputSync();
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}
