/**
 * Copying, freezing and comparing values that come from tools, models and hooks.
 *
 * @module
 */

/** The longest delay of a timer, in ms; a longer one would fire at once. */
export const LONGEST_DELAY = 2 ** 31 - 1;

type Memo = Map<object, object>;

/**
 * Copies a value all the way down. Functions, and objects that the platform cannot copy, are shared.
 *
 * @param value The value.
 * @returns A copy that shares no data with it.
 */
export function deepCopy<T>(value: T): T {
  return typeof value === "object" && value !== null ? copyObject(value, new Map()) as T : value;
}

function copyObject(source: object, memo: Memo): object {
  const known = memo.get(source);
  if (known !== undefined) return known;
  if (Array.isArray(source)) {
    const copy: unknown[] = new Array(source.length);
    memo.set(source, copy);
    for (let i = 0; i < source.length; i++) copy[i] = copyValue(source[i], memo);
    return copy;
  }
  const prototype = Object.getPrototypeOf(source);
  if (prototype === Object.prototype || prototype === null) return copyProperties(source, prototype, memo);
  if (source instanceof Map) {
    const copy = new Map();
    memo.set(source, copy);
    for (const [key, value] of source) copy.set(copyValue(key, memo), copyValue(value, memo));
    return copy;
  }
  if (source instanceof Set) {
    const copy = new Set();
    memo.set(source, copy);
    for (const value of source) copy.add(copyValue(value, memo));
    return copy;
  }
  let copy: object;
  try {
    copy = structuredClone(source);
  } catch {
    // A signal, a stream, an object with functions in it: sharing it is all that can be done.
    memo.set(source, source);
    return source;
  }
  if (Object.getPrototypeOf(copy) !== prototype) return copyProperties(source, prototype, memo);
  memo.set(source, copy);
  return copy;
}

function copyProperties(source: object, prototype: object | null, memo: Memo): object {
  const copy = prototype === Object.prototype ? {} : Object.create(prototype);
  memo.set(source, copy);
  for (const key of Object.keys(source)) {
    const value = copyValue((source as Record<string, unknown>)[key], memo);
    // A plain assignment to `__proto__` would set the prototype instead of a property.
    if (key === "__proto__") {
      Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
    } else copy[key] = value;
  }
  return copy;
}

function copyValue(value: unknown, memo: Memo): unknown {
  return typeof value === "object" && value !== null ? copyObject(value, memo) : value;
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
  if (typeof value !== "object" || value === null) return value;
  const refuse = (attempt: string, key: PropertyKey): never => {
    throw new TypeError(`Hooks cannot change ${what}: tried to ${attempt} \`${String(key)}\`. Block the call instead.`);
  };
  const handler: ProxyHandler<object> = {
    set: (_target, key) => refuse("set", key),
    defineProperty: (_target, key) => refuse("define", key),
    deleteProperty: (_target, key) => refuse("delete", key),
    setPrototypeOf: () => refuse("set", "prototype"),
  };
  return freeze(value, handler, new Map()) as T;
}

function freeze(value: object, handler: ProxyHandler<object>, memo: Memo): object {
  const known = memo.get(value);
  if (known !== undefined) return known;
  // Only plain data can be frozen: a Map or a Date behind a proxy would no longer work.
  const prototype = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value;
  const proxy = new Proxy(value, handler);
  memo.set(value, proxy);
  for (const key of Object.keys(value)) {
    const child = (value as Record<string, unknown>)[key];
    if (typeof child === "object" && child !== null) {
      (value as Record<string, unknown>)[key] = freeze(child, handler, memo);
    }
  }
  Object.freeze(value);
  return proxy;
}

/**
 * Whether two values hold the same data.
 *
 * @param a One value.
 * @param b A value that may be a changed copy of it.
 * @returns `true` when nothing differs.
 */
export function sameData(a: unknown, b: unknown): boolean {
  return same(a, b, new Map());
}

function same(a: unknown, b: unknown, memo: Map<object, unknown>): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (memo.has(a)) return memo.get(a) === b;
  memo.set(a, b);
  const prototype = Object.getPrototypeOf(a);
  if (Object.getPrototypeOf(b) !== prototype) return false;
  if (Array.isArray(a)) {
    const other = b as unknown[];
    return a.length === other.length && a.every((value, i) => same(value, other[i], memo));
  }
  if (a instanceof Map || a instanceof Set) {
    const other = b as Map<unknown, unknown> | Set<unknown>;
    return a.size === other.size && same([...a], [...other], memo);
  }
  // Dates, buffers and the like hold data that no property shows: take them for changed unless they are the same object.
  if (prototype !== Object.prototype && prototype !== null && Object.keys(a).length === 0) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) =>
      Object.hasOwn(b, key) && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], memo)
    );
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
