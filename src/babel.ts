/**
 * Babel's parser, and what all who read its trees need. Kept out of the module graph, so that only who reads a hook without
 * running it needs npm. A full parser, since what a scanner of tokens overlooks (a regular expression that looks like a comment, a
 * JSX pragma) would be code that nobody approved.
 *
 * @module
 */

import { isRecord } from "./values.ts";

/** The package. Pinned, since it decides what an approval covers. */
export const PARSER = "npm:@babel/parser@7.28.5";

/** A node of a syntax tree. */
export type Node = Record<string, unknown> & { type: string };

interface Parser {
  parse(code: string, options: Record<string, unknown>): unknown;
}

let parser: Promise<Parser> | undefined;

/** Loads the parser, once; a failure is not kept, since the network may be back the next time. */
export function loadParser(): Promise<Parser> {
  return parser ??= (import(PARSER) as Promise<Parser>).catch((error) => {
    parser = undefined;
    throw error;
  });
}

/** Whether a value is a node. */
export function isNode(value: unknown): value is Node {
  return isRecord(value) && typeof value.type === "string";
}

/** Children that never run: comments, places, and types, which are erased before anything runs. */
export const NO_CHILDREN: ReadonlySet<string> = new Set([
  "loc",
  "leadingComments",
  "trailingComments",
  "innerComments",
  "extra",
  "errors",
  "tokens",
  "typeAnnotation",
  "returnType",
  "typeParameters",
  "typeArguments",
  "superTypeParameters",
  "implements",
]);
