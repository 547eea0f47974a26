/**
 * Stands in for typebox: makes JSON schemas, with as much of its names as hooks use for the arguments of tools.
 *
 * @module
 */

/** A JSON schema. */
export type Schema = Record<string, unknown>;

/** Marks a property that may be absent. */
export const OptionalKind: unique symbol = Symbol.for("xcsh.typebox.optional");
/** Names the kind of a schema. */
export const Kind: unique symbol = Symbol.for("xcsh.typebox.kind");

type Options = Record<string, unknown>;

function make(kind: string, schema: Schema, options: Options = {}): Schema {
  const made: Schema = { ...schema, ...options };
  Object.defineProperty(made, Kind, { value: kind });
  return made;
}

function marked(schema: Schema, optional: boolean): Schema {
  const copy: Schema = { ...schema };
  Object.defineProperty(copy, Kind, { value: (schema as { [Kind]?: string })[Kind] ?? "Unsafe" });
  if (optional) Object.defineProperty(copy, OptionalKind, { value: true });
  return copy;
}

function isOptional(schema: Schema): boolean {
  return (schema as { [OptionalKind]?: boolean })[OptionalKind] === true;
}

function propertiesOf(schema: Schema): Record<string, Schema> {
  return { ...schema.properties as Record<string, Schema> };
}

function object(properties: Record<string, Schema>, options: Options = {}): Schema {
  const required = Object.keys(properties).filter((key) => !isOptional(properties[key]!));
  return make("Object", { type: "object", properties, ...(required.length > 0 ? { required } : {}) }, options);
}

function keysOf(keys: unknown): string[] {
  if (Array.isArray(keys)) return keys.map(String);
  const list = (keys as Schema).anyOf as Schema[] | undefined;
  return (list ?? [keys as Schema]).map((schema) => String(schema.const));
}

function filtered(schema: Schema, keep: (key: string) => boolean, options?: Options): Schema {
  return object(Object.fromEntries(Object.entries(withOptional(schema)).filter(([key]) => keep(key))), options);
}

/** The properties of an object, those that it need not have marked so. */
function withOptional(schema: Schema): Record<string, Schema> {
  const required = new Set(schema.required as string[] | undefined);
  return Object.fromEntries(
    Object.entries(propertiesOf(schema)).map(([key, value]) => [key, marked(value, !required.has(key))]),
  );
}

function mapped(schema: Schema, optional: boolean, options?: Options): Schema {
  return object(
    Object.fromEntries(Object.entries(propertiesOf(schema)).map(([key, value]) => [key, marked(value, optional)])),
    options,
  );
}

function plain(kind: string, schema: Schema): (options?: Options) => Schema {
  return (options) => make(kind, schema, options);
}

const literal = (value: unknown, options?: Options): Schema =>
  make("Literal", { const: value, type: value === null ? "null" : typeof value }, options);

const union = (schemas: readonly Schema[], options?: Options): Schema =>
  schemas.length === 1 ? make("Union", schemas[0]!, options) : make("Union", { anyOf: [...schemas] }, options);

const builders = {
  Any: plain("Any", {}),
  Unknown: plain("Unknown", {}),
  Never: plain("Never", { not: {} }),
  String: plain("String", { type: "string" }),
  Number: plain("Number", { type: "number" }),
  Integer: plain("Integer", { type: "integer" }),
  Boolean: plain("Boolean", { type: "boolean" }),
  Null: plain("Null", { type: "null" }),
  Undefined: plain("Undefined", { type: "undefined" }),
  Void: plain("Void", { type: "undefined" }),
  Array: (items: Schema, options?: Options): Schema => make("Array", { type: "array", items }, options),
  Tuple: (items: readonly Schema[], options?: Options): Schema =>
    make("Tuple", {
      type: "array",
      items: [...items],
      additionalItems: false,
      minItems: items.length,
      maxItems: items.length,
    }, options),
  Object: object,
  Record: (_key: Schema, value: Schema, options?: Options): Schema =>
    make("Record", { type: "object", additionalProperties: value }, options),
  Literal: literal,
  Const: literal,
  Union: union,
  Intersect: (schemas: readonly Schema[], options?: Options): Schema =>
    make("Intersect", { type: "object", allOf: [...schemas] }, options),
  Composite: (schemas: readonly Schema[], options?: Options): Schema =>
    object(Object.assign({}, ...schemas.map(withOptional)) as Record<string, Schema>, options),
  Enum: (values: Readonly<Record<string, unknown>> | readonly unknown[], options?: Options): Schema => {
    // The reverse entries of an enum of TypeScript's are no values of it.
    const list = Array.isArray(values)
      ? values
      : Object.entries(values).filter(([key]) => !/^\d+$/.test(key)).map(([, value]) => value);
    return make("Union", { anyOf: list.map((value) => literal(value)) }, options);
  },
  Optional: (schema: Schema): Schema => marked(schema, true),
  Required: (schema: Schema, options?: Options): Schema => mapped(schema, false, options),
  Partial: (schema: Schema, options?: Options): Schema => mapped(schema, true, options),
  Pick: (schema: Schema, keys: unknown, options?: Options): Schema => {
    const names = keysOf(keys);
    return filtered(schema, (key) => names.includes(key), options);
  },
  Omit: (schema: Schema, keys: unknown, options?: Options): Schema => {
    const names = keysOf(keys);
    return filtered(schema, (key) => !names.includes(key), options);
  },
  KeyOf: (schema: Schema, options?: Options): Schema =>
    union(Object.keys(propertiesOf(schema)).map((key) => literal(key)), options),
  Readonly: (schema: Schema): Schema => schema,
  Not: (schema: Schema, options?: Options): Schema => make("Not", { not: schema }, options),
  RegExp: (pattern: RegExp | string, options?: Options): Schema =>
    make("String", { type: "string", pattern: typeof pattern === "string" ? pattern : pattern.source }, options),
  Unsafe: (schema: Schema = {}): Schema => make("Unsafe", schema),
};

/** Builds schemas. A kind of schema that this stand-in lacks is an error that names it. */
export const Type: typeof builders = new Proxy(builders, {
  get(target, key): unknown {
    if (Object.hasOwn(target, key) || typeof key === "symbol" || key === "then") return Reflect.get(target, key);
    throw new TypeError(
      `Type.${key} is not in the stand-in for typebox, which knows ${Object.keys(target).join(", ")}; ` +
        `use one of these, or write that part as a JSON schema: Type.Unsafe({ … })`,
    );
  },
});

export default Type;
