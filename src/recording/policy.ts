/**
 * What a hook may do while it is recorded, and what it asked for.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join, normalize, resolve } from "@std/path";
import { covers } from "../check/granted.ts";
import { isBelow } from "../check/paths.ts";
import { type EffectiveGrants, PERMISSION_KINDS, type PermissionKind } from "../isolation/grants.ts";
import type { BrokerRequest } from "./broker.ts";

/** Something that a hook asked for. */
export interface RecordedRequest {
  /** The kind of permission. */
  kind: PermissionKind | "exec";
  /** A path, a host, a variable, a program, a command line; `null` for all there is. */
  value: string | null;
  /** Whether the hook got it while it was recorded. */
  allowed: boolean;
  /** How often it asked. */
  count: number;
}

/**
 * Variables that tell nothing secret. Without them a hook that asks for its home would be recorded as asking for files of a folder
 * called `undefined`.
 */
const HARMLESS = ["HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SHELL", "TERM", "USERPROFILE"];

/** The harmless part of this process's environment. */
export function harmlessEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of HARMLESS) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** Where a hook that is recorded makes temporary files. */
export function temporaryFolder(): string {
  return Deno.env.get("TMPDIR") ?? "/tmp";
}

/** What {@linkcode Policy} needs. */
export interface PolicyOptions {
  /** What the hook may do while it is recorded. */
  grants: EffectiveGrants;
  /** The project's folder. */
  project: string;
  /** Files and folders that stay closed in any case: the broker's own. */
  closed: readonly string[];
}

/** Decides what a hook gets while it is recorded, and keeps what it asked for. */
export class Policy {
  readonly #options: PolicyOptions;
  readonly #requests = new Map<string, RecordedRequest>();
  /** The request for all of a kind that the one before was; a concrete one that follows shows that it was a mere probe. */
  #probe: PermissionKind | undefined;

  /** @param options See {@linkcode PolicyOptions}. */
  constructor(options: PolicyOptions) {
    this.#options = options;
  }

  /** All that was asked for, in the order in which it was first asked for. */
  get requests(): RecordedRequest[] {
    this.#settle(undefined);
    return [...this.#requests.values()];
  }

  /** Decides on what the runtime asks for. */
  decide(request: BrokerRequest): boolean {
    const kind = request.permission as PermissionKind;
    if (!PERMISSION_KINDS.includes(kind)) return false;
    const { value } = request;
    this.#settle(value === null ? undefined : kind);
    if (value === null) {
      // Allowed, the runtime would not say what it really needs.
      if (kind === "env" && this.#options.grants.allow.env === true && this.#options.grants.deny.env === undefined) {
        this.#note(kind, null, true);
        return true;
      }
      this.#probe = kind;
      return false;
    }
    const path = kind === "read" || kind === "write" || kind === "ffi";
    const asked = path ? this.#pathOf(value, request.pid) : value;
    const allowed = path ? this.#allowsPath(kind, asked) : this.#allows(kind, asked);
    this.#note(kind, asked, allowed);
    return allowed;
  }

  /** Notes a command line that the hook asked its host to run. */
  noteExec(line: string, allowed: boolean): void {
    this.#note("exec", line, allowed);
  }

  #settle(next: PermissionKind | undefined): void {
    if (this.#probe !== undefined && this.#probe !== next) this.#note(this.#probe, null, false);
    this.#probe = undefined;
  }

  #note(kind: RecordedRequest["kind"], value: string | null, allowed: boolean): void {
    const key = `${kind}\0${value ?? "\0"}`;
    const known = this.#requests.get(key);
    if (known === undefined) this.#requests.set(key, { kind, value, allowed, count: 1 });
    else {
      known.count++;
      known.allowed &&= allowed;
    }
  }

  #allows(kind: PermissionKind, value: string): boolean {
    const { allow, deny } = this.#options.grants;
    if (value.startsWith("unix:") && allow[kind] !== true) return false;
    // Its environment holds nothing but what it was granted and what is harmless, so a name may be asked for.
    if (kind === "env" && deny.env === undefined) return true;
    // Nothing that it learns here can leave.
    if (kind === "sys" && deny.sys === undefined && value !== "inspector") return true;
    return covers(kind, allow[kind], value, false) && !covers(kind, deny[kind], value, false);
  }

  /** Also where the path leads by links: nothing but the broker stands between the hook and the file. */
  #allowsPath(kind: PermissionKind, path: string): boolean {
    const { allow, deny } = this.#options.grants;
    const { closed } = this.#options;
    return [path, realOf(path)].every((each) =>
      covers(kind, allow[kind], each, false) && !covers(kind, deny[kind], each, false) &&
      !closed.some((folder) => isBelow(each, folder))
    );
  }

  /** What a path is relative to is where its process is. */
  #pathOf(value: string, pid: number): string {
    if (value === "<TMP>") return realOf(temporaryFolder());
    if (isAbsolute(value)) return normalize(value);
    let folder = this.#options.project;
    if (Deno.build.os === "linux") {
      try {
        folder = Deno.readLinkSync(`/proc/${pid}/cwd`);
      } catch {
        // It has ended, or is none.
      }
    }
    return join(folder, value);
  }
}

/** Where a path leads; what does not exist yet leads where its folder does. A link that leads nowhere leads to its target. */
export function realOf(path: string): string {
  const missing: string[] = [];
  let known = path;
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    try {
      return join(Deno.realPathSync(known), ...missing);
    } catch {
      const target = linkOf(known);
      const parent = dirname(known);
      if (target !== undefined) known = resolve(parent, target);
      else if (parent === known) break;
      else {
        missing.unshift(basename(known));
        known = parent;
      }
    }
  }
  return path;
}

const MAX_STEPS = 256;

function linkOf(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}
