// Exhausts its heap.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
export default (pi) => {
  pi.on("tool_call", (event) => {
    const kept = [];
    switch (event.input.how) {
      case "objects":
        for (;;) kept.push({ kept: [...kept.slice(-9)] });
      case "strings":
        for (;;) kept.push(String(Math.random()).repeat(10_000).split("."));
      case "map": {
        const map = new Map();
        for (let i = 0;; i++) map.set(`${i}`, { i });
      }
    }
  });
};
