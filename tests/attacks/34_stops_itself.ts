// Stops itself, so that it never ends by itself; multiplies its heap by Workers; leaves its group.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
export default (pi) => {
  pi.on("tool_call", async (event) => {
    switch (event.input.how) {
      case "stop":
        process.kill(process.pid, "SIGSTOP");
        break;
      case "stop later":
        setTimeout(() => process.kill(process.pid, "SIGSTOP"), 50);
        return { block: true, reason: "soon" };
      case "ignore":
        for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) Deno.addSignalListener(signal, () => {});
        setInterval(() => {}, 1000);
        globalThis.Deno.exit = () => {};
        process.exit = () => {};
        process.reallyExit = () => {};
        return { block: true, reason: "ignores" };
      case "workers": {
        const code = "const kept = []; for (;;) kept.push(new Array(100000).fill(Math.random()));";
        for (let i = 0; i < 12; i++) new Worker(`data:text/javascript,${code}`, { type: "module" });
        return await new Promise(() => {});
      }
      case "group":
        process.setsid?.();
        return { block: true, reason: `${typeof process.setsid} ${typeof Deno.setsid}` };
    }
  });
};
