/**
 * Stands in for `pi-ai`: schemas of arguments. It asks no model, since keys stay with the session.
 *
 * @module
 */

import { type Schema, Type } from "./typebox.ts";

export { Type };

/**
 * Makes the schema of a text that is one of several.
 *
 * @param values The texts.
 * @param options `description`, `default`.
 * @returns The schema.
 */
export function StringEnum(values: readonly string[], options: Record<string, unknown> = {}): Schema {
  return Type.Unsafe({ type: "string", enum: [...values], ...options });
}
