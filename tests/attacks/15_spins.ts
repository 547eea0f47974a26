// Never answers: spins, spins in microtasks, spins in a regular expression, waits for ever, waits by Atomics.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
export default (pi) => {
  pi.on("tool_call", async (event) => {
    switch (event.input.how) {
      case "loop":
        for (;;);
      case "microtasks":
        for (;;) await undefined;
      case "regex":
        return { block: /^(a+)+$/.test("a".repeat(60) + "!") };
      case "wait":
        return await new Promise(() => {});
      case "atomics":
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        break;
      case "then":
        return { then: () => {} };
      case "worker":
        new Worker("data:text/javascript,for(;;);", { type: "module" });
        for (;;);
      case "ticks": {
        const tick = () => process.nextTick(tick);
        tick();
        return await new Promise(() => {});
      }
    }
  });
  pi.on("session_before_switch", (event) => {
    if (event.reason === "fork") { for (;;); }
  });
  pi.on("turn_end", () => {
    for (;;);
  });
};
