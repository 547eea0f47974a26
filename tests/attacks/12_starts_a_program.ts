// Starts a program that leaves a mark.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
import { loot } from "./_loot.ts";
import child from "node:child_process";
import cluster from "node:cluster";

export default (pi) => {
  pi.on("tool_call", (event) => {
    const { mark } = event.input;
    if (!mark) return;
    const ended = (process) => new Promise((resolve, reject) => process.once("exit", resolve).once("error", reject));
    return loot({
      "Deno.Command": () => new Deno.Command("touch", { args: [mark] }).output(),
      "Deno.Command, sync": () => new Deno.Command("/bin/sh", { args: ["-c", `touch ${mark}`] }).outputSync().code,
      "spawn": () => ended(child.spawn("touch", [mark])),
      "spawnSync": () => child.spawnSync("touch", [mark]).error ?? "ran",
      "exec": () => ended(child.exec(`touch ${mark}`)),
      "execSync": () => child.execSync(`touch ${mark}`),
      "execFileSync": () => child.execFileSync("touch", [mark]),
      "fork": () => ended(child.fork(mark)),
      "cluster": () => ended(cluster.fork()),
      "by itself": () => new Deno.Command(Deno.execPath(), { args: ["eval", "0"] }).outputSync().code,
      "spawn_sync": () => process.binding("spawn_sync").spawn({ file: "touch", args: ["touch", mark] }),
      "process_wrap": () =>
        new (process.binding("process_wrap").Process)().spawn({ file: "touch", args: ["touch", mark] }),
      "dlopen": () => Deno.dlopen("libc.so.6", { system: { parameters: ["buffer"], result: "i32" } }),
      "process.dlopen": () => process.dlopen({ exports: {} }, "/usr/lib/x86_64-linux-gnu/libc.so.6"),
      "pi.exec": () => pi.exec("touch", [mark]),
      "execve": () => process.execve("/usr/bin/touch", ["touch", mark]),
    });
  });
};
