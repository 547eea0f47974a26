/**
 * Questions that do not stay open for ever.
 *
 * @module
 */

import type { CustomFactory, DialogOptions, HookUIContext } from "../api.ts";

/**
 * Makes the questions of a UI end when their time is over, their signal aborts, or whoever has them asked stops, whatever the UI
 * does about it. Everything else is the UI's own.
 *
 * @param ui The UI.
 * @param stopped The signal that closes a question that is asked now.
 * @returns The UI with such questions.
 */
export function withDialogLimits(ui: HookUIContext, stopped: () => AbortSignal): HookUIContext {
  const limited = <T>(dialog: DialogOptions | undefined, closed: T, ask: (own: DialogOptions) => Promise<T>) =>
    withLimits(dialog ?? {}, stopped(), closed, ask);
  return Object.create(ui, {
    select: {
      value: (title: string, options: string[], dialog?: DialogOptions) =>
        limited(dialog, undefined, (own) => ui.select(title, options, own)),
    },
    confirm: {
      value: (title: string, message: string, dialog?: DialogOptions) =>
        limited(dialog, false, (own) => ui.confirm(title, message, own)),
    },
    input: {
      value: (title: string, placeholder?: string, dialog?: DialogOptions) =>
        limited(dialog, undefined, (own) => ui.input(title, placeholder, own)),
    },
    editor: {
      value: (title: string, prefill?: string, dialog?: DialogOptions) =>
        limited(dialog, undefined, (own) => ui.editor(title, prefill, own)),
    },
    custom: {
      value: <T>(factory: CustomFactory<T>, dialog?: DialogOptions) =>
        limited<T | undefined>(dialog, undefined, (own) => ui.custom(factory, own)),
    },
  }) as HookUIContext;
}

/** The longest time that a timer takes, in ms. */
const LONGEST = 2 ** 31 - 1;

async function withLimits<T>(
  { timeout, signal }: DialogOptions,
  stopped: AbortSignal,
  closed: T,
  ask: (own: DialogOptions) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const timeOut = () => end.abort(new DOMException("The time of the question is over", "TimeoutError"));
  const stop = () => end.abort();
  const over = new Promise<T>((resolve) => end.signal.addEventListener("abort", () => resolve(closed), { once: true }));
  const timer = timeout === undefined ? undefined : setTimeout(timeOut, timeout > 0 ? Math.min(timeout, LONGEST) : 0);
  const signals = signal === undefined ? [stopped] : [stopped, signal];
  for (const each of signals) {
    if (each.aborted) stop();
    each.addEventListener("abort", stop, { once: true });
  }
  try {
    if (end.signal.aborted) return closed;
    return await Promise.race([ask({ signal: end.signal, ...(timeout === undefined ? {} : { timeout }) }), over]);
  } finally {
    clearTimeout(timer);
    for (const each of signals) each.removeEventListener("abort", stop);
  }
}
