/**
 * The text that an expression comes to, as far as the source tells.
 *
 * @module
 */

import { dirname, join, resolve, toFileUrl } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { fullName, type Scope } from "./scope.ts";
import { bare, isNode, keyOf, listOf, nameOf, type Node } from "./syntax.ts";

/** What is known of a text. */
export interface Known {
  /** The text, or how it begins. */
  text: string;
  /** Whether more follows that is not known. */
  open: boolean;
}

/** Where an expression stands. */
export interface TextScope {
  /** The names of its module. */
  scope: Scope;
  /** Its file, absolute. */
  file: string;
  /** The project's folder. */
  project: string;
}

const UNKNOWN: Known = { text: "", open: true };
const MAX_DEPTH = 20;

/** Tells what an expression comes to. */
export function knownText(given: unknown, at: TextScope, depth = 0): Known {
  const node = bare(given);
  if (node === undefined || depth > MAX_DEPTH) return UNKNOWN;
  const next = (value: unknown) => knownText(value, at, depth + 1);
  switch (node.type) {
    case "StringLiteral":
      return closed(String(node.value));
    case "TemplateLiteral": {
      const parts: unknown[] = [];
      listOf(node.quasis).forEach((quasi, i) => {
        parts.push(closed(isNode(quasi) ? cooked(quasi) : ""), listOf(node.expressions)[i]);
      });
      return concat(parts.filter((part) => part !== undefined), next);
    }
    case "BinaryExpression":
      return node.operator === "+" ? concat([node.left, node.right], next) : UNKNOWN;
    case "Identifier": {
      const name = nameOf(node)!;
      if (name === "__dirname") return closed(dirname(at.file));
      if (name === "__filename") return closed(at.file);
      const value = at.scope.values.get(name);
      return value === undefined || value === node ? UNKNOWN : next(value);
    }
    case "MemberExpression":
      return member(node, at, next);
    case "CallExpression":
    case "OptionalCallExpression":
    case "NewExpression":
      return call(node, at, next);
    default:
      return UNKNOWN;
  }
}

function closed(text: string): Known {
  return { text, open: false };
}

function cooked(quasi: Node): string {
  const value = quasi.value as { cooked?: unknown } | undefined;
  return typeof value?.cooked === "string" ? value.cooked : "";
}

function concat(parts: readonly unknown[], next: (part: unknown) => Known): Known {
  let text = "";
  for (const part of parts) {
    const known = typeof part === "object" && part !== null && "open" in part && "text" in part
      ? part as Known
      : next(part);
    text += known.text;
    if (known.open) return { text, open: true };
  }
  return closed(text);
}

function member(node: Node, at: TextScope, next: (part: unknown) => Known): Known {
  const key = keyOf(node);
  if (isNode(node.object) && node.object.type === "MetaProperty") {
    if (key === "url") return closed(toFileUrl(at.file).href);
    if (key === "dirname" || key === "dir") return closed(dirname(at.file));
    if (key === "filename" || key === "path") return closed(at.file);
  }
  // `ctx.cwd`; a `cwd` of anything else would mean the same.
  if (key === "cwd") return closed(at.project);
  if (key === "pathname" || key === "href") return next(node.object);
  return UNKNOWN;
}

function call(node: Node, at: TextScope, next: (part: unknown) => Known): Known {
  const args = listOf(node.arguments);
  const callee = bare(node.callee);
  const name = fullName(callee, at.scope) ?? "";
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (name === "URL" && node.type === "NewExpression") {
    return url(next(args[0]), args[1] === undefined ? undefined : next(args[1]));
  }
  if (name === "Deno.cwd" || name === "process.cwd") return closed(at.project);
  if (name === "os.homedir") return home();
  if (name === "Deno.env.get") {
    const variable = next(args[0]);
    return variable.text === "HOME" && !variable.open ? home() : UNKNOWN;
  }
  if (last === "fileURLToPath" || last === "fromFileUrl" || last === "String" || last === "normalize") {
    return next(args[0]);
  }
  if (last === "dirname") {
    const path = next(args[0]);
    return path.open ? path : closed(dirname(path.text));
  }
  if ((last === "join" || last === "resolve") && /path/.test(name)) {
    let path = last === "resolve" ? at.project : "";
    for (const arg of args) {
      const part = next(arg);
      if (part.text !== "") path = last === "join" ? join(path, part.text) : resolve(path, part.text);
      if (part.open) return { text: path === "" || part.text !== "" ? path : `${path}/`, open: true };
    }
    return closed(path);
  }
  return UNKNOWN;
}

function home(): Known {
  const path = homeDirectory();
  return path === "" ? UNKNOWN : closed(path);
}

function url(given: Known, base: Known | undefined): Known {
  if (base?.open) return UNKNOWN;
  try {
    return { text: new URL(given.text, base?.text).href, open: given.open };
  } catch {
    return given;
  }
}
