// Stand-in for @std/assert over node:assert/strict, made by tools/deps.ts because JSR could not be reached. For tests alone.
/**
 * The functions of `@std/assert` that tests use, with the signatures and the meaning they have on JSR, so that the same
 * tests run where JSR is blocked. Comparison is our own, since `node:assert/strict` tells `0` from `-0` and `{}` from an
 * object without prototype, which `@std/assert` does not; the messages are Node's.
 *
 * @module
 */
import nodeAssert from "node:assert/strict";
import { inspect, stripVTControlCharacters } from "node:util";

/** A constructor, of an abstract class too. */
// deno-lint-ignore no-explicit-any -- a constructor's parameters are contravariant: unknown would refuse most classes
export type AnyConstructor = abstract new (...args: any[]) => any;

/** The type of the instances that a constructor makes. */
// deno-lint-ignore no-explicit-any -- see AnyConstructor
export type GetConstructorType<T extends AnyConstructor> = T extends abstract new (...args: any[]) => infer C ? C
  : never;

/** A constructor of errors, of an abstract class too. */
// deno-lint-ignore no-explicit-any -- see AnyConstructor
export type ErrorConstructor<E extends Error> = abstract new (...args: any[]) => E;

/** An array or what is indexed like one, strings excepted. */
export type ArrayLikeArg<T> = ArrayLike<T> & object;

/** What {@linkcode assertFalse} leaves of a value. */
export type Falsy = false | 0 | 0n | "" | null | undefined;

/** Thrown when an assertion does not hold. */
export class AssertionError extends Error {
  /**
   * Makes the error, as the assertions below do.
   *
   * @param message What was expected and what was found.
   * @param options The cause, as for any error.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AssertionError";
  }
}

/**
 * Whether two values are equal, deeply.
 *
 * @param a One value.
 * @param b The other value.
 * @returns `true` if they are equal.
 */
export function equal(a: unknown, b: unknown): boolean {
  return deepEqual(a, b, new Map());
}

/**
 * Fails unless the value is truthy.
 *
 * @param expr The value.
 * @param msg What to say on failure.
 */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/**
 * Fails unless the value is falsy.
 *
 * @param expr The value.
 * @param msg What to say on failure.
 */
export function assertFalse(expr: unknown, msg = ""): asserts expr is Falsy {
  if (expr) throw new AssertionError(msg);
}

/**
 * Fails unless two values are equal, deeply.
 *
 * @param actual The value at hand.
 * @param expected The value it should have.
 * @param msg What to add to the failure.
 */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(`Values are not equal${suffix(msg)}\n${difference(actual, expected)}`);
}

/**
 * Fails if two values are equal, deeply.
 *
 * @param actual The value at hand.
 * @param expected The value it should not have.
 * @param msg What to add to the failure.
 */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(`Expected actual: ${show(actual)} not to be: ${show(expected)}${suffix(msg)}`);
}

/**
 * Fails unless two values are the same by `Object.is`.
 *
 * @param actual The value at hand.
 * @param expected The value it should be.
 * @param msg What to add to the failure.
 */
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  if (Object.is(actual, expected)) return;
  throw new AssertionError(
    show(actual) === show(expected)
      ? `Values have the same structure but are not reference-equal${suffix(msg)}\n${show(actual)}`
      : `Values are not strictly equal${suffix(msg)}\n${difference(actual, expected)}`,
  );
}

/**
 * Fails if two values are the same by `Object.is`.
 *
 * @param actual The value at hand.
 * @param expected The value it should not be.
 * @param msg What to add to the failure.
 */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!Object.is(actual, expected)) return;
  throw new AssertionError(`Expected "actual" to not be strictly equal to: ${show(actual)}${suffix(msg)}`);
}

/**
 * Fails if the value is `null` or `undefined`.
 *
 * @param actual The value at hand.
 * @param msg What to add to the failure.
 */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual !== undefined && actual !== null) return;
  throw new AssertionError(`Expected actual: "${actual}" to not be null or undefined${suffix(msg)}`);
}

/**
 * Fails unless the value is an instance of the class.
 *
 * @param actual The value at hand.
 * @param expectedType The class.
 * @param msg What to add to the failure.
 */
export function assertInstanceOf<T extends AnyConstructor>(
  actual: unknown,
  expectedType: T,
  msg = "",
): asserts actual is GetConstructorType<T> {
  if (actual instanceof expectedType) return;
  throw new AssertionError(
    `Expected object to be an instance of "${expectedType.name}" but was "${typeName(actual)}"${suffix(msg)}`,
  );
}

/**
 * Fails if the value is an instance of the class.
 *
 * @param actual The value at hand.
 * @param unexpectedType The class.
 * @param msg What to say on failure.
 */
export function assertNotInstanceOf<A, T>(
  actual: A,
  // deno-lint-ignore no-explicit-any -- see AnyConstructor
  unexpectedType: abstract new (...args: any[]) => T,
  msg?: string,
): asserts actual is Exclude<A, T> {
  assertFalse(
    actual instanceof unexpectedType,
    `Expected object to not be an instance of "${typeName(actual)}"${suffix(msg)}`,
  );
}

/**
 * Fails unless the text matches the pattern.
 *
 * @param actual The text.
 * @param expected The pattern.
 * @param msg What to add to the failure.
 */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) return;
  throw new AssertionError(`Expected actual: "${actual}" to match: "${expected}"${suffix(msg)}`);
}

/**
 * Fails if the text matches the pattern.
 *
 * @param actual The text.
 * @param expected The pattern.
 * @param msg What to add to the failure.
 */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!expected.test(actual)) return;
  throw new AssertionError(`Expected actual: "${actual}" to not match: "${expected}"${suffix(msg)}`);
}

/**
 * Fails unless the text contains another.
 *
 * @param actual The text.
 * @param expected The text to find in it.
 * @param msg What to add to the failure.
 */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (actual.includes(expected)) return;
  throw new AssertionError(`Expected actual: "${actual}" to contain: "${expected}"${suffix(msg)}`);
}

/**
 * Fails unless every expected element equals an element of the array.
 *
 * @param actual The array.
 * @param expected The elements to find in it.
 * @param msg What to add to the failure.
 */
export function assertArrayIncludes<T>(actual: ArrayLikeArg<T>, expected: ArrayLikeArg<T>, msg?: string): void {
  const elements = Array.from(actual);
  const missing = Array.from(expected).filter((wanted) => !elements.some((element) => equal(wanted, element)));
  if (missing.length === 0) return;
  throw new AssertionError(
    `Expected actual: "${show(elements)}" to include: "${show(Array.from(expected))}"${suffix(msg)}\nmissing: ${
      show(missing)
    }`,
  );
}

/**
 * Fails unless the object has what the expected one has, deeply. What it has beyond that does not matter.
 *
 * @param actual The object.
 * @param expected The part it should have.
 * @param msg What to add to the failure.
 */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- as on JSR: interfaces are no records of unknown
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  const part = common(actual, expected, new Map());
  const whole = common(expected, expected, new Map());
  if (equal(part, whole)) return;
  throw new AssertionError(`Values are not equal${suffix(msg)}\n${difference(part, whole)}`);
}

/**
 * Fails unless the function throws.
 *
 * @param fn The function.
 * @param msg What to add to the failure.
 * @returns What it threw.
 */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/**
 * Fails unless the function throws an error of the class, with the text in its message.
 *
 * @param fn The function.
 * @param ErrorClass The class.
 * @param msgIncludes The text.
 * @param msg What to add to the failure.
 * @returns The error.
 */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorConstructor<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  errorClassOrMsg?: ErrorConstructor<E> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const expected = thrown(errorClassOrMsg, msgIncludes, msg);
  try {
    fn();
  } catch (error) {
    return expected.check(error, "thrown");
  }
  throw new AssertionError(`Expected function to throw${suffix(expected.msg)}`);
}

/**
 * Fails unless the promise of the function rejects.
 *
 * @param fn The function.
 * @param msg What to add to the failure.
 * @returns What it rejected with.
 */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/**
 * Fails unless the promise of the function rejects with an error of the class, with the text in its message.
 *
 * @param fn The function.
 * @param ErrorClass The class.
 * @param msgIncludes The text.
 * @param msg What to add to the failure.
 * @returns The error.
 */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorConstructor<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  errorClassOrMsg?: ErrorConstructor<E> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const expected = thrown(errorClassOrMsg, msgIncludes, msg);
  let promise: unknown;
  try {
    promise = fn();
  } catch {
    // Left undefined: a function that throws at once made no promise that could reject.
  }
  if (!isPromiseLike(promise)) {
    throw new AssertionError(`Function throws when expected to reject${suffix(expected.msg)}`);
  }
  try {
    await promise;
  } catch (error) {
    return expected.check(error, "rejected");
  }
  throw new AssertionError(`Expected function to reject${suffix(expected.msg)}`);
}

/**
 * Fails unless the value is an error, of the class and with the text in its message if they are given.
 *
 * @param error The value.
 * @param ErrorClass The class.
 * @param msgMatches The text, or a pattern.
 * @param msg What to add to the failure.
 */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: ErrorConstructor<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) throw new AssertionError(`Expected "error" to be an Error object${suffix(msg)}`);
  if (ErrorClass && !(error instanceof ErrorClass)) {
    throw new AssertionError(
      `Expected error to be instance of "${ErrorClass.name}", but was "${typeName(error)}": ${error.message}${
        suffix(msg)
      }`,
    );
  }
  if (!msgMatches) return;
  const message = stripVTControlCharacters(error.message);
  const holds = typeof msgMatches === "string"
    ? message.includes(stripVTControlCharacters(msgMatches))
    : msgMatches.test(message);
  if (holds) return;
  throw new AssertionError(
    `Expected error message to include ${
      typeof msgMatches === "string" ? JSON.stringify(msgMatches) : msgMatches
    }, but got ${JSON.stringify(error.message)}${suffix(msg)}`,
  );
}

/**
 * Fails unless one value is greater than the other.
 *
 * @param actual The value at hand.
 * @param expected The value it should exceed.
 * @param msg What to say on failure.
 */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (actual > expected) return;
  throw new AssertionError(msg ?? `Expect ${show(actual)} > ${show(expected)}`);
}

/**
 * Fails unless one value is greater than the other or the same.
 *
 * @param actual The value at hand.
 * @param expected The least it should be.
 * @param msg What to say on failure.
 */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (actual >= expected) return;
  throw new AssertionError(msg ?? `Expect ${show(actual)} >= ${show(expected)}`);
}

/**
 * Fails unless one value is less than the other.
 *
 * @param actual The value at hand.
 * @param expected The value it should stay below.
 * @param msg What to say on failure.
 */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (actual < expected) return;
  throw new AssertionError(msg ?? `Expect ${show(actual)} < ${show(expected)}`);
}

/**
 * Fails unless one value is less than the other or the same.
 *
 * @param actual The value at hand.
 * @param expected The most it should be.
 * @param msg What to say on failure.
 */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (actual <= expected) return;
  throw new AssertionError(msg ?? `Expect ${show(actual)} <= ${show(expected)}`);
}

/**
 * Fails unless two numbers are close to each other.
 *
 * @param actual The number at hand.
 * @param expected The number it should be close to.
 * @param tolerance How far it may be, a ten-millionth of the expected number by default.
 * @param msg What to add to the failure.
 */
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void {
  if (Object.is(actual, expected)) return;
  const allowed = tolerance ?? (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  const delta = Math.abs(expected - actual);
  if (delta <= allowed) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to be close to "${expected}": delta "${delta}" is greater than "${allowed}"${
      suffix(msg)
    }`,
  );
}

/**
 * Fails.
 *
 * @param msg Why.
 */
export function fail(msg?: string): never {
  throw new AssertionError(`Failed assertion${suffix(msg)}`);
}

/**
 * Fails, where no execution should come.
 *
 * @param msg Why.
 */
export function unreachable(msg?: string): never {
  throw new AssertionError(`Unreachable${suffix(msg)}`);
}

/**
 * Fails, where code is still missing.
 *
 * @param msg What is missing.
 */
export function unimplemented(msg?: string): never {
  throw new AssertionError(`Unimplemented${suffix(msg)}`);
}

/**
 * Fails, where the type checker has ruled out every value.
 *
 * @param x The value that should not be.
 * @param msg What to say on failure.
 */
export function assertNever(x: never, msg?: string): never {
  throw new AssertionError(msg ?? `Expected a value of type never, but got ${show(x)}`);
}

type Loose = Record<PropertyKey, unknown>;

function suffix(msg: string | undefined): string {
  return msg ? `: ${msg}` : ".";
}

function show(value: unknown): string {
  return inspect(value, { depth: 20, sorted: true, maxArrayLength: 200, breakLength: 100 });
}

function typeName(value: unknown): string {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  return value.constructor?.name ?? "Object";
}

function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof value["then"] === "function";
}

/** Node's picture of the difference, without its headline; both values in full where Node sees none. */
function difference(actual: unknown, expected: unknown): string {
  try {
    nodeAssert.deepStrictEqual(actual, expected);
  } catch (error) {
    if (error instanceof nodeAssert.AssertionError) return error.message.replace(/^.*\n+/, "");
  }
  return `actual: ${show(actual)}\nexpected: ${show(expected)}`;
}

/** What {@linkcode assertThrows} and {@linkcode assertRejects} were told to expect. */
function thrown<E extends Error>(
  errorClassOrMsg: ErrorConstructor<E> | string | undefined,
  msgIncludes: string | undefined,
  msg: string | undefined,
): { msg: string | undefined; check: (error: unknown, how: string) => unknown } {
  if (typeof errorClassOrMsg === "string") return { msg: errorClassOrMsg, check: (error) => error };
  return {
    msg,
    check(error, how) {
      if (!errorClassOrMsg) return error;
      if (!(error instanceof Error)) throw new AssertionError(`A non-Error object was ${how}${suffix(msg)}`);
      assertIsError(error, errorClassOrMsg, msgIncludes, msg);
      return error;
    },
  };
}

/** What says all of itself as text. */
const TEXTUAL = [RegExp, URL, URLSearchParams, Intl.Locale];

/** Equality that follows cycles: a pair under comparison counts as equal while its parts are compared. */
function deepEqual(a: unknown, b: unknown, open: Map<unknown, unknown>): boolean {
  if (a === b || Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
  const prototype = prototypeOf(a);
  if (prototype !== prototypeOf(b)) return false;
  if (TEXTUAL.some((type) => prototype === type.prototype)) return String(a) === String(b);
  if (isBinary(a) && isBinary(b)) return sameNumbers(numbersOf(a), numbersOf(b));
  if (a instanceof WeakMap || a instanceof WeakSet) throw new TypeError(`Cannot compare ${typeName(a)} instances`);
  if (a instanceof WeakRef && b instanceof WeakRef) return deepEqual(a.deref(), b.deref(), open);
  if (open.get(a) === b) return true;
  open.set(a, b);
  if (a instanceof Set && b instanceof Set) return sameElements([...a], [...b], open);
  if (a instanceof Map && b instanceof Map) return sameEntries(a, b, open);
  const keys = comparedKeys(a);
  return keys.size === comparedKeys(b).size && [...keys].every((key) => key in b && deepEqual(a[key], b[key], open));
}

/** An object without prototype counts as a plain one. */
function prototypeOf(value: object): unknown {
  return Object.getPrototypeOf(value) ?? Object.prototype;
}

/**
 * The enumerable properties of plain objects and arrays; of others all that they have, since what an instance is often
 * shows in getters of its class alone.
 */
function comparedKeys(value: object): Set<PropertyKey> {
  const prototype = prototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype) {
    return new Set(Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key)));
  }
  const keys = new Set<PropertyKey>();
  for (let at = value; at && at !== Object.prototype && at !== Array.prototype; at = Object.getPrototypeOf(at)) {
    Reflect.ownKeys(at).forEach((key) => keys.add(key));
  }
  return keys;
}

function isBinary(value: unknown): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer;
}

function numbersOf(value: ArrayBufferView | ArrayBufferLike): ArrayLike<unknown> {
  if (!ArrayBuffer.isView(value)) return new Uint8Array(value);
  if (value instanceof DataView) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value as ArrayBufferView & ArrayLike<unknown>;
}

function sameNumbers(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index] && !Object.is(a[index], b[index])) return false;
  }
  return true;
}

/** Equal as sets: each element has its own partner on the other side. */
function sameElements(left: unknown[], right: unknown[], open: Map<unknown, unknown>): boolean {
  if (left.length !== right.length) return false;
  const primitives = new Set(right.filter((element) => !isObject(element)));
  const objects = right.filter(isObject);
  return left.every((element) => {
    if (!isObject(element)) return primitives.has(element);
    // A failed attempt must not leave its pairs behind as if they were equal.
    const partner = objects.findIndex((other) => deepEqual(element, other, new Map(open)));
    if (partner >= 0) objects.splice(partner, 1);
    return partner >= 0;
  });
}

function sameEntries(left: Map<unknown, unknown>, right: Map<unknown, unknown>, open: Map<unknown, unknown>): boolean {
  const withObjects = (map: Map<unknown, unknown>) => [...map].filter(([key]) => isObject(key));
  return left.size === right.size &&
    [...left].every(([key, value]) => isObject(key) || right.has(key) && deepEqual(value, right.get(key), open)) &&
    sameElements(withObjects(left), withObjects(right), open);
}

/** Parts made so far, by value and pattern: they end cycles. */
type Parts = Map<unknown, Map<unknown, Loose>>;

/** The part of `value` that `pattern` speaks of, as plain objects. */
function common(value: Loose, pattern: Loose, made: Parts): Loose {
  if (!isObject(value)) {
    throw new TypeError(`Cannot assertObjectMatch ${value === null ? null : `type ${typeof value}`}`);
  }
  const known = made.get(value)?.get(pattern);
  if (known) return known;
  const part: Loose = {};
  if (!made.has(value)) made.set(value, new Map());
  made.get(value)?.set(pattern, part);
  for (const key of Reflect.ownKeys(value)) {
    // An array matches one that goes on longer.
    if (key === "length" && Array.isArray(value)) continue;
    if (key in pattern) part[key] = commonValue(value[key], pattern[key], made);
  }
  return part;
}

function commonValue(value: unknown, pattern: unknown, made: Parts): unknown {
  if (!isObject(value) || !isObject(pattern) || value instanceof RegExp || value instanceof Date) return value;
  if (value instanceof Map && pattern instanceof Map) {
    return new Map(
      [...value].filter(([key]) => pattern.has(key)).map((
        [key, item],
      ) => [key, commonValue(item, pattern.get(key), made)]),
    );
  }
  if (value instanceof Set && pattern instanceof Set) return new Set([...value].filter((item) => pattern.has(item)));
  if (Array.isArray(value) !== Array.isArray(pattern)) return value;
  return common(value, pattern, made);
}
