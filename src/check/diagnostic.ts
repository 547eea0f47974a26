/**
 * What is wrong with a hook, where, and what to do.
 *
 * @module
 */

import type { Place } from "./syntax.ts";

/** Kinds of what can be wrong. */
export type DiagnosticCode =
  | "load"
  | "syntax"
  | "no-default-export"
  | "unknown-event"
  | "older-form"
  | "ignored-result"
  | "unresolved-import"
  | "missing-permission"
  | "sandbox-exit"
  | "declaration";

/** Something that is wrong with a hook. */
export interface Diagnostic {
  /** Its kind. */
  code: DiagnosticCode;
  /** An error makes the check fail. */
  severity: "error" | "warning";
  /** What is wrong. */
  message: string;
  /** What to do about it. */
  remedy: string;
  /** Where it is, when it is in a file. */
  place?: Place;
}
