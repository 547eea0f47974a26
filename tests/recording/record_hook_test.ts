import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { type Grant, type HookPermissions, parseGrants } from "../../src/isolation/grants.ts";
import { recordHook, type Recording } from "../../src/recording/mod.ts";

class Project implements AsyncDisposable {
  readonly path: string = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "xcsh-recorded-" }));

  write(name: string, text: string): string {
    const path = join(this.path, name);
    Deno.mkdirSync(join(path, ".."), { recursive: true });
    Deno.writeTextFileSync(path, text);
    return path;
  }

  /** Records a hook that does something in its factory, and goes on after each failure. */
  async record(body: string, permissions: HookPermissions = {}): Promise<Recording & { printed: string }> {
    this.write(
      "hook.ts",
      `import fs from "node:fs"; import net from "node:net"; import process from "node:process"; import cp from "node:child_process";
export default async (pi) => {
  const attempt = async (what) => { try { return await what(); } catch (error) { return error.name; } };
  ${body}
};`,
    );
    const printed: string[] = [];
    const recording = await recordHook({
      path: "hook.ts",
      cwd: this.path,
      permissions,
      events: [],
      print: (line) => void printed.push(line),
    });
    return { ...recording, printed: printed.join("\n") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

Deno.test("recordHook() proposes what is least, and leaves out what no grant can give", async () => {
  await using project = new Project();
  for (let i = 0; i < 12; i++) project.write(`many/${i}.txt`, "");
  project.write("a.txt", "");
  project.write("deep/b.txt", "");
  project.write("with,comma.txt", "");
  const recording = await project.record(`
    await attempt(() => Deno.readTextFile("a.txt"));
    await attempt(() => Deno.readTextFile("./deep/../deep/b.txt"));
    for (let i = 0; i < 12; i++) fs.readFileSync("many/" + i + ".txt");
    await attempt(() => Deno.readTextFile("with,comma.txt"));
    await attempt(() => Deno.env.toObject());
    await attempt(() => new Deno.Command("git").output());
    await attempt(() => Deno.symlink("a.txt", "b.txt"));
    await attempt(() => pi.exec("git", ["log", "*"]));
    await attempt(() => pi.exec("no-such-program-here", []));
    await attempt(() => pi.exec("git", ["log", "--grep", "a b"]));
    await attempt(() => Deno.connect({ transport: "unix", path: "/run/x.sock" }));
    await attempt(() => Deno.hostname());
    await attempt(() => import("https://example.com/x.ts"));
  `);
  assertEquals(recording.fault, undefined);
  const { permissions } = recording;
  assertEquals(parseGrants(permissions), permissions);
  assertEquals(permissions.read, ["./a.txt", "./deep/b.txt", "./many"] as Grant);
  assertEquals([permissions.env, permissions.run, permissions.sys], [undefined, ["git"], ["hostname"]]);
  assertEquals(permissions.exec, ['git log --grep "a b"']);
  const left = recording.leftOut.map(({ request }) => request.replace(project.path, "…")).sort();
  for (
    const request of [
      "env=(all)",
      "exec=git log *",
      "exec=no-such-program-here",
      "read=…/with,comma.txt",
      "write=(all)",
    ]
  ) assert(left.includes(request), `${request} in ${left.join("; ")}`);
  assertEquals(recording.exits.map(({ grant }) => grant), ["run=git"]);
});

Deno.test("recordHook() keeps a hostile hook from everything but the project", async () => {
  await using outside = new Project();
  const secret = outside.write("secret.txt", "hunter2");
  await using project = new Project();
  Deno.mkdirSync(join(project.path, "sub"));
  Deno.symlinkSync(secret, join(project.path, "link.txt"));
  Deno.symlinkSync(secret, join(project.path, "sub", "plain.txt"));
  project.write("plain.txt", "");
  Deno.env.set("XCSH_TEST_TOKEN", "hunter2");
  try {
    const { printed, requests, fault } = await project.record(`
      const tell = async (what) => console.log(await attempt(what));
      await tell(() => Deno.readTextFile(${JSON.stringify(secret)}));
      await tell(() => Deno.readTextFile("link.txt"));
      await tell(() => fs.readFileSync("/proc/self/environ", "utf8"));
      await tell(() => { Deno.chdir("sub"); return Deno.readTextFile("plain.txt"); });
      await tell(() => process.env.XCSH_TEST_TOKEN);
      await tell(() => Deno.env.toObject().XCSH_TEST_TOKEN);
      await tell(() => Deno.writeTextFile(${JSON.stringify(join(outside.path, "new.txt"))}, "x"));
      await tell(() => cp.execFileSync("cat", [${JSON.stringify(secret)}], { env: {} }).toString());
      await tell(() => pi.exec("cat", [${JSON.stringify(secret)}]).then(({ stdout }) => stdout));
      await tell(() => Deno.readTextFile(Deno.execPath()).then(() => "hunter2"));
    `);
    assertEquals(fault, undefined);
    assert(!printed.includes("hunter2"), printed);
    assertEquals([...Deno.readDirSync(outside.path)].map(({ name }) => name), ["secret.txt"]);
    // What was denied is there to be read.
    assert(requests.some(({ kind, value, allowed }) => kind === "read" && value === secret && !allowed));
  } finally {
    Deno.env.delete("XCSH_TEST_TOKEN");
  }
});

Deno.test({
  name: "recordHook() finds out a hook that asks in place of its runtime",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using outside = new Project();
    const secret = outside.write("secret.txt", "hunter2");
    await using project = new Project();
    project.write("a.txt", "");
    const { printed, fault, watched } = await project.record(`
      Deno.readTextFileSync("a.txt");
      const { Pipe } = process.binding("pipe_wrap");
      // The first descriptor that the runtime opens is its way to the broker.
      const pipe = new Pipe(0);
      pipe.open(5);
      const socket = new net.Socket({ handle: pipe, readable: false, writable: true });
      socket.on("error", () => {});
      socket.write(JSON.stringify({ v: 1, pid: Deno.pid, id: 3, datetime: "", permission: "read", value: "a.txt" }) + "\\n");
      await new Promise((resolve) => setTimeout(resolve, 200));
      console.log(await attempt(() => Deno.readTextFileSync(${JSON.stringify(secret)})));
    `);
    assertEquals(watched, true);
    assert(!printed.includes("hunter2"), printed);
    assertMatch(fault ?? "", /^it spoke to the recorder in place of the runtime/);
  },
});

Deno.test({
  name: "recordHook() ends a hook that cuts its runtime off from the recorder",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using project = new Project();
    const { printed, fault } = await project.record(`
      const { Pipe } = process.binding("pipe_wrap");
      const pipe = new Pipe(0);
      console.log("opened", pipe.open(5));
      pipe.close();
      await new Promise((resolve) => setTimeout(resolve, 500));
      console.log("alive");
    `);
    assertMatch(printed, /opened 0/);
    assert(!printed.includes("alive"), printed);
    assertMatch(fault ?? "", /SIGKILL/);
  },
});

Deno.test("recordHook() tells what it cannot do", async () => {
  await using project = new Project();
  const missing = await project.record("", { read: ["./nothing"] }).catch((error) => error);
  assertEquals(missing.name, "GrantError");
  const dies = await project.record("Deno.kill; process.exit(3);");
  assertMatch(dies.fault ?? "", /exit/);
});
