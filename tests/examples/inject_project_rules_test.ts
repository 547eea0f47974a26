import { assertEquals, assertStringIncludes } from "@std/assert";
import { testHook } from "@xcsh/hooks/testing";
import injectProjectRules from "../../examples/hooks/inject_project_rules.ts";
import { assertNoHookErrors, realSession } from "./real_session.ts";

Deno.test("inject_project_rules reads the rules that are there", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    const t = await testHook(injectProjectRules, { cwd });
    assertEquals(await t.fire("before_agent_start"), undefined);
    await Deno.writeTextFile(`${cwd}/CLAUDE.md`, "Be brief.\n");
    await Deno.mkdir(`${cwd}/.xcsh/rules`, { recursive: true });
    await Deno.writeTextFile(`${cwd}/.xcsh/rules/b.md`, "Second.");
    await Deno.writeTextFile(`${cwd}/.xcsh/rules/a.md`, "First.");
    await Deno.writeTextFile(`${cwd}/.xcsh/rules/other.txt`, "No rule.");
    assertEquals(await t.fire("before_agent_start"), {
      message: {
        customType: "project-rules",
        content: "# Rules of this project, from CLAUDE.md\n\nBe brief.\n\n# Rule a\n\nFirst.\n\n# Rule b\n\nSecond.",
        display: false,
      },
    });
    await Deno.writeTextFile(`${cwd}/AGENTS.md`, "x".repeat(60_000));
    const long = String((await t.fire("before_agent_start"))?.message?.content);
    assertStringIncludes(long, "from AGENTS.md");
    assertStringIncludes(long, "[cut: the rules are longer than 50000 characters]");
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test("inject_project_rules gives the rules once in a real session, and again when they change", async () => {
  await using real = await realSession("inject_project_rules", [{ text: "1" }, { text: "2" }, { text: "3" }], {
    "AGENTS.md": "Be brief.",
  });
  const rules = () => real.session.messages.filter((message) => message.role === "custom").length;
  await real.session.prompt("one");
  assertStringIncludes(JSON.stringify(real.model.lastRequest?.messages), "Be brief.");
  await real.session.prompt("two");
  assertEquals(rules(), 1);
  await Deno.writeTextFile(`${real.cwd}/AGENTS.md`, "Be precise.");
  await real.session.prompt("three");
  assertEquals(rules(), 2);
  assertNoHookErrors(real.events);
});
