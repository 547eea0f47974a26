import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { plainTheme } from "@xcsh/hooks";
import { withDialogLimits } from "../../src/ui/dialogs.ts";
import { type LineTerminal, Prompts } from "../../src/ui/prompts.ts";
import { oneAtATime } from "../../src/ui/queue.ts";
import { uiContextsOf } from "../../src/ui/surface.ts";
import { cellsOf, wrapToCells } from "../../src/ui/text.ts";

/** A terminal of a person who has decided what to type; without more to type, Ctrl+D. */
function typist(...lines: string[]) {
  const shown = { text: "", width: 80 };
  const terminal: LineTerminal = {
    theme: plainTheme,
    get width() {
      return shown.width;
    },
    begin() {},
    print: (text) => void (shown.text += text),
    setAside: () => false,
    readLine(signal) {
      const line = signal.aborted ? undefined : lines.shift();
      if (line === "(wait)") {
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      }
      shown.text += `${line}\n`;
      return Promise.resolve(line);
    },
    end() {},
  };
  const prompts = new Prompts(terminal);
  const surface = oneAtATime({
    theme: plainTheme,
    ask: (question, asking) => prompts.ask(question, asking),
    custom: () => Promise.resolve(undefined),
    notify() {},
    setStatus() {},
    setWidget() {},
    setEditorText() {},
    getEditorText: () => "",
  });
  const stopped = new AbortController();
  const uiOf = (path?: string) => withDialogLimits(uiContextsOf(surface)(path), () => stopped.signal);
  return { ui: uiOf("./a.ts"), uiOf, shown, prompts };
}

Deno.test("Prompts shows who asks, the text behind a bar, and the answer's line", async () => {
  const { ui, shown } = typist("2");
  assertEquals(await ui.select("Which one?\nTake care", ["red", "green\nblue"], { timeout: 29_500 }), "green\nblue");
  assertEquals(
    shown.text,
    "\n? ./a.ts asks, 30 s left\n│ Which one?\n│ Take care\n│ 1) red\n│ 2) green blue\nAnswer ./a.ts [1-2]: 2\n",
  );
});

Deno.test("Prompts takes a number or the text of an option, and asks again when that can mean two", async () => {
  const chosen = async (options: string[], ...lines: string[]) => {
    const { ui, shown } = typist(...lines);
    return { answer: await ui.select("?", options), asked: shown.text.split("Answer ").length - 1, text: shown.text };
  };
  assertEquals((await chosen(["red", "green"], " green ")).answer, "green");
  assertEquals((await chosen(["red", "green"], "0", "3", "Red", "-1", "1.0", "1")).asked, 6);
  // "3" may mean the third option, or the second.
  const numbers = await chosen(["1", "3", "5"], "3", "3)");
  assertEquals([numbers.answer, numbers.asked], ["5", 2]);
  assertStringIncludes(numbers.text, "3 is the number of one option and the text of another");
  assertEquals((await chosen(["1", "2"], "2")).answer, "2");
  const same = await chosen(["Yes", "Yes\x1b[8m", "No"], "Yes", "2");
  assertEquals([same.answer, same.asked], ["Yes\x1b[8m", 2]);
  assertStringIncludes(same.text, "Several options read like that");
  assertEquals((await chosen(["", "a"], "")).answer, undefined);
  // What looks like the next option is the rest of one.
  const long = await chosen([`${"x".repeat(70)} 2) No`, "Yes"], "1");
  assertStringIncludes(long.text, `│ 1) ${"x".repeat(70)}\n│    2) No\n│ 2) Yes\n`);
  const empty = await chosen([], "1");
  assertEquals([empty.answer, empty.asked], [undefined, 0]);
  assertStringIncludes(empty.text, "nothing to choose from");
});

Deno.test("Prompts takes nothing but a clear yes for a yes", async () => {
  for (
    const [line, answer] of [["y", true], ["YES ", true], ["", false], ["yeah", false], ["n", false], [
      "y\u200b",
      false,
    ]] as const
  ) {
    assertEquals(await typist(line).ui.confirm("Sure?", ""), answer, line);
  }
  assertEquals(await typist().ui.confirm("Sure?", ""), false);
});

Deno.test("Prompts does not show a question that is over before it begins", async () => {
  for (const dialog of [{ timeout: 0 }, { timeout: -1 }, { timeout: NaN }, { signal: AbortSignal.abort() }]) {
    const { ui, shown } = typist("y");
    assertEquals([await ui.confirm("Sure?", "", dialog), shown.text], [false, ""]);
  }
  const { ui, shown } = typist("y");
  assertEquals(await ui.confirm("Sure?", "", { timeout: Infinity }), true);
  assertStringIncludes(shown.text, "./a.ts asks\n");
});

Deno.test("Prompts says why a question was closed", async () => {
  const late = typist("(wait)");
  assertEquals(await late.ui.input("Name?", "", { timeout: 20 }), undefined);
  assert(late.shown.text.endsWith("Answer ./a.ts: \nClosed: the time is over.\n"), late.shown.text);
  const off = typist("(wait)");
  const calledOff = new AbortController();
  const answer = off.ui.input("Name?", "", { signal: calledOff.signal });
  while (!off.shown.text.includes("Answer")) await Promise.resolve();
  calledOff.abort();
  assertEquals(await answer, undefined);
  assert(off.shown.text.endsWith("\nClosed: nobody waits for it now.\n"), off.shown.text);
});

Deno.test("Prompts.close() ends a thousand questions, and shows none that comes later", async () => {
  const { uiOf, shown, prompts } = typist("(wait)");
  const answers = Array.from({ length: 1_000 }, (_, i) => uiOf(`./${i}.ts`).confirm("Sure?", ""));
  while (!shown.text.includes("Answer")) await Promise.resolve();
  await prompts.close();
  assertEquals((await Promise.all(answers)).includes(true), false);
  assertEquals(await uiOf("./late.ts").input("Name?"), undefined);
  assertEquals(shown.text.match(/asks/g)?.length, 1);
});

Deno.test("Prompts keeps text of hooks behind the bar, whatever the width and the text", async () => {
  const fake = "? ./trusted.ts asks";
  const titles = [
    `Sure?\n${fake}\r${fake}\r\n${fake}\x0b${fake}\x0c${fake}\x85${fake}\u2028${fake}`,
    ...[10, 40, 76, 77, 78, 79, 80].map((width) => "x".repeat(width) + fake),
    "日本".repeat(40) + fake,
    `\x1b[2J\x1b[1;1H${fake}\x1b]2;mine\x07\x1b]52;c;aGk=\x07\t${fake}\u202e`,
  ];
  for (const width of [1, 20, 40, 80]) {
    for (const text of titles) {
      const { uiOf, shown } = typist("1", "y", "x");
      shown.width = width;
      const ui = uiOf(`./${text}`);
      await ui.select(text, [text, "b"]);
      await ui.confirm(text, text);
      await ui.input(text, text);
      // deno-lint-ignore no-control-regex -- it is what must not be there
      assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/.test(shown.text));
      const own = shown.text.split("\n").filter((line) => !/^(?:│|Answer \.\/|\? \.\/)|^$/.test(line));
      assertEquals(own, []);
      if (width < 20) continue;
      for (const line of shown.text.split("\n")) if (!line.startsWith("Answer")) assert(cellsOf(line) <= width, line);
    }
  }
});

Deno.test("wrapToCells() breaks at blanks, else anywhere, by cells", () => {
  assertEquals(wrapToCells("one two three", 8), ["one two", "three"]);
  assertEquals(wrapToCells("abcdefgh\n\nx ", 4), ["abcd", "efgh", "", "x "]);
  assertEquals(wrapToCells("日本語", 4), ["日本", "語"]);
  assertEquals(wrapToCells("abcd efgh", 4), ["abcd", "efgh"]);
  assertEquals(wrapToCells("", 4), [""]);
  // Terminals draw this as one picture, or as three.
  assertEquals(wrapToCells("👩‍👩‍👧👩‍👩‍👧", 6), ["👩‍👩‍👧", "👩‍👩‍👧"]);
});
