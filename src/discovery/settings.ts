/**
 * Finds the commands that settings files name as hooks.
 *
 * @module
 */

import { basename, dirname, join } from "@std/path";
import { readHookSettings } from "../shell/settings.ts";
import { errorText } from "../values.ts";
import type { LoadContext, ProviderResult } from "./capability.ts";
import type { HookItem } from "./hook_item.ts";
import { realPathOf } from "./scan.ts";

/** A file that may name commands. */
export interface SettingsFile {
  /** The file; it need not exist. */
  path: string;
  /** Whose it is. */
  level: HookItem["level"];
  /** The plugin that it belongs to. */
  pluginRoot?: string;
}

/** The settings files of Claude Code: the project's, and the person's. */
export function settingsFiles({ cwd, home }: LoadContext): SettingsFile[] {
  return [
    // In one's home, the project's file is one's own.
    ...cwd === home ? [] : [{ path: join(cwd, ".claude", "settings.json"), level: "project" as const }],
    { path: join(cwd, ".claude", "settings.local.json"), level: "project" },
    ...home === "" ? [] : [{ path: join(home, ".claude", "settings.json"), level: "user" as const }],
  ];
}

/**
 * Finds commands in settings files, in their order.
 *
 * @param provider Id of the provider that asks.
 * @param files The files.
 * @param context What the provider was given.
 * @returns One item a command. None of them ever shadows another one.
 */
export function findCommands(
  provider: string,
  files: readonly SettingsFile[],
  context: LoadContext,
): Required<ProviderResult<HookItem>> {
  const items: HookItem[] = [];
  const warnings: string[] = [];
  for (const { path, level, pluginRoot } of files) {
    const warn = (warning: string) => void (context.commandsRun && warnings.push(warning));
    try {
      const text = context.scanner.text(path);
      if (text === undefined) continue;
      const settings = readHookSettings(text);
      for (const warning of settings.warnings) warn(`${path}: ${warning}`);
      const realPath = realPathOf(path);
      for (const { place, hook, fault } of settings.commands) {
        const off = settings.off ? "the file switches its hooks off (disableAllHooks)" : undefined;
        const why = fault ?? off;
        items.push({
          // A folder of its own name tells apart the files of one name.
          name: `${level}/${basename(dirname(path))}/${basename(path)}#${place}`,
          path: `${path}#${place}`,
          realPath: `${realPath}#${place}`,
          type: place.startsWith("Post") ? "post" : "pre",
          tool: hook?.matcher || "*",
          level,
          kind: "command",
          _source: { provider, path, level },
          ...(hook === undefined ? {} : { command: hook }),
          ...(pluginRoot === undefined ? {} : { pluginRoot }),
          ...(why === undefined || !context.commandsRun ? {} : { fault: `${place}: ${why}` }),
        });
      }
    } catch (error) {
      const text = errorText(error);
      warn(text.startsWith(path) ? text : `${path} ${text}`);
    }
  }
  return { items, warnings };
}
