/**
 * How long the command line takes to start.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { compare } from "./measure.ts";
import { type Row, us } from "./row.ts";

async function run(...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, stdout: "null", stderr: "piped" })
    .output();
  if (!success) throw new Error(`deno ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
}

/** Rows about the start. */
export const startRows: readonly Row[] = [{
  name: "xcsh-hooks --version, of deno run of an empty file",
  unit: "×",
  target: { atMost: 3 },
  async run() {
    const cli = fromFileUrl(new URL("../cli/main.ts", import.meta.url));
    const empty = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      const { ours, theirs, ratio } = await compare(
        () => run("run", "-A", cli, "--version"),
        () => run("run", "-A", empty),
        {
          samples: 11,
          sampleMs: 1,
        },
      );
      return { value: ratio, detail: `${us(ours)} against ${us(theirs)}` };
    } finally {
      await Deno.remove(empty);
    }
  },
}];
