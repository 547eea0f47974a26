/**
 * The keys of the chat that are not the editor's.
 *
 * @module
 */

import type { AgentSession } from "../../src/session/agent_session.ts";
import type { PiTui } from "../../src/ui/tui/pi_tui.ts";
import type { Screen } from "../../src/ui/tui/screen.ts";
import { errorText } from "../../src/values.ts";
import type { Transcript } from "./transcript.ts";

/** What the keys work on. */
export interface KeysOptions {
  /** The terminal library. */
  readonly lib: PiTui;
  /** The screen. */
  readonly screen: Screen;
  /** What was said and done. */
  readonly transcript: Transcript;
  /** The session. */
  readonly session: AgentSession;
  /** Opens text in the person's own editor; `undefined` when that failed. */
  readonly openEditor: (text: string) => Promise<string | undefined>;
  /** Ends the session. */
  readonly end: () => void;
}

/** Deals with a key, and tells whether that was all. */
export interface Keys {
  (data: string): boolean;
  /** Says which shortcuts of hooks cannot be reached. */
  warnOfTaken(): void;
}

/** How soon a second Ctrl+C has to come to end the session, in ms. */
const TWICE = 2_000;

type KeyId = Parameters<PiTui["matchesKey"]>[1];

/** Makes the keys. */
export function createKeys({ lib, screen, transcript, session, openEditor, end }: KeysOptions): Keys {
  const { matchesKey } = lib;
  let lastInterrupt = 0;

  const stop = () => {
    if (session.isIdle) return false;
    session.abort().catch((error) => transcript.notify(errorText(error), "error"));
    return true;
  };
  const interrupt = () => {
    const now = Date.now();
    if (now - lastInterrupt < TWICE) return end();
    lastInterrupt = now;
    if (stop()) return;
    if (screen.editor.getText() !== "") screen.setEditorText("");
    else transcript.say("Ctrl+C once more ends the session");
  };
  const edit = async () => {
    const text = await openEditor(screen.getEditorText());
    if (text !== undefined) screen.setEditorText(text);
  };
  const own: Readonly<Record<string, () => boolean | void>> = {
    "ctrl+c": interrupt,
    "ctrl+d": () => screen.editor.getText() === "" ? end() : false,
    "escape": () => screen.editor.isShowingAutocomplete() ? false : stop(),
    "ctrl+o": () => transcript.toggleExpanded(),
    "ctrl+g": () => void edit(),
  };

  const isKey = (data: string, key: string) => {
    try {
      return matchesKey(data, key.toLowerCase() as KeyId);
    } catch {
      return false; // No key has that name.
    }
  };
  const keys = (data: string) => {
    if (lib.isKeyRelease(data)) return false;
    const found = Object.keys(own).find((key) => isKey(data, key));
    if (found !== undefined) return own[found]!() !== false;
    for (const [key, { run }] of session.runner.getShortcuts()) {
      if (!isKey(data, key)) continue;
      void run();
      return true;
    }
    return false;
  };
  return Object.assign(keys, {
    warnOfTaken() {
      for (const key of session.runner.getShortcuts().keys()) {
        if (Object.hasOwn(own, key.toLowerCase())) {
          transcript.notify(`The shortcut ${key} of a hook is not used: the chat has that key itself`, "warning");
        }
      }
    },
  });
}
