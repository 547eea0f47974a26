import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { editInEditor, editorCommand } from "../../src/ui/external_editor.ts";
import { Folder } from "../cli/program.ts";

const ignore = Deno.build.os === "windows";

const commandOf = (EDITOR: string, VISUAL?: string) =>
  editorCommand(new Map(Object.entries({ EDITOR, ...VISUAL !== undefined && { VISUAL } })) as unknown as Deno.Env);

Deno.test("editorCommand() takes VISUAL before EDITOR, and none when neither says anything", () => {
  assertEquals(commandOf("vi", "emacs -nw"), ["emacs", "-nw"]);
  assertEquals(commandOf("vi", " "), ["vi"]);
  assertEquals(commandOf(""), undefined);
});

Deno.test({ name: "editorCommand() splits words as a shell does", ignore }, () => {
  const expected: Record<string, string[]> = {
    "code --wait": ["code", "--wait"],
    "  vi \t -n ": ["vi", "-n"],
    "'/opt/my editor/ed' -x": ["/opt/my editor/ed", "-x"],
    '"/opt/my editor/ed" "a \\"b\\" \\n"': ["/opt/my editor/ed", 'a "b" \\n'],
    "/opt/my\\ editor/ed": ["/opt/my editor/ed"],
    "vi -c 'set tw=72' -c \"set ft='x'\"": ["vi", "-c", "set tw=72", "-c", "set ft='x'"],
    "vi ''": ["vi", ""],
    "vi 'open end": ["vi", "open end"],
  };
  for (const [line, words] of Object.entries(expected)) assertEquals(commandOf(line), words);
});

/** An editor that runs a script, in which `$1` is the file. The script leaves behind where the file was. */
function scripted(folder: Folder, script: string): { command: string[]; file: () => string } {
  const where = join(folder.path, "where");
  const text = `printf '%s' "$2" > '${where}'; set -- "$2"; ${script}`;
  return { command: ["sh", "-c", text, "sh", "an argument"], file: () => Deno.readTextFileSync(where) };
}

async function assertGone(file: string): Promise<void> {
  assert(file.length > 1);
  await assertRejects(() => Deno.stat(join(file, "..")), Deno.errors.NotFound);
}

Deno.test({ name: "editInEditor() gives what the editor left in a private file, and removes it", ignore }, async () => {
  await using folder = new Folder();
  const { command, file } = scripted(
    folder,
    `ls -l "$1" | cut -c1-10 >> "$1"; ls -ld "$(dirname "$1")" | cut -c1-10 >> "$1"`,
  );
  assertEquals(await editInEditor("one\n\ntwo", { command }), { text: "one\n\ntwo\n-rw-------\ndrwx------" });
  await assertGone(file());
});

Deno.test({ name: "editInEditor() gives text that was not touched back as it was", ignore }, async () => {
  for (const text of ["", "a", "a\n", "\n\n", "日本\u0301 👍"]) {
    assertEquals(await editInEditor(text, { command: ["true"] }), { text });
  }
});

Deno.test({ name: "editInEditor() says why an editor failed, and removes the file", ignore }, async () => {
  await using folder = new Folder();
  const { command, file } = scripted(folder, 'echo changed > "$1"; echo > "$1~"; exit 3');
  assertEquals(await editInEditor("text", { command }), { failed: "sh ended with exit code 3" });
  await assertGone(file());
  const missing = await editInEditor("text", { command: ["/no/such/editor"] });
  assert("failed" in missing);
  assertStringIncludes(missing.failed, "/no/such/editor cannot be started");
  assertEquals(await editInEditor("text", { command: [] }), {
    failed: "no editor is named; set $VISUAL or $EDITOR",
  });
});

Deno.test({ name: "editInEditor() takes nothing but a file of a bearable size for an answer", ignore }, async () => {
  await using folder = new Folder({ secret: "not typed by anybody" });
  const scripts: [string, RegExp][] = [
    [`rm "$1"; ln -s '${folder.path}/secret' "$1"`, /symbolic link|ELOOP/],
    [`rm "$1"; ln -s /dev/zero "$1"`, /symbolic link|ELOOP/],
    [`rm "$1"; mkfifo "$1"`, /no file/],
    [`rm "$1"; mkdir "$1"`, /no file/],
    [`rm "$1"`, /ENOENT/],
    [`truncate -s 1G "$1"`, /more than \d+ bytes/],
    [`rm -r "$(dirname "$1")"`, /ENOENT/],
  ];
  for (const [script, reason] of scripts) {
    const { command, file } = scripted(folder, script);
    const edited = await editInEditor("text", { command });
    assertMatch((edited as { failed: string }).failed, reason, script);
    await assertGone(file());
  }
});

Deno.test({ name: "editInEditor() ends the editor and what it runs when the signal aborts", ignore }, async () => {
  await using folder = new Folder();
  const { command, file } = scripted(
    folder,
    `sleep 4321 & echo $! > '${folder.path}/pid'; trap '' TERM; wait; wait; sleep 4321`,
  );
  const closing = new AbortController();
  const edited = editInEditor("text", { command, signal: closing.signal });
  while (!await Deno.stat(join(folder.path, "pid")).catch(() => undefined)) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  closing.abort();
  assertEquals(await edited, { failed: "it was closed" });
  await assertGone(file());
  const pid = (await Deno.readTextFile(join(folder.path, "pid"))).trim();
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "state=", "-p", pid] }).output();
  assertMatch(new TextDecoder().decode(stdout), /^(?:Z.*)?\s*$/, "what the editor ran is still there");
});
