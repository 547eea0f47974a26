import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Rule } from "../../src/events.ts";
import {
  loadRules,
  parseRule,
  ScriptedModel,
  type ScriptedTurn,
  StreamRules,
  type StreamRuleSettings,
} from "../../src/session/mod.ts";
import { startSession, withFolder } from "./support.ts";

const rule = (more: Partial<Rule> = {}): Rule => ({
  name: "r",
  path: "r.md",
  content: "Mind this",
  condition: ["foo"],
  ...more,
});
const rulesOf = (rules: Rule[], settings: Partial<StreamRuleSettings> = {}) =>
  StreamRules.create(rules, "/project", settings);
const names = (match: { rules: Rule[] } | undefined) => match?.rules.map(({ name }) => name);

Deno.test("StreamRules.watch() matches on the text that has come so far (A.6)", async () => {
  const rules = await rulesOf([rule()]);
  assertEquals(rules.watch({ type: "text", delta: "fo" }), undefined);
  assertEquals(names(rules.watch({ type: "text", delta: "o" })), ["r"]);
  assertEquals(rules.watch({ type: "text", delta: "foo" }), undefined);
  rules.reset();
  assertEquals(names(rules.watch({ type: "text", delta: "foo" })), ["r"]);
  rules.markInjected([rule()]);
  rules.reset();
  assertEquals(rules.watch({ type: "text", delta: "foo" }), undefined);
});

Deno.test("StreamRules.watch() keeps thinking to rules that ask for it (A.6)", async () => {
  assertEquals((await rulesOf([rule()])).watch({ type: "thinking", delta: "foo" }), undefined);
  assertEquals(names((await rulesOf([rule({ scope: ["thinking"] })])).watch({ type: "thinking", delta: "foo" })), [
    "r",
  ]);
});

Deno.test("StreamRules.match() asks for a file where a rule has globs (A.6), unless its scope names prose (Q-35)", async () => {
  const source = { kind: "tool" as const, toolName: "edit" };
  const rules = await rulesOf([rule({ globs: ["*.ts"] })]);
  assertEquals(rules.match("foo", { kind: "text" }), []);
  assertEquals(rules.match("foo", { ...source, paths: ["/a/b.ts"] }).length, 1);
  assertEquals(rules.match("foo", source), []);
  assertEquals((await rulesOf([rule({ globs: ["*.ts"], scope: ["text"] })])).match("foo", { kind: "text" }).length, 1);
});

Deno.test("StreamRules.watch() reads paths out of arguments that are still being written", async () => {
  const rules = await rulesOf([rule({ scope: ["tool:edit(src/**)"] })]);
  const delta = (text: string) => rules.watch({ type: "toolCallDelta", id: "1", name: "edit", delta: text });
  assertEquals(delta('{"path":"./src/a/b.ts","newText":"fo'), undefined);
  assertEquals(names(delta('o"}')), ["r"]);
});

Deno.test("StreamRules tells a rule again after its gap (A.6)", async () => {
  const rules = await rulesOf([rule()], { repeatMode: "after-gap", repeatGap: 2 });
  rules.markInjected([rule()]);
  const outcomes = [0, 1, 2].map(() => {
    rules.reset();
    const match = rules.watch({ type: "text", delta: "foo" });
    rules.turnEnded();
    return match !== undefined;
  });
  assertEquals(outcomes, [false, false, true]);
});

Deno.test("StreamRules.addRule() leaves out what cannot be watched, and says why (A.6)", async () => {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  const rules = await rulesOf([rule()]);
  assertEquals(rules.addRule(rule({ name: "a", condition: ["("] }), warn), false);
  assertEquals(rules.addRule(rule({ name: "b", condition: [] }), warn), false);
  assertEquals(rules.addRule(rule(), warn), false);
  assertEquals(rules.addRule(rule({ name: "c", condition: ["(?=x)y"] }), warn), false);
  assertEquals(rules.addRule(rule({ name: "d", scope: ["text(*.ts)!"] }), warn), false);
  assertEquals(rules.addRule(rule({ name: "e", condition: ["(", "ok"] }), warn), true);
  assertStringIncludes(warnings.join("\n"), "cannot be matched in bounded time");
});

Deno.test("StreamRules.watch() is not hung by a catastrophic regular expression", async () => {
  const rules = await rulesOf([rule({ condition: ["(a+)+$", "(a|aa)*b", "(x+x+)+y"], name: "slow" })]);
  const start = performance.now();
  for (let i = 0; i < 500; i++) rules.watch({ type: "text", delta: "a".repeat(100) + "!" });
  for (let i = 0; i < 500; i++) rules.watch({ type: "text", delta: "x".repeat(100) + "!" });
  assert(performance.now() - start < 5_000);
});

Deno.test("StreamRules.watch() finds what only the whole of a long stream shows", async () => {
  const rules = await rulesOf([rule({ condition: ["^start[^]*end$"] }), rule({ name: "not", condition: ["^xx"] })]);
  rules.watch({ type: "text", delta: "start" });
  for (let i = 0; i < 100; i++) assertEquals(rules.watch({ type: "text", delta: "x".repeat(500) }), undefined);
  rules.watch({ type: "text", delta: "end" });
  assertEquals(names(rules.watch({ type: "done", stopReason: "stop" })), ["r"]);
});

for (
  const [front, expected] of [
    ["condition: *.rs", { condition: [".*"], scope: ["tool:edit(*.rs)", "tool:write(*.rs)"] }],
    ["condition: ['*.rs', foo]", { condition: ["foo"], scope: ["tool:edit(*.rs)", "tool:write(*.rs)"] }],
    ["condition: a*b", { condition: ["a*b"] }],
    ["condition: src/*.ts", { condition: [".*"], scope: ["tool:edit(src/*.ts)", "tool:write(src/*.ts)"] }],
    ["ttsr_trigger: foo\nscope: text, tool:edit(a{b,c})", { condition: ["foo"], scope: ["text", "tool:edit(a{b,c})"] }],
    ["condition:\n  - one\n  - one\n  - ' two '\ninterruptMode: never", {
      condition: ["one", "two"],
      interruptMode: "never",
    }],
  ] as [string, Partial<Rule>][]
) {
  Deno.test(`parseRule() reads ${JSON.stringify(front)} (TS-1, A.6)`, () => {
    assertEquals(parseRule("/x/name.md", `---\n${front}\n---\nThe text\n`), {
      name: "name",
      path: "/x/name.md",
      content: "The text",
      ...expected,
    });
  });
}

Deno.test("loadRules() reads the rules of a folder and says what it could not read", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/.xcsh/rules`, { recursive: true });
    await Deno.writeTextFile(`${folder}/.xcsh/rules/b.md`, "---\ncondition: foo\n---\nB");
    await Deno.writeTextFile(`${folder}/.xcsh/rules/a.md`, "---\ncondition: [oops\n---\nA");
    await Deno.writeTextFile(`${folder}/.xcsh/rules/plain.md`, "no condition");
    const warnings: string[] = [];
    const rules = await loadRules(folder, (warning) => warnings.push(warning));
    assertEquals(rules.map(({ name }) => name), ["b"]);
    assertEquals(warnings.length, 1);
    assertStringIncludes(warnings[0]!, "a.md: its front matter is no YAML");
    assertEquals(await loadRules(`${folder}/none`), []);
  }));

async function play(turns: ScriptedTurn[], rules: Rule[], streamRules: Partial<StreamRuleSettings> = {}) {
  const model = new ScriptedModel({ turns });
  const log: unknown[] = [];
  const { session } = await startSession({
    model,
    rules,
    streamRules,
    hooks: [(pi) => {
      pi.on("ttsr_triggered", (event) => void log.push(event.rules.map(({ name }) => name)));
    }],
  });
  await session.prompt("go");
  await session.dispose();
  return { model, log, session };
}

Deno.test("AgentSession stops an answer that a rule matches, tells the rule, and goes on without that answer (TS-6)", async () => {
  const { model, log, session } = await play([{ text: `use foo ${"x".repeat(200)}` }, { text: "better" }], [rule()]);
  assertEquals(log, [["r"]]);
  assertEquals(model.lastRequest!.messages.map(({ content }) => content), [
    'go\n\n<rule name="r">\nMind this\n</rule>',
  ]);
  const stopped = session.messages[1]!;
  assertEquals(stopped.role === "assistant" && [stopped.stopReason, stopped.interruptedBy], ["aborted", ["r"]]);
  assert(JSON.stringify(stopped).length < 300);
  const custom = session.messages[2]!;
  assertEquals(custom.role === "custom" && [custom.customType, custom.display, custom.details], [
    "ttsr-injection",
    false,
    { rules: ["r"] },
  ]);
  assertEquals([...session.sessionManager.buildContext().injectedRules], ["r"]);
});

Deno.test("AgentSession keeps the answer that a rule stopped with contextMode keep", async () => {
  const { model } = await play([{ text: "use foo" }, { text: "better" }], [rule()], { contextMode: "keep" });
  assertEquals(model.lastRequest!.messages.map(({ role }) => role), ["user", "assistant", "user"]);
});

Deno.test("AgentSession tells a rule that does not interrupt after the answer (Q-35)", async () => {
  const { model, log } = await play([{ text: "use foo and more" }, { text: "ok" }], [rule({ interruptMode: "never" })]);
  assertEquals(log, [["r"]]);
  assertEquals(model.requests, 2);
  assertEquals(model.lastRequest!.messages.map(({ role }) => role), ["user", "assistant", "user"]);
});

Deno.test("AgentSession keeps the tools of a stopped answer from running", async () => {
  const bad: ScriptedTurn = { toolCalls: [{ name: "write", arguments: { path: "foo.txt", content: "x" } }] };
  const { session } = await play([bad, { text: "ok" }], [rule()]);
  assertEquals(session.messages.some((message) => message.role === "toolResult"), false);
});

Deno.test("AgentSession watches nothing when stream rules are off (TS-9)", async () => {
  const { log, model } = await play([{ text: "use foo" }], [rule()], { enabled: false });
  assertEquals([log, model.requests], [[], 1]);
});
