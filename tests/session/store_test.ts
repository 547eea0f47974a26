import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { SessionFileError, SessionLockedError, SessionManager, SessionSaveError } from "../../src/session/mod.ts";
import { answered, said, typesOf, until, withFolder } from "./support.ts";

const HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}';

Deno.test("SessionManager writes an entry before its id is returned (C7.4)", () =>
  withFolder((folder) => {
    using session = SessionManager.create("/project", folder);
    const file = session.getSessionFile()!;
    const id = session.appendMessage(said("hello"));
    const lines = Deno.readTextFileSync(file).trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(lines.map((line) => line.type), ["session", "message"]);
    assertEquals([lines[0].version, lines[1].id, lines[1].parentId], [3, id, null]);
  }));

Deno.test("SessionManager makes no file for a session without entries", () =>
  withFolder((folder) => {
    const session = SessionManager.create("/project", folder);
    session.close();
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("SessionManager.open() gives back equal entries, labels, name and leaf", () =>
  withFolder((folder) => {
    const first = SessionManager.create("/project", folder);
    const user = first.appendMessage(said("hello"));
    first.appendMessage(answered("hi"));
    first.appendLabelChange(user, "start");
    first.appendCustomEntry("mine", { when: new Date(0), nothing: undefined });
    first.appendSessionName("A name\u0007");
    first.branch(user);
    first.close();
    using again = SessionManager.open(first.getSessionFile()!);
    assertEquals(again.getEntries(), first.getEntries());
    assertEquals(again.getTree(), first.getTree());
    assertEquals([again.getLeafId(), again.getLabel(user), again.getSessionName()], [user, "start", "A name"]);
    assertEquals(again.warnings, []);
  }));

Deno.test("SessionManager.branch() outlasts closing the file, and the next entry is a sibling (Q-40)", () =>
  withFolder((folder) => {
    const first = SessionManager.create("/project", folder);
    const user = first.appendMessage(said("one"));
    first.appendMessage(answered("two"));
    first.branch(user);
    first.close();
    using again = SessionManager.open(first.getSessionFile()!);
    const sibling = again.appendMessage(answered("other"));
    assertEquals(again.getEntry(sibling)?.parentId, user);
    assertEquals(again.getTree()[0]!.children.length, 2);
  }));

Deno.test("SessionManager.resetLeaf() makes the next entry another root (A.7)", () => {
  const session = SessionManager.inMemory("/project");
  session.appendMessage(said("one"));
  session.resetLeaf();
  const root = session.appendMessage(said("two"));
  assertEquals(session.getEntry(root)?.parentId, null);
  assertEquals(session.getTree().length, 2);
});

Deno.test("SessionManager.appendLabelChange() makes the label the leaf (A.7), and refuses unknown entries", () => {
  const session = SessionManager.inMemory("/project");
  const user = session.appendMessage(said("one"));
  const label = session.appendLabelChange(user, "here");
  assertEquals(session.getLeafId(), label);
  session.appendLabelChange(user, undefined);
  assertEquals(session.getLabel(user), undefined);
  assertThrows(() => session.appendLabelChange("nope", "x"), Error, "Entry nope not found");
});

Deno.test("SessionManager.branchWithSummary() stores the leaf that was abandoned (Q-41)", () => {
  const session = SessionManager.inMemory("/project");
  session.appendMessage(said("u"));
  session.appendCustomMessageEntry("note", "n", true);
  const target = session.appendMessage(answered("a1"));
  session.appendMessage(said("u2"));
  const left = session.appendMessage(answered("a2"));
  const id = session.branchWithSummary(target, "we tried");
  const entry = session.getEntry(id)!;
  assertEquals(entry.parentId, target);
  assertEquals(entry.type === "branch_summary" && entry.fromId, left);
  const roles = session.buildContext().messages.map((message) => message.role);
  assertEquals(roles, ["user", "custom", "assistant", "branchSummary"]);
});

Deno.test("SessionManager.createBranchedSession() keeps the history across a label (Q-39)", () =>
  withFolder((folder) => {
    using session = SessionManager.create("/project", folder);
    const user = session.appendMessage(said("u1"));
    session.appendLabelChange(user, "start");
    const answer = session.appendMessage(answered("a1"));
    session.appendMessage(said("u2"));
    using branched = session.createBranchedSession(answer);
    assertEquals(branched.buildContext().messages.map((message) => message.role), ["user", "assistant"]);
    assertEquals(branched.getLabel(user), "start");
    assertEquals(branched.getHeader().parentSession, session.getSessionFile());
    assert(branched.getSessionId() !== session.getSessionId());
    using again = SessionManager.open(branched.getSessionFile()!, { readOnly: true });
    assertEquals(again.getEntries(), branched.getEntries());
  }));

Deno.test("SessionManager.buildContext() begins with the compaction and what it kept (A.7)", () => {
  const session = SessionManager.inMemory("/project");
  session.appendMessage(said("u1"));
  session.appendMessage(answered("a1"));
  const kept = session.appendMessage(said("u2"));
  session.appendMessage(answered("a2"));
  session.appendCompaction({ summary: "before", firstKeptEntryId: kept, tokensBefore: 9 });
  session.appendMessage(said("u3"));
  const roles = session.buildContext().messages.map((message) => message.role);
  assertEquals(roles, ["compactionSummary", "user", "assistant", "user"]);
});

Deno.test("SessionManager.open() reads version 1 as a chain and leaves the file alone (A.7)", () =>
  withFolder((folder) => {
    const file = `${folder}/old.jsonl`;
    const text = [
      '{"type":"session","id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}',
      '{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"u1","timestamp":1}}',
      "garbage",
      '{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"hookMessage","customType":"c","content":"h","display":true,"timestamp":2}}',
      '{"type":"message","timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"user","content":"u2","timestamp":3}}',
      '{"type":"compaction","timestamp":"2025-01-01T00:00:04.000Z","summary":"s","firstKeptEntryIndex":3,"tokensBefore":5}',
      '{"type":"thinking_level_change","timestamp":"2025-01-01T00:00:05.000Z","thinkingLevel":"off"}',
    ].join("\n") + "\n";
    Deno.writeTextFileSync(file, text);
    const session = SessionManager.open(file);
    const entries = session.getEntries();
    assertEquals(entries.map((entry) => entry.parentId), [null, ...entries.slice(0, -1).map((entry) => entry.id)]);
    const compaction = entries[3];
    assertEquals(compaction?.type === "compaction" && compaction.firstKeptEntryId, entries[2]!.id);
    assertEquals(session.getHeader().version, 3);
    const roles = session.buildContext().messages.map((message) => message.role);
    assertEquals(roles, ["compactionSummary", "user"]);
    session.appendMessage(said("u3"));
    session.close();
    assertEquals(Deno.readTextFileSync(file), text);
    assertEquals(session.getSessionFile(), `${folder}/old.v3.jsonl`);
    assertStringIncludes(session.warnings.join("\n"), "line 3 is damaged");
    using again = SessionManager.open(file);
    assertEquals(again.getEntries(), session.getEntries());
  }));

for (
  const [what, content, problem] of [
    ["an empty file", "", "is empty"],
    ["text", "hello\nworld\n", "its first line is not JSON"],
    ["other JSON", '{"a":1}\n', 'an object with "type": "session"'],
    ["a header without id", '{"type":"session","version":3}\n', '"id" should be a string'],
    ["a newer version", '{"type":"session","version":4,"id":"x"}\n', "version 4 of the format"],
    ["a version that is none", '{"type":"session","version":"x","id":"x"}\n', '"version" should be a number'],
    ["a header that was cut off", '{"type":"session","ver', "was cut off"],
  ]
) {
  Deno.test(`SessionManager.open() refuses ${what} and leaves it as it is (C7.4)`, () =>
    withFolder((folder) => {
      const file = `${folder}/s.jsonl`;
      Deno.writeTextFileSync(file, content!);
      const error = assertThrows(() => SessionManager.open(file), SessionFileError, problem);
      assertStringIncludes((error as Error).message, file);
      assertEquals(Deno.readTextFileSync(file), content);
      assertEquals([...Deno.readDirSync(folder)].map((entry) => entry.name), ["s.jsonl"]);
    }));
}

Deno.test("SessionManager.open() refuses a folder", () =>
  withFolder((folder) => {
    assertThrows(() => SessionManager.open(folder), SessionFileError, "is a folder");
  }));

Deno.test("SessionManager.open() keeps a torn last line aside, says so and goes on (C7.4)", () =>
  withFolder((folder) => {
    const file = `${folder}/s.jsonl`;
    const whole =
      `${HEADER}\n{"type":"message","id":"00000001","parentId":null,"timestamp":"x","message":{"role":"user","content":"é"}}\n`;
    const torn = new TextEncoder().encode(
      '{"type":"message","id":"00000002","parentId":"00000001","message":{"content":"é',
    ).slice(0, -1);
    const all = new Uint8Array([...new TextEncoder().encode(whole), ...torn]);
    Deno.writeFileSync(file, all);
    const session = SessionManager.open(file);
    assertStringIncludes(session.warnings.join(), `its last line (${torn.length} bytes) was cut off`);
    assertEquals(Deno.readFileSync(file), all);
    const id = session.appendMessage(said("next"));
    session.close();
    assertEquals(Deno.readFileSync(`${file}.torn`).slice(0, -1), torn);
    using again = SessionManager.open(file);
    assertEquals(again.getEntries().map((entry) => entry.id), ["00000001", id]);
    assertEquals(again.warnings, []);
  }));

Deno.test("SessionManager.open() goes on after a last line that lacks only its newline", () =>
  withFolder((folder) => {
    const file = `${folder}/s.jsonl`;
    Deno.writeTextFileSync(file, `${HEADER}\n{"type":"custom","id":"00000001","parentId":null,"customType":"c"}`);
    const session = SessionManager.open(file);
    session.appendMessage(said("next"));
    session.close();
    using again = SessionManager.open(file);
    assertEquals(typesOf(again.getEntries()), ["custom", "message"]);
  }));

Deno.test("SessionManager.open() survives duplicate ids, cycles, missing parents and unknown types, and never rewrites them", () =>
  withFolder((folder) => {
    const file = `${folder}/s.jsonl`;
    const text = [
      HEADER,
      '{"type":"custom","id":"a","parentId":"b","customType":"c"}',
      '{"type":"custom","id":"b","parentId":"a","customType":"c"}',
      '{"type":"custom","id":"b","parentId":null,"customType":"twin"}',
      '{"type":"future_thing","id":"d","parentId":"gone","payload":{"x":[1]}}',
      '{"type":"custom","id":7}',
      "[1,2]",
    ].join("\n") + "\n";
    Deno.writeTextFileSync(file, text);
    const session = SessionManager.open(file);
    assertEquals(session.getEntries().map((entry) => entry.id), ["a", "b", "d"]);
    assertEquals(session.getBranch("b").map((entry) => entry.id), ["a", "b"]);
    assertEquals(session.warnings.length, 5);
    session.appendMessage(said("next"));
    const fork = session.fork();
    assertStringIncludes(Deno.readTextFileSync(fork.getSessionFile()!), '"payload":{"x":[1]}');
    fork.close();
    session.close();
    assert(Deno.readTextFileSync(file).startsWith(text));
  }));

Deno.test("SessionManager.open() refuses a second writer with the owner's pid, and lets it read", () =>
  withFolder((folder) => {
    using first = SessionManager.create("/project", folder);
    first.appendMessage(said("one"));
    const file = first.getSessionFile()!;
    const error = assertThrows(() => SessionManager.open(file), SessionLockedError, String(Deno.pid));
    assertEquals((error as SessionLockedError).pid, Deno.pid);
    const reader = SessionManager.open(file, { readOnly: true });
    assertEquals(reader.getEntries().length, 1);
    assertThrows(() => reader.appendMessage(said("two")), SessionSaveError, "read-only");
    reader.close();
    first.appendMessage(said("two"));
  }));

Deno.test("SessionManager.open() is not stopped by a lock file that a dead process left", () =>
  withFolder((folder) => {
    const file = `${folder}/s.jsonl`;
    Deno.writeTextFileSync(file, HEADER + "\n");
    Deno.writeTextFileSync(`${file}.lock`, "999999\n");
    const session = SessionManager.open(file);
    session.close();
    assertEquals([...Deno.readDirSync(folder)].map((entry) => entry.name), ["s.jsonl"]);
  }));

Deno.test("SessionManager appends nothing that cannot be written as JSON", () => {
  const session = SessionManager.inMemory("/project");
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  assertThrows(() => session.appendCustomEntry("c", circular), TypeError, "cannot be written as JSON");
  assertThrows(() => session.appendCustomEntry("c", 1n), TypeError, "cannot be written as JSON");
  assertEquals([session.getEntries(), session.getLeafId()], [[], null]);
});

Deno.test("SessionManager keeps what was appended, whatever the caller does with it later", () => {
  const session = SessionManager.inMemory("/project");
  const data = { list: [1] };
  const id = session.appendCustomEntry("c", data);
  data.list.push(2);
  const entry = session.getEntry(id);
  assertEquals(entry?.type === "custom" && entry.data, { list: [1] });
});

Deno.test("SessionManager.appendMessage() throws and changes nothing when the disk says no", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/no-folder`, "");
    using session = SessionManager.create("/project", `${folder}/no-folder/sessions`);
    const error = assertThrows(() => session.appendMessage(said("one")), SessionSaveError);
    assertStringIncludes((error as Error).message, `${folder}/no-folder/sessions`);
    assertEquals(session.getEntries(), []);
  }));

Deno.test("SessionManager.onSaveError() lets the session go on in memory and saves all once the disk works again", () =>
  withFolder((folder) => {
    const blocker = `${folder}/sessions`;
    Deno.writeTextFileSync(blocker, "");
    using session = SessionManager.create("/project", blocker);
    const told: (string | undefined)[] = [];
    session.onSaveError((error) => told.push(error?.name));
    session.appendMessage(said("one"));
    session.appendMessage(said("two"));
    assertEquals(told, ["SessionSaveError"]);
    Deno.removeSync(blocker);
    session.appendMessage(said("three"));
    assertEquals(told, ["SessionSaveError", undefined]);
    using again = SessionManager.open(session.getSessionFile()!, { readOnly: true });
    assertEquals(again.getEntries(), session.getEntries());
  }));

Deno.test("SessionManager.flush() makes a removed file again", () =>
  withFolder((folder) => {
    using session = SessionManager.create("/project", folder);
    session.appendMessage(said("one"));
    Deno.removeSync(session.getSessionFile()!);
    session.appendMessage(said("two"));
    session.flush();
    using again = SessionManager.open(session.getSessionFile()!, { readOnly: true });
    assertEquals(again.getEntries(), session.getEntries());
  }));

Deno.test("SessionManager.create() never takes the place of another file", () =>
  withFolder((folder) => {
    using session = SessionManager.create("/project", folder);
    Deno.writeTextFileSync(session.getSessionFile()!, "precious");
    assertThrows(() => session.appendMessage(said("one")), SessionSaveError, "made by somebody else");
    assertEquals(Deno.readTextFileSync(session.getSessionFile()!), "precious");
  }));

Deno.test("SessionManager.continueRecent() opens the session that was written to last", () =>
  withFolder((folder) => {
    for (const [i, text] of ["first", "second"].entries()) {
      const session = SessionManager.create("/project", folder);
      session.appendMessage(said(text));
      session.close();
      Deno.utimeSync(session.getSessionFile()!, i + 1, i + 1);
    }
    Deno.writeTextFileSync(`${folder}/other.jsonl`, "no session");
    assertEquals(SessionManager.list("/project", folder).map((info) => info.firstPrompt), ["second", "first"]);
    using recent = SessionManager.continueRecent("/project", folder);
    assertEquals(recent.getEntries().length, 1);
    const entry = recent.getEntries()[0]!;
    assertEquals(entry.type === "message" && entry.message.role === "user" && entry.message.content, "second");
  }));

Deno.test("SessionManager.getUsageStatistics() sums all branches", () => {
  const session = SessionManager.inMemory("/project");
  const user = session.appendMessage(said("one"));
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10 };
  for (let i = 0; i < 2; i++) {
    session.branch(user);
    session.appendMessage({ ...answered("a"), usage });
  }
  assertEquals(session.getUsageStatistics(), { input: 2, output: 4, cacheRead: 6, cacheWrite: 8, cost: 0 });
});

Deno.test("SessionManager loses no entry that was reported when its process is killed (C7.4)", () =>
  withFolder(async (folder) => {
    for (let round = 0; round < 3; round++) {
      const file = `${folder}/${round}.jsonl`;
      const writer = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", new URL("./append_forever.ts", import.meta.url).pathname, file],
        stdout: "piped",
        stderr: "null",
        stdin: "null",
      }).spawn();
      let reported = "";
      const reading = (async () => {
        for await (const text of writer.stdout.pipeThrough(new TextDecoderStream())) reported += text;
      })();
      await until("some entries are reported", () => reported.split("\n").length > 50 + round * 37);
      writer.kill("SIGKILL");
      await writer.status;
      await reading;
      const ids = reported.split("\n").slice(0, -1);
      using session = SessionManager.open(file);
      const found = new Set(session.getEntries().map((entry) => entry.id));
      assertEquals(ids.filter((id) => !found.has(id)), []);
      assertEquals(session.getBranch().length, session.getEntries().length);
      session.appendMessage(said("and on"));
    }
  }));

for (const size of [1, 7, 63, 200, 333]) {
  Deno.test(`SessionManager.open() gives every whole entry of a file cut ${size} bytes before its end`, () =>
    withFolder((folder) => {
      const session = SessionManager.create("/project", folder);
      for (let i = 0; i < 10; i++) session.appendMessage(said(`müssen ${i}`));
      session.close();
      const file = session.getSessionFile()!;
      const bytes = Deno.readFileSync(file);
      const cut = bytes.slice(0, -size);
      Deno.writeFileSync(file, cut);
      let wholeLines = cut.filter((byte) => byte === 10).length;
      if (size === 1) wholeLines++;
      using again = SessionManager.open(file);
      assertEquals(again.getEntries(), session.getEntries().slice(0, wholeLines - 1));
    }));
}
