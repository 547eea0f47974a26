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
  /** Whether something runs that the person has asked for, be it no work of the agent. */
  readonly isWorking: () => boolean;
  /** Opens text in the person's own editor; `undefined` when that failed. */
  readonly openEditor: (text: string) => Promise<string | undefined>;
  /** Ends the session. */
  readonly end: () => void;
}

/** Deals with a key, and tells whether that was all. */
export interface Keys {
  (data: string): boolean;
  /** Stops the agent, a command that waits, and every question of hooks; whether there was anything to stop. */
  stop(): boolean;
  /** Says which shortcuts of hooks cannot be reached. */
  warnOfTaken(): void;
}

/** How soon a second Ctrl+C has to come to end the session, in ms. */
const TWICE = 2_000;

/** What the terminal sends for text, and for what edits and sends it: no shortcut of a hook takes that away. */
const TYPED = [
  ...Array.from({ length: 0x7f - 0x20 }, (_, i) => String.fromCharCode(0x20 + i)),
  ..."\r\n\t\b\x7f\x1b",
  ...["A", "B", "C", "D", "H", "F", "Z", "3~", "5~", "6~"].map((end) => `\x1b[${end}`),
];

type KeyId = Parameters<PiTui["matchesKey"]>[1];

/** Makes the keys. */
export function createKeys(options: KeysOptions): Keys {
  const { lib, screen, transcript, session, isWorking, openEditor, end } = options;
  const { matchesKey } = lib;
  let lastInterrupt = 0;

  const stop = () => {
    const working = !session.isIdle || isWorking();
    // What hooks ask on their own is closed as well.
    session.abort().catch((error) => transcript.notify(errorText(error), "error"));
    return working;
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
  const isTaken = (key: string) => Object.hasOwn(own, key.toLowerCase()) || TYPED.some((data) => isKey(data, key));
  const keys = (data: string) => {
    if (lib.isKeyRelease(data)) return false;
    const found = Object.keys(own).find((key) => isKey(data, key));
    if (found !== undefined) return own[found]!() !== false;
    for (const [key, { run }] of session.runner.getShortcuts()) {
      if (!isKey(data, key) || isTaken(key)) continue;
      void run();
      return true;
    }
    return false;
  };
  return Object.assign(keys, {
    stop,
    warnOfTaken() {
      for (const key of session.runner.getShortcuts().keys()) {
        if (isTaken(key)) {
          transcript.notify(`The shortcut ${key} of a hook is not used: the chat has that key itself`, "warning");
        }
      }
    },
  });
}
