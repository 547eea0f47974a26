import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { SessionFileError, SessionLockedError, SessionManager } from "../../src/session/mod.ts";
import { answered, said, until, withFolder } from "./support.ts";

Deno.test("SessionManager.open() gives every whole entry wherever the file was cut off, and goes on (C7.4)", () =>
  withFolder((folder) => {
    const session = SessionManager.create("/project", folder);
    session.appendMessage(said("prvé ☂"));
    session.appendMessage(answered("🥣 ok"));
    session.appendCustomEntry("data", { text: "line\nbreak" });
    session.close();
    const bytes = Deno.readFileSync(session.getSessionFile()!);
    const header = bytes.indexOf(10);
    for (let cut = 0; cut < bytes.length; cut++) {
      const file = `${folder}/cut-${cut}.jsonl`;
      const part = bytes.slice(0, cut);
      Deno.writeFileSync(file, part);
      if (cut < header) {
        // Not even the header was whole: nothing was reported, and nothing is touched.
        assertThrows(() => SessionManager.open(file), SessionFileError);
        assertEquals(Deno.readFileSync(file), part);
        continue;
      }
      const whole = part.filter((byte) => byte === 10).length - 1 + (cut < bytes.length && bytes[cut] === 10 ? 1 : 0);
      const opened = SessionManager.open(file);
      const entries = opened.getEntries();
      assertEquals(entries, session.getEntries().slice(0, Math.max(0, whole)), `cut at ${cut}`);
      opened.appendMessage(said("and on"));
      opened.close();
      const again = SessionManager.open(file, { readOnly: true });
      assertEquals(again.getEntries(), opened.getEntries(), `cut at ${cut}`);
      assertEquals(again.warnings, []);
      again.close();
    }
  }));

/** Starts a process that appends to a file until it is killed. */
async function startWriter(file: string): Promise<Deno.ChildProcess> {
  const writer = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", new URL("./append_forever.ts", import.meta.url).pathname, file],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await until("it writes", () => {
    try {
      return Deno.statSync(file).size > 1_000;
    } catch {
      return false;
    }
  });
  return writer;
}

Deno.test("SessionManager.open() refuses the file of a living process with its pid, lets it be read, and takes it when that is killed", () =>
  withFolder(async (folder) => {
    const file = `${folder}/s.jsonl`;
    const writer = await startWriter(file);
    const error = assertThrows(() => SessionManager.open(file), SessionLockedError);
    assertStringIncludes((error as Error).message, `process ${writer.pid}`);
    using reader = SessionManager.open(file, { readOnly: true });
    assert(reader.getEntries().length > 0);
    writer.kill("SIGKILL");
    await writer.status;
    assert(Deno.statSync(`${file}.lock`).isFile, "the lock file of the dead is still there");
    using session = SessionManager.open(file);
    session.appendMessage(said("mine now"));
  }));

Deno.test("SessionManager.open() gives one of many that come at the same time the file", () =>
  withFolder((folder) => {
    const file = `${folder}/s.jsonl`;
    for (let round = 0; round < 50; round++) {
      using first = SessionManager.open(file, { cwd: "/project" });
      assertThrows(() => SessionManager.open(file), SessionLockedError);
      first.appendMessage(said(`round ${round}`));
    }
    using session = SessionManager.open(file);
    assertEquals(session.getEntries().length, 50);
  }));

Deno.test("SessionManager says that a full disk does not save, keeps the conversation, and cuts off what was half written", async (t) => {
  // A limit on the size of files stands for the disk that is full.
  await t.step({
    name: "with a limit on the size of files",
    ignore: Deno.build.os === "windows",
    fn: () =>
      withFolder(async (folder) => {
        const script = new URL("./append_to_full_disk.ts", import.meta.url).pathname;
        const { code, stdout, stderr } = await new Deno.Command("bash", {
          args: [
            "-c",
            'trap "" XFSZ; ulimit -f 64; exec "$0" run -A --no-check "$1" "$2"',
            Deno.execPath(),
            script,
            folder,
          ],
          stdin: "null",
          env: { NO_COLOR: "1" },
        }).output();
        const output = new TextDecoder().decode(stdout);
        assertEquals(code, 0, new TextDecoder().decode(stderr));
        const { inMemory, error, file } = JSON.parse(output);
        assertStringIncludes(error, "The session is not saved");
        using session = SessionManager.open(file);
        assertEquals(session.warnings, []);
        assert(session.getEntries().length > 0 && session.getEntries().length < inMemory);
      }),
  });
});
