/**
 * What the person set for their hooks, in their own folder. A project cannot set any of it.
 *
 * @module
 */

import { join } from "@std/path";
import { type HookPermissions, parseGrants } from "./isolation/grants.ts";
import { homeDirectory, resolveHookPath } from "./paths.ts";
import { errorText, isRecord, kindOf, nearest } from "./values.ts";

/** Settings of the person. */
export interface UserSettings {
  /** What a hook may do, by its absolute path. */
  readonly permissions: ReadonlyMap<string, HookPermissions>;
  /** Whether shell hooks run. */
  readonly shellHooks: boolean;
  /** Providers that are not asked for hooks. */
  readonly disabledProviders: readonly string[];
  /** Hooks that are left out, as `hook:type:tool:name`. */
  readonly disabledHooks: readonly string[];
}

/** Settings that cannot be used. */
export class UserSettingsError extends Error {
  /** Tells it from other errors. */
  override name = "UserSettingsError";
}

/** Where {@linkcode readUserSettings} looks; `undefined` when the person has no home. */
export function userSettingsFile(): string | undefined {
  const home = homeDirectory();
  return home === "" ? undefined : join(home, ".xcsh", "hooks.json");
}

/** Files of the person that no grant opens to a hook: it could extend its own rights there. */
export function userFilesClosedToHooks(): string[] {
  const home = homeDirectory();
  return home === "" ? [] : [join(home, ".xcsh", "hooks.json"), join(home, ".xcsh", "trust")];
}

const KEYS = ["hooks", "shellHooks", "disabledProviders", "disabledHooks"];

/**
 * Reads the person's settings.
 *
 * @param file The file; `~/.xcsh/hooks.json` when absent.
 * @returns The settings; the defaults when there is no file.
 * @throws {UserSettingsError} Names the file and the key, and says what is wrong with it.
 */
export async function readUserSettings(file: string | undefined = userSettingsFile()): Promise<UserSettings> {
  let text = "{}";
  try {
    if (file !== undefined) text = await Deno.readTextFile(file);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      throw new UserSettingsError(`${file} cannot be read: ${errorText(error)}`);
    }
  }
  try {
    return parse(JSON.parse(text));
  } catch (error) {
    throw new UserSettingsError(`${file}: ${errorText(error)}; mend it, or take it away`);
  }
}

function parse(value: unknown): UserSettings {
  if (!isRecord(value)) throw new TypeError(`it must hold an object, not ${kindOf(value)}`);
  for (const key of Object.keys(value)) {
    if (KEYS.includes(key)) continue;
    const near = nearest(key, KEYS);
    throw new TypeError(
      `there is no setting ${JSON.stringify(key)}; ${near ? `did you mean ${near}?` : `there are ${KEYS.join(", ")}`}`,
    );
  }
  const { hooks = {}, shellHooks = false, disabledProviders = [], disabledHooks = [] } = value;
  if (!isRecord(hooks)) throw new TypeError(`hooks must be an object of paths, not ${kindOf(hooks)}`);
  if (typeof shellHooks !== "boolean") {
    throw new TypeError(`shellHooks must be true or false, not ${kindOf(shellHooks)}`);
  }
  const permissions = new Map<string, HookPermissions>();
  for (const [path, granted] of Object.entries(hooks)) {
    if (!/^(?:~|\/|[A-Za-z]:[/\\])/.test(path)) {
      throw new TypeError(`hooks has the path ${path}; write it absolute, or from ~`);
    }
    permissions.set(resolveHookPath(path, "/"), parseGrants(granted, `hooks[${JSON.stringify(path)}]`));
  }
  return {
    permissions,
    shellHooks,
    disabledProviders: strings(disabledProviders, "disabledProviders"),
    disabledHooks: strings(disabledHooks, "disabledHooks"),
  };
}

function strings(value: unknown, key: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw new TypeError(`${key} must be a list of strings, not ${kindOf(value)}`);
  }
  return value;
}
