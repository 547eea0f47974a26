import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { EVENT_NAMES } from "@xcsh/hooks";

async function demo(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", fromFileUrl(new URL("../../examples/demo.ts", import.meta.url)), ...args],
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test("the demo with --full shows every event of the contract, starts and ends in pairs", async () => {
  const { code, stdout, stderr } = await demo("--", "--full", "--json");
  assertEquals(code, 0, stderr);
  const events = stdout.trimEnd().split("\n").map((line) => String(JSON.parse(line).event));
  assertEquals(new Set(events), new Set<string>(EVENT_NAMES));
  for (const pair of ["agent", "turn", "auto_compaction", "auto_retry"]) {
    const count = (end: string) => events.filter((event) => event === `${pair}_${end}`).length;
    assertEquals(count("start"), count("end"), pair);
  }
  assertEquals([events[0], events.at(-1)], ["session_start", "session_shutdown"]);
});

Deno.test("the demo with --full tells people what it shows", async () => {
  const { code, stdout } = await demo("--full");
  assertEquals(code, 0);
  assertStringIncludes(stdout, `each of the ${EVENT_NAMES.length} that there are happened at least once`);
});
