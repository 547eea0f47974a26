/**
 * Hooks for coding agents: types, loader, runner, tool wrapper and program execution.
 *
 * @example Load hooks and put a tool behind them
 * ```ts
 * import { HookRunner, HookToolWrapper, loadHooks, type Tool } from "@xcsh/hooks";
 * import { SessionManager } from "@xcsh/hooks/session";
 *
 * const { hooks, errors } = await loadHooks(["./examples/hooks/block_unsafe_bash.ts"], Deno.cwd());
 * for (const { path, error } of errors) console.error(`${path}: ${error}`);
 *
 * const models = { getAvailable: () => [], find: () => undefined, getApiKey: () => Promise.resolve(undefined) };
 * const runner = new HookRunner(hooks, Deno.cwd(), SessionManager.inMemory(Deno.cwd()), models);
 * const echo: Tool = { name: "echo", execute: () => Promise.resolve({ content: [{ type: "text", text: "hi" }] }) };
 * await new HookToolWrapper(echo, runner).execute("1", {});
 * ```
 *
 * @module
 */

export type { CommandInfo, ContextUsage, HookActions, ToolInfo, WidgetContent, WidgetOptions } from "./src/actions.ts";
export * from "./src/api.ts";
export type { HookEventBus } from "./src/bus.ts";
export * from "./src/discovery/mod.ts";
export * from "./src/entries.ts";
export * from "./src/events.ts";
export { execCommand, ExecError, handleSignalsInHost } from "./src/exec.ts";
export * from "./src/hook.ts";
export {
  type Grant,
  GrantError,
  type HookPermissions,
  mergeGrants,
  parseGrants,
  type PermissionKind,
} from "./src/isolation/grants.ts";
export type { IsolationLimits } from "./src/isolation/host.ts";
export type { IsolationOptions } from "./src/isolation/load.ts";
export * from "./src/loader.ts";
export * from "./src/messages.ts";
export { resolveHookPath } from "./src/paths.ts";
export * from "./src/runner.ts";
export * from "./src/tool.ts";
export * from "./src/tool_wrapper.ts";
export * from "./src/trust/mod.ts";
export { createNoOpUIContext, plainTheme } from "./src/ui/noop.ts";
export { formatStatusLine } from "./src/ui/status_line.ts";
