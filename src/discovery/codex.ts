/**
 * Hooks of Codex.
 *
 * @module
 */

import { join } from "@std/path";
import type { Provider } from "./capability.ts";
import { findHooks } from "./folder.ts";
import type { HookItem } from "./hook_item.ts";

/** Finds hooks in `.codex/hooks` of the project and of the person, also those called `pre-<tool>` and `post-<tool>`. */
export const codexProvider: Provider<HookItem> = {
  id: "codex",
  displayName: "OpenAI Codex",
  description: "Reads .codex/hooks of the project and of the person.",
  priority: 65,
  load(context) {
    const { cwd, home } = context;
    return findHooks(this.id, [
      { path: join(cwd, ".codex", "hooks"), level: "project", prefixedNames: true },
      ...home === "" ? [] : [{ path: join(home, ".codex", "hooks"), level: "user" as const, prefixedNames: true }],
    ], context);
  },
};
