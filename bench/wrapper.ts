/**
 * What a gate costs a tool call.
 *
 * @module
 */

import { type HookRunner, HookToolWrapper, type Tool } from "@xcsh/hooks";
import { runnerOf } from "./hooks.ts";
import { compare } from "./measure.ts";
import { type Row, us } from "./row.ts";

const tool: Tool = {
  name: "bash",
  execute: () => Promise.resolve({ content: [{ type: "text", text: "total 0" }], details: { exitCode: 0 } }),
};
const PARAMS = { command: "ls -la", timeout: 30 };

function onTop(name: string, runner: HookRunner): Row {
  const wrapper = new HookToolWrapper(tool, runner);
  return {
    name: `wrapper with one ${name} handler, on top of the tool`,
    unit: "µs",
    target: { atMost: 3 },
    async run() {
      const { ours, theirs, onTop } = await compare(
        () => wrapper.execute("1", PARAMS),
        () => tool.execute("1", PARAMS),
      );
      return { value: onTop, detail: `best samples; medians ${us(ours)} against ${us(theirs)}` };
    },
  };
}

/** Rows about the wrapper. */
export const wrapperRows: readonly Row[] = [
  onTop("tool_call", runnerOf("tool_call", () => {}, 1)),
  onTop("tool_result", runnerOf("tool_result", () => {}, 1)),
];
