/**
 * The names that tools have here and in Claude Code.
 *
 * @module
 */

/** Our tools, and what Claude Code calls the tool that does the same; the first name is the one that is told. */
export const CLAUDE_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ["bash", ["Bash"]],
  ["read", ["Read"]],
  ["write", ["Write"]],
  ["edit", ["Edit", "MultiEdit"]],
  ["grep", ["Grep"]],
  ["find", ["Glob"]],
  ["ls", ["LS"]],
  ["fetch", ["WebFetch"]],
  ["web_search", ["WebSearch"]],
  ["task", ["Task"]],
]);

/** Tools of Claude Code that have no counterpart here. */
const OTHERS = ["NotebookEdit", "NotebookRead", "TodoWrite", "ExitPlanMode", "BashOutput", "KillShell", "SlashCommand"];

/** Every name that a matcher may reasonably hold. */
export const KNOWN_TOOLS: readonly string[] = [...CLAUDE_TOOLS.keys(), ...[...CLAUDE_TOOLS.values()].flat(), ...OTHERS];

/** All names of a tool of ours, its own first. */
export function namesOf(tool: string): readonly string[] {
  return [tool, ...CLAUDE_TOOLS.get(tool) ?? []];
}
