/**
 * Loading hooks against importing their files.
 *
 * @module
 */

import { join, toFileUrl } from "@std/path";
import { loadHooks } from "@xcsh/hooks";
import { median } from "./measure.ts";
import { type Row, us } from "./row.ts";

const HOOKS = 100;
const PAIRS = 11;

async function writeHooks(folder: string): Promise<string[]> {
  const paths = Array.from({ length: HOOKS }, (_, i) => join(folder, `hook_${i}.ts`));
  for (const [i, path] of paths.entries()) {
    await Deno.writeTextFile(
      path,
      `interface API { on(event: string, handler: (event: { toolName: string }) => unknown): void }
export default function (pi: API): void {
  pi.on("tool_call", (event) => event.toolName === "tool_${i}" ? { block: true, reason: "no ${i}" } : undefined);
}
`,
    );
  }
  return paths;
}

/** Time in µs of handling files that were never imported before. */
async function timed(work: (paths: string[]) => Promise<unknown>): Promise<number> {
  const folder = await Deno.makeTempDir();
  try {
    const paths = await writeHooks(folder);
    const start = performance.now();
    await work(paths);
    return (performance.now() - start) * 1_000;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Rows about loading. */
export const loadRows: readonly Row[] = [{
  name: `load ${HOOKS} hooks, of importing the same files`,
  unit: "×",
  target: { atMost: 1.5 },
  async run() {
    const load = () =>
      timed(async (paths) => {
        const { errors } = await loadHooks(paths, "/");
        if (errors.length > 0) throw new Error(errors[0]!.error);
      });
    const importAll = () =>
      timed(async (paths) => {
        for (const path of paths) await import(toFileUrl(path).href);
      });
    await load();
    await importAll();
    const pairs: [number, number][] = [];
    for (let i = 0; i < PAIRS; i++) {
      const first = i % 2 === 0 ? await load() : await importAll();
      const second = i % 2 === 0 ? await importAll() : await load();
      pairs.push(i % 2 === 0 ? [first, second] : [second, first]);
    }
    const [ours, theirs] = [median(pairs.map(([a]) => a)), median(pairs.map(([, b]) => b))];
    return { value: median(pairs.map(([a, b]) => a / b)), detail: `${us(ours)} against ${us(theirs)}` };
  },
}];
