/**
 * Stands in for `typebox/value`.
 *
 * @module
 */

import { type ValueError, valueErrors } from "./schema_check.ts";
import type { Schema } from "./typebox.ts";

/** Errors that are found as they are asked for. */
export interface ValueErrors extends Iterable<ValueError> {
  /** The first one. */
  First(): ValueError | undefined;
}

/** The errors of a value, in typebox's form. */
export function errorsOf(schema: Schema, value: unknown): ValueErrors {
  const errors = valueErrors(schema, value);
  return { [Symbol.iterator]: () => errors[Symbol.iterator](), First: () => errors[0] };
}

function withDefaults(schema: Schema, value: unknown): unknown {
  const given = value === undefined && "default" in schema ? structuredClone(schema.default) : value;
  const properties = schema.properties as Record<string, Schema> | undefined;
  if (properties !== undefined && typeof given === "object" && given !== null) {
    const record = given as Record<string, unknown>;
    for (const [key, property] of Object.entries(properties)) {
      const filled = withDefaults(property, record[key]);
      if (filled !== undefined) record[key] = filled;
    }
  }
  return given;
}

function cleaned(schema: Schema, value: unknown): unknown {
  const properties = schema.properties as Record<string, Schema> | undefined;
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    if (Object.hasOwn(properties, key)) record[key] = cleaned(properties[key]!, record[key]);
    else delete record[key];
  }
  return record;
}

function converted(schema: Schema, value: unknown): unknown {
  if (typeof value === "string" && (schema.type === "number" || schema.type === "integer")) {
    const number = Number(value);
    return value.trim() === "" || Number.isNaN(number) ? value : number;
  }
  if (schema.type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (schema.type === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  const properties = schema.properties as Record<string, Schema> | undefined;
  if (properties !== undefined && typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, properties[key] ? converted(properties[key], item) : item]),
    );
  }
  return value;
}

function assertValue(schema: Schema, value: unknown): void {
  const error = valueErrors(schema, value)[0];
  if (error !== undefined) throw new Error(`${error.path || "/"}: ${error.message}`);
}

function parsed(schema: Schema, value: unknown): unknown {
  const result = cleaned(schema, converted(schema, withDefaults(schema, structuredClone(value))));
  assertValue(schema, result);
  return result;
}

const members = {
  Check: (schema: Schema, value: unknown): boolean => valueErrors(schema, value).length === 0,
  Errors: errorsOf,
  Assert: assertValue,
  Default: withDefaults,
  Clean: cleaned,
  Convert: converted,
  Parse: parsed,
  Decode: parsed,
  Encode: parsed,
  Clone: <T>(value: T): T => structuredClone(value),
};

/** Works on values by their schema. A member that this stand-in lacks is an error that names it. */
export const Value: typeof members = new Proxy(members, {
  get(target, key): unknown {
    if (Object.hasOwn(target, key) || typeof key === "symbol" || key === "then") return Reflect.get(target, key);
    throw new TypeError(
      `Value.${key} is not in the stand-in for typebox/value, which knows ${Object.keys(target).join(", ")}`,
    );
  },
});

export default Value;
