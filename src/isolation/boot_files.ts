/**
 * The modules that the child of an isolated hook runs, as text, so that a child can be started wherever this module came from.
 *
 * @module
 */

import boot from "./boot.ts" with { type: "text" };
import protocol from "./protocol.ts" with { type: "text" };
import sessionMirror from "./session_mirror.ts" with { type: "text" };
import oldForms from "../compat/old_forms.ts" with { type: "text" };
import otherUi from "../compat/other_ui.ts" with { type: "text" };
import packages from "../compat/packages.ts" with { type: "text" };
import actions from "../actions.ts" with { type: "text" };
import bus from "../bus.ts" with { type: "text" };
import typeboxSlot from "../compat/typebox_slot.ts" with { type: "text" };
import events from "../events.ts" with { type: "text" };
import exec from "../exec.ts" with { type: "text" };
import hook from "../hook.ts" with { type: "text" };
import importHook from "../import_hook.ts" with { type: "text" };
import merge from "../merge.ts" with { type: "text" };
import messageCheck from "../message_check.ts" with { type: "text" };
import processTree from "../process_tree.ts" with { type: "text" };
import values from "../values.ts" with { type: "text" };

/** Text of each module by its path, relative to the folder of sources. */
export const BOOT_FILES: Readonly<Record<string, string>> = {
  "isolation/boot.ts": boot,
  "isolation/protocol.ts": protocol,
  "isolation/session_mirror.ts": sessionMirror,
  "actions.ts": actions,
  "bus.ts": bus,
  "compat/old_forms.ts": oldForms,
  "compat/other_ui.ts": otherUi,
  "compat/packages.ts": packages,
  "compat/typebox_slot.ts": typeboxSlot,
  "events.ts": events,
  "exec.ts": exec,
  "hook.ts": hook,
  "import_hook.ts": importHook,
  "merge.ts": merge,
  "message_check.ts": messageCheck,
  "process_tree.ts": processTree,
  "values.ts": values,
};
