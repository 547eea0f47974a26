/**
 * What other code of this process prints.
 *
 * @module
 */

import { Console } from "node:console";
import { Writable } from "node:stream";
import type { Output } from "./output.ts";

/** What a console prints beside lines. */
const PRINTING = [
  ...["table", "dir", "dirxml", "trace", "assert", "count", "countReset"] as const,
  ...["time", "timeLog", "timeEnd", "group", "groupCollapsed", "groupEnd"] as const,
] as const;

/**
 * Sends what other code prints to standard error, so that standard output holds nothing but ours, and nothing comes between a
 * question and its answer.
 *
 * @param output What prints for us.
 * @param clean Makes text of it that a terminal may get.
 * @param show Where it goes instead, if standard error is taken.
 */
export function captureOutput(
  output: Output,
  clean: (text: string) => string,
  show: (text: string) => void = (text) => output.note(text),
): void {
  const toNotes = (bytes: Uint8Array): number => {
    show(clean(new TextDecoder().decode(bytes)).replace(/\n$/, ""));
    return bytes.length;
  };
  for (const stream of [Deno.stdout, Deno.stderr]) {
    Object.assign(stream, {
      writeSync: toNotes,
      write: (bytes: Uint8Array) => Promise.resolve(toNotes(bytes)),
    });
    const writable = new WritableStream<Uint8Array>({ write: (bytes) => void toNotes(bytes) });
    Object.defineProperty(stream, "writable", { value: writable, configurable: true });
  }
  const { inspect } = Deno;
  const print = (...values: unknown[]) =>
    show(clean(values.map((value) => typeof value === "string" ? value : inspect(value)).join(" ")));
  const rest = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      print(String(chunk).replace(/\n$/, ""));
      done();
    },
  });
  // Tables, counters and the like are made by a console of their own, and nobody clears the screen.
  const own = new Console(rest);
  const others = Object.fromEntries(PRINTING.map((name) => [name, own[name].bind(own)]));
  const log = { log: print, info: print, debug: print, warn: print, error: print };
  Object.assign(console, others, log, { clear() {} });
}
