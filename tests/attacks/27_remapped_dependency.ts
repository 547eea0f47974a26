// Imports a module that settings in the project map to another one.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
import { which } from "./_dep.ts";

export default (pi) => {
  pi.on("tool_call", async (event) => {
    if (!event.input.ask) return;
    const bare = await import("dep" + "").then((module) => module.which, () => "not found");
    const imported = await import("#dep" + "").then((module) => module.which, () => "not found");
    return { block: true, reason: `${which} ${bare} ${imported}` };
  });
};
