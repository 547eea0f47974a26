/**
 * The packages of other hosts that hooks import, and what stands in for them here.
 *
 * @module
 */

/** Name of a module in `stand_ins/`. */
export type StandIn =
  | "pi_coding_agent"
  | "pi_tui"
  | "pi_ai"
  | "pi_agent_core"
  | "typebox"
  | "typebox_value"
  | "typebox_compiler";

/** The package from npm that draws the chat, and that hooks get which need more of pi-tui than its stand-in has. Pinned. */
export const PI_TUI = "npm:@mariozechner/pi-tui@0.73.1";

/** A package from npm of which hooks may need more than its stand-in has. */
export type Package = "pi_tui" | "typebox" | "sinclair_typebox";

/** Where each package comes from. Pinned, since what is laid beside an isolated hook is checked. */
export const PACKAGES: { readonly [P in Package]: string } = {
  pi_tui: PI_TUI,
  typebox: "npm:typebox@1.4.3",
  sinclair_typebox: "npm:@sinclair/typebox@0.34.52",
};

/** A module of a package: `/value` of `typebox/value`, and nothing of `typebox`. */
export interface PackagePath {
  /** The package. */
  name: Package;
  /** The module in it. */
  path: string;
}

const SCOPES = "@(?:f5-sales-demo|oh-my-pi|mariozechner|earendil-works)";
const HOST = new RegExp(`^(?:npm:)?${SCOPES}/(xcsh|pi-coding-agent|pi-tui|pi-ai|pi-agent-core)(?:@[^/]*)?(?:/(.*))?$`);
const TYPEBOX = /^(?:npm:)?(@sinclair\/)?typebox(?:@[^/]*)?(?:\/(.*))?$/;
const OWN = /^(?:jsr:)?@xcsh\/hooks(?:@[^/]*)?(?:\/.*)?$/;

/**
 * Finds what stands in for a module of another host.
 *
 * @param specifier What a hook imports.
 * @returns The stand-in, or `undefined` when none is known under that name.
 */
export function standInFor(specifier: string): StandIn | undefined {
  if (OWN.test(specifier)) return "pi_coding_agent";
  const host = HOST.exec(specifier);
  if (host !== null) {
    const name = host[1]!;
    return name === "xcsh" ? "pi_coding_agent" : name.replaceAll("-", "_") as StandIn;
  }
  const typebox = TYPEBOX.exec(specifier);
  if (typebox === null) return undefined;
  const path = typebox[2] ?? "";
  if (/^value\b/.test(path)) return "typebox_value";
  if (/^(?:compiler|compile)\b/.test(path)) return "typebox_compiler";
  return path === "" || path === "type" ? "typebox" : undefined;
}

/** Finds the package from npm that a hook means, where it means one. */
export function packageOf(specifier: string): PackagePath | undefined {
  if (HOST.exec(specifier)?.[1] === "pi-tui") return { name: "pi_tui", path: "" };
  const typebox = TYPEBOX.exec(specifier);
  if (typebox === null) return undefined;
  const name = typebox[1] === undefined ? "typebox" : "sinclair_typebox";
  return { name, path: typebox[2] === undefined ? "" : `/${typebox[2]}` };
}

/** Whether a name looks like a package of one of the hosts: one that we have no stand-in for, or one that was made up. */
export function isHostPackage(specifier: string): boolean {
  return new RegExp(
    `^(?:npm:)?${SCOPES}/|^(?:npm:)?@?(?:xcsh|pi|omp|oh-my-pi)(?:-(?:hooks?|coding-agent|sdk|api))?(?:/|$)`,
  )
    .test(specifier);
}

const BUILT_IN = new Set(
  ("assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http " +
    "http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys " +
    "timers tls tty url util v8 vm wasi worker_threads zlib").split(" "),
);

/** Whether a name is that of a built-in module of Node without `node:`, such as `fs/promises`. */
export function isBareBuiltIn(specifier: string): boolean {
  return BUILT_IN.has(specifier.replace(/\/.*$/, ""));
}
