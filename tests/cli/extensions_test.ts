import { assertEquals, assertStringIncludes } from "@std/assert";
import { Folder, records, run } from "./program.ts";

const HOOK = `import { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Type } from "@sinclair/typebox";
export default function (pi: ExtensionAPI) {
  pi.registerFlag("strict", { type: "boolean", description: "Block all" });
  pi.registerFlag("level", { type: "string", default: "low" });
  pi.registerTool({
    name: "greet",
    description: "Greets",
    parameters: Type.Object({ name: Type.String() }),
    execute: async (_id, params) => ({ content: [{ type: "text", text: "hello " + params.name }] }),
  });
  pi.registerCommand("ask", { handler: (args) => pi.sendUserMessage(args) });
  pi.on("tool_call", () => pi.getFlag("strict") ? { block: true, reason: "level " + pi.getFlag("level") } : undefined);
  pi.on("user_bash", (event) => event.command === "secret" ? { result: { output: "not shown", exitCode: 3 } } : undefined);
  pi.on("agent_start", (_event, ctx) => ctx.ui.setWidget("state", ["working"]));
}
`;
const SCRIPT = JSON.stringify({
  turns: [{ toolCalls: [{ name: "greet", arguments: { name: "you" } }] }, { text: "All done." }],
});

Deno.test("run: a tool of an isolated hook is called, and its widget told", async () => {
  await using folder = new Folder({ "hook.ts": HOOK, "script.json": SCRIPT });
  const args = ["run", "go", "--hook", "hook.ts", "--script", "script.json", "--json"];
  const { code, stdout, stderr } = await run(args, { cwd: folder.path });
  assertEquals([code, stderr], [0, ""]);
  const seen = records(stdout);
  const ended = seen.find(({ type }) => type === "tool_execution_end")!;
  assertEquals([ended.toolName, ended.content], ["greet", [{ type: "text", text: "hello you" }]]);
  assertEquals(seen.find(({ type }) => type === "widget"), { type: "widget", key: "state", lines: ["working"] });
});

Deno.test("run: flags reach the hook, and one that no hook declares is wrong usage", async () => {
  await using folder = new Folder({ "hook.ts": HOOK, "script.json": SCRIPT });
  const args = ["run", "go", "--hook", "hook.ts", "--script", "script.json"];
  const blocked = await run([...args, "--flag", "strict", "--flag", "level=high"], { cwd: folder.path });
  assertStringIncludes(blocked.stdout + blocked.stderr, "level high");
  const wrong = await run([...args, "--flag", "strikt"], { cwd: folder.path });
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "--flag strikt: no hook declares it; did you mean strict?");
});

Deno.test("run: what a hook says as the person is answered before the session ends", async () => {
  await using folder = new Folder({ "hook.ts": HOOK, "script.json": SCRIPT });
  const args = ["run", "/ask greet me", "--hook", "hook.ts", "--script", "script.json"];
  const { code, stdout } = await run(args, { cwd: folder.path });
  assertEquals(code, 0);
  assertStringIncludes(stdout, "All done.");
});

Deno.test("run: a typed !command runs by hand, unless a hook answers in its place", async () => {
  await using folder = new Folder({ "hook.ts": HOOK, "script.json": SCRIPT });
  const args = ["run", "--interactive", "--no-session", "--hook", "hook.ts", "--script", "script.json"];
  const { code, stdout } = await run(args, { cwd: folder.path, input: "!echo by hand\n!secret\n" });
  assertEquals(code, 0);
  assertEquals(stdout.split("\n").filter((line) => line !== ""), ["by hand", "not shown", "(exit code 3)"]);
});

Deno.test("list shows the tools and flags of a hook", async () => {
  await using folder = new Folder({ "hook.ts": HOOK });
  const { stdout } = await run(["list", "hook.ts"], { cwd: folder.path });
  assertStringIncludes(stdout, "  tools     greet\n  flags     strict, level\n");
  const json = await run(["list", "hook.ts", "--json"], { cwd: folder.path });
  const [hook] = JSON.parse(json.stdout).hooks;
  assertEquals([hook.tools, hook.ownFlags, hook.shortcuts], [["greet"], ["strict", "level"], []]);
});
