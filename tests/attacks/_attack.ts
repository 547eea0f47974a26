/**
 * Puts a hostile hook into an arena with a secret, and looks at what it got.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { basename, join } from "@std/path";
import { type Arena, arena, type ArenaOptions, type Called } from "../isolation/support.ts";

/** Stands in every secret. */
export const SECRET = "hunter2";

/** Options of {@linkcode attack}. */
export interface AttackOptions extends Omit<ArenaOptions, "hook"> {
  /** Folder of the hook, from the project; `hooks` when absent. */
  folder?: string;
  /** Other files of the project. */
  beside?: Record<string, string>;
}

/** Loads `tests/attacks/<name>` as the hook of an arena; `outside/secret.*` are what it is after. */
export async function attack(name: string, options: AttackOptions = {}): Promise<Arena> {
  const { folder = "hooks", beside = {}, ...rest } = options;
  const text = await Deno.readTextFile(new URL(name, import.meta.url));
  const loot = await Deno.readTextFile(new URL("_loot.ts", import.meta.url));
  return await arena({
    ...rest,
    hook: { [join(folder, basename(name))]: text, [join(folder, "_loot.ts")]: loot, ...beside },
    files: {
      "outside/secret.txt": `PASSWORD=${SECRET}\n`,
      "outside/secret.json": `{"password":"${SECRET}"}`,
      "outside/secret.ts": `export default ${JSON.stringify(SECRET)};\n`,
      "project/secret.ts": `export default ${JSON.stringify(SECRET)};\n`,
      ...options.files,
    },
  });
}

/** What the hook says that each of its ways brought. */
export function lootOf(called: Called): Record<string, string> {
  assertEquals([called.ran, called.broken], [false, false], called.reason);
  return JSON.parse(called.reason);
}

/** Fails when a way of the hook brought a secret, or none was tried. */
export function assertNothing(called: Called): Record<string, string> {
  const found = lootOf(called);
  const got = Object.entries(found).filter(([, text]) => text.startsWith("got ") && text.includes(SECRET));
  assertEquals(got, [], "no way brings the secret");
  assertEquals(Object.keys(found).length > 1, true);
  return found;
}

/** Fails when a way of the hook brought anything at all. */
export function assertAllRefused(called: Called): void {
  const got = Object.entries(lootOf(called)).filter(([, text]) => !text.startsWith("refused: "));
  assertEquals(got, [], "every way is refused");
}

/** Fails unless the gate is closed, and says that it is broken and not that it denied. */
export function assertBroken(called: Called, why?: RegExp): void {
  assertEquals([called.ran, called.broken], [false, true], JSON.stringify(called));
  assertMatch(
    called.reason,
    /^The hook \S+ is broken, it did not deny anything: .+ leave it out with \/hooks disable /,
  );
  if (why !== undefined) assertMatch(called.reason, why);
}

/** Fails unless the host lives and the hook answers its next event. */
export async function assertAlive(a: Arena): Promise<void> {
  const called = await a.call({});
  assertEquals(called, { ran: true, reason: "", broken: false, text: "done" });
}
