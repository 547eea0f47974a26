/**
 * The syntax tree of a hook's module, and what can be told of a single expression.
 *
 * @module
 */

import { isNode, loadParser, NO_CHILDREN, type Node, PARSER } from "../babel.ts";
import { errorText, isRecord } from "../values.ts";

export { isNode, type Node };

/** A place in a file. */
export interface Place {
  /** The file, absolute. */
  file: string;
  /** The line, counted from 1. */
  line: number;
  /** The column, counted from 1. */
  column: number;
}

/** A source that is no module; its text says where and why. */
export class SyntaxFault extends Error {
  /** Tells it from other errors. */
  override name = "SyntaxFault";

  /**
   * @param message What is wrong.
   * @param place Where.
   */
  constructor(message: string, readonly place: Place) {
    super(message);
  }
}

/**
 * Parses a module.
 *
 * @param source Its text.
 * @param file Its absolute path; the extension tells the language.
 * @returns Its program.
 * @throws {SyntaxFault} When it is no module.
 */
export async function parseModule(source: string, file: string): Promise<Node> {
  const { parse } = await loadParser().catch((error) => {
    throw new Error(`reading a hook without running it needs ${PARSER}, which cannot be had: ${errorText(error)}`);
  });
  let tree: unknown;
  try {
    tree = parse(source, {
      sourceType: "module",
      createImportExpressions: true,
      plugins: [
        "typescript",
        ...(/\.(?:tsx|jsx|js|mjs|cjs)$/i.test(file) ? ["jsx"] : []),
        "decorators",
        "decoratorAutoAccessors",
        "explicitResourceManagement",
      ],
    });
  } catch (error) {
    const loc = isRecord(error) && isRecord(error.loc) ? error.loc : {};
    throw new SyntaxFault(errorText(error).replace(/ \(\d+:\d+\)$/, "").split("\n")[0]!, {
      file,
      line: Number(loc.line ?? 1),
      column: Number(loc.column ?? 0) + 1,
    });
  }
  if (isRecord(tree) && isNode(tree.program)) return tree.program;
  throw new Error(`${PARSER} gave no program for ${file}`);
}

/** Where a node begins. */
export function placeOf(node: Node, file: string): Place {
  const start = isRecord(node.loc) && isRecord(node.loc.start) ? node.loc.start : {};
  return { file, line: Number(start.line ?? 1), column: Number(start.column ?? 0) + 1 };
}

/**
 * Visits the nodes below a value in the order of the source, types left out.
 *
 * @param root Where to begin.
 * @param enter Told of each node; answers whether its children are to be visited.
 */
export function walk(root: unknown, enter: (node: Node) => boolean): void {
  // A list of its own instead of recursion: source may nest deeper than the stack.
  const open: unknown[] = [root];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) {
      for (let i = next.length - 1; i >= 0; i--) open.push(next[i]);
    } else if (isNode(next) && enter(next)) {
      const children = Object.entries(next)
        .filter(([key, child]) => typeof child === "object" && child !== null && !NO_CHILDREN.has(key))
        .map(([, child]) => child);
      for (let i = children.length - 1; i >= 0; i--) open.push(children[i]);
    }
  }
}

/** Takes away what does not change a value: parentheses, `as`, `satisfies`, `!`, `await`. */
export function bare(node: unknown): Node | undefined {
  let inner = node;
  while (
    isNode(inner) &&
    /^(?:ParenthesizedExpression|TSAsExpression|TSSatisfiesExpression|TSNonNullExpression|TSTypeAssertion|TSInstantiationExpression|AwaitExpression)$/
      .test(inner.type)
  ) inner = inner.type === "AwaitExpression" ? inner.argument : inner.expression;
  return isNode(inner) ? inner : undefined;
}

/** Whether a node is a function. */
export function isFunction(node: unknown): node is Node {
  return isNode(node) &&
    (node.type === "FunctionDeclaration" || node.type === "FunctionExpression" ||
      node.type === "ArrowFunctionExpression");
}

/** The name of an identifier. */
export function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === "Identifier" && typeof node.name === "string" ? node.name : undefined;
}

/** The key of a property or a member, when the source tells it. */
export function keyOf(node: Node): string | undefined {
  const key = node.type === "MemberExpression" || node.type === "OptionalMemberExpression" ? node.property : node.key;
  if (!isNode(key)) return undefined;
  if (node.computed !== true && key.type === "Identifier") return String(key.name);
  return key.type === "StringLiteral" || key.type === "NumericLiteral" ? String(key.value) : undefined;
}

/** The items of a list in a node. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The property of an object literal that has a name. */
export function propertyOf(object: unknown, name: string): Node | undefined {
  const node = bare(object);
  if (node?.type !== "ObjectExpression") return undefined;
  const found = listOf(node.properties).find((property) =>
    isNode(property) && property.type === "ObjectProperty" && keyOf(property) === name
  );
  return isNode(found) && isNode(found.value) ? found.value : undefined;
}
