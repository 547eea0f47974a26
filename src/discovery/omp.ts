/**
 * Hooks of oh-my-pi.
 *
 * @module
 */

import { join } from "@std/path";
import type { Provider } from "./capability.ts";
import { findHooks } from "./folder.ts";
import type { HookItem } from "./hook_item.ts";

/** Finds hooks in `.omp/hooks` of the project, and in `~/.omp/agent/hooks` and `~/.omp/hooks`. */
export const ompProvider: Provider<HookItem> = {
  id: "omp",
  displayName: "oh-my-pi",
  description: "Reads .omp/hooks of the project, ~/.omp/agent/hooks and ~/.omp/hooks.",
  priority: 90,
  load(context) {
    const { cwd, home } = context;
    return findHooks(this.id, [
      { path: join(cwd, ".omp", "hooks"), level: "project" },
      ...home === "" ? [] : [
        { path: join(home, ".omp", "agent", "hooks"), level: "user" as const },
        { path: join(home, ".omp", "hooks"), level: "user" as const },
      ],
    ], context);
  },
};
