/**
 * Waiting that an abort can end.
 *
 * @module
 */

/**
 * Waits for a promise, but not much longer than until a signal aborts: what hangs must not keep a session from ending.
 *
 * @param pending The promise.
 * @param signal The signal.
 * @param grace How long to wait once it has aborted, in ms.
 * @returns What the promise resolves to.
 * @throws What the promise rejects with, or the signal's reason when time is up.
 */
export async function settle<T>(pending: Promise<T>, signal: AbortSignal | undefined, grace = 0): Promise<T> {
  if (signal === undefined) return await pending;
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => reject(signal.reason), grace);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([pending, givenUp]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    // Nobody waits for it any more; what it says then is no fault of the program's.
    pending.catch(() => {});
  }
}

/**
 * Waits for some time.
 *
 * @param ms The time.
 * @param signal Ends the wait by rejecting with its reason.
 */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const stop = () => {
      clearTimeout(timer);
      fail(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      done();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * Reads a stream until it ends or a signal aborts, even if the stream does not listen to the signal.
 *
 * @param stream The stream.
 * @param signal The signal; the stream then throws its reason.
 * @yields What the stream brings.
 */
export async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await settle(Promise.resolve(iterator.next()), signal, 0);
      if (step.done) return;
      yield step.value;
    }
  } finally {
    // Not awaited: a stream that hangs would hang here too.
    Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
