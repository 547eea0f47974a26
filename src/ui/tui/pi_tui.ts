/**
 * The terminal library that the chat is drawn with, and that components of hooks are written for. Loaded only for the chat.
 *
 * @module
 */

import type * as PiTuiModule from "npm:@mariozechner/pi-tui@0.73.1";
import { usePackage } from "../../compat/npm.ts";
import { PI_TUI } from "../../compat/packages.ts";
import { errorText } from "../../values.ts";

/** Variables that have the library write all that is on the screen to files, some of which others can read. */
const RECORDERS = ["PI_TUI_WRITE_LOG", "PI_TUI_DEBUG", "PI_DEBUG_REDRAW"];

/** What the library exports. */
export type PiTui = typeof PiTuiModule;

/**
 * Loads the library, and has hooks of this process that import it get the same: which keys the terminal sends is kept in it.
 *
 * @returns What it exports.
 * @throws {Error} When it is not there and cannot be fetched.
 */
export async function loadPiTui(): Promise<PiTui> {
  for (const name of RECORDERS) Deno.env.delete(name);
  const lib = await usePackage("pi_tui").catch((error) => {
    throw new Error(
      `The chat is drawn with ${PI_TUI}, which cannot be loaded (${errorText(error)}); run works without it`,
    );
  }) as PiTui;
  // Pictures and links are made of control sequences, whose targets nobody sees.
  lib.setCapabilities({ ...lib.getCapabilities(), images: null, hyperlinks: false });
  return lib;
}
