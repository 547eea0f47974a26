/**
 * Where the stand-ins lie.
 *
 * @module
 */

import type { StandIn } from "./packages.ts";

interface Place {
  /** The module. */
  readonly url: string;
  /** Imports it; never called, but so the module is part of the program, and no permission is needed to load it. */
  readonly load: () => Promise<unknown>;
}

/** Each stand-in. */
export const STAND_INS: { readonly [N in StandIn]: Place } = {
  pi_coding_agent: {
    url: import.meta.resolve("./stand_ins/pi_coding_agent.ts"),
    load: () => import("./stand_ins/pi_coding_agent.ts"),
  },
  pi_tui: { url: import.meta.resolve("./stand_ins/pi_tui.ts"), load: () => import("./stand_ins/pi_tui.ts") },
  pi_ai: { url: import.meta.resolve("./stand_ins/pi_ai.ts"), load: () => import("./stand_ins/pi_ai.ts") },
  pi_agent_core: {
    url: import.meta.resolve("./stand_ins/pi_agent_core.ts"),
    load: () => import("./stand_ins/pi_agent_core.ts"),
  },
  typebox: { url: import.meta.resolve("./stand_ins/typebox.ts"), load: () => import("./stand_ins/typebox.ts") },
  typebox_value: {
    url: import.meta.resolve("./stand_ins/typebox_value.ts"),
    load: () => import("./stand_ins/typebox_value.ts"),
  },
  typebox_compiler: {
    url: import.meta.resolve("./stand_ins/typebox_compiler.ts"),
    load: () => import("./stand_ins/typebox_compiler.ts"),
  },
};

/** Whether something holds names, so that one which it lacks is to be an error. */
export function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
