/**
 * Where `pi.typebox` comes from: the stand-in for typebox, once something has loaded it.
 *
 * @module
 */

let typebox: object | undefined;

/** Says what `pi.typebox` is. */
export function provideTypebox(module: object): void {
  typebox = module;
}

/**
 * Gives what `pi.typebox` is.
 *
 * @throws {Error} Where it was not loaded, since the hook's text did not show that it uses it.
 */
export function typeboxOf(): object {
  if (typebox !== undefined) return typebox;
  throw new Error('pi.typebox is not there; write: import { Type } from "@sinclair/typebox"');
}
