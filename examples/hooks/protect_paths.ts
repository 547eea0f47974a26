/**
 * Keeps tools away from files: some must not be changed, some not even be read.
 *
 * What `read`, `write` and `edit` touch is checked in full. A bash command is checked for words that name a protected file,
 * which a command can get around: what must hold belongs into the sandbox that bash runs in.
 *
 * Needs no permission.
 *
 * @module
 */
import { relative, resolve } from "node:path";
import type { HookAPI } from "@xcsh/hooks";

/** Neither read nor changed. Tested against the path from the project, or the whole path of a file elsewhere. */
const SECRET = [
  /(^|\/)\.env(\.(?!example$|sample$|template$)[^/]+)?$/,
  /(^|\/)\.(ssh|aws|gnupg|kube)\//,
  /(^|\/)(id_(rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc|\.git-credentials)$/,
  /\.(pem|key|p12|pfx|keystore)$/,
];
/** Read, but not changed by hand. */
const READ_ONLY = [
  /(^|\/)\.git\//,
  /(^|\/)node_modules\//,
  /(^|\/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|deno\.lock|Cargo\.lock|go\.sum|poetry\.lock|uv\.lock)$/,
];
const CHANGES = new Set(["write", "edit"]);

/** Blocks tools that would touch a protected file. */
export default function protectPaths(pi: HookAPI): void {
  pi.on("tool_call", (event, ctx) => {
    const path = event.input.path ?? event.input.file_path;
    if (typeof path === "string") {
      const name = nameOf(path, ctx.cwd);
      if (matches(SECRET, name)) return { block: true, reason: `${name} holds secrets; work without it.` };
      if (CHANGES.has(event.toolName) && matches(READ_ONLY, name)) {
        return { block: true, reason: `${name} is not changed by hand; use the tool that makes it.` };
      }
    }
    if (event.toolName === "bash") {
      const word = String(event.input.command ?? "").split(/[\s'"`;|&<>()=]+/).find((word) =>
        word !== "" && matches(SECRET, nameOf(word, ctx.cwd))
      );
      if (word !== undefined) {
        return { block: true, reason: `The command names ${word}, which holds secrets; work without it.` };
      }
    }
  });
}

function nameOf(path: string, cwd: string): string {
  const full = path.startsWith("~") ? path : resolve(cwd, path.replace(/^@/, ""));
  const inside = relative(cwd, full);
  return (path.startsWith("~") || inside.startsWith("..") ? full : inside).replaceAll("\\", "/");
}

function matches(patterns: readonly RegExp[], name: string): boolean {
  return patterns.some((pattern) => pattern.test(name));
}
