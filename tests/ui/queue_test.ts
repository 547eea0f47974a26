import { assertEquals } from "@std/assert";
import { plainTheme } from "@xcsh/hooks";
import { oneAtATime } from "../../src/ui/queue.ts";
import { type Surface, uiContextsOf } from "../../src/ui/surface.ts";

/** A surface on which a test answers: what is open now, in order. */
function openSurface() {
  const open: { title: string; hookPath: string | undefined; answer: (value: never) => void }[] = [];
  const show = (title: string, hookPath: string | undefined) =>
    new Promise<never>((answer) => open.push({ title, hookPath, answer }));
  const surface: Surface = {
    theme: plainTheme,
    ask: async (question, { hookPath }) => await show(question.title, hookPath),
    custom: async (_factory, { hookPath }) => await show("component", hookPath),
    notify() {},
    setStatus() {},
    setWidget() {},
    setEditorText() {},
    getEditorText: () => "",
  };
  const answer = (value: unknown) => open.shift()?.answer(value as never);
  return { surface, open, answer };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("oneAtATime() shows the second question when the first is answered, and says who asks each", async () => {
  const { surface, open, answer } = openSurface();
  const uiOf = uiContextsOf(oneAtATime(surface));
  const first = uiOf("./a.ts").select("first", ["one", "two"]);
  const second = uiOf("./b.ts").confirm("second", "sure?");
  await settled();
  assertEquals(open.map(({ title, hookPath }) => [title, hookPath]), [["first", "./a.ts"]]);
  answer(1);
  assertEquals(await first, "two");
  await settled();
  assertEquals(open.map(({ title, hookPath }) => [title, hookPath]), [["second", "./b.ts"]]);
  answer(undefined);
  assertEquals(await second, false);
});

Deno.test("oneAtATime() leaves out a question that was closed while it waited", async () => {
  const { surface, open, answer } = openSurface();
  const ui = uiContextsOf(oneAtATime(surface))("./a.ts");
  const closing = new AbortController();
  const first = ui.input("first");
  const second = ui.input("second", "", { signal: closing.signal });
  const third = ui.input("third");
  closing.abort();
  await settled();
  answer("a");
  assertEquals(await first, "a");
  assertEquals(await second, undefined);
  await settled();
  assertEquals(open.map(({ title }) => title), ["third"]);
  answer("c");
  assertEquals(await third, "c");
});

Deno.test("oneAtATime() asks while a component is shown, since the component itself may ask", async () => {
  const { surface, open, answer } = openSurface();
  const ui = uiContextsOf(oneAtATime(surface))("./a.ts");
  const component = ui.custom(() => ({ render: () => [] }));
  const question = ui.confirm("Leave?", "");
  await settled();
  assertEquals(open.map(({ title }) => title), ["component", "Leave?"]);
  open.reverse();
  answer(true);
  assertEquals(await question, true);
  answer("done");
  assertEquals(await component, "done");
});

Deno.test("uiContextsOf() gives the surface no control characters, and the hook the option as it was", async () => {
  const { surface, open, answer } = openSurface();
  const ui = uiContextsOf(surface)("./a.ts");
  const red = "\x1b[31mred\x1b[0m";
  const chosen = ui.select("\x1b]52;c;aGk=\x07Pick\u202e one", [red]);
  assertEquals(open[0]?.title, "Pick one");
  answer(0);
  assertEquals(await chosen, red);
});
