/**
 * What a hook uses of an API that this one lacks.
 *
 * @module
 */

import { isFunction, isNode, keyOf, listOf, nameOf, type Node, type Place, placeOf, walk } from "../check/syntax.ts";
import { HookRunner } from "../runner.ts";
import { createHook, silentLogger } from "../hook.ts";
import { SessionManager } from "../session/store.ts";
import { createNoOpUIContext } from "../ui/noop.ts";

/** A member that a hook uses and that there is not. */
export interface Lacking extends Place {
  /** The member, such as `pi.setModel`. */
  name: string;
}

/** Names of everything that hooks find. */
interface Known {
  readonly pi: ReadonlySet<string>;
  readonly ctx: ReadonlySet<string>;
  readonly ui: ReadonlySet<string>;
}

let known: Known | undefined;

/** Taken from the real thing, so that it cannot differ from it. */
function knownNames(): Known {
  if (known !== undefined) return known;
  const { api, hook } = createHook({
    path: "",
    resolvedPath: "",
    logger: silentLogger,
    warn() {},
    exec: () => Promise.reject(new Error("not run")),
  });
  const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
  const runner = new HookRunner([hook], "/", SessionManager.inMemory("/"), models);
  const context = hook.extendContext!(runner.createCommandContext());
  return known = {
    pi: new Set(Object.getOwnPropertyNames(api)),
    ctx: new Set(Object.getOwnPropertyNames(context)),
    ui: new Set(Object.keys(createNoOpUIContext())),
  };
}

/**
 * Finds what a module uses of `pi`, `ctx` and `ctx.ui` that there is not.
 *
 * @param program The module.
 * @param file Its path.
 * @returns Each member once, where it is used first.
 */
export function lackingIn(program: Node, file: string): Lacking[] {
  const names = knownNames();
  const contexts = contextNames(program);
  const found = new Map<string, Lacking>();
  const check = (node: Node, owner: "pi" | "ctx" | "ui", member: string | undefined) => {
    const name = `${owner === "ui" ? "ctx.ui" : owner}.${member}`;
    if (member === undefined || names[owner].has(member) || found.has(name) || member in Object.prototype) return;
    found.set(name, { name, ...placeOf(node, file) });
  };
  walk(program, (node) => {
    if (node.type !== "MemberExpression" && node.type !== "OptionalMemberExpression") return true;
    const object = isNode(node.object) ? node.object : undefined;
    const owner = nameOf(object);
    if (owner === "pi") check(node, "pi", keyOf(node));
    else if (owner !== undefined && contexts.has(owner)) check(node, "ctx", keyOf(node));
    else if (object !== undefined && /MemberExpression$/.test(object.type) && keyOf(object) === "ui") {
      if (contexts.has(nameOf(object.object) ?? "")) check(node, "ui", keyOf(node));
    }
    return true;
  });
  return [...found.values()];
}

/** The names by which a module calls the contexts that it gets. */
function contextNames(program: Node): Set<string> {
  const names = new Set(["ctx"]);
  walk(program, (node) => {
    if (!/CallExpression$/.test(node.type)) return true;
    const callee = isNode(node.callee) && /MemberExpression$/.test(node.callee.type) ? node.callee : undefined;
    if (callee === undefined || keyOf(callee) !== "on" || nameOf(callee.object) !== "pi") return true;
    const handler = listOf(node.arguments)[1];
    const name = isNode(handler) && isFunction(handler) ? nameOf(listOf(handler.params)[1]) : undefined;
    if (name !== undefined) names.add(name);
    return true;
  });
  return names;
}
