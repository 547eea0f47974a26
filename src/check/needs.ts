/**
 * What a module's code visibly needs: calls that ask for a permission, and what they are given.
 *
 * @module
 */

import { dirname, fromFileUrl, isAbsolute, resolve } from "@std/path";
import type { PermissionKind } from "../isolation/grants.ts";
import { fullName } from "./scope.ts";
import { bare, isNode, keyOf, listOf, nameOf, type Node, type Place, placeOf, propertyOf, walk } from "./syntax.ts";
import { knownText, type TextScope } from "./text.ts";

/** Something that code needs. */
export interface Need extends Place {
  /** What kind of permission. */
  kind: PermissionKind | "exec";
  /**
   * What for: an absolute path, a host, a variable, a program, a command line. Absent when the code makes it up as it runs.
   */
  value?: string;
  /** Whether `value` is the folder of a path whose rest the code makes up. */
  folder?: boolean;
  /** Whether it asks for all there is, such as every variable. */
  all?: boolean;
  /** The call, such as `Deno.readTextFile`. */
  call: string;
}

type Reach = readonly [kind: PermissionKind, argument: number];

const DENO: Readonly<Record<string, readonly Reach[]>> = {
  ...all(["readTextFile", "readFile", "readDir", "stat", "lstat", "realPath", "readLink", "watchFs"], [["read", 0]]),
  ...all(["writeTextFile", "writeFile", "mkdir", "remove", "truncate", "create", "chmod", "chown", "utime"], [
    ["write", 0],
  ]),
  ...all(["rename", "link"], [["read", 0], ["write", 0], ["write", 1]]),
  ...all(["symlink"], [["write", 1]]),
  ...all(["copyFile"], [["read", 0], ["write", 1]]),
  ...all(["makeTempDir", "makeTempFile"], [["write", -1]]),
  ...all(["chdir"], [["read", 0]]),
  ...all(["dlopen"], [["ffi", 0]]),
};

const FS: Readonly<Record<string, readonly Reach[]>> = {
  ...all(
    [
      ..."readFile readdir stat lstat realpath readlink access exists opendir watch watchFile createReadStream statfs"
        .split(" "),
    ],
    [["read", 0]],
  ),
  ...all(
    [
      ..."writeFile appendFile mkdir rm rmdir unlink truncate chmod chown utimes createWriteStream lutimes lchown"
        .split(" "),
    ],
    [["write", 0]],
  ),
  ...all(["rename", "link"], [["read", 0], ["write", 0], ["write", 1]]),
  ...all(["copyFile", "cp"], [["read", 0], ["write", 1]]),
  ...all(["symlink"], [["write", 1]]),
  ...all(["mkdtemp"], [["write", 0]]),
};

const SYS: ReadonlySet<string> = new Set([
  "Deno.hostname",
  "Deno.osRelease",
  "Deno.osUptime",
  "Deno.loadavg",
  "Deno.networkInterfaces",
  "Deno.systemMemoryInfo",
  "Deno.uid",
  "Deno.gid",
  "os.hostname",
  "os.cpus",
  "os.loadavg",
  "os.networkInterfaces",
  "os.homedir",
  "os.userInfo",
]);
const STARTS = /^child_process\.(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|fork)$/;

function all(names: readonly string[], reach: readonly Reach[]): Record<string, readonly Reach[]> {
  return Object.fromEntries(names.flatMap((name) => [[name, reach], [`${name}Sync`, reach]]));
}

/**
 * Finds what a module's code visibly needs.
 *
 * @param program The module.
 * @param at Where it stands.
 * @param apis The names by which it calls the hook API.
 * @returns What it needs, in the order of the source.
 */
export function needsOf(program: Node, at: TextScope, apis: ReadonlySet<string>): Need[] {
  const needs: Need[] = [];
  const add = (node: Node, kind: Need["kind"], call: string, value?: string, extent?: "folder" | "all") =>
    void needs.push({
      kind,
      call,
      ...(value === undefined ? {} : { value }),
      ...(extent === undefined ? {} : { [extent]: true }),
      ...placeOf(node, at.file),
    });
  const path = (node: Node, kind: PermissionKind, call: string, argument: unknown) => {
    const known = pathOf(argument, at);
    add(node, kind, call, known?.path, known?.folder ? "folder" : undefined);
  };
  walk(program, (node) => {
    if (node.type === "MemberExpression" || node.type === "OptionalMemberExpression") {
      const object = fullName(node.object, at.scope);
      if (object === "process.env") {
        const variable = keyOf(node) ?? (node.computed ? textOf(node.property, at) : undefined);
        add(node, "env", "process.env", variable);
        return true;
      }
    }
    if (node.type === "SpreadElement" && fullName(node.argument, at.scope) === "process.env") {
      add(node, "env", "process.env", undefined, "all");
      return false;
    }
    if (!/^(?:Call|OptionalCall|New)Expression$/.test(node.type)) return true;
    const args = listOf(node.arguments);
    const name = fullName(node.callee, at.scope);
    if (name === undefined) return true;
    const [module = "", ...rest] = name.split(".");
    const member = rest.join(".");
    if (apis.has(module) && member === "exec") {
      add(node, "exec", `${module}.exec`, execLine(args, at));
    } else if (module === "Deno" || module === "fs" || module === "fs/promises") {
      const table = module === "Deno" ? DENO : FS;
      for (const [kind, index] of Object.hasOwn(table, member) ? table[member]! : []) {
        path(node, kind, name, index < 0 ? undefined : args[index]);
      }
      if (member === "open" || member === "openSync") {
        for (const kind of openKinds(args[1])) path(node, kind, name, args[0]);
      }
      denoNeeds(node, name, args, at, add);
    } else if (STARTS.test(name)) {
      const line = textOf(args[0], at);
      add(node, "run", name, /\.exec(?:Sync)?$/.test(name) ? "sh" : member === "fork" ? "deno" : line);
    } else if (name === "fetch" || name === "WebSocket" || name === "EventSource") {
      add(node, "net", name, hostOf(knownText(args[0], at)));
    } else if (/^(?:net|tls)\.(?:connect|createConnection)$|^(?:https?)\.(?:get|request|createServer)$/.test(name)) {
      add(node, "net", name, /^https?\./.test(name) ? hostOf(knownText(args[0], at)) : undefined);
    } else if (module === "dns" || module === "dns/promises") {
      add(node, "net", name);
    } else if (SYS.has(name)) {
      add(node, "sys", name, member);
    } else if (name === "process.kill") {
      add(node, "run", name);
    }
    return true;
  });
  return needs;
}

type Add = (node: Node, kind: Need["kind"], call: string, value?: string, extent?: "folder" | "all") => void;

function denoNeeds(node: Node, name: string, args: readonly unknown[], at: TextScope, add: Add): void {
  switch (name) {
    case "Deno.env.get":
    case "Deno.env.has":
    case "Deno.env.set":
    case "Deno.env.delete":
      return add(node, "env", name, textOf(args[0], at));
    case "Deno.env.toObject":
      return add(node, "env", name, undefined, "all");
    case "Deno.Command":
      return add(node, "run", name, textOf(args[0], at));
    case "Deno.kill":
      return add(node, "run", name);
    case "Deno.connect":
    case "Deno.connectTls":
    case "Deno.listen":
    case "Deno.listenTls":
    case "Deno.listenDatagram": {
      const host = textOf(propertyOf(args[0], "hostname"), at) ?? (/listen/.test(name) ? "0.0.0.0" : "127.0.0.1");
      const port = propertyOf(args[0], "port");
      const known = port?.type === "NumericLiteral" && bare(args[0])?.type === "ObjectExpression";
      return add(node, "net", name, known ? `${host}:${port.value}` : undefined);
    }
    case "Deno.serve":
    case "Deno.resolveDns":
      return add(node, "net", name);
  }
  if (SYS.has(name)) add(node, "sys", name, name.slice("Deno.".length));
}

/** The text of an expression that the source tells whole. */
function textOf(node: unknown, at: TextScope): string | undefined {
  const known = knownText(node, at);
  return known.open || known.text === "" ? undefined : known.text;
}

function pathOf(node: unknown, at: TextScope): { path: string; folder: boolean } | undefined {
  const { text, open } = knownText(node, at);
  let path = text;
  if (/^file:/i.test(text)) {
    try {
      path = fromFileUrl(text);
    } catch {
      return undefined;
    }
  }
  if (path === "" || path.includes("\0") || /^[a-z]{2,}:/i.test(path)) return undefined;
  if (!open) return { path: isAbsolute(path) ? path : resolve(at.project, path), folder: false };
  // Only whole folders are known of a path whose rest is not.
  const folder = /[/\\]$/.test(path) ? path : dirname(path);
  if (folder === "." && !/^\.[/\\]/.test(path)) return undefined;
  return { path: resolve(at.project, folder), folder: true };
}

function hostOf({ text, open }: { text: string; open: boolean }): string | undefined {
  const match = /^(?:https?|wss?):\/\/(?:[^@/]*@)?([^/?#]+)([/?#])?/i.exec(text);
  if (match === null || (open && match[2] === undefined)) return undefined;
  return match[1];
}

function openKinds(options: unknown): PermissionKind[] {
  const node = bare(options);
  if (node === undefined) return ["read"];
  if (node.type === "StringLiteral") {
    const flags = String(node.value);
    return flags.startsWith("r") ? flags.includes("+") ? ["read", "write"] : ["read"] : ["write"];
  }
  const has = (name: string) => {
    const value = propertyOf(node, name);
    return value?.type === "BooleanLiteral" && value.value === true;
  };
  const kinds: PermissionKind[] = [];
  if (has("read")) kinds.push("read");
  if (["write", "append", "create", "createNew", "truncate"].some(has)) kinds.push("write");
  return kinds;
}

/** The command line of a `pi.exec`, as a grant would name it; absent when its program is not known. */
function execLine([command, given]: readonly unknown[], at: TextScope): string | undefined {
  const program = textOf(command, at);
  if (program === undefined) return undefined;
  let list = bare(given);
  const name = nameOf(list);
  if (name !== undefined) list = bare(at.scope.values.get(name));
  if (list?.type !== "ArrayExpression") return `${quote(program)} ...`;
  const words = [quote(program)];
  for (const item of listOf(list.elements)) {
    if (!isNode(item) || item.type === "SpreadElement") return [...words, "..."].join(" ");
    const text = knownText(item, at);
    if (text.open && text.text.startsWith("-")) return [...words, "..."].join(" ");
    words.push(text.open ? "*" : quote(text.text));
  }
  return words.join(" ");
}

/** Writes a word so that a grant reads it as one. */
export function quote(word: string): string {
  if (word !== "" && !/[\s"']/.test(word)) return word;
  if (!word.includes('"')) return `"${word}"`;
  return word.includes("'") ? word.split('"').map((part) => `"${part}"`).join(`'"'`) : `'${word}'`;
}
