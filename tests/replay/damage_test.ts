import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import type { LoadedHook } from "@xcsh/hooks";
import { type ReplayOptions, replaySession, ReplaySourceError, type ReplaySummary } from "@xcsh/hooks/replay";
import { createTestHook } from "@xcsh/hooks/testing";
import { bytesOf, recordPi, type Script, seeded } from "./recorded.ts";

const SCRIPT: Script = Array.from({ length: 5 }, (_, i) => ({
  prompt: `prompt ${i} äöü 😀`,
  turns: [{
    calls: [{ id: `c${i}`, name: "bash", args: { command: `echo ${i}` }, result: { text: "käse 😀" } }],
  }],
}));
const LINES = recordPi(SCRIPT, 3);
const encoder = new TextEncoder();

async function summaryOf(
  source: string | AsyncIterable<Uint8Array>,
  hooks: LoadedHook[] = [],
  options: ReplayOptions = {},
): Promise<ReplaySummary> {
  for await (const record of replaySession(source, hooks, options)) if (record.type === "summary") return record;
  throw new Error("there was no summary");
}

async function* chunks(...of: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of of) yield await Promise.resolve(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
}

async function withFile(content: Uint8Array | string, test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "session.jsonl");
    await Deno.writeFile(path, typeof content === "string" ? encoder.encode(content) : content);
    await test(path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("replaySession() reads files of any line ending, with and without a byte order mark or a last newline", async () => {
  for (const end of ["\n", "\r\n", "\n\n", "\n  \r\n"]) {
    for (const start of ["", "\ufeff"]) {
      for (const close of ["", end]) {
        const { calls, results, damaged, lines } = await summaryOf(chunks(start + LINES.join(end) + close));
        assertEquals({ calls, results, damaged }, { calls: 5, results: 5, damaged: 0 });
        assert(lines >= LINES.length);
      }
    }
  }
});

Deno.test("replaySession() reads the same whatever the chunks", async () => {
  const whole = await summaryOf(bytesOf(LINES, 1 << 20));
  for (const size of [1, 2, 3, 7, 100, 1000]) assertEquals(await summaryOf(bytesOf(LINES, size)), whole);
});

Deno.test("replaySession() leaves damaged lines out, counts and names them, and quotes nothing of them", async () => {
  const lines = [...LINES];
  lines.splice(
    3,
    0,
    '{"type":"message","message":{"role":"user","content":"hunter2',
    "",
    "hunter2",
    "[1]",
    "null",
    '"hunter2"',
  );
  lines.push(
    '{"type":"message"}',
    '{"type":7}',
    '{"no":"type"}',
    '{"type":"message","id":"x","message":{"role":"toolResult"}}',
  );
  const summary = await summaryOf(chunks(lines.join("\n"), "\n"));
  assertEquals([summary.calls, summary.results, summary.damaged, summary.lines], [5, 5, 9, lines.length]);
  assertEquals(summary.damagedLines, [
    { line: 4, cause: "ends too early" },
    { line: 6, cause: "is not JSON" },
    { line: 7, cause: "is no JSON object" },
    { line: 8, cause: "is no JSON object" },
    { line: 9, cause: "is no JSON object" },
    { line: lines.length - 3, cause: "holds no message" },
    { line: lines.length - 2, cause: "is no entry: it has no type" },
    { line: lines.length - 1, cause: "is no entry: it has no type" },
    { line: lines.length, cause: "holds a tool result that names no call, which was left out" },
  ]);
});

Deno.test("replaySession() names a last line that was cut off, also in the middle of a character", async () => {
  const bytes = encoder.encode(LINES.join("\n"));
  const cut = bytes.length - encoder.encode('"}],"isError":false,"timestamp":1767225615000}}').length - 2;
  for (const end of [bytes.length - 1, cut]) {
    const summary = await summaryOf(chunks(bytes.slice(0, end)));
    assertEquals([summary.calls, summary.results, summary.unanswered], [5, 4, 1]);
    assertEquals(summary.damagedLines, [{ line: LINES.length, cause: "ends too early, as does the file" }]);
  }
});

Deno.test("replaySession() reads a line with bytes that are not UTF-8, and names it", async () => {
  const seen: unknown[] = [];
  const hook = await createTestHook((pi) => pi.on("tool_call", (event) => void seen.push(event.input.command)));
  const at = LINES.findIndex((line) => line.includes("echo 1"));
  const broken = encoder.encode(LINES[at]!);
  broken[LINES[at]!.indexOf("echo 1") + 4] = 0xff;
  const summary = await summaryOf(
    chunks(LINES.slice(0, at).join("\n"), "\n", broken, "\n", LINES.slice(at + 1).join("\n")),
    [hook],
  );
  assertEquals(seen, ["echo 0", "echo\ufffd1", "echo 2", "echo 3", "echo 4"]);
  assertEquals(summary.damagedLines, [
    { line: at + 1, cause: "holds bytes that are not UTF-8, which were read as \ufffd" },
  ]);
});

Deno.test("replaySession() reads a line of 20 MB, and leaves out one that is longer than the limit", async () => {
  const huge = JSON.stringify({
    type: "message",
    message: { role: "toolResult", toolCallId: "c4", content: [{ type: "text", text: "x".repeat(20 << 20) }] },
  });
  const lengths: number[] = [];
  const hook = await createTestHook((pi) => {
    pi.on("tool_result", ({ content: [part] }) => void (part?.type === "text" && lengths.push(part.text.length)));
  });
  const lines = [...LINES.slice(0, -1), huge, LINES.at(-1)!];
  const whole = await summaryOf(bytesOf(lines, 1 << 16), [hook]);
  assertEquals([whole.damaged, lengths.at(-2)], [0, 20 << 20]);
  const limited = await summaryOf(bytesOf(lines, 1 << 16), [], { maxLineBytes: 1 << 20 });
  assertEquals([limited.calls, limited.results, limited.lines], [5, 5, lines.length]);
  assertEquals(limited.damagedLines, [{
    line: lines.length - 1,
    cause: "is longer than 1048576 bytes and was left out",
  }]);
});

Deno.test("replaySession() survives deep nesting and keys like __proto__", async () => {
  const seen: unknown[] = [];
  const hook = await createTestHook((pi) => pi.on("tool_call", ({ input }) => void seen.push(Object.keys(input))));
  const call = (args: string) =>
    `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"x","name":"y","arguments":${args}}]}}`;
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const summary = await summaryOf(chunks(call(deep), "\n", call('{"__proto__":{"a":1},"constructor":2}'), "\n"), [
    hook,
  ]);
  assertEquals(seen, [["a"], ["__proto__", "constructor"]]);
  assertEquals(({} as { a?: number }).a, undefined);
  assertEquals(summary.damagedLines, []);
});

Deno.test("replaySession() drives every line that random damage left whole", async () => {
  const bytes = encoder.encode(LINES.join("\n") + "\n");
  for (let seed = 1; seed <= 200; seed++) {
    const below = seeded(seed);
    const damaged = bytes.slice();
    const hit = new Set<number>();
    for (let i = 0; i <= below(4); i++) {
      const at = below(damaged.length);
      if (damaged[at] === 10) continue;
      damaged[at] = [0xff, 0x7b, 0x22, 0x20, 0x41, 0xc3][below(6)]!;
      hit.add(bytes.slice(0, at).reduce((lines, byte) => lines + (byte === 10 ? 1 : 0), 0));
    }
    const called = new Set<string>();
    const hook = await createTestHook((pi) => pi.on("tool_call", ({ toolCallId }) => void called.add(toolCallId)));
    await summaryOf(chunks(damaged), [hook]);
    for (const [i, line] of LINES.entries()) {
      const id = line.match(/"toolCall","id":"(c\d)"/)?.[1];
      if (id !== undefined && !hit.has(i)) assert(called.has(id), `seed ${seed}: ${id} was not driven`);
    }
  }
});

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
const READS = "; replay reads sessions of pi, oh-my-pi, xcsh and Claude Code";
const NO_SESSION: [what: string, content: Uint8Array | string, text: string][] = [
  ["an empty file", "", "is empty; there is nothing to replay"],
  ["blank lines", "\n\n  \n", `is no recorded session: it holds blank lines only${READS}`],
  ["a PNG", PNG, "is no recorded session: it is a PNG picture"],
  [
    "a gzip file",
    new Uint8Array([0x1f, 0x8b, 8, 0]),
    "is no recorded session: it is packed with gzip; unpack it first",
  ],
  [
    "UTF-16",
    new Uint8Array([0xff, 0xfe, 0x7b, 0]),
    "is no recorded session: it is text in UTF-16; save it as UTF-8 first",
  ],
  ["binary data", new Uint8Array([1, 2, 0, 3]), "is no recorded session: it is binary data"],
  ["prose", "Dear diary,\nhunter2\n", `is no recorded session: line 1 is not JSON${READS}`],
  ["one JSON document", '{\n  "a": 1\n}\n', `is no recorded session: line 1 ends too early${READS}`],
  [
    "JSONL of something else",
    '{"a":1}\n{"b":2}\n',
    `is no recorded session: line 1 is of no format that replay knows${READS}`,
  ],
  ["endless prose", "hunter2\n".repeat(5000), `is no recorded session: line 1 is not JSON${READS}`],
];

for (const [what, content, text] of NO_SESSION) {
  Deno.test(`replaySession() says in one sentence that ${what} is no session`, async () => {
    await withFile(content, async (path) => {
      const error = await assertRejects(() => summaryOf(path), ReplaySourceError);
      assertEquals(error.message, `${path} ${text}`);
    });
  });
}

Deno.test("replaySession() says in one sentence that there is no file, or a folder", async () => {
  await withFile("", async (path) => {
    const folder = join(path, "..");
    const missing = join(folder, "nothing.jsonl");
    const none = await assertRejects(() => summaryOf(missing), ReplaySourceError);
    assertEquals(none.message, `There is no file ${missing}; give the path of a recorded session`);
    const isFolder = await assertRejects(() => summaryOf(folder), ReplaySourceError);
    assertEquals(isFolder.message, `${folder} is a folder; give the path of a session file in it`);
    await assertRejects(() => summaryOf(""), ReplaySourceError, "The path of the session is empty");
  });
});

Deno.test("replaySession() lets go of the file when its records are not read to the end", async () => {
  await withFile(LINES.join("\n"), async (path) => {
    const hook = await createTestHook((pi) => pi.on("tool_call", () => ({ block: true })));
    for await (const record of replaySession(path, [hook])) {
      assertEquals(record.type, "block");
      break;
    }
  });
});

Deno.test("replaySession() replays a session that is nothing but a header", async () => {
  const seen: string[] = [];
  const hook = await createTestHook((pi) => {
    pi.on("session_start", ({ type }) => void seen.push(type));
    pi.on("session_shutdown", ({ type }) => void seen.push(type));
  });
  const summary = await summaryOf(chunks(LINES[0]!), [hook]);
  assertEquals([seen, summary.lines, summary.prompts], [["session_start", "session_shutdown"], 1, 0]);
});
