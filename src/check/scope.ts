/**
 * What the names of a module stand for, as far as its source tells.
 *
 * @module
 */

import { bare, isFunction, isNode, keyOf, listOf, nameOf, type Node, walk } from "./syntax.ts";

/** A name that stands for an export of another module. */
export interface Binding {
  /** The module, as it was written; `node:` is left out. */
  module: string;
  /** The export; `*` for all of them. */
  name: string;
}

/** The names of a module. */
export interface Scope {
  /** Names that were imported, or taken out of `require(…)`, `await import(…)`, `Deno`, `process`. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** Names that are given one value, and that value. */
  readonly values: ReadonlyMap<string, Node>;
}

/** Modules of Node's, without the prefix. */
export function plainModule(specifier: string): string {
  return specifier.replace(/^node:/, "");
}

/** Finds what the names of a module stand for. A name that is given two values stands for neither. */
export function scopeOf(program: Node): Scope {
  const bindings = new Map<string, Binding>();
  const values = new Map<string, Node>();
  const twice = new Set<string>();
  const give = (name: string | undefined, value: unknown) => {
    if (name === undefined) return;
    if (values.has(name)) twice.add(name);
    if (isNode(value)) values.set(name, value);
  };
  const take = (pattern: unknown, module: string) => {
    const name = nameOf(pattern);
    if (name !== undefined) bindings.set(name, { module, name: "*" });
    if (!isNode(pattern) || pattern.type !== "ObjectPattern") return;
    for (const property of listOf(pattern.properties)) {
      if (!isNode(property) || property.type !== "ObjectProperty") continue;
      const key = keyOf(property);
      const value = isNode(property.value) && property.value.type === "AssignmentPattern"
        ? property.value.left
        : property.value;
      const local = nameOf(value);
      if (key !== undefined && local !== undefined) bindings.set(local, { module, name: key });
    }
  };
  walk(program, (node) => {
    switch (node.type) {
      case "ImportDeclaration":
        if (node.importKind !== "type") takeImports(node, bindings);
        return false;
      case "FunctionDeclaration":
        give(nameOf(node.id), node);
        return true;
      case "VariableDeclarator": {
        const value = bare(node.init);
        const module = value === undefined ? undefined : moduleOf(value);
        if (module !== undefined) take(node.id, module);
        else give(nameOf(node.id), node.init);
        return true;
      }
      case "AssignmentExpression":
        give(nameOf(node.left), undefined);
        if (nameOf(node.left) !== undefined) twice.add(nameOf(node.left)!);
        return true;
      default:
        return true;
    }
  });
  for (const name of twice) values.delete(name);
  return { bindings, values };
}

function takeImports(node: Node, bindings: Map<string, Binding>): void {
  if (!isNode(node.source)) return;
  const module = plainModule(String(node.source.value));
  for (const specifier of listOf(node.specifiers)) {
    if (!isNode(specifier) || specifier.importKind === "type") continue;
    const local = nameOf(specifier.local);
    if (local === undefined) continue;
    if (specifier.type !== "ImportSpecifier") {
      // The default export of a module of Node's is all of it.
      bindings.set(local, { module, name: "*" });
    } else if (isNode(specifier.imported)) {
      const name = String(specifier.imported.name ?? specifier.imported.value);
      bindings.set(local, { module, name: name === "default" ? "*" : name });
    }
  }
}

/** The module that an expression stands for: `require("x")`, `import("x")`, `process.getBuiltinModule("x")`, `Deno`, `process`. */
function moduleOf(node: Node): string | undefined {
  const text = (value: unknown) => isNode(value) && value.type === "StringLiteral" ? String(value.value) : undefined;
  if (node.type === "ImportExpression") return mapped(text(node.source), plainModule);
  if (node.type === "CallExpression") {
    const callee = bare(node.callee);
    const called = nameOf(callee) ?? (callee?.type === "MemberExpression" ? keyOf(callee) : undefined);
    if (called === "require" || called === "getBuiltinModule") {
      return mapped(text(listOf(node.arguments)[0]), plainModule);
    }
  }
  const name = nameOf(node);
  if (name === "Deno" || name === "process" || name === "Bun") return name;
  if (node.type === "MemberExpression" && nameOf(node.object) === "globalThis") {
    const key = keyOf(node);
    if (key === "Deno" || key === "process" || key === "Bun") return key;
  }
  return undefined;
}

function mapped<T, U>(value: T | undefined, map: (value: T) => U): U | undefined {
  return value === undefined ? undefined : map(value);
}

/**
 * The full name of what an expression reads, such as `Deno.env.get`, `fs/promises.readFile` or `fetch`.
 *
 * @param given The expression.
 * @param scope The names of its module.
 * @returns The name; `undefined` when the source does not tell.
 */
export function fullName(given: unknown, scope: Scope): string | undefined {
  const node = bare(given);
  if (node === undefined) return undefined;
  const module = moduleOf(node);
  if (module !== undefined) return module;
  const name = nameOf(node);
  if (name !== undefined) {
    const binding = scope.bindings.get(name);
    if (binding !== undefined) return binding.name === "*" ? binding.module : `${binding.module}.${binding.name}`;
    const value = bare(scope.values.get(name));
    // `const env = Deno.env`
    if (value !== undefined && value !== node && value.type === "MemberExpression") return fullName(value, scope);
    return scope.values.has(name) ? undefined : name;
  }
  if (node.type === "MemberExpression" || node.type === "OptionalMemberExpression") {
    const key = keyOf(node);
    const object = fullName(node.object, scope);
    if (key === undefined || object === undefined) return undefined;
    if (object === "globalThis" || key === "default") return object === "globalThis" ? key : object;
    // Both ways to reach them.
    return `${object}.${key}`.replace(/^fs\.promises\b/, "fs/promises").replace(/^process\.process\b/, "process");
  }
  return undefined;
}

/** The function that an expression is, or names. */
export function functionOf(given: unknown, scope: Scope): Node | undefined {
  const node = bare(given);
  if (isFunction(node)) return node;
  const name = nameOf(node);
  const value = name === undefined ? undefined : bare(scope.values.get(name));
  return isFunction(value) ? value : undefined;
}
