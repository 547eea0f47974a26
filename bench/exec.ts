/**
 * Running a program against Deno's own way.
 *
 * @module
 */

import { execCommand } from "@xcsh/hooks";
import { compare } from "./measure.ts";
import { type Row, us } from "./row.ts";

/** Rows about programs. */
export const execRows: readonly Row[] = [{
  name: 'execCommand("true"), of Deno.Command("true").output()',
  unit: "×",
  target: { atMost: 1.3 },
  async run() {
    const { ours, theirs, ratio } = await compare(
      () => execCommand("true", [], "/"),
      () => new Deno.Command("true", { cwd: "/" }).output(),
      { samples: 51, sampleMs: 20 },
    );
    return { value: ratio, detail: `${us(ours)} against ${us(theirs)}` };
  },
}];
