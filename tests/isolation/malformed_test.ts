import { assertEquals, assertMatch } from "@std/assert";
import { arena } from "./support.ts";

const ignore = Deno.build.os === "windows";

Deno.test(
  { name: "isolated: what a hook redacted stays so when its answer cannot be written (C7.5)", ignore },
  async () => {
    await using a = await arena({
      hook: `export default (pi) => {
      pi.on("tool_result", () => ({ content: [{ type: "text", text: "[redacted]", n: 1n }], details: { n: 1n } }));
      pi.on("context", () => ({ messages: [null] }));
      pi.on("turn_end", () => pi.sendMessage({ customType: "x", content: [null], display: true }));
    };`,
    });
    assertEquals((await a.call()).text, "[redacted]");
    assertEquals(await a.runner.emitContext([]), []);
    await a.runner.emit({ type: "turn_end", turnIndex: 0, message: {} as never, toolResults: [] });
    const errors = a.errors.map(({ event, error }) => `${event}: ${error}`);
    assertEquals(errors.length, 3);
    assertMatch(errors[0]!, /^tool_result: .*content\[0\]\.n is a BigInt/);
    assertMatch(errors[1]!, /^context: .*messages\[0\] should be an object, not null/);
    assertMatch(errors[2]!, /^turn_end: .*content\[0\] should be a part/);
  },
);
