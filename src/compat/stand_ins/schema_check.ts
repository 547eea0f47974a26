/**
 * Checks values against JSON schemas, as far as the stand-in for typebox makes them.
 *
 * @module
 */

import type { Schema } from "./typebox.ts";

/** What is wrong with a value. */
export interface ValueError {
  /** Where, as a JSON pointer. */
  path: string;
  /** What. */
  message: string;
  /** The value there. */
  value: unknown;
  /** What it should fit. */
  schema: Schema;
}

/** Finds all that is wrong with a value. */
export function valueErrors(schema: Schema, value: unknown, path = ""): ValueError[] {
  const fault = (message: string): ValueError[] => [{ path, message, value, schema }];
  if ("const" in schema) return value === schema.const ? [] : fault(`Expected ${JSON.stringify(schema.const)}`);
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    return fault(`Expected one of ${schema.enum.map((item) => JSON.stringify(item)).join(", ")}`);
  }
  if (Array.isArray(schema.anyOf)) {
    const fits = (schema.anyOf as Schema[]).some((one) => valueErrors(one, value, path).length === 0);
    return fits ? [] : fault("Expected union value");
  }
  if (Array.isArray(schema.allOf)) return (schema.allOf as Schema[]).flatMap((one) => valueErrors(one, value, path));
  if (schema.not !== undefined) {
    return valueErrors(schema.not as Schema, value, path).length > 0 ? [] : fault("Unexpected value");
  }
  const type = schema.type;
  if (typeof type === "string" && !hasType(value, type)) return fault(`Expected ${type}`);
  if (typeof value === "string") return textFaults(schema, value).flatMap(fault);
  if (typeof value === "number") return numberFaults(schema, value).flatMap(fault);
  if (Array.isArray(value)) return listErrors(schema, value, path, fault);
  if (typeof value === "object" && value !== null) {
    return recordErrors(schema, value as Record<string, unknown>, path);
  }
  return [];
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "undefined":
      return value === undefined;
    default:
      return true;
  }
}

function textFaults(schema: Schema, value: string): string[] {
  const faults: string[] = [];
  if (typeof schema.minLength === "number" && value.length < schema.minLength) {
    faults.push(`Expected string length greater or equal to ${schema.minLength}`);
  }
  if (typeof schema.maxLength === "number" && value.length > schema.maxLength) {
    faults.push(`Expected string length less or equal to ${schema.maxLength}`);
  }
  if (typeof schema.pattern === "string" && !new RegExp(schema.pattern).test(value)) {
    faults.push(`Expected string to match '${schema.pattern}'`);
  }
  return faults;
}

function numberFaults(schema: Schema, value: number): string[] {
  const faults: string[] = [];
  if (typeof schema.minimum === "number" && value < schema.minimum) {
    faults.push(`Expected number to be greater or equal to ${schema.minimum}`);
  }
  if (typeof schema.maximum === "number" && value > schema.maximum) {
    faults.push(`Expected number to be less or equal to ${schema.maximum}`);
  }
  return faults;
}

function listErrors(schema: Schema, value: unknown[], path: string, fault: (m: string) => ValueError[]): ValueError[] {
  const { items, minItems, maxItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) return fault(`Expected at least ${minItems} items`);
  if (typeof maxItems === "number" && value.length > maxItems) return fault(`Expected at most ${maxItems} items`);
  return value.flatMap((item, i) => {
    const one = Array.isArray(items) ? items[i] : items;
    return one === undefined ? [] : valueErrors(one as Schema, item, `${path}/${i}`);
  });
}

function recordErrors(schema: Schema, value: Record<string, unknown>, path: string): ValueError[] {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const errors: ValueError[] = [];
  for (const key of (schema.required ?? []) as string[]) {
    if (value[key] !== undefined) continue;
    const wanted = properties[key] ?? {};
    errors.push({ path: `${path}/${key}`, message: "Expected required property", value: undefined, schema: wanted });
  }
  for (const [key, item] of Object.entries(value)) {
    const one = Object.hasOwn(properties, key) ? properties[key] : schema.additionalProperties;
    const at = `${path}/${key}`;
    if (one === false) errors.push({ path: at, message: "Unexpected property", value: item, schema });
    else if (typeof one === "object" && one !== null && item !== undefined) {
      errors.push(...valueErrors(one as Schema, item, at));
    }
  }
  return errors;
}
