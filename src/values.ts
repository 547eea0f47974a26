/**
 * Copying, freezing and comparing values that come from tools, models and hooks.
 *
 * @module
 */

/** The longest delay of a timer, in ms; a longer one would fire at once. */
export const LONGEST_DELAY = 2 ** 31 - 1;

/**
 * Copies a value all the way down. What shows no data, like functions and signals, is shared.
 *
 * @param value The value.
 * @returns A copy that shares no data with it.
 */
export function deepCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const copies = new Map<object, object>();
  // A list of work instead of recursion, since a value may be deeper than the stack.
  const unfilled: [source: object, copy: object][] = [];
  const copyOf = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    let copy = copies.get(value);
    if (copy !== undefined) return copy;
    const shell = emptyLike(value);
    copy = shell ?? wholeCopy(value);
    copies.set(value, copy);
    if (shell !== undefined) unfilled.push([value, shell]);
    return copy;
  };
  const copy = copyOf(value);
  for (let work = unfilled.pop(); work !== undefined; work = unfilled.pop()) fill(work[0], work[1], copyOf);
  return copy as T;
}

/** An empty container for what a value contains; `undefined` for what is copied as a whole. */
function emptyLike(source: object): object | undefined {
  if (Array.isArray(source)) return new Array(source.length);
  const prototype = Object.getPrototypeOf(source);
  if (prototype === Object.prototype) return {};
  if (prototype === null) return Object.create(null);
  if (source instanceof Map) return new Map();
  if (source instanceof Set) return new Set();
  return undefined;
}

function fill(source: object, copy: object, copyOf: (value: unknown) => unknown): void {
  if (Array.isArray(source)) {
    for (let i = 0; i < source.length; i++) (copy as unknown[])[i] = copyOf(source[i]);
  } else if (source instanceof Map) {
    for (const [key, value] of source) (copy as Map<unknown, unknown>).set(copyOf(key), copyOf(value));
  } else if (source instanceof Set) {
    for (const value of source) (copy as Set<unknown>).add(copyOf(value));
  } else {
    for (const key of Object.keys(source)) {
      let value = (source as Record<string, unknown>)[key];
      if (typeof value === "object") value = copyOf(value);
      // A plain assignment to `__proto__` would set the prototype instead of a property.
      if (key === "__proto__") {
        Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
      } else (copy as Record<string, unknown>)[key] = value;
    }
  }
}

/** Copies what is no plain container: dates, buffers, errors, instances of classes. */
function wholeCopy(source: object): object {
  const prototype = Object.getPrototypeOf(source);
  try {
    const copy: object = structuredClone(source);
    if (Object.getPrototypeOf(copy) === prototype) return copy;
  } catch {
    // It holds what the platform cannot copy.
  }
  // A signal, a stream, or whatever else keeps its data to itself: sharing it is all that can be done.
  if (Object.keys(source).length === 0) return source;
  return Object.assign(Object.create(prototype), deepCopy({ ...source }));
}

/**
 * Makes a copy of a value that nothing can change: each attempt throws a TypeError that says so, also in sloppy code, where
 * an object that is merely frozen ignores it.
 *
 * @param value The value.
 * @param what Names it in the error, for example `the input of a tool`.
 * @returns The copy; `Object.isFrozen` holds for it and all in it.
 */
export function frozenCopy<T>(value: T, what: string): T {
  return frozen(deepCopy(value), what);
}

/** As {@linkcode frozenCopy}, for a value that nobody else holds. */
export function frozen<T>(value: T, what: string): T {
  return typeof value === "object" && value !== null ? frozenWith(value, refusing(what)) as T : value;
}

function frozenWith(value: object, handler: ProxyHandler<object>): object {
  const proxies = new Map<object, object>();
  const unfrozen: Record<string, unknown>[] = [];
  const proxyOf = (value: object): object => {
    let proxy = proxies.get(value);
    if (proxy !== undefined) return proxy;
    const plain = isPlain(value);
    proxy = plain ? new Proxy(value, handler) : value;
    proxies.set(value, proxy);
    if (plain) unfrozen.push(value as Record<string, unknown>);
    return proxy;
  };
  const proxy = proxyOf(value);
  for (let plain = unfrozen.pop(); plain !== undefined; plain = unfrozen.pop()) {
    for (const key of Object.keys(plain)) {
      const child = plain[key];
      if (typeof child === "object" && child !== null) plain[key] = proxyOf(child);
    }
    Object.freeze(plain);
  }
  return proxy;
}

/** Only plain data can be frozen: a Map or a Date behind a proxy would no longer work. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

/** As {@linkcode frozen}, and faster, for what came out of JSON: a tree, in which nothing stands twice. */
export function frozenTree<T>(value: T, what: string): T {
  return freezeTree(value, refusing(what), 0) as T;
}

function freezeTree(value: unknown, handler: ProxyHandler<object>, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEEPEST_RECURSION) return frozenWith(value, handler);
  if (!isPlain(value)) return value;
  const plain = value as Record<string, unknown>;
  for (const key of Object.keys(plain)) {
    const child = plain[key];
    if (typeof child === "object" && child !== null) plain[key] = freezeTree(child, handler, depth + 1);
  }
  return new Proxy(Object.freeze(plain), handler);
}

const DEEPEST_RECURSION = 500;
const refusals = new Map<string, ProxyHandler<object>>();

function refusing(what: string): ProxyHandler<object> {
  let handler = refusals.get(what);
  if (handler === undefined) {
    const refuse = (attempt: string, key: PropertyKey): never => {
      throw new TypeError(
        `Hooks cannot change ${what}: tried to ${attempt} \`${String(key)}\`. Block the call instead.`,
      );
    };
    handler = {
      set: (_target, key) => refuse("set", key),
      defineProperty: (_target, key) => refuse("define", key),
      deleteProperty: (_target, key) => refuse("delete", key),
      setPrototypeOf: () => refuse("set", "prototype"),
    };
    refusals.set(what, handler);
  }
  return handler;
}

/**
 * Whether two values hold the same data.
 *
 * @param a One value.
 * @param b A value that may be a changed copy of it.
 * @returns `true` when nothing differs.
 */
export function sameData(a: unknown, b: unknown): boolean {
  const pairs: unknown[] = [];
  if (!sameOrLater(a, b, pairs)) return false;
  const seen = new Map<unknown, unknown>();
  while (pairs.length > 0) {
    const b = pairs.pop() as object, a = pairs.pop() as object;
    if (seen.has(a)) {
      if (seen.get(a) !== b) return false;
      continue;
    }
    seen.set(a, b);
    const prototype = Object.getPrototypeOf(a);
    if (Object.getPrototypeOf(b) !== prototype) return false;
    if (a instanceof Map || a instanceof Set) pairs.push([...a], [...b as Iterable<unknown>]);
    else if (!sameProperties(a as Record<string, unknown>, b as Record<string, unknown>, pairs)) return false;
  }
  return true;
}

/** Whether two values are the same, as far as can be told now; two objects are put down for later. */
function sameOrLater(a: unknown, b: unknown, pairs: unknown[]): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  pairs.push(a, b);
  return true;
}

function sameProperties(a: Record<string, unknown>, b: Record<string, unknown>, pairs: unknown[]): boolean {
  if (Array.isArray(a)) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameOrLater(a[i], b[i], pairs)) return false;
    return true;
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  if (keys.length === 0) {
    // Dates, buffers and the like hold data that no property shows: take them for changed unless they are the same object.
    const prototype = Object.getPrototypeOf(a);
    return prototype === Object.prototype || prototype === null;
  }
  for (const key of keys) if (!Object.hasOwn(b, key) || !sameOrLater(a[key], b[key], pairs)) return false;
  return true;
}

/** Whether awaiting a value would wait for something. Reading `then` may throw. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return value !== null && (typeof value === "object" || typeof value === "function") &&
    typeof (value as { then?: unknown }).then === "function";
}

/** Whether a value is an object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a thrown value says; never throws itself. */
export function errorText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return "a value that cannot be shown";
  }
}

/** The name out of `names` that a mistyped one most likely means, or `undefined` when none is near. */
export function nearest(name: string, names: Iterable<string>): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 2));
  for (const candidate of names) {
    const distance = editDistance(plain(name), plain(candidate));
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row.push(Math.min(row[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    previous = row;
  }
  return previous[b.length]!;
}

/** A short name for what a value is, for error texts. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") {
    return `the string ${JSON.stringify(value.length > 40 ? value.slice(0, 40) + "…" : value)}`;
  }
  if (typeof value === "object") return "an object";
  if (typeof value === "undefined") return "undefined";
  return `the ${typeof value} ${String(value)}`;
}
