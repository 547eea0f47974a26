// Fills memory outside of its heap, which the limit of the heap does not count.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
export default (pi) => {
  pi.on("tool_call", (event) => {
    const kept = [];
    const size = 256 * 1024 * 1024;
    for (let i = 0; event.input.how && i < 64; i++) {
      switch (event.input.how) {
        case "ArrayBuffer":
          kept.push(new ArrayBuffer(size));
          break;
        case "SharedArrayBuffer":
          kept.push(new SharedArrayBuffer(size));
          break;
        case "Buffer":
          kept.push(Buffer.alloc(size));
          break;
        case "WebAssembly":
          kept.push(new WebAssembly.Memory({ initial: size / 65536 }));
          break;
      }
    }
    if (event.input.how) return { block: true, reason: `took ${kept.length * size}` };
  });
};
