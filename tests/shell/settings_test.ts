import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { oddMatcher, parseMatcher } from "../../src/shell/matcher.ts";
import { readHookSettings } from "../../src/shell/settings.ts";

const hook = (over: Record<string, unknown> = {}) => ({ type: "command", command: "true", ...over });

function read(group: Record<string, unknown>, event = "PreToolUse") {
  return readHookSettings(JSON.stringify({ hooks: { [event]: [group] } }));
}

Deno.test("readHookSettings() gives each command with its place", () => {
  const { commands, warnings } = read({
    matcher: "Edit|Write",
    hooks: [hook({ timeout: 5 }), hook({ command: "./x", args: ["a b"] })],
  });
  assertEquals(commands, [
    {
      place: "PreToolUse[0].hooks[0]",
      hook: { event: "PreToolUse", matcher: "Edit|Write", command: "true", timeout: 5 },
    },
    {
      place: "PreToolUse[0].hooks[1]",
      hook: { event: "PreToolUse", matcher: "Edit|Write", command: "./x", args: ["a b"] },
    },
  ]);
  assertEquals(warnings, []);
});

Deno.test("readHookSettings() names what is wrong with a command, and keeps the others", () => {
  const { commands } = read({
    matcher: "Bash",
    hooks: [
      hook({ type: "prompt" }),
      hook({ command: " " }),
      hook({ command: "a\0b" }),
      hook({ args: "x" }),
      hook({ timeout: "5" }),
      7,
      hook(),
    ],
  });
  assertEquals(commands.map(({ fault }) => fault), [
    '"type" is the string "prompt"; only hooks of type "command" run here',
    '"command" must be a line for the shell',
    '"command" holds a NUL byte',
    '"args" must be an array of strings',
    '"timeout" must be a number of seconds above 0, not the string "5"',
    "must be an object, not the number 7",
    undefined,
  ]);
  assertEquals(read({}).commands[0]?.fault, 'must be an object with an array "hooks"');
  assertEquals(
    read({ matcher: ["Bash"], hooks: [hook()] }).commands[0]?.fault,
    '"matcher" must be a string, not an array',
  );
});

Deno.test("readHookSettings() caps a time limit, and names what does nothing here", () => {
  const { commands, warnings } = read({ hooks: [hook({ timeout: 60_000, if: "Bash(rm *)" })] });
  assertEquals(commands[0]?.hook?.timeout, 600);
  assertEquals(warnings, [
    'PreToolUse[0].hooks[0]: "timeout" is in seconds and is 60000; 600 is the most',
    'PreToolUse[0].hooks[0]: "if" does nothing here',
  ]);
});

Deno.test("readHookSettings() knows disableAllHooks, and that no file is no object", () => {
  assert(readHookSettings('{ "disableAllHooks": true }').off);
  assertThrows(() => readHookSettings("[]"), Error, "holds an array instead of an object");
  assertThrows(() => readHookSettings('{ "hooks": [] }'), Error, '"hooks" is an array instead of an object');
  assertThrows(() => readHookSettings("{"), Error, "is no JSON");
});

Deno.test("readHookSettings() skips comments outside strings", () => {
  const text =
    '\ufeff{ // a\n "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "echo // \\" /* x */" }, ] } ] } }';
  const { commands, warnings } = readHookSettings(text);
  assertEquals(commands[0]?.hook?.command, 'echo // " /* x */');
  assertEquals(warnings.length, 1);
});

Deno.test("parseMatcher() reads all, lists of whole names, and regular expressions", () => {
  for (const all of ["", "*"]) assert(parseMatcher(all)(["Bash"]));
  assert(parseMatcher("Edit|Write")(["write", "Write"]));
  assert(parseMatcher("Edit, Write")(["Write"]));
  assertFalse(parseMatcher("Edit")(["EditX"]));
  assertFalse(parseMatcher("bash")(["Bash"]));
  assert(parseMatcher("Notebook.*")(["NotebookEdit"]));
  assert(parseMatcher("mcp__.*__write")(["mcp__fs__write"]));
  assertThrows(() => parseMatcher("Bash("), Error, 'the matcher "Bash(" is no regular expression');
});

Deno.test("oddMatcher() names a matcher that can never match", () => {
  for (const fine of ["", "*", "Bash", "Edit|MultiEdit|Write", "mcp__x", "Note.*", "bash"]) {
    assertEquals(oddMatcher(fine), undefined);
  }
  assertEquals(
    oddMatcher("Bsh"),
    'the matcher "Bsh" names "Bsh", which is no tool that is known; did you mean "bash"?',
  );
  assertEquals(oddMatcher("^bash $"), 'the matcher "^bash $" matches no tool that is known');
  assertEquals(oddMatcher(" "), 'the matcher " " matches no tool that is known');
});
