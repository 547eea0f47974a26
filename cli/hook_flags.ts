/**
 * `--flag`: what the person gives for the flags that hooks declare.
 *
 * @module
 */

import type { LoadedHook } from "../src/hook.ts";
import { nearest } from "../src/values.ts";
import { UsageError } from "./errors.ts";

/**
 * Reads what the person gave for the flags that hooks declare.
 *
 * @param given Each as `name` or `name=value`.
 * @param hooks The hooks.
 * @returns Value by name.
 * @throws {UsageError} When no hook declares a flag, or its value is none.
 */
export function flagsOf(given: readonly string[], hooks: readonly LoadedHook[]): Record<string, boolean | string> {
  const declared = new Map(hooks.toReversed().flatMap((hook) => [...hook.flags ?? []]));
  return Object.fromEntries(given.map((text) => {
    const [, name = text, value] = /^([^=]*)=([\s\S]*)$/.exec(text) ?? [];
    const flag = declared.get(name);
    if (flag === undefined) {
      const near = nearest(name, declared.keys());
      const hint = near !== undefined
        ? `did you mean ${near}?`
        : declared.size > 0
        ? `they declare ${[...declared.keys()].join(", ")}`
        : "no hook declares a flag";
      throw new UsageError(`--flag ${text}: no hook declares it; ${hint}`);
    }
    if (flag.type === "string") {
      if (value === undefined) throw new UsageError(`--flag ${text}: it needs a value: --flag ${name}=…`);
      return [name, value];
    }
    if (value !== undefined && value !== "true" && value !== "false") {
      throw new UsageError(`--flag ${text}: it is on or off: --flag ${name}`);
    }
    return [name, value !== "false"];
  }));
}
