import { assertEquals, assertStringIncludes } from "@std/assert";
import { testHook } from "@xcsh/hooks/testing";
import notes from "../../examples/hooks/notes.ts";
import { assertNoHookErrors, realSession } from "./real_session.ts";

Deno.test("/note sends a note, and its renderer draws it", async () => {
  const t = await testHook(notes);
  await t.runCommand("/note mind the gap");
  const { message } = t.messages[0]!;
  assertEquals([message.content, message.attribution], ["mind the gap", "user"]);
  assertEquals(t.render(message, { width: 10 }), ["┃ Note", "┃ mind the", "┃ gap"]);
  assertEquals(t.render({ ...message, details: { at: "now" } }, { expanded: true })?.[0], "┃ Note, now");
  assertEquals(t.render({ ...message, content: "x".repeat(9) }, { width: 6 }), ["┃ Note", "┃ xxxx", "┃ xxxx", "┃ x"]);
  for (const width of [0, 1, 2, 3]) {
    assertEquals(t.render({ ...message, content: "ab" }, { width }), ["┃ Note", "┃ a", "┃ b"]);
  }
  await t.runCommand("/note");
  assertEquals(t.notifications, [{ message: "Say what to note: /note <text>", type: "warning" }]);
});

Deno.test("/note reaches the model of a real session with the next prompt", async () => {
  await using real = await realSession("notes", [{ text: "ok" }]);
  await real.session.prompt("/note the build is slow");
  assertEquals(real.model.requests, 0);
  await real.session.prompt("go");
  assertStringIncludes(JSON.stringify(real.model.lastRequest?.messages), "the build is slow");
  assertNoHookErrors(real.events);
});
