// deno-lint-ignore-file no-console -- a program that prints
/**
 * Measures what the speed table of the README promises. `--json` prints JSON, `--only <text>` runs the rows whose name holds
 * the text. Exits with 1 when a target is missed.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { loadRows } from "./load.ts";
import { compatRows } from "./compat.ts";
import { emissionRows } from "./emit.ts";
import { discoveryRows } from "./discovery.ts";
import { execRows } from "./exec.ts";
import { isolationRows } from "./isolation.ts";
import { replayRows } from "./replay.ts";
import type { Measured, Row } from "./row.ts";
import { screenRows } from "./screen.ts";
import { sessionRows } from "./session.ts";
import { startRows } from "./start.ts";
import { wrapperRows } from "./wrapper.ts";

const ROWS: readonly Row[] = [
  ...emissionRows,
  ...wrapperRows,
  ...loadRows,
  ...execRows,
  ...startRows,
  ...replayRows,
  ...isolationRows,
  ...compatRows,
  ...sessionRows,
  ...discoveryRows,
  ...screenRows,
];

const { values: options } = parseArgs({ options: { json: { type: "boolean" }, only: { type: "string" } } });
const { only = "", json = false } = options;
const rows = ROWS.filter((row) => row.name.toLowerCase().includes(only.toLowerCase()));
if (rows.length === 0) {
  console.error(
    `No row's name holds ${JSON.stringify(only)}. The rows are:\n${ROWS.map((row) => row.name).join("\n")}`,
  );
  Deno.exit(2);
}

const results: (Measured & { row: Row; met: boolean })[] = [];
for (const [i, row] of rows.entries()) {
  console.error(`${i + 1}/${rows.length} ${row.name} …`);
  const measured = await row.run().catch((error: unknown): Measured => ({
    value: NaN,
    detail: String(error).split("\n")[0]!,
  }));
  const met = "atMost" in row.target ? measured.value <= row.target.atMost : measured.value >= row.target.atLeast;
  results.push({ ...measured, row, met });
}

if (json) {
  console.log(JSON.stringify(
    results.map(({ row, value, detail, met }) => ({
      name: row.name,
      unit: row.unit,
      target: row.target,
      measured: value,
      met,
      detail,
    })),
    null,
    2,
  ));
} else {
  console.log("| work | measured | target | | detail |\n|---|---|---|---|---|");
  for (const { row, value, detail, met } of results) {
    const target = "atMost" in row.target ? `≤ ${row.target.atMost}` : `≥ ${row.target.atLeast}`;
    console.log(
      `| ${row.name} | ${show(value)} ${row.unit} | ${target} ${row.unit} | ${met ? "✓" : "✗"} | ${detail} |`,
    );
  }
}
if (results.some((result) => !result.met)) Deno.exitCode = 1;

function show(value: number): string {
  return value >= 1_000 ? Math.round(value).toString() : value.toFixed(2);
}
