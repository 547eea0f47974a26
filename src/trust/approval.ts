/**
 * What an approval says, and whether it fits.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { CommandHook } from "../shell/settings.ts";
import { isRecord } from "../values.ts";

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What is approved: all that decides what a hook does and may do. */
export interface Subject {
  /** Path of the hook from the top of its repository, and its place in the file for a command. */
  path: string;
  /** How it runs. */
  kind: "module" | "script" | "command";
  /** The command, for a hook that a settings file names. */
  command?: CommandHook;
  /** SHA-256 of every file that it reaches, by path from the top of the repository. */
  files: Record<string, string>;
  /** What it takes from elsewhere, by name. */
  externals: string[];
  /** What the approval does not cover. */
  uncovered: string[];
  /** What it may do. */
  grants: Json;
  /** Hooks of the person that it takes the place of. */
  replaces: string[];
}

/** A subject that a person has approved. */
export interface Approval extends Subject {
  /** Names the folder with the approved bytes. */
  id: string;
  /** The repository; `*` for an approval by content alone. */
  repository: string;
  /** When, as an ISO date. */
  approvedAt: string;
  /** SHA-256 over the subject and the repository. */
  digest: string;
}

/** Writes a value as JSON so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value).filter((key) => value[key] !== undefined).sort().map((key) => [key, sorted(value[key])]),
  );
}

/** SHA-256 of bytes, in hex. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The one number that stands for a subject in a repository. */
export function digestOf(subject: Subject, repository: string): string {
  const { path, kind, command, files, externals, uncovered, grants, replaces } = subject;
  return sha256(
    canonicalJson({ repository, path, kind, command, files, externals, uncovered, grants, replaces }),
  );
}

/**
 * Checks a record from outside.
 *
 * @param value What was read.
 * @returns The approval, or `undefined` when the value is none or its digest does not fit.
 */
export function parseApproval(value: unknown): Approval | undefined {
  if (!isRecord(value)) return undefined;
  const { id, repository, approvedAt, digest, path, kind, files, externals, uncovered, grants, replaces } = value;
  const strings = (list: unknown) => Array.isArray(list) && list.every((item) => typeof item === "string");
  if (
    typeof id !== "string" || !/^[0-9a-f-]{36}$/.test(id) || typeof repository !== "string" ||
    typeof approvedAt !== "string" || typeof digest !== "string" || typeof path !== "string" ||
    (kind !== "module" && kind !== "script" && kind !== "command") || !isRecord(files) ||
    !Object.values(files).every((hash) => typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash)) ||
    !strings(externals) || !strings(uncovered) || !strings(replaces) || grants === undefined ||
    (value.command !== undefined && !isRecord(value.command))
  ) return undefined;
  const approval = value as unknown as Approval;
  return digestOf(approval, repository) === digest ? approval : undefined;
}
