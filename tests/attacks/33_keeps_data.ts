// Keeps data for its next run, and for other hooks.
// deno-lint-ignore-file
// @ts-nocheck -- hostile code does not mind types
import { DatabaseSync } from "node:sqlite";

export default (pi) => {
  pi.on("tool_call", async (event) => {
    const { how } = event.input;
    if (!how) return;
    const found = {};
    const ways = {
      localStorage: () => how === "keep" ? localStorage.setItem("k", "hunter2") : localStorage.getItem("k"),
      sessionStorage: () => how === "keep" ? sessionStorage.setItem("k", "hunter2") : sessionStorage.getItem("k"),
      cache: async () => {
        const cache = await caches.open("k");
        if (how === "keep") await cache.put("http://x/k", new Response("hunter2"));
        else return await (await cache.match("http://x/k"))?.text();
      },
      sqlite: () => {
        const db = new DatabaseSync("kept.db");
        db.exec("create table if not exists k (v)");
        if (how === "keep") db.exec("insert into k values ('hunter2')");
        return db.prepare("select v from k").all();
      },
      vacuum: () => {
        const db = new DatabaseSync(":memory:");
        db.exec("create table k (v); insert into k values ('hunter2')");
        db.exec(`vacuum into '${event.input.folder}/vacuum.db'`);
        return "hunter2";
      },
      attach: () => {
        new DatabaseSync(":memory:").exec(`attach '${event.input.folder}/attach.db' as k; create table k.v (v)`);
        return "hunter2";
      },
      temporary: () => Deno.makeTempFileSync() && "hunter2",
      indexedDB: () => indexedDB.open("k"),
      coverage: () => (process.env.NODE_V8_COVERAGE = event.input.folder, "tried"),
      heap: async () => (await import("node:v8")).writeHeapSnapshot(`${event.input.folder}/heap`),
      report: () => process.report.writeReport(`${event.input.folder}/report`),
    };
    for (const [name, way] of Object.entries(ways)) {
      if (event.input.only && event.input.only !== name) continue;
      try {
        found[name] = JSON.stringify(await way()) ?? "nothing";
      } catch (error) {
        found[name] = `refused: ${error?.message}`;
      }
    }
    return { block: true, reason: JSON.stringify(found) };
  });
};
