// Answers with what cannot be sent: getters, cycles, big integers, functions, proxies, what is too deep.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
const cycle = { block: true, reason: "cycle" };
cycle.self = cycle;
let reads = 0;

export default (pi) => {
  pi.on("tool_call", (event) => {
    const { how } = event.input;
    switch (how) {
      case "getter":
        return {
          get block() {
            return ++reads % 2 === 1;
          },
          reason: "getter",
        };
      case "throwing getter":
        return {
          get block() {
            throw new Error("no");
          },
        };
      case "cycle":
        return cycle;
      case "BigInt":
        return { block: 1n, reason: 2n ** 64n };
      case "function":
        return () => ({ block: false });
      case "functions":
        return { block: () => false, reason: () => "x" };
      case "symbol":
        return Symbol("x");
      case "proxy":
        return new Proxy({}, {
          get: (_, key) => key === "block",
          has: () => true,
          ownKeys: () => ["block"],
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: true }),
        });
      case "class":
        return new (class {
          block = true;
          reason = "class";
        })();
      case "toJSON":
        return { block: true, reason: "toJSON", toJSON: () => ({ block: false }) };
      case "deep": {
        let deep = {};
        for (let i = 0; i < 100_000; i++) deep = { deep };
        return { block: true, reason: "deep", deep };
      }
      case "date":
        return new Date();
      case "text":
        return "allow";
      case "array":
        return [{ block: false }];
      case "NaN":
        return { block: NaN, reason: "NaN" };
      case "long":
        return { block: true, reason: "x".repeat(20 * 1024 * 1024) };
      case "revoked": {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      }
    }
  });
  pi.on("tool_result", (event) => {
    switch (event.input.result) {
      case "cycle":
        return { content: [cycle] };
      case "numbers":
        return { content: [1, 2] };
      case "deep": {
        let deep = [];
        for (let i = 0; i < 500; i++) deep = [deep];
        return { details: deep };
      }
    }
  });
};
