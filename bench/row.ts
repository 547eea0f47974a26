/**
 * What a row of the table is.
 *
 * @module
 */

/** What a row found. */
export interface Measured {
  /** The number that the target is about. */
  value: number;
  /** How it came about, for example both times. */
  detail: string;
}

/** One row of the table. */
export interface Row {
  /** The work. */
  readonly name: string;
  /** What `value` counts: `×` for a ratio of two times measured by turns. */
  readonly unit: "×" | "× faster" | "µs" | "ms" | "s" | "MiB" | "calls/s";
  /** What `value` must be. */
  readonly target: { readonly atMost: number } | { readonly atLeast: number };
  /** Measures it. */
  run(): Promise<Measured>;
}

/** A time with three digits. */
export function us(time: number): string {
  return time >= 1_000 ? `${(time / 1_000).toPrecision(3)} ms` : `${time.toPrecision(3)} µs`;
}
