/**
 * Hooks of plugins.
 *
 * @module
 */

import { isAbsolute, join, resolve } from "@std/path";
import { errorText, isRecord } from "../values.ts";
import type { LoadContext, Provider } from "./capability.ts";
import { findHooks } from "./folder.ts";
import type { HookItem } from "./hook_item.ts";
import { findCommands } from "./settings.ts";

interface Plugin {
  readonly id: string;
  readonly root: string;
  readonly level: HookItem["level"];
}

/** Finds hooks in the roots of plugins: those that the person named, then those that the project's and the person's lists name. */
export const pluginsProvider: Provider<HookItem> = {
  id: "plugins",
  displayName: "Plugins",
  description: "Reads hooks/ in the folders of --plugin-dir and of installed_plugins.json.",
  priority: 70,
  load(context: LoadContext) {
    const { cwd, home } = context;
    const warnings: string[] = [];
    const plugins: Plugin[] = context.pluginDirs.map((dir) => ({
      id: resolve(cwd, dir),
      root: resolve(cwd, dir),
      level: "user",
    }));
    const lists: Array<[string, HookItem["level"]]> = [[join(cwd, ".xcsh", "plugins", LIST), "project"]];
    if (home !== "") {
      lists.push([join(home, ".xcsh", "plugins", LIST), "user"], [join(home, ".claude", "plugins", LIST), "user"]);
    }
    for (const [path, level] of lists) {
      try {
        plugins.push(...readList(path, level, context));
      } catch (error) {
        warnings.push(errorText(error));
      }
    }
    // Of one id in two lists of the person the first counts. The project's list takes nothing away from the person's.
    const roots = new Map<string, Plugin>();
    for (const plugin of plugins) {
      const key = `${plugin.level} ${plugin.id}`;
      if (!roots.has(key)) roots.set(key, plugin);
    }
    const folders = [...roots.values()].map(({ root, level }) => ({ path: join(root, "hooks"), level }));
    const files = [...roots.values()].map(({ root, level }) => ({
      path: join(root, "hooks", "hooks.json"),
      level,
      pluginRoot: root,
    }));
    const found = findHooks(this.id, folders, context);
    const commands = findCommands(this.id, files, context);
    return {
      items: [...found.items, ...commands.items],
      warnings: [...warnings, ...found.warnings, ...commands.warnings],
    };
  },
};

const LIST = "installed_plugins.json";

/** Reads a list of installed plugins: `{ plugins: { "<name>@<market>": { installPath } | [{ scope, installPath }] } }`. */
function readList(path: string, level: HookItem["level"], context: LoadContext): Plugin[] {
  const text = context.scanner.text(path);
  if (text === undefined) return [];
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is no JSON (${errorText(error)}), so none of its plugins is used`);
  }
  if (!isRecord(list) || !isRecord(list.plugins)) throw new Error(`${path} has no object "plugins", so it names none`);
  return Object.entries(list.plugins).flatMap(([id, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((entry: unknown): Plugin[] => {
      if (!isRecord(entry) || typeof entry.installPath !== "string" || !isAbsolute(entry.installPath)) {
        throw new Error(`${path}: the plugin ${JSON.stringify(id)} has no absolute "installPath"`);
      }
      const local = entry.scope === "local" || entry.scope === "project";
      if (local && typeof entry.projectPath === "string" && resolve(entry.projectPath) !== context.cwd) return [];
      return [{ id, root: entry.installPath, level: local ? "project" : level }];
    })
  );
}
