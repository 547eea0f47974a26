import { assertEquals, assertStrictEquals } from "@std/assert";
import { createNoOpUIContext, plainTheme } from "@xcsh/hooks";

Deno.test("createNoOpUIContext() answers as if every question was closed (C6.1, C6.2)", async () => {
  const ui = createNoOpUIContext();
  assertEquals(await ui.select("Which?", ["a", "b"]), undefined);
  assertEquals(await ui.confirm("Sure?", "Really"), false);
  assertEquals(await ui.input("Name?", "none"), undefined);
  assertEquals(await ui.editor("Text?", "prefill", { signal: AbortSignal.abort() }), undefined);
  let called = false;
  const custom = await ui.custom<number>((_tui, _theme, done) => {
    called = true;
    done(1);
    return { render: () => [] };
  });
  assertEquals([custom, called], [undefined, false]);
});

Deno.test("createNoOpUIContext() does nothing with what it is told (C6.2)", () => {
  const ui = createNoOpUIContext();
  assertEquals(ui.notify("hello", "error"), undefined);
  assertEquals(ui.setStatus("key", "text"), undefined);
  assertEquals(ui.setEditorText("text"), undefined);
  assertEquals(ui.getEditorText(), "");
});

Deno.test("createNoOpUIContext() has a theme without colours (C6.1)", () => {
  const { theme } = createNoOpUIContext();
  assertStrictEquals(theme, plainTheme);
  assertEquals([theme.fg("error", "a"), theme.bg("selected", "b")], ["a", "b"]);
  for (const style of ["bold", "italic", "underline", "strikethrough", "inverse"] as const) {
    assertEquals(theme[style]("x"), "x");
  }
});
