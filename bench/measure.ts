/**
 * Measuring two ways of doing the same by turns, so that what else the machine does hits both.
 *
 * @module
 */

/** Something to measure. */
export type Work = () => unknown;

/** How {@linkcode compare} measures. */
export interface CompareOptions {
  /** How many pairs of samples are taken; default 101. */
  samples?: number;
  /** How long one sample takes at least, in ms; default 2. */
  sampleMs?: number;
}

/** What {@linkcode compare} found. */
export interface Comparison {
  /** Time of one run of the first, in µs. */
  ours: number;
  /** Time of one run of the second, in µs. */
  theirs: number;
  /** Median of the ratios of the pairs. */
  ratio: number;
  /** What the first takes longer, in µs, when nothing else keeps the machine: by the best sample of each. */
  onTop: number;
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Measures two works by turns, in pairs whose order changes.
 *
 * @param ours The work that the ratio is of.
 * @param theirs The work that it is compared with.
 * @param options See {@linkcode CompareOptions}.
 * @returns Medians.
 */
export async function compare(ours: Work, theirs: Work, options: CompareOptions = {}): Promise<Comparison> {
  const { samples = 101, sampleMs = 2 } = options;
  const rounds = [await calibrate(ours, sampleMs), await calibrate(theirs, sampleMs)] as const;
  const times: [number, number][] = [];
  for (let i = 0; i < samples; i++) {
    if (i % 2 === 0) {
      const first = await sample(ours, rounds[0]);
      times.push([first, await sample(theirs, rounds[1])]);
    } else {
      const second = await sample(theirs, rounds[1]);
      times.push([await sample(ours, rounds[0]), second]);
    }
  }
  return {
    ours: median(times.map(([a]) => a)),
    theirs: median(times.map(([, b]) => b)),
    ratio: median(times.map(([a, b]) => a / b)),
    onTop: Math.min(...times.map(([a]) => a)) - Math.min(...times.map(([, b]) => b)),
  };
}

/** Warms a work up, and finds how many runs of it fill a sample. */
async function calibrate(work: Work, sampleMs: number): Promise<number> {
  for (let rounds = 1;; rounds *= 2) {
    // The best of three, since a single pause would make a long sample of a short one.
    const times = [await sample(work, rounds)];
    while (times.length < 3 && Math.min(...times) * rounds >= sampleMs * 1_000) times.push(await sample(work, rounds));
    if (Math.min(...times) * rounds >= sampleMs * 1_000) return rounds;
  }
}

/** Time of one run in µs. */
async function sample(work: Work, rounds: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < rounds; i++) await work();
  return (performance.now() - start) * 1_000 / rounds;
}
