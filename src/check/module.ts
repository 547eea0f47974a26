/**
 * What one module of a hook does, told from its source without running it.
 *
 * @module
 */

import { isOldEventName } from "../compat/old_forms.ts";
import { EVENT_NAMES, EVENT_RULES, EXTENSION_EVENT_NAMES, type HookEventName, isHookEventName } from "../events.ts";
import { nearest } from "../values.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { type Need, needsOf } from "./needs.ts";
import { fullName, functionOf, type Scope, scopeOf } from "./scope.ts";
import {
  bare,
  isFunction,
  isNode,
  keyOf,
  listOf,
  nameOf,
  type Node,
  parseModule,
  type Place,
  placeOf,
  walk,
} from "./syntax.ts";
import { knownText, type TextScope } from "./text.ts";

/** An import of another module. */
export interface ModuleImport extends Place {
  /** The module, as it was written. */
  specifier: string;
  /** Whether it is loaded only when the code comes to it. */
  dynamic: boolean;
  /** Whether it is loaded as data: `with { type: "json" }` or the like. */
  data: boolean;
  /** Whether it is loaded by `require`. */
  required: boolean;
}

/** What a module does. */
export interface ModuleReport {
  /** What is wrong with it. */
  diagnostics: Diagnostic[];
  /** What it imports when it runs. */
  imports: ModuleImport[];
  /** What its code visibly needs. */
  needs: Need[];
  /** What it exports as `permissions`, if anything. */
  declaration: { node: Node; place: Place } | undefined;
}

/** Where a module stands. */
export interface ModuleOptions {
  /** Its absolute path. */
  file: string;
  /** Its text. */
  source: string;
  /** The project's folder. */
  project: string;
  /** Whether it is the hook itself, and must export a factory. */
  entry: boolean;
}

/**
 * Reads a module.
 *
 * @param options See {@linkcode ModuleOptions}.
 * @returns What it does.
 * @throws {SyntaxFault} When it is no module.
 */
export async function readModule({ file, source, project, entry }: ModuleOptions): Promise<ModuleReport> {
  const program = await parseModule(source, file);
  const scope = scopeOf(program);
  const at: TextScope = { scope, file, project };
  const diagnostics: Diagnostic[] = [];
  const factory = entry ? factoryOf(program, scope, file, diagnostics) : undefined;
  const apis = apisOf(program, factory);
  diagnostics.push(...handlersOf(program, at, apis));
  return {
    diagnostics,
    imports: importsOf(program, at),
    needs: needsOf(program, at, apis),
    declaration: declarationOf(program, file),
  };
}

/** The function that a hook exports by default; says so when there is none. */
function factoryOf(program: Node, scope: Scope, file: string, diagnostics: Diagnostic[]): Node | undefined {
  const remedy = "write `export default function (pi: HookAPI) { … }`";
  const fault = (message: string, node: Node | undefined) =>
    void diagnostics.push({
      code: "no-default-export",
      severity: "error",
      message,
      remedy,
      place: node === undefined ? { file, line: 1, column: 1 } : placeOf(node, file),
    });
  const body = listOf(program.body).filter(isNode);
  for (const node of body) {
    if (node.type === "ExportDefaultDeclaration") {
      const value = bare(node.declaration);
      const factory = functionOf(value, scope);
      if (factory !== undefined) return factory;
      const wrong = value === undefined || /Literal$|^(?:Object|Array|Class|New)/.test(value.type);
      if (wrong) fault("its default export is no function", node);
      return undefined;
    }
    if (node.type !== "ExportNamedDeclaration" || node.exportKind === "type") continue;
    for (const specifier of listOf(node.specifiers)) {
      if (!isNode(specifier) || !isNode(specifier.exported)) continue;
      if ((specifier.exported.name ?? specifier.exported.value) !== "default") continue;
      return isNode(node.source) ? undefined : functionOf(specifier.local, scope);
    }
  }
  for (const node of body) {
    const assigned = node.type === "ExpressionStatement" && isNode(node.expression) ? node.expression : undefined;
    if (assigned?.type !== "AssignmentExpression") continue;
    // The way of CommonJS, which is no fault where the hook loads.
    if (!/^(?:module\.exports|exports\.default)\b/.test(fullName(assigned.left, scope) ?? "")) continue;
    fault("it has no default export", node);
    return functionOf(assigned.right, scope);
  }
  const other = body.find((node) => node.type === "ExportNamedDeclaration" && isFunction(node.declaration));
  fault("it has no default export", other);
  return undefined;
}

/** The names by which a module calls the hook API. */
function apisOf(program: Node, factory: Node | undefined): Set<string> {
  const names = new Set(["pi"]);
  const take = (parameter: unknown) => {
    const inner = isNode(parameter) && parameter.type === "AssignmentPattern" ? parameter.left : parameter;
    const name = nameOf(inner);
    if (name !== undefined) names.add(name);
  };
  if (factory !== undefined) take(listOf(factory.params)[0]);
  walk(program, (node) => {
    for (const parameter of isFunction(node) ? listOf(node.params) : []) {
      if (isNode(parameter) && /\b(?:Hook|Extension)API\b/.test(typeNameOf(parameter))) take(parameter);
    }
    return true;
  });
  return names;
}

function typeNameOf(parameter: Node): string {
  const annotation = isNode(parameter.typeAnnotation) ? parameter.typeAnnotation.typeAnnotation : undefined;
  return isNode(annotation) && annotation.type === "TSTypeReference" ? nameOf(annotation.typeName) ?? "" : "";
}

// ——— Handlers ———

/** Events by which older hosts called ours. */
const FORMER: Readonly<Record<string, string>> = {
  session: "session_start",
  branch: "session_branch",
  session_stop: "agent_end",
  stop: "agent_end",
  pre_tool_use: "tool_call",
  post_tool_use: "tool_result",
  pretooluse: "tool_call",
  posttooluse: "tool_result",
};
/** Fields that are typed for hooks that return them, and not applied. */
const NOT_APPLIED: ReadonlySet<string> = new Set(["isError", "isWarning"]);

function handlersOf(program: Node, at: TextScope, apis: ReadonlySet<string>): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  walk(program, (node) => {
    if (node.type !== "CallExpression" && node.type !== "OptionalCallExpression") return true;
    const [api, method, ...more] = (fullName(node.callee, at.scope) ?? "").split(".");
    if (method !== "on" || more.length > 0 || !apis.has(api!)) return true;
    const [name, handler] = listOf(node.arguments);
    const event = knownText(name, at);
    if (event.open) return true;
    if (isOldEventName(event.text)) return true;
    if (!isHookEventName(event.text)) {
      const near = FORMER[event.text.toLowerCase()] ?? nearest(event.text, [...EVENT_NAMES, ...EXTENSION_EVENT_NAMES]);
      diagnostics.push({
        code: "unknown-event",
        severity: "error",
        message: `there is no event ${JSON.stringify(event.text)}, so this handler never runs`,
        remedy: near === undefined
          ? `the events are ${EVENT_NAMES.join(", ")}`
          : `write ${JSON.stringify(near)} if you mean that`,
        place: placeOf(isNode(name) ? name : node, at.file),
      });
      return true;
    }
    const run = functionOf(handler, at.scope);
    if (run !== undefined) {
      for (const answer of answersOf(run, at.scope)) diagnostics.push(...ignoredIn(answer, event.text, at.file));
    }
    return true;
  });
  return diagnostics;
}

/** The object literals that a function may return. */
function answersOf(run: Node, scope: Scope): Node[] {
  const answers: Node[] = [];
  const take = (value: unknown, depth = 0): void => {
    const node = bare(value);
    if (node === undefined || depth > 20) return;
    if (node.type === "ObjectExpression") answers.push(node);
    else if (node.type === "ConditionalExpression") {
      take(node.consequent, depth + 1);
      take(node.alternate, depth + 1);
    } else if (node.type === "LogicalExpression") {
      take(node.left, depth + 1);
      take(node.right, depth + 1);
    } else if (node.type === "SequenceExpression") take(listOf(node.expressions).at(-1), depth + 1);
    else if (node.type === "CallExpression" && fullName(node.callee, scope) === "Promise.resolve") {
      take(listOf(node.arguments)[0], depth + 1);
    } else if (node.type === "Identifier") {
      const named = scope.values.get(String(node.name));
      if (named !== undefined && !isFunction(bare(named))) take(named, depth + 1);
    }
  };
  if (isNode(run.body) && run.body.type !== "BlockStatement") take(run.body);
  else {
    walk(run.body, (node) => {
      if (node.type === "ReturnStatement") take(node.argument);
      return node.type !== "ClassBody" && node.type !== "ObjectMethod" && !isFunction(node);
    });
  }
  return answers;
}

function ignoredIn(answer: Node, event: HookEventName, file: string): Diagnostic[] {
  const rule = EVENT_RULES[event];
  const diagnostics: Diagnostic[] = [];
  for (const property of listOf(answer.properties)) {
    if (!isNode(property) || property.type === "SpreadElement") continue;
    const key = keyOf(property);
    if (key === undefined || rule.fields.includes(key) || rule.also?.includes(key)) continue;
    const harmless = NOT_APPLIED.has(key) && event === "tool_result";
    diagnostics.push({
      code: "ignored-result",
      severity: harmless ? "warning" : "error",
      message: `${event} ignores \`${key}\` in what a handler returns`,
      remedy: harmless ? "leave it out; whether a tool failed cannot be changed" : remedyFor(key, event),
      place: placeOf(property, file),
    });
  }
  return diagnostics;
}

function remedyFor(key: string, event: HookEventName): string {
  const { fields } = EVENT_RULES[event];
  const near = nearest(key, fields);
  if (near !== undefined) return `write \`${near}\``;
  const takers = EVENT_NAMES.filter((name) => EVENT_RULES[name].fields.includes(key));
  const may = fields.length === 0 ? "it takes no answer; leave it out" : `it may return { ${fields.join(", ")} }`;
  return takers.length === 0 ? may : `return \`${key}\` in ${takers.join(" or ")}; ${may}`;
}

// ——— Imports and the declaration ———

function importsOf(program: Node, at: TextScope): ModuleImport[] {
  const imports: ModuleImport[] = [];
  const add = (node: Node, source: unknown, dynamic: boolean, data = false, required = false) => {
    const specifier = knownText(source, at);
    if (!specifier.open) {
      const place = placeOf(isNode(source) ? source : node, at.file);
      imports.push({ specifier: specifier.text, dynamic, data, required, ...place });
    }
  };
  walk(program, (node) => {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
        if (isNode(node.source) && node.importKind !== "type" && node.exportKind !== "type") {
          add(node, node.source, false, listOf(node.attributes).length > 0);
        }
        return node.type !== "ImportDeclaration";
      case "ImportExpression":
        add(node, node.source, true, isNode(node.options));
        return true;
      case "CallExpression":
        if (nameOf(node.callee) === "require") add(node, listOf(node.arguments)[0], true, false, true);
        return true;
      default:
        return true;
    }
  });
  return imports;
}

function declarationOf(program: Node, file: string): ModuleReport["declaration"] {
  for (const node of listOf(program.body)) {
    if (!isNode(node) || node.type !== "ExportNamedDeclaration" || !isNode(node.declaration)) continue;
    for (const declarator of listOf(node.declaration.declarations)) {
      if (isNode(declarator) && nameOf(declarator.id) === "permissions" && isNode(declarator.init)) {
        return { node: declarator.init, place: placeOf(declarator, file) };
      }
    }
  }
  return undefined;
}

/**
 * Reads a literal as data.
 *
 * @param given The literal.
 * @returns Its value; `undefined` when it is none.
 */
export function literalOf(given: unknown): unknown {
  const node = bare(given);
  switch (node?.type) {
    case "StringLiteral":
    case "NumericLiteral":
    case "BooleanLiteral":
      return node.value;
    case "ArrayExpression":
      return listOf(node.elements).map(literalOf);
    case "ObjectExpression":
      return Object.fromEntries(
        listOf(node.properties).filter(isNode).map((property) => [keyOf(property) ?? "…", literalOf(property.value)]),
      );
    default:
      return undefined;
  }
}
