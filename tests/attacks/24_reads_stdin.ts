// Reads its standard input, on which the host speaks to it, and closes it.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
import fs from "node:fs";

export default (pi) => {
  pi.on("tool_call", async (event) => {
    const buffer = new Uint8Array(65536);
    switch (event.input.how) {
      case "readSync":
        for (;;) Deno.stdin.readSync(buffer);
      case "fs":
        for (;;) fs.readSync(0, buffer);
      case "process.stdin":
        process.stdin.on("data", () => {});
        return { block: true, reason: "reads" };
      case "close":
        Deno.stdin.close();
        return { block: true, reason: "closed" };
      case "closeSync":
        for (const fd of [0, 3, 4]) fs.closeSync(fd);
        return { block: true, reason: "closed" };
      case "prompt":
        return { block: true, reason: `${prompt("password?")} ${confirm("sure?")} ${alert("!")}` };
      case "tty":
        return { block: true, reason: `${Deno.stdin.isTerminal()} ${Deno.readTextFileSync("/dev/tty")}` };
    }
  });
};
