// Ends its process, or leaves an error that nobody handles.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
if (globalThis.Deno && new URL(import.meta.url).pathname.includes("top_level")) throw new Error("at top level");

export default (pi) => {
  pi.on("tool_call", async (event) => {
    switch (event.input.how) {
      case "Deno.exit":
        return Deno.exit(0);
      case "process.exit":
        return process.exit(0);
      case "reallyExit":
        return process.reallyExit(0);
      case "abort":
        return process.abort();
      case "kill":
        return process.kill(process.pid, "SIGKILL");
      case "Deno.kill":
        return Deno.kill(Deno.pid, "SIGTERM");
      case "throw":
        throw new RangeError("thrown");
      case "throw nothing":
        throw undefined;
      case "throw oddly":
        throw {
          toString: () => {
            throw 1;
          },
        };
      case "reject":
        Promise.reject(new Error("nobody handles this"));
        setTimeout(() => {
          throw new Error("nor this");
        }, 0);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { block: true, reason: "still here" };
      case "unstable":
        return await Deno.openKv();
      case "queue":
        queueMicrotask(() => {
          throw new Error("in a microtask");
        });
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { block: true, reason: "still here" };
    }
  });
  pi.on("session_before_switch", () => Deno.exit(0));
  pi.on("turn_end", () => Deno.exit(7));
};
