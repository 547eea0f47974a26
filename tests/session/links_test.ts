import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { SessionFileError, SessionLockedError, SessionManager, SessionSaveError } from "../../src/session/mod.ts";
import { said, withFolder } from "./support.ts";

const HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}';
const PRECIOUS = "the user's own\n";

/** A project with a session's place in it, beside a file that no session may touch. */
function withVictim(
  run: (at: { project: string; file: string; victim: string; names: () => string[] }) => void,
): Promise<void> {
  return withFolder((folder) => {
    const [project, victim] = [`${folder}/project`, `${folder}/victim`];
    Deno.mkdirSync(project);
    Deno.writeTextFileSync(victim, PRECIOUS);
    const names = () => [...Deno.readDirSync(project)].map((entry) => entry.name).sort();
    run({ project, file: `${project}/s.jsonl`, victim, names });
    assertEquals(Deno.readTextFileSync(victim), PRECIOUS);
    assertEquals([...Deno.readDirSync(folder)].map((entry) => entry.name).sort(), ["project", "victim"]);
  });
}

Deno.test("SessionManager.open() does not write through a link in the place of its lock", () =>
  withVictim(({ file, victim, names }) => {
    Deno.symlinkSync("../victim", `${file}.lock`);
    assertThrows(() => SessionManager.open(file), SessionFileError, ".lock is a link");
    Deno.removeSync(`${file}.lock`);
    Deno.symlinkSync("../nothing", `${file}.lock`);
    assertThrows(() => SessionManager.open(file), SessionFileError, ".lock is a link");
    Deno.removeSync(`${file}.lock`);
    Deno.linkSync(victim, `${file}.lock`);
    assertThrows(() => SessionManager.open(file), SessionFileError, ".lock is another name");
    assertEquals(names(), ["s.jsonl.lock"]);
  }));

Deno.test("SessionManager.open() does not take another file for its lock", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/deno.lock`, '{"version":"5"}\n');
    assertThrows(() => SessionManager.open(`${folder}/deno`), SessionFileError, "is no lock of a session");
    assertEquals(Deno.readTextFileSync(`${folder}/deno.lock`), '{"version":"5"}\n');
  }));

Deno.test("SessionManager.close() leaves what has taken the place of its lock", () =>
  withVictim(({ file, names }) => {
    const session = SessionManager.open(file);
    Deno.removeSync(`${file}.lock`);
    Deno.symlinkSync("../victim", `${file}.lock`);
    session.close();
    assertEquals(names(), ["s.jsonl.lock"]);
  }));

Deno.test("SessionManager makes its file past whatever is in the place of the unfinished one", () =>
  withVictim(({ file, names }) => {
    Deno.symlinkSync("../victim", `${file}.part`);
    using session = SessionManager.open(file);
    session.appendMessage(said("one"));
    session.close();
    assertEquals(names(), ["s.jsonl", "s.jsonl.part"]);
    assert(Deno.lstatSync(`${file}.part`).isSymlink);
  }));

Deno.test("SessionManager sets no torn line aside through a link, and cuts nothing off then (C7.4)", () =>
  withVictim(({ file }) => {
    const text = `${HEADER}\n{"type":"custom","id":"0000`;
    Deno.writeTextFileSync(file, text);
    Deno.symlinkSync("../victim", `${file}.torn`);
    const session = SessionManager.open(file);
    assertThrows(() => session.appendMessage(said("one")), SessionSaveError, ".torn is a link");
    assertEquals(Deno.readTextFileSync(file), text);
    Deno.removeSync(`${file}.torn`);
    session.appendMessage(said("one"));
    session.close();
    assertStringIncludes(Deno.readTextFileSync(`${file}.torn`), '{"type":"custom","id":"0000');
    using again = SessionManager.open(file);
    assertEquals(again.getEntries().length, 1);
  }));

Deno.test("SessionManager.open() goes on in the session that a link leads to, with one lock for all its names", () =>
  withFolder((folder) => {
    Deno.mkdirSync(`${folder}/kept`);
    const target = `${folder}/kept/real.jsonl`;
    const link = `${folder}/s.jsonl`;
    Deno.writeTextFileSync(target, HEADER + "\n");
    Deno.symlinkSync("kept/real.jsonl", link);
    const session = SessionManager.open(link);
    assertEquals(session.getSessionFile(), target);
    assertMatch(session.warnings[0]!, /s\.jsonl is a link; the session is .*real\.jsonl/);
    assertThrows(() => SessionManager.open(target), SessionLockedError);
    assertThrows(() => SessionManager.open(link), SessionLockedError);
    session.appendMessage(said("one"));
    session.close();
    assert(Deno.lstatSync(link).isSymlink);
    assertEquals(Deno.readTextFileSync(target).trimEnd().split("\n").length, 2);
    assertEquals([...Deno.readDirSync(`${folder}/kept`)].map((entry) => entry.name), ["real.jsonl"]);
  }));

Deno.test("SessionManager.open() makes and touches nothing through a link to no session", () =>
  withVictim(({ file, names }) => {
    for (const [target, problem] of [["../victim", "is no session"], ["../nothing", "a link that leads to no file"]]) {
      Deno.symlinkSync(target!, file);
      assertThrows(() => SessionManager.open(file), SessionFileError, problem);
      assertThrows(() => SessionManager.open(file, { readOnly: true }), SessionFileError, problem);
      assertEquals(names(), ["s.jsonl"]);
      Deno.removeSync(file);
    }
    Deno.symlinkSync("..", file);
    assertThrows(() => SessionManager.open(file), SessionFileError, "is a folder");
    Deno.removeSync(file);
  }));

Deno.test("SessionManager appends nothing through a link that took the place of its file", () =>
  withVictim(({ project, file, victim }) => {
    Deno.writeTextFileSync(file, HEADER + "\n");
    const session = SessionManager.open(file);
    Deno.renameSync(file, `${project}/moved`);
    Deno.symlinkSync("../victim", file);
    assertThrows(() => session.appendMessage(said("one")), SessionSaveError, "is a link");
    assertEquals(Deno.readTextFileSync(victim), PRECIOUS);
    session.close();
  }));

Deno.test("SessionManager.open() migrates no session through a link in the place of the copy", () =>
  withVictim(({ file, project }) => {
    Deno.writeTextFileSync(file, '{"type":"session","id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}\n');
    Deno.symlinkSync("../nothing", `${project}/s.v3.jsonl`);
    assertThrows(() => SessionManager.open(file), SessionFileError, "a link that leads to no file");
    Deno.removeSync(`${project}/s.v3.jsonl`);
    Deno.symlinkSync("../victim", `${project}/s.v3.jsonl`);
    assertThrows(() => SessionManager.open(file), SessionFileError, "is no session");
  }));
