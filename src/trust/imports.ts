/**
 * What a module reaches for, told from its source without running it.
 *
 * @module
 */

import { isNode, loadParser, NO_CHILDREN, type Node } from "../babel.ts";
import { errorText, isRecord } from "../values.ts";

/** What a module reaches for. */
export interface ModuleImports {
  /** Specifiers of modules, as they stand in the source. */
  modules: string[];
  /** Paths of other files that it names relative to itself. */
  assets: string[];
  /** Names of files that it may look for beside itself, since it asks where it is. */
  beside: string[];
  /** What no list of files can cover, with its line. */
  uncovered: string[];
}

/**
 * Finds what a module reaches for.
 *
 * @param source Its text.
 * @param path Its path; the extension tells the language.
 * @returns What it reaches for. What is only there for types is left out, as it is never loaded.
 * @throws {Error} When the source cannot be parsed.
 */
export async function importsOf(source: string, path: string): Promise<ModuleImports> {
  const { parse } = await loadParser();
  const found = new Finder();
  let file: unknown;
  try {
    file = parse(source, {
      sourceType: /\.c[jt]s$/i.test(path) ? "unambiguous" : "module",
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      allowUndeclaredExports: true,
      allowSuperOutsideMethod: true,
      allowNewTargetOutsideFunction: true,
      createImportExpressions: true,
      errorRecovery: true,
      plugins: [
        "typescript",
        ...(/\.(?:tsx|jsx|js|mjs|cjs)$/i.test(path) ? ["jsx"] : []),
        "decorators",
        "decoratorAutoAccessors",
        "explicitResourceManagement",
        "sourcePhaseImports",
        "deferredImportEvaluation",
      ],
    });
  } catch (error) {
    throw new Error(`${path} cannot be parsed (${errorText(error)}), so what it imports is not known`);
  }
  if (isRecord(file)) {
    for (const comment of Array.isArray(file.comments) ? file.comments : []) found.pragma(comment);
    found.visit(file.program);
  }
  return found.result();
}

class Finder {
  readonly #modules = new Set<string>();
  readonly #assets = new Set<string>();
  readonly #strings = new Set<string>();
  readonly #uncovered = new Set<string>();
  #asksWhereItIs = false;

  result(): ModuleImports {
    return {
      modules: [...this.#modules],
      assets: [...this.#assets],
      beside: this.#asksWhereItIs ? [...this.#strings] : [],
      uncovered: [...this.#uncovered],
    };
  }

  /** `@jsxImportSource x` makes the runtime import `x/jsx-runtime`. */
  pragma(comment: unknown): void {
    const text = isRecord(comment) && typeof comment.value === "string" ? comment.value : "";
    for (const [, source] of text.matchAll(/@jsxImportSource\s+(\S+)/g)) {
      this.#modules.add(`${source}/jsx-runtime`);
      this.#modules.add(`${source}/jsx-dev-runtime`);
    }
  }

  visit(value: unknown): void {
    // A list of its own instead of recursion: source may nest deeper than the stack.
    const open: unknown[] = [value];
    while (open.length > 0) {
      const next = open.pop();
      if (Array.isArray(next)) open.push(...next);
      else if (isNode(next) && this.#enter(next)) {
        for (const [key, child] of Object.entries(next)) {
          if (typeof child === "object" && child !== null && !NO_CHILDREN.has(key)) open.push(child);
        }
      }
    }
  }

  /** Takes note of a node; whether its children are to be looked at. */
  #enter(node: Node): boolean {
    switch (node.type) {
      case "ImportDeclaration":
        if (node.importKind !== "type" && node.importKind !== "typeof") this.#module(node.source, node);
        return false;
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
        if (node.source && node.exportKind !== "type") this.#module(node.source, node);
        return true;
      case "TSImportEqualsDeclaration":
        if (isNode(node.moduleReference) && node.moduleReference.type === "TSExternalModuleReference") {
          if (node.importKind !== "type") this.#module(node.moduleReference.expression, node);
        }
        return false;
      case "TSImportType":
        return false;
      case "ImportExpression":
        this.#module(node.source, node);
        return true;
      case "CallExpression":
      case "OptionalCallExpression":
      case "NewExpression":
        this.#call(node);
        return true;
      case "MetaProperty":
        this.#asksWhereItIs = true;
        return false;
      case "Identifier":
        if (node.name === "__dirname" || node.name === "__filename") this.#asksWhereItIs = true;
        if (node.name === "eval" || node.name === "Function") this.#note(node, `\`${node.name}\` runs text as code`);
        return true;
      case "StringLiteral":
        if (typeof node.value === "string") this.#strings.add(node.value);
        return false;
      case "TemplateElement":
        return false;
      case "TemplateLiteral": {
        const text = textOf(node);
        if (text !== undefined) this.#strings.add(text);
        return true;
      }
      default:
        return true;
    }
  }

  #call(node: Node): void {
    const callee = node.callee;
    const args = Array.isArray(node.arguments) ? node.arguments as unknown[] : [];
    if (
      isIdentifier(callee, "require") || isMember(callee, "require", "resolve") || isMember(callee, "module", "require")
    ) {
      this.#module(args[0], node);
    } else if (isNode(callee) && callee.type === "CallExpression" && isCalled(callee, "createRequire")) {
      this.#module(args[0], node);
    } else if (isIdentifier(callee, "URL") && isImportMeta(args[1], "url")) {
      const text = textOf(args[0]);
      if (text === undefined) this.#note(node, "a file beside the hook whose name is computed");
      else this.#assets.add(text);
    } else if (isNode(callee) && callee.type === "MemberExpression" && isImportMeta(callee, "resolve")) {
      const text = textOf(args[0]);
      if (text === undefined) this.#note(node, "a module whose name is computed");
      else this.#modules.add(text);
    } else if (isIdentifier(callee, "Worker")) {
      const text = textOf(args[0]);
      if (text !== undefined) this.#modules.add(text);
      else if (!isRecord(args[0]) || !isIdentifier(args[0].callee, "URL")) {
        this.#note(node, "a worker whose module is computed");
      }
    }
  }

  #module(specifier: unknown, node: Node): void {
    const text = textOf(specifier);
    if (text === undefined) this.#note(node, "an import whose module is computed");
    else this.#modules.add(text);
  }

  #note(node: Node, what: string): void {
    const line = isRecord(node.loc) && isRecord(node.loc.start) ? node.loc.start.line : "?";
    this.#uncovered.add(`line ${line}: ${what}`);
  }
}

function isIdentifier(node: unknown, name: string): boolean {
  return isNode(node) && node.type === "Identifier" && node.name === name;
}

function isMember(node: unknown, object: string, property: string): boolean {
  return isNode(node) && node.type === "MemberExpression" && isIdentifier(node.object, object) &&
    isIdentifier(node.property, property);
}

function isCalled(call: Node, name: string): boolean {
  const callee = call.callee;
  return isIdentifier(callee, name) ||
    (isNode(callee) && callee.type === "MemberExpression" && isIdentifier(callee.property, name));
}

function isImportMeta(node: unknown, property: string): boolean {
  return isNode(node) && node.type === "MemberExpression" && isIdentifier(node.property, property) &&
    isNode(node.object) && node.object.type === "MetaProperty";
}

/** The text that an expression always has, or `undefined`. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  switch (node.type) {
    case "StringLiteral":
      return typeof node.value === "string" ? node.value : undefined;
    case "TemplateLiteral": {
      const [only, ...more] = node.quasis as unknown[];
      if (more.length > 0 || !isNode(only) || !isRecord(only.value)) return undefined;
      return typeof only.value.cooked === "string" ? only.value.cooked : undefined;
    }
    case "BinaryExpression": {
      if (node.operator !== "+") return undefined;
      const [left, right] = [textOf(node.left), textOf(node.right)];
      return left === undefined || right === undefined ? undefined : left + right;
    }
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "ParenthesizedExpression":
      return textOf(node.expression);
    default:
      return undefined;
  }
}
