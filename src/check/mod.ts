/**
 * Checks hooks before they run.
 *
 * @module
 */

export { checkHook, type CheckOptions, type HookCheck, needText, type Registrations } from "./check_hook.ts";
export type { Diagnostic, DiagnosticCode } from "./diagnostic.ts";
export type { Need } from "./needs.ts";
export type { Place } from "./syntax.ts";
