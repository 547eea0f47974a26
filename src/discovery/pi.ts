/**
 * Hooks of pi.
 *
 * @module
 */

import { join } from "@std/path";
import type { Provider } from "./capability.ts";
import { findHooks } from "./folder.ts";
import type { HookItem } from "./hook_item.ts";

/** Finds hooks in `.pi/hooks` of the project, and in `~/.pi/agent/hooks` and `~/.pi/hooks`. */
export const piProvider: Provider<HookItem> = {
  id: "pi",
  displayName: "pi",
  description: "Reads .pi/hooks of the project, ~/.pi/agent/hooks and ~/.pi/hooks.",
  priority: 85,
  load(context) {
    const { cwd, home } = context;
    return findHooks(this.id, [
      { path: join(cwd, ".pi", "hooks"), level: "project" },
      ...home === "" ? [] : [
        { path: join(home, ".pi", "agent", "hooks"), level: "user" as const },
        { path: join(home, ".pi", "hooks"), level: "user" as const },
      ],
    ], context);
  },
};
