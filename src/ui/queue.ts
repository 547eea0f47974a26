/**
 * One question at a time.
 *
 * @module
 */

import type { Asking, Surface } from "./surface.ts";

/**
 * Makes the questions of a surface wait for one another, so that none takes the place of another. A component waits for other
 * components alone, since it may itself ask.
 *
 * @param surface What shows one question and one component.
 * @returns A surface that may be asked at any time.
 */
export function oneAtATime(surface: Surface): Surface {
  const questions = createQueue();
  const components = createQueue();
  const { chrome, mode } = surface;
  return {
    ...chrome !== undefined && { chrome },
    ...mode !== undefined && { mode },
    get theme() {
      return surface.theme;
    },
    ask: (question, asking) => questions(asking, () => surface.ask(question, asking)),
    custom: (factory, asking) => components(asking, () => surface.custom(factory, asking)),
    notify: (message, type, hookPath) => surface.notify(message, type, hookPath),
    setStatus: (key, text) => surface.setStatus(key, text),
    setWidget: (key, content, options, hookPath) => surface.setWidget(key, content, options, hookPath),
    setEditorText: (text) => surface.setEditorText(text),
    getEditorText: () => surface.getEditorText(),
  };
}

/** Makes what runs one thing after the other; what is closed while it waits is not begun. */
function createQueue(): <T>(asking: Asking, show: () => Promise<T>) => Promise<T | undefined> {
  let last: Promise<void> = Promise.resolve();
  return async (asking, show) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = before.then(() => promise);
    try {
      await before;
      return asking.signal.aborted ? undefined : await show();
    } finally {
      resolve();
    }
  };
}
