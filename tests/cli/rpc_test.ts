import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import fc from "npm:fast-check@^4.11.0";
import { Client, project, type Rec } from "./rpc_client.ts";
import { Folder, MAIN, run } from "./program.ts";
import { processesOf, readProc } from "../isolation/support.ts";

const ignore = Deno.build.os === "windows";

const bash = (command: string) => ({ toolCalls: [{ name: "bash", arguments: { command } }] });

function refused(record: Rec): [boolean, string] {
  return [record.ok, record.error?.code];
}

for (const inProcess of [false, true]) {
  const how = inProcess ? "in the process" : "isolated";

  Deno.test({ name: `run --rpc: every question of a hook ${how} can be answered and closed`, ignore }, async () => {
    await using p = project({ inProcess });
    await using client = new Client(p.args);
    assertEquals(await client.next("rpc").then(({ type, version }) => [type, version]), ["rpc", 1]);
    const cases: [string, Rec, [answer: Rec, said: string][]][] = [
      ["select", { title: "Which?", options: ["red", "blue", "red"] }, [
        [{ value: "blue" }, '"blue"'],
        [{ value: 2 }, '"red"'],
        [{ cancelled: true }, "undefined"],
      ]],
      ["confirm", { title: "Sure?", message: "It is gone then" }, [
        [{ value: true }, "true"],
        [{ value: false }, "false"],
        [{ cancelled: true }, "false"],
      ]],
      ["input", { title: "Name?", placeholder: "yours" }, [
        [{ value: "Ada" }, '"Ada"'],
        [{ value: "" }, '""'],
        [{ cancelled: true }, "undefined"],
      ]],
      ["editor", { title: "Text?", prefill: "a\nb" }, [
        [{ value: "one\ntwo" }, '"one\\ntwo"'],
        [{ cancelled: true }, "undefined"],
      ]],
    ];
    for (const [method, about, answers] of cases) {
      for (const [answer, said] of answers) {
        const done = client.request("prompt", { text: `/${method}` });
        const { type: _, id, hook, ...request } = await client.next("ui_request");
        assertEquals(request, { method, ...about });
        assertStringIncludes(hook, "hook.ts");
        await client.send({ type: "ui_response", id, ...answer });
        assertEquals((await client.next("notify")).message, said);
        assertEquals((await done).result, { handledAs: "command" });
      }
    }
    assert(!client.records.some(({ type }) => type === "ui_cancel"));
  });

  Deno.test({ name: `run --rpc: a component of a hook ${how} is drawn by frames`, ignore }, async () => {
    await using p = project({ inProcess });
    await using client = new Client(p.args);
    await client.send({ type: "ui_screen", width: 20, height: 5, colours: true });
    void client.request("prompt", { text: "/pick" }).catch(() => {});
    const { id, method } = await client.next("ui_request");
    assertEquals(method, "custom");
    const { lines, width } = await client.next("ui_frame");
    assertEquals([width, lines], [20, ["keys: ", `\x1b[31mwide \x1b[39m${"x".repeat(14)}…\x1b[0m`, "evil line", "20"]]);
    await client.send({ type: "ui_input", id, data: "\x1b[A" });
    await client.send({ type: "ui_input", id, data: "k" });
    await client.find(({ type, lines }) => type === "ui_frame" && lines[0] === "keys: k");
    await client.send({ type: "ui_screen", width: 40 });
    await client.find(({ type, width }) => type === "ui_frame" && width === 40);
    await client.send({ type: "ui_response", id, value: "yes" });
    assertEquals(refused(await client.next("response")), [false, "invalid_answer"]);
    await client.send({ type: "ui_input", id, data: "q" });
    assertEquals(await client.next("ui_cancel"), { type: "ui_cancel", id, reason: "done" });
    assertEquals((await client.next("notify")).message, '{"keys":"\\u001b[Ak"}');
    await client.send({ type: "ui_input", id, data: "x" });
    assertEquals(refused(await client.next("response").then(() => client.next("response"))), [
      false,
      "unknown_question",
    ]);

    const closed = client.request("prompt", { text: "/pick" });
    await client.send({ type: "ui_response", id: (await client.next("ui_request")).id, cancelled: true });
    assertEquals((await client.next("notify")).message, "undefined");
    assertEquals((await closed).ok, true);

    const failed = client.request("prompt", { text: "/pick" });
    const broken = (await client.next("ui_request")).id;
    await client.send({ type: "ui_input", id: broken, data: "!" });
    await client.find((record) => record.type === "ui_cancel" && record.id === broken);
    assertStringIncludes((await client.next("hook_error")).error, "no such key");
    await failed;
  });

  Deno.test({
    name: `run --rpc: colours that a hook ${how} writes by itself reach only a client that shows them`,
    ignore,
  }, async () => {
    await using folder = new Folder({
      "hook.ts": `export default (pi) => pi.registerCommand("draw", { handler: async (_args, ctx) => {
        ctx.ui.setStatus("s", "\\x1b[32mstatus");
        ctx.ui.setWidget("w", ["\\x1b[32mwidget"]);
        await ctx.ui.custom((_tui, _theme, done) => ({
          render: (width) => ["\\x1b[32m" + width],
          handleInput: () => done(1),
        }));
      } });`,
    });
    const args = [
      "--script",
      folder.script("true"),
      "--hook",
      `${folder.path}/hook.ts`,
      "--no-session",
      "--no-discovery",
    ];
    await using client = new Client([...args, ...inProcess ? ["--in-process"] : []]);
    void client.request("prompt", { text: "/draw" }).catch(() => {});
    assertEquals((await client.next("status")).text, "status");
    assertEquals((await client.next("widget")).lines, ["widget"]);
    assertEquals((await client.next("ui_frame")).lines, ["80"]);
    assertEquals((await client.request("state")).result.statuses, { s: "status" });
    await client.send({ type: "ui_screen", width: 40, colours: true });
    assertEquals((await client.next("ui_frame")).lines, ["\x1b[32m40"]);
  });

  Deno.test({ name: `run --rpc: a question of a hook ${how} ends by its time and by its signal`, ignore }, async () => {
    await using p = project({ inProcess });
    await using client = new Client(p.args);
    const late = client.request("prompt", { text: "/late" });
    const { id, timeout } = await client.next("ui_request");
    assert(timeout > 0 && timeout <= 300, String(timeout));
    assertEquals(await client.next("ui_cancel"), { type: "ui_cancel", id, reason: "timeout" });
    assertEquals((await client.next("notify")).message, "false");
    await late;
    await client.send({ type: "ui_response", id, value: true });
    assertEquals(
      refused(await client.find((record) => record.type === "response" && record.id === id)),
      [false, "unknown_question"],
    );

    const back = client.request("prompt", { text: "/back" });
    const never = (await client.next("ui_request")).id;
    const go = (await client.next("ui_request")).id;
    await client.send({ type: "ui_response", id: go, value: true });
    assertEquals(await client.next("ui_cancel"), { type: "ui_cancel", id: never, reason: "aborted" });
    assertEquals((await client.next("notify")).message, "undefined");
    await back;
  });

  Deno.test({ name: `run --rpc: two questions of a hook ${how} are open at once`, ignore }, async () => {
    await using p = project({ inProcess });
    await using client = new Client(p.args);
    const done = client.request("prompt", { text: "/two" });
    const first = await client.next("ui_request");
    const second = await client.next("ui_request");
    assertEquals([first.title, second.title], ["first", "second"]);
    const { result } = await client.request("state");
    assertEquals(result.questions.map(({ id }: Rec) => id), [first.id, second.id]);
    await client.send({ type: "ui_response", id: second.id, value: "b" });
    await client.send({ type: "ui_response", id: second.id, value: "c" });
    assertEquals(
      refused(await client.find((record) => record.id === second.id && record.type === "response")),
      [false, "unknown_question"],
    );
    await client.send({ type: "ui_response", id: first.id, value: "a" });
    assertEquals((await client.next("notify")).message, '["a","b"]');
    await done;
  });

  Deno.test({ name: `run --rpc: a hook ${how} sees a UI, and what it shows is clean`, ignore }, async () => {
    await using p = project({ inProcess });
    await using client = new Client(p.args);
    await client.send({ type: "ui_screen", width: 80, colours: true });
    await client.send({ type: "editor_text", text: "half a prompt" });
    await client.request("prompt", { text: "/look" });
    assertEquals((await client.next("editor_text")).text, "from the hook");
    assertEquals((await client.next("status")).text, "\x1b[31mred\x1b[0m");
    const { key, lines, placement } = await client.next("widget");
    assertEquals([key, lines, placement], ["list", ["one"], "belowEditor"]);
    assertEquals((await client.next("notify")).message, '[true,"half a prompt","from the hook"]');
    assertEquals((await client.request("state")).result.statuses, { mode: "\x1b[31mred\x1b[0m" });
  });
}

Deno.test({ name: "run --rpc: a wrong answer is refused, and the question stays open", ignore }, async () => {
  await using p = project();
  await using client = new Client(p.args);
  const wrong: Record<string, unknown[]> = {
    select: ["green", 3, -1, 0.5, true, "length"],
    confirm: ["yes", 1, 0],
    input: [1, true, "two\nlines"],
    editor: [false, 5],
  };
  const right: Rec = { select: 0, confirm: true, input: "x", editor: "y" };
  for (const [method, values] of Object.entries(wrong)) {
    const done = client.request("prompt", { text: `/${method}` });
    const { id } = await client.next("ui_request");
    for (const value of values) {
      await client.send({ type: "ui_response", id, value });
      assertEquals(refused(await client.next("response")), [false, "invalid_answer"]);
    }
    for (const answer of [{}, { value: right[method], cancelled: true }]) {
      await client.send({ type: "ui_response", id, ...answer });
      assertEquals(refused(await client.next("response")), [false, "invalid_answer"]);
    }
    for (const answer of [{ value: null }, { value: ["red"] }, { cancelled: false }, { answer: 1 }]) {
      await client.send({ type: "ui_response", id, ...answer });
      assertEquals(refused(await client.next("response")), [false, "invalid_field"]);
    }
    await client.send({ type: "ui_input", id, data: "x" });
    assertEquals(refused(await client.next("response")), [false, "invalid_answer"]);
    await client.send({ type: "ui_response", id, value: right[method] });
    assertEquals((await done).ok, true);
    await client.next("response");
  }
});

Deno.test(
  { name: "run --rpc: every line that is no message is refused by itself, and the session goes on", ignore },
  async () => {
    await using p = project();
    await using client = new Client(p.args);
    const cases: [string | Uint8Array, string, unknown?, unknown?][] = [
      ["nonsense", "malformed"],
      ['{"type":"state","id":1', "malformed"],
      ["[1]", "malformed"],
      ["null", "malformed"],
      ['"state"', "malformed"],
      [new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), "malformed"],
      ["{}", "unknown_type"],
      ['{"type":"promt","id":7}', "unknown_type", 7],
      ['{"type":"toString","id":"a"}', "unknown_type", "a"],
      ['{"type":"__proto__","id":"a"}', "unknown_type", "a"],
      ['{"type":"state"}', "invalid_id", null, "state"],
      ['{"type":"state","id":null}', "invalid_id", null, "state"],
      ['{"type":"state","id":{}}', "invalid_id", null, "state"],
      [`{"type":"state","id":"${"x".repeat(201)}"}`, "invalid_id", null, "state"],
      ['{"type":"prompt","id":1}', "invalid_field", 1, "prompt"],
      ['{"type":"prompt","id":1,"text":5}', "invalid_field", 1, "prompt"],
      ['{"type":"prompt","id":1,"text":"  "}', "invalid_field", 1, "prompt"],
      ['{"type":"prompt","id":1,"text":"a","images":[{"type":"image"}]}', "invalid_field", 1, "prompt"],
      ['{"type":"prompt","id":1,"text":"a","deliverAs":"later"}', "invalid_field", 1, "prompt"],
      ['{"type":"prompt","id":1,"text":"a","delivrAs":"steer"}', "invalid_field", 1, "prompt"],
      ['{"type":"prompt","id":1,"text":"/nothing"}', "unknown_command", 1, "prompt"],
      ['{"type":"prompt","id":1,"text":"/tree zzz"}', "failed", 1, "prompt"],
      ['{"type":"ui_response","id":"q1","value":true}', "unknown_question", "q1", "ui_response"],
      ['{"type":"ui_response","id":1,"value":true}', "invalid_id", 1, "ui_response"],
      ['{"type":"ui_screen","width":0}', "invalid_field", null, "ui_screen"],
      ['{"type":"ui_screen","width":1e9}', "invalid_field", null, "ui_screen"],
      ['{"type":"ui_screen","width":80,"id":1}', "invalid_field", 1, "ui_screen"],
    ];
    for (const [line, code, id = null, to = null] of cases) {
      await client.raw("\r\n\n");
      await client.raw(line);
      await client.raw("\n");
      const { type: _, error, ...rest } = await client.next("response");
      assertEquals([error?.code, rest], [code, { id, to, ok: false }], String(line));
      assert(error.message.length < 400, error.message);
    }
    assertEquals((await client.request("state")).ok, true);
    await client.endInput();
    assertEquals((await client.ended()).code, 0);
  },
);

Deno.test({ name: "run --rpc: a line of 100 MB is refused in bounded memory", ignore }, async () => {
  await using p = project();
  await using client = new Client(p.args);
  await client.next("session_start");
  const piece = new Uint8Array(1 << 20).fill(120);
  for (let i = 0; i < 100; i++) await client.raw(piece);
  await client.raw('\n{"type":"state","id":1}\n');
  assertEquals(refused(await client.next("response")), [false, "too_long"]);
  assertEquals((await client.next("response")).ok, true);
  if (Deno.build.os === "linux") {
    const status = await Deno.readTextFile(`/proc/${client.child.pid}/status`);
    const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024;
    assert(peak < 400, `${peak} MiB`);
  }
});

Deno.test({ name: "run --rpc: half a line at the end of the input is a line", ignore }, async () => {
  await using p = project();
  await using client = new Client(p.args);
  await client.raw('{"type":"state","id":1}\n{"type":"state","id":2}');
  await client.endInput();
  const { records, code } = await client.ended();
  assertEquals(records.filter(({ type }) => type === "response").map(({ id, ok }) => [id, ok]), [[1, true], [2, true]]);
  assertEquals(code, 0);
});

Deno.test({ name: "run --rpc: while the agent works, a prompt says how it is delivered", ignore }, async () => {
  await using p = project({ turns: [bash("true"), { text: "done" }, { text: "again" }], hook: GATE });
  await using client = new Client(p.args);
  const first = client.request("prompt", { text: "go" });
  const { id } = await client.next("ui_request");
  assertEquals((await client.request("state")).result.isIdle, false);
  assertEquals(refused(await client.request("prompt", { text: "and" })), [false, "busy"]);
  assertEquals((await client.request("prompt", { text: "then", deliverAs: "followUp" })).result.handledAs, "queued");
  await client.send({ type: "prompt", id: "twice", text: "/wait" });
  await client.send({ type: "prompt", id: "twice", text: "/wait" });
  assertEquals(
    refused(await client.find((record) => record.type === "response" && record.id === "twice")),
    [false, "duplicate_id"],
  );
  await client.send({ type: "ui_response", id, value: true });
  assertEquals((await first).result.handledAs, "run");
  const { result } = await client.request("entries");
  assertEquals(
    result.entries.filter(({ message }: Rec) => message?.role === "user").map(({ message }: Rec) => message.content),
    ["go", "then"],
  );
  assertEquals(result.leafId, result.entries.at(-1).id);
});

const GATE = `export default (pi) => {
  pi.on("tool_call", async (event, ctx) => {
    if (await ctx.ui.confirm("Run it?", String(event.input.command))) return;
    return { block: true, reason: "the person said no" };
  });
  pi.on("session_shutdown", (_event, ctx) => ctx.ui.notify("bye"));
  pi.registerCommand("wait", { handler: (_args, ctx) => ctx.waitForIdle() });
};`;

Deno.test({ name: "run --rpc: abort closes the question of a gate, and the tool does not run", ignore }, async () => {
  await using p = project({ turns: [bash("touch made"), { text: "done" }], hook: GATE });
  await using client = new Client(p.args);
  const run = client.request("prompt", { text: "go" });
  const { id } = await client.next("ui_request");
  assertEquals((await client.request("abort")).result, {});
  assertEquals(await client.next("ui_cancel"), { type: "ui_cancel", id, reason: "aborted" });
  assertEquals((await run).ok, true);
  assertEquals((await client.request("state")).result.isIdle, true);
  assert(![...Deno.readDirSync(p.folder.path)].some(({ name }) => name === "made"));
});

Deno.test({ name: "run --rpc: the end of the input closes questions, and what runs is finished", ignore }, async () => {
  await using p = project({ turns: [bash("touch made"), { text: "done" }], hook: GATE });
  await using client = new Client(p.args);
  await client.send({ type: "prompt", id: 1, text: "go" });
  const { id } = await client.next("ui_request");
  await client.endInput();
  const { code, records } = await client.ended();
  assertEquals(code, 0);
  const types = records.map(({ type }) => type);
  assertEquals(records.find(({ type }) => type === "closing")?.reason, "end_of_input");
  assertEquals(records.find(({ type }) => type === "ui_cancel"), { type: "ui_cancel", id, reason: "end_of_input" });
  assertEquals(records.find(({ type }) => type === "tool_execution_end")?.reason, "the person said no");
  assertEquals(records.find(({ type }) => type === "response")?.result, { handledAs: "run" });
  assertEquals(types.at(-1), "session_shutdown");
  assert(![...Deno.readDirSync(p.folder.path)].some(({ name }) => name === "made"));
});

Deno.test({ name: "run --rpc: shutdown ends the session, and refuses what comes after it", ignore }, async () => {
  await using p = project({ turns: [bash("sleep 60"), { text: "done" }], hook: "export default () => {};" });
  await using client = new Client(p.args);
  await client.send({ type: "prompt", id: 1, text: "go" });
  await client.next("tool_execution_start");
  await client.raw('{"type":"shutdown","id":2}\n{"type":"state","id":3}\n{"type":"shutdown","id":4}\n');
  const { code, records } = await client.ended();
  assertEquals(code, 0);
  const responses = records.filter(({ type }) => type === "response");
  assertEquals(responses.map(({ id, ok, error }) => [id, ok, error?.code]), [
    [3, false, "closing"],
    [4, false, "closing"],
    [1, true, undefined],
    [2, true, undefined],
  ]);
  assertEquals(records.at(-1)?.id, 2);
});

for (const [signal, expected] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test({ name: `run --rpc: ${signal} with an open question ends in order`, ignore }, async () => {
    await using p = project({ turns: [bash("true"), { text: "done" }], hook: GATE });
    await using client = new Client(p.args);
    await client.send({ type: "prompt", id: 1, text: "go" });
    await client.next("ui_request");
    client.child.kill(signal);
    const { code, records } = await client.ended();
    assertEquals(code, expected);
    assertEquals(records.find(({ type }) => type === "ui_cancel")?.reason, "shutdown");
    assert(records.some(({ message }) => message === "bye"));
    assertEquals(records.at(-1)?.type, "session_shutdown");
  });
}

Deno.test(
  {
    name: "run --rpc: a signal ends in order, too, when the hook does not get to run",
    ignore: Deno.build.os !== "linux",
  },
  async () => {
    await using p = project({ turns: [bash("touch made"), { text: "done" }], hook: GATE });
    await using client = new Client(p.args);
    await client.send({ type: "prompt", id: 1, text: "go" });
    await client.next("ui_request");
    const pids = processesOf(p.folder.path).filter((pid) => readProc(pid, "cmdline").includes("isolation/boot"));
    assertEquals(pids.length, 1);
    Deno.kill(pids[0]!, "SIGSTOP");
    client.child.kill("SIGINT");
    const { code, records } = await client.ended();
    assertEquals([code, records.at(-1)?.type], [130, "session_shutdown"]);
    assert(![...Deno.readDirSync(p.folder.path)].some(({ name }) => name === "made"));
    await until(() => !isAlive(pids[0]!));
  },
);

Deno.test({ name: "run --rpc: a client that dies ends what runs", ignore }, async () => {
  const hook = "export default () => {};";
  await using p = project({ turns: [bash("echo $$ > pid; exec sleep 600"), { text: "done" }], hook });
  // The reader ends when the tool begins.
  const child = new Deno.Command("sh", {
    args: [
      "-c",
      '("$@"; echo $? > code) | head -n 10',
      "sh",
      Deno.execPath(),
      "run",
      "-A",
      MAIN,
      "run",
      "--rpc",
      ...p.args,
    ],
    cwd: p.folder.path,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode('{"type":"prompt","id":1,"text":"go"}\n'));
  const pid = await until(() => Number(Deno.readTextFileSync(`${p.folder.path}/pid`)));
  await writer.close();
  await child.status;
  assertEquals(await Deno.readTextFile(`${p.folder.path}/code`), "141\n");
  await until(() => !isAlive(pid));
});

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, 0 as unknown as Deno.Signal);
    return true;
  } catch {
    return false;
  }
}

/** Waits until something is so, and neither fails nor is false. */
async function until<T>(look: () => T): Promise<T> {
  for (const end = Date.now() + 30_000;;) {
    try {
      const found = look();
      if (found) return found;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    if (Date.now() > end) throw new Error(`It never was so: ${look}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

Deno.test({ name: "run --rpc: refuses what contradicts it", ignore }, async () => {
  await using p = project();
  for (
    const [more, text] of [["go", "leave this one out"], ["--json", "conflicts"], ["--interactive", "conflicts"], [
      "--no-ui",
      "--json",
    ]]
  ) {
    const { code, stderr, stdout } = await run(["run", "--rpc", ...p.args, more!], { input: "" });
    assertEquals([code, stdout], [2, ""], stderr);
    assertStringIncludes(stderr, text!);
  }
});

Deno.test(
  { name: "run --rpc: a hook that does not load ends it with 1, and says so in a record", ignore },
  async () => {
    await using p = project({ hook: "export default 5;" });
    await using client = new Client(p.args);
    const { code, records } = await client.ended();
    assertEquals(code, 1);
    assertEquals([records[0]?.type, records.at(-1)?.type], ["rpc", "hook_load_error"]);
  },
);

Deno.test({ name: "run --rpc: a session is kept, listed and gone on with", ignore }, async () => {
  await using p = project({ turns: [{ text: "one" }, { text: "two" }] });
  const args = p.args.filter((each) => each !== "--no-session");
  await using client = new Client(args, { env: { HOME: p.folder.path } });
  await client.request("prompt", { text: "hello" });
  const { sessionId, sessionFile } = (await client.request("state")).result;
  const fresh = await client.request("prompt", { text: "/new" });
  assertEquals(fresh.result, { handledAs: "session" });
  const { id, text } = await client.next("output");
  assertEquals(id, fresh.id);
  assertMatch(text, /^New session/);
  assert((await client.request("state")).result.sessionId !== sessionId);
  const { sessions } = (await client.request("sessions")).result;
  assert(sessions.some((session: Rec) => session.id === sessionId && session.path === sessionFile));
  await client.request("prompt", { text: `/resume ${sessionId}` });
  assertEquals((await client.request("state")).result.sessionFile, sessionFile);
  const ran = await client.request("bash", { command: "echo by hand; exit 3" });
  assertEquals(ran.result, { output: "by hand\n", exitCode: 3 });
});

Deno.test({
  name: "run --rpc: no line of a client that is out of its mind ends the program or answers what was not asked",
  ignore,
}, async () => {
  await using p = project();
  await using client = new Client(p.args);
  const done = client.request("prompt", { text: "/confirm" });
  const { id } = await client.next("ui_request");
  const words = fc.constantFrom<unknown>(
    "state",
    "ui_response",
    "ui_input",
    "entries",
    "editor_text",
    "q0",
    "q2",
    "q11",
    1,
    "",
    null,
  );
  const message = fc.record(
    { type: words, id: words, value: fc.jsonValue(), cancelled: fc.boolean(), data: fc.string(), text: fc.string() },
    { requiredKeys: [] },
  ).map((each) => JSON.stringify(each));
  const line = fc.oneof(message, message, fc.string(), fc.json(), fc.string({ unit: "binary" }), fc.constant("\r"));
  const lines = fc.sample(line, { numRuns: 500, seed: 7 }).map((each) => each.replaceAll("\n", " "));
  await client.raw(lines.join("\n") + "\n");
  await client.raw(crypto.getRandomValues(new Uint8Array(10_000)));
  await client.raw("\n");
  const { result } = await client.request("state");
  assertEquals(result.questions.map((question: Rec) => question.id), [id]);
  assert(!client.records.some(({ type }) => type === "notify"));
  await client.send({ type: "ui_response", id, value: true });
  assertEquals((await client.next("notify")).message, "true");
  await done;
});
