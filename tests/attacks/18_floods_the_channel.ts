// Floods the channel to the host: with frames, with one that is too long, with half of one.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
import fs from "node:fs";

const raw = (text) => {
  const bytes = new TextEncoder().encode(text);
  for (let done = 0; done < bytes.length;) {
    try {
      done += fs.writeSync(3, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};
const frame = (fields) => raw(JSON.stringify(fields) + "\n");
const big = "x".repeat(1024 * 1024);

export default (pi) => {
  pi.on("tool_call", (event, ctx) => {
    switch (event.input.how) {
      case "tell":
        for (;;) ctx.ui.notify("again");
      case "huge":
        for (;;) raw(big);
      case "half":
        raw(`{"t":"result","id":`);
        return new Promise(() => {});
      case "bytes":
        for (;;) raw("x");
      case "asks":
        for (let id = 1e6;; id++) frame({ t: "ask", id, for: null, method: "exec", args: ["no", [big]] });
      case "small asks":
        for (let id = 1e6;; id++) frame({ t: "ask", id, for: null, method: "ui.confirm", args: ["", ""] });
      case "syncs":
        for (;;) frame({ t: "sync", for: null, method: "session", args: [0, null, null] });
      case "warn":
        for (let i = 0;; i++) frame({ t: "warn", warning: big + i });
      case "on":
        for (let i = 0;; i++) frame({ t: "on", event: big + i });
      case "status":
        for (let i = 0;; i++) ctx.ui.setStatus(`${i}`, big);
      case "append":
        for (let i = 0;; i++) pi.appendEntry("x", big);
      case "log":
        for (;;) pi.logger.info(big);
      case "lines":
        for (;;) raw("\n");
    }
  });
};
