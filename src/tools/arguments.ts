/**
 * Checks what a model wrote as the arguments of a tool.
 *
 * @module
 */

import { isRecord, kindOf } from "../values.ts";

/** Arguments that do not fit the tool's schema. */
export class ToolArgumentsError extends Error {
  /** Tells it from other errors. */
  override name = "ToolArgumentsError";
}

/** A property of a tool's arguments, as a JSON schema. */
export interface PropertySchema {
  /** Its type. */
  type?: "string" | "number" | "integer" | "boolean" | "array" | "object";
  /** What it means, for the model. */
  description?: string;
  /** Its only values. */
  enum?: readonly unknown[];
  /** Least number. */
  minimum?: number;
  /** Schema of the elements of an array. */
  items?: PropertySchema;
  /** Schemas of the properties of an object. */
  properties?: Readonly<Record<string, PropertySchema>>;
  /** Properties that an object must have. */
  required?: readonly string[];
}

/** The arguments of a tool, as a JSON schema. */
export interface ParametersSchema extends PropertySchema {
  /** Always an object. */
  type: "object";
}

/**
 * Checks arguments against a tool's schema. `null` in an optional place counts as absent, and a number or a boolean that was
 * written as a string is taken for what it says, since models do both.
 *
 * @param tool Name of the tool, for the error.
 * @param schema Its schema; of what it does not know, nothing is checked.
 * @param args What the model wrote.
 * @returns The arguments, as a copy where something had to be put right.
 * @throws {ToolArgumentsError} When something is missing or has another type; the text says what.
 */
export function checkArguments(tool: string, schema: unknown, args: unknown): Record<string, unknown> {
  if (!isRecord(args)) throw new ToolArgumentsError(`${tool}: the arguments should be an object, not ${kindOf(args)}`);
  if (!isRecord(schema)) return args;
  return check(args, schema as PropertySchema, "", tool) as Record<string, unknown>;
}

function check(value: unknown, schema: PropertySchema, place: string, tool: string): unknown {
  const fail = (expected: string): never => {
    throw new ToolArgumentsError(`${tool}: ${place || "the arguments"}: expected ${expected}, found ${kindOf(value)}`);
  };
  const fitted = fit(value, schema.type);
  if (schema.type !== undefined && !hasType(fitted, schema.type)) fail(named(schema.type));
  if (schema.enum !== undefined && !schema.enum.includes(fitted)) {
    fail(`one of ${schema.enum.map((v) => JSON.stringify(v)).join(", ")}`);
  }
  if (typeof fitted === "number" && schema.minimum !== undefined && fitted < schema.minimum) {
    fail(`at least ${schema.minimum}`);
  }
  if (Array.isArray(fitted) && schema.items !== undefined) {
    return fitted.map((element, i) => check(element, schema.items!, `${place}[${i}]`, tool));
  }
  return isRecord(fitted) && schema.properties !== undefined ? checkProperties(fitted, schema, place, tool) : fitted;
}

function checkProperties(value: Record<string, unknown>, schema: PropertySchema, place: string, tool: string) {
  const checked: Record<string, unknown> = { ...value };
  for (const [key, property] of Object.entries(schema.properties!)) {
    const at = place === "" ? key : `${place}.${key}`;
    const found = Object.hasOwn(value, key) ? value[key] : undefined;
    if (found !== undefined && found !== null) checked[key] = check(found, property, at, tool);
    else if (schema.required?.includes(key)) {
      throw new ToolArgumentsError(`${tool}: ${at} is missing; expected ${named(property.type)}`);
    } else delete checked[key];
  }
  return checked;
}

function fit(value: unknown, type: PropertySchema["type"]): unknown {
  if (typeof value !== "string") return value;
  if ((type === "number" || type === "integer") && value.trim() !== "" && Number.isFinite(Number(value))) {
    return Number(value);
  }
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}

function hasType(value: unknown, type: NonNullable<PropertySchema["type"]>): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "number") return typeof value === "number" && Number.isFinite(value);
  if (type === "boolean") return typeof value === "boolean";
  return typeof value === "string";
}

function named(type: PropertySchema["type"]): string {
  if (type === undefined) return "a value";
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}
