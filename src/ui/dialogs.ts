/**
 * Questions that do not stay open for ever.
 *
 * @module
 */

import type { DialogOptions, HookUIContext } from "../api.ts";

/**
 * Makes the questions of a UI end when their time is over or their signal aborts, whatever the UI does about it. Everything else
 * is the UI's own.
 *
 * @param ui The UI.
 * @returns The UI with such questions.
 */
export function withDialogLimits(ui: HookUIContext): HookUIContext {
  return Object.create(ui, {
    select: {
      value: (title: string, options: string[], dialog?: DialogOptions) =>
        limited(dialog, undefined, (own) => ui.select(title, options, ...own)),
    },
    confirm: {
      value: (title: string, message: string, dialog?: DialogOptions) =>
        limited(dialog, false, (own) => ui.confirm(title, message, ...own)),
    },
    input: {
      value: (title: string, placeholder?: string, dialog?: DialogOptions) =>
        limited(dialog, undefined, (own) => ui.input(title, ...text(placeholder, own))),
    },
    editor: {
      value: (title: string, prefill?: string, dialog?: DialogOptions) =>
        limited(dialog, undefined, (own) => ui.editor(title, ...text(prefill, own))),
    },
  }) as HookUIContext;
}

/** Arguments after the title; what was not given is left out. */
function text(given: string | undefined, own: [DialogOptions] | []): [string?, DialogOptions?] {
  const [dialog] = own;
  return dialog !== undefined ? [given as string, dialog] : given === undefined ? [] : [given];
}

async function limited<T>(
  dialog: DialogOptions | undefined,
  closed: T,
  ask: (own: [DialogOptions] | []) => Promise<T>,
): Promise<T> {
  const { timeout, signal } = dialog ?? {};
  if (timeout === undefined && signal === undefined) return await ask([]);
  if (signal?.aborted) return closed;
  const end = new AbortController();
  const stop = () => end.abort();
  const timer = timeout === undefined ? undefined : setTimeout(stop, Math.max(0, timeout));
  signal?.addEventListener("abort", stop, { once: true });
  const over = new Promise<T>((resolve) => end.signal.addEventListener("abort", () => resolve(closed), { once: true }));
  try {
    return await Promise.race([
      ask([{ signal: end.signal, ...(timeout === undefined ? {} : { timeout }) }]),
      over,
    ]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
