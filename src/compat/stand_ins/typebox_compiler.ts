/**
 * Stands in for `typebox/compiler` and `typebox/compile`: checks a schema without compiling it.
 *
 * @module
 */

import type { Schema } from "./typebox.ts";
import { errorsOf, Value, type ValueErrors } from "./typebox_value.ts";

/** A schema, ready to check. */
export interface TypeCheck {
  /** Whether a value fits. */
  Check(value: unknown): boolean;
  /** Why it does not. */
  Errors(value: unknown): ValueErrors;
}

/** Makes a check of a schema. */
export function Compile(schema: Schema): TypeCheck {
  return { Check: (value) => Value.Check(schema, value), Errors: (value) => errorsOf(schema, value) };
}

/** As {@linkcode Compile}, under its older name. */
export const TypeCompiler: { Compile(schema: Schema): TypeCheck } = { Compile };
