/**
 * What it costs to import the way other hosts do.
 *
 * @module
 */

import { fromFileUrl, join } from "@std/path";
import { loadHooks } from "@xcsh/hooks";
import { hookModules } from "../src/compat/modules.ts";
import { median } from "./measure.ts";
import { type Row, us } from "./row.ts";

const PAIRS = 15;
const HOOKS = {
  plain: `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { join } from "node:path";
export default function (pi: HookAPI) {
  pi.on("tool_call", (event) => event.toolName === join("rm") ? { block: true, reason: "no" } : undefined);
}
`,
  other: `import { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "@sinclair/typebox";
import { join } from "node:path";
const schema = Type.Object({ command: Type.String() });
export default function (pi: HookAPI) {
  pi.on("tool_call", (event) => event.toolName === join("rm") && schema ? { block: true, reason: "no" } : undefined);
}
`,
  pi_tui: `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { Editor } from "@mariozechner/pi-tui";
import { join } from "node:path";
export default function (pi: HookAPI) {
  pi.on("tool_call", (event) => event.toolName === join("rm") && new Editor() ? { block: true, reason: "no" } : undefined);
}
`,
  typebox: `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "@sinclair/typebox";
import { join } from "node:path";
const schema = Type.Object({ command: Type.TemplateLiteral("rm \${string}") });
export default function (pi: HookAPI) {
  pi.on("tool_call", (event) => event.toolName === join("rm") && schema ? { block: true, reason: "no" } : undefined);
}
`,
};

type Kind = keyof typeof HOOKS;

async function withHooks<T>(work: (paths: Record<Kind, string>) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir();
  try {
    const paths = {} as Record<Kind, string>;
    for (const kind of Object.keys(HOOKS) as Kind[]) {
      paths[kind] = join(folder, `${kind}.ts`);
      await Deno.writeTextFile(paths[kind], HOOKS[kind]);
    }
    return await work(paths);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** How much longer a hook of a kind takes than a plain one, in ms. */
async function difference(measure: (path: string) => Promise<number>, kind: Kind = "other") {
  return await withHooks(async ({ plain, [kind]: other }) => {
    for (const path of [plain, other]) await measure(path);
    const pairs: [number, number][] = [];
    for (let i = 0; i < PAIRS; i++) {
      const first = await measure(i % 2 === 0 ? plain : other);
      const second = await measure(i % 2 === 0 ? other : plain);
      pairs.push(i % 2 === 0 ? [first, second] : [second, first]);
    }
    const [less, more] = [median(pairs.map(([a]) => a)), median(pairs.map(([, b]) => b))];
    return { value: median(pairs.map(([a, b]) => b - a)), detail: `${us(more * 1_000)} against ${us(less * 1_000)}` };
  });
}

/** Loads a hook into a process that has loaded none before. */
async function loadInFreshProcess(path: string): Promise<number> {
  const mod = new URL("../mod.ts", import.meta.url).href;
  const code = `const { loadHooks } = await import(${JSON.stringify(mod)});
const start = performance.now();
const { errors } = await loadHooks([${JSON.stringify(path)}], "/");
if (errors.length > 0) throw new Error(errors[0].error);
console.log(performance.now() - start);`;
  const config = fromFileUrl(new URL("../deno.json", import.meta.url));
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", config, code],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return Number(new TextDecoder().decode(stdout));
}

async function loadIsolated(path: string): Promise<number> {
  const start = performance.now();
  const { hooks, errors } = await loadHooks([path], "/", { permissions: {} });
  const time = performance.now() - start;
  if (errors.length > 0) throw new Error(errors[0]!.error);
  for (const hook of hooks) await hook.dispose?.();
  return time;
}

/** What the look at plain hooks takes of the time in which they are loaded. */
async function lookOfLoad() {
  const folder = await Deno.makeTempDir();
  try {
    const paths = Array.from({ length: 100 }, (_, i) => join(folder, `${i}.ts`));
    for (const path of paths) await Deno.writeTextFile(path, HOOKS.plain);
    await loadHooks(paths.slice(0, 10), "/");
    const timeOf = async (work: () => unknown) => {
      const start = performance.now();
      await work();
      return performance.now() - start;
    };
    const look = await timeOf(() => paths.slice(10).forEach(hookModules));
    const load = await timeOf(() => loadHooks(paths.slice(10), "/"));
    return { value: load / (load - look), detail: `${us(look * 1_000)} of ${us(load * 1_000)} for 90 hooks` };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Rows about hooks of other hosts. */
export const compatRows: readonly Row[] = [
  {
    name: "look whether a hook imports the way other hosts do",
    unit: "µs",
    target: { atMost: 200 },
    run: () =>
      withHooks(({ plain }) => {
        const times: number[] = [];
        for (let i = 0; i < 500; i++) {
          const start = performance.now();
          hookModules(plain);
          times.push((performance.now() - start) * 1_000);
        }
        return Promise.resolve({ value: median(times), detail: "its file is read, once" });
      }),
  },
  {
    name: "load a hook that does not, of loading it without that look",
    unit: "×",
    target: { atMost: 1.05 },
    run: lookOfLoad,
  },
  {
    name: "load a hook that does, more than one that does not, in process",
    unit: "ms",
    target: { atMost: 60 },
    run: () => difference(loadInFreshProcess),
  },
  {
    name: "load a hook that does, more than one that does not, isolated",
    unit: "ms",
    target: { atMost: 60 },
    run: () => difference(loadIsolated),
  },
  {
    name: "load a hook that needs pi-tui itself, more than plain, in process",
    unit: "ms",
    target: { atMost: 200 },
    run: () => difference(loadInFreshProcess, "pi_tui"),
  },
  {
    name: "load a hook that needs pi-tui itself, more than plain, isolated",
    unit: "ms",
    target: { atMost: 200 },
    run: () => difference(loadIsolated, "pi_tui"),
  },
  {
    name: "load a hook that needs typebox itself, more than plain, in process",
    unit: "ms",
    target: { atMost: 200 },
    run: () => difference(loadInFreshProcess, "typebox"),
  },
  {
    name: "load a hook that needs typebox itself, more than plain, isolated",
    unit: "ms",
    target: { atMost: 200 },
    run: () => difference(loadIsolated, "typebox"),
  },
];
