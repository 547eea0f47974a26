/**
 * Hooks of this system itself.
 *
 * @module
 */

import { join } from "@std/path";
import type { Provider } from "./capability.ts";
import { findHooks, type HookFolder } from "./folder.ts";
import type { HookItem } from "./hook_item.ts";

/** Finds hooks in `.xcsh/hooks` of the project and of the person. */
export const xcshProvider: Provider<HookItem> = {
  id: "xcsh",
  displayName: "xcsh",
  description: "Reads .xcsh/hooks of the project, ~/.xcsh/agent/hooks and ~/.xcsh/hooks.",
  priority: 100,
  load(context) {
    const { cwd, home } = context;
    const folders: HookFolder[] = [{ path: join(cwd, ".xcsh", "hooks"), level: "project" }];
    if (home !== "") {
      folders.push(
        { path: join(home, ".xcsh", "agent", "hooks"), level: "user" },
        { path: join(home, ".xcsh", "hooks"), level: "user" },
      );
    }
    return findHooks(this.id, folders, context);
  },
};
