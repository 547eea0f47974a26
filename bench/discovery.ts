/**
 * Finding hooks against walking the same folders, and checking an approval.
 *
 * @module
 */

import { walkSync } from "@std/fs";
import { dirname, join } from "@std/path";
import {
  createHookRegistry,
  createTrust,
  discoverHooks,
  type HookItem,
  HOOKS_CAPABILITY,
  type Trust,
  type TrustGate,
  trustRequests,
} from "@xcsh/hooks";
import { compare, median } from "./measure.ts";
import { type Row, us } from "./row.ts";

const FOLDERS = [
  "project/.xcsh/hooks",
  "project/.omp/hooks",
  "project/.pi/hooks",
  "project/.claude/hooks",
  "project/.codex/hooks",
  "home/.xcsh/hooks",
  "home/.claude/hooks",
  "home/.codex/hooks",
];
const HOOKS = 200;
const everything: TrustGate = { check: () => ({ trusted: true }) };

interface Place extends Disposable {
  cwd: string;
  home: string;
  folders: string[];
}

/** A project and a home with hooks in pre/ and post/ of each folder. */
function place(hooks: number): Place {
  const root = Deno.realPathSync(Deno.makeTempDirSync());
  const folders = FOLDERS.map((folder) => join(root, folder));
  for (let i = 0; i < hooks; i++) {
    const path = join(folders[i % folders.length]!, i % 3 === 0 ? "post" : "pre", `tool_${i}.ts`);
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, 'import "./lib/policy.ts";\nexport default () => {};\n');
  }
  Deno.mkdirSync(join(root, "project/.git"));
  return {
    cwd: join(root, "project"),
    home: join(root, "home"),
    folders,
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
}

/** Rows about discovery and trust. */
export const discoveryRows: readonly Row[] = [{
  name: `find ${HOOKS} hooks in ${FOLDERS.length} folders, of walking the folders`,
  unit: "×",
  target: { atMost: 2 },
  async run() {
    using there = place(HOOKS);
    const registry = createHookRegistry();
    const find = async () => {
      const { hooks } = await discoverHooks([], there.cwd, { registry, home: there.home, trust: everything });
      if (hooks.length !== HOOKS) throw new Error(`found ${hooks.length} hooks`);
    };
    const walk = () => {
      for (const folder of there.folders) for (const _ of walkSync(folder));
    };
    const { ours, theirs, ratio } = await compare(find, walk);
    return { value: ratio, detail: `${us(ours)} against ${us(theirs)}` };
  },
}, {
  name: "check the approval of a hook that has not changed",
  unit: "ms",
  target: { atMost: 1 },
  async run() {
    using there = place(8);
    const path = join(there.cwd, ".xcsh/hooks/post/tool_0.ts");
    Deno.mkdirSync(join(dirname(path), "lib"));
    Deno.writeTextFileSync(join(dirname(path), "lib/policy.ts"), `// ${"policy ".repeat(2_000)}\nexport {};\n`);
    const registry = createHookRegistry();
    const options = { registry, home: there.home, trust: createTrust(there.cwd, { home: there.home }) };
    const [request] = await trustRequests(there.cwd, options, path);
    await request!.approve();
    const { all } = await registry.load<HookItem>(HOOKS_CAPABILITY, { cwd: there.cwd, home: there.home });
    const check = async (trust: Trust) => {
      const start = performance.now();
      const verdict = await trust.check(request!.hook, all);
      if (!verdict.trusted) throw new Error(verdict.reason);
      return performance.now() - start;
    };
    const times: number[] = [];
    const first: number[] = [];
    for (let i = 0; i < 200; i++) {
      // The first check of a run reads the store as well.
      const trust = createTrust(there.cwd, { home: there.home });
      first.push(await check(trust));
      times.push(await check(trust));
    }
    return { value: median(times), detail: `2 files, 15 kB; the first of a run ${us(median(first) * 1_000)}` };
  },
}, {
  name: "look at each folder and file once in one run",
  unit: "×",
  target: { atMost: 1 },
  async run() {
    using there = place(HOOKS);
    const registry = createHookRegistry();
    await discoverHooks([], there.cwd, { registry, home: there.home, trust: everything });
    const { size, misses, hits } = registry.cacheStats();
    return {
      value: misses / size,
      detail: `${misses} looks at ${size} folders and files, ${hits} answered from memory`,
    };
  },
}];
