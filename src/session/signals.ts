/**
 * Ends sessions in order when the process is told to end.
 *
 * @module
 */

import { handleSignalsInHost } from "../exec.ts";

const SIGNALS: Partial<Record<Deno.Signal, number>> = Deno.build.os === "windows"
  ? { SIGINT: 2, SIGBREAK: 21 }
  : { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };

/**
 * How long the end may take before the process ends anyway, in ms: longer than a hook that hangs can hold up a tool, and then
 * `session_shutdown`, since what comes after that is to be seen.
 */
const LIMIT = 12_000;

/**
 * Runs a function when the process gets SIGINT, SIGTERM or SIGHUP, and ends the process after it as the signal would have.
 * A second signal ends the process at once.
 *
 * @param end Ends what must not be cut off.
 * @param isMeant Whether a signal is for the session; one that is for another program on the terminal ends nothing.
 * @returns Takes it back.
 */
export function onTermination(
  end: () => Promise<void>,
  isMeant: (signal: Deno.Signal) => boolean = () => true,
): () => void {
  handleSignalsInHost();
  let ending = false;
  const removals = Object.entries(SIGNALS).map(([name, number]) => {
    const listener = () => {
      if (!isMeant(name as Deno.Signal)) return;
      if (ending) Deno.exit(128 + number);
      ending = true;
      setTimeout(() => Deno.exit(128 + number), LIMIT);
      end().catch(() => {}).finally(() => Deno.exit(128 + number));
    };
    Deno.addSignalListener(name as Deno.Signal, listener);
    return () => Deno.removeSignalListener(name as Deno.Signal, listener);
  });
  return () => removals.forEach((remove) => remove());
}
