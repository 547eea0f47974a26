/**
 * Hooks of Claude Code.
 *
 * @module
 */

import { join } from "@std/path";
import type { LoadContext, Provider } from "./capability.ts";
import { findHooks } from "./folder.ts";
import type { HookItem } from "./hook_item.ts";
import { findCommands, settingsFiles } from "./settings.ts";

/** Finds hooks in `.claude/hooks` of the project and of the person, and the commands that their settings name. */
export const claudeProvider: Provider<HookItem> = {
  id: "claude",
  displayName: "Claude Code",
  description: "Reads .claude/hooks and .claude/settings.json of the project and of the person.",
  priority: 80,
  load(context: LoadContext) {
    const { cwd, home } = context;
    const found = findHooks(this.id, [
      { path: join(cwd, ".claude", "hooks"), level: "project" },
      ...home === "" ? [] : [{ path: join(home, ".claude", "hooks"), level: "user" as const }],
    ], context);
    const commands = findCommands(this.id, settingsFiles(context), context);
    // What a settings file starts is a program, even if its name looks like a module's. A file of the project says so of the
    // project's own alone: it must not switch off a hook of the person.
    const started = { user: "", project: "" };
    for (const { level, command } of commands.items) {
      if (command !== undefined) started[level] += `${command.command}\n`;
    }
    const items = found.items.filter(({ kind, level, name, tool }) =>
      kind !== "module" || tool !== "*" || !started[level].includes(name)
    );
    return { items: [...items, ...commands.items], warnings: [...found.warnings, ...commands.warnings] };
  },
};
