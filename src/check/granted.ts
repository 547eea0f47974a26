/**
 * Whether what code needs was granted.
 *
 * @module
 */

import { basename } from "@std/path";
import {
  type EffectiveGrants,
  execWords,
  type Grant,
  type HookPermissions,
  type PermissionKind,
} from "../isolation/grants.ts";
import type { Need } from "./needs.ts";
import { grantPath, isBelow, shellWord } from "./paths.ts";

/** What a hook was granted. */
export interface Granted {
  /** As it was given. */
  permissions: HookPermissions;
  /** As it is enforced. */
  effective: EffectiveGrants;
}

/**
 * Tells whether a need was granted, as far as the source says: what the code makes up as it runs counts as granted when anything of
 * its kind was.
 *
 * @param need The need.
 * @param granted What was granted.
 * @returns Whether it was.
 */
export function isGranted(need: Need, { permissions, effective }: Granted): boolean {
  const { kind, value } = need;
  if (kind === "exec") return isExecGranted(value, permissions, effective);
  const given = permissions[kind];
  const { deny } = permissions;
  if (deny?.[kind] === true) return false;
  if (given === true) return value === undefined || !covers(kind, effective.deny[kind], value, false);
  if (need.all) return false;
  if (value === undefined) return given !== undefined && given.length > 0;
  if (!need.folder && covers(kind, effective.deny[kind], value, false)) return false;
  return covers(kind, effective.allow[kind], value, need.folder === true);
}

/**
 * Whether a grant covers a value.
 *
 * @param kind The kind of permission.
 * @param grant What was granted.
 * @param value A path, a host, a variable, a program.
 * @param folder Whether `value` is the folder of a path that is not known whole.
 * @returns Whether it does.
 */
export function covers(kind: PermissionKind, grant: Grant | undefined, value: string, folder: boolean): boolean {
  if (grant === undefined) return false;
  if (grant === true) return true;
  return grant.some((entry) => {
    switch (kind) {
      case "read":
      case "write":
      case "ffi":
        return isBelow(value, entry) || (folder && isBelow(entry, value));
      case "env":
        return entry.endsWith("*") ? value.startsWith(entry.slice(0, -1)) : entry === value;
      case "net":
      case "import":
        return coversHost(entry, value);
      case "run":
        return entry === value || basename(entry) === value;
      default:
        return entry === value;
    }
  });
}

function coversHost(entry: string, value: string): boolean {
  if (entry === value || `${entry}:443` === value || entry === `${value}:443`) return true;
  const [host, port] = splitHost(entry);
  const [wanted, wantedPort] = splitHost(value);
  if (port !== "" && port !== wantedPort) return false;
  return host.startsWith("*.") ? wanted.endsWith(host.slice(1)) : host === wanted;
}

function splitHost(text: string): [host: string, port: string] {
  const match = /^(.*?)(?::(\d+))?$/.exec(text.startsWith("[") && text.endsWith("]") ? `${text}` : text);
  return [match?.[1] ?? text, match?.[2] ?? ""];
}

function isExecGranted(
  line: string | undefined,
  permissions: HookPermissions,
  effective: EffectiveGrants,
): boolean {
  const words = line === undefined ? [] : execWords(line) ?? [];
  const [program] = words;
  // A hook that may start the program by itself does, when no exec grant names the call.
  if (program === undefined) return effective.exec.length > 0 || permissions.run !== undefined;
  if (covers("run", permissions.run, program, false)) return true;
  return effective.exec.some((grant) => {
    if (grant.words[0] !== program && grant.program !== program) return false;
    return coversWords(grant.words.slice(1), words.slice(1));
  });
}

function coversWords(grant: readonly string[], call: readonly string[]): boolean {
  // What the call adds is not known, so that the program was granted is all there is to see.
  if (call.at(-1) === "...") return true;
  const open = grant.at(-1) === "...";
  const fixed = open ? grant.slice(0, -1) : grant;
  if (open ? call.length < fixed.length : call.length !== fixed.length) return false;
  return fixed.every((word, i) => word === call[i] || (word === "*" && !call[i]!.startsWith("-")) || call[i] === "*");
}

/** The flag that would grant a need. */
export function flagFor({ kind, value, all }: Need, project: string): string {
  if (kind === "exec") return `--allow-exec=${value === undefined ? '"…"' : `"${value.replaceAll('"', '\\"')}"`}`;
  if (all) return `--allow-${kind}`;
  if (value === undefined) return `--allow-${kind}=…`;
  const path = kind === "read" || kind === "write" || kind === "ffi";
  return `--allow-${kind}=${shellWord(path ? grantPath(value, project) : value)}`;
}
