import { assertEquals, assertStringIncludes } from "@std/assert";
import { Folder, records, run } from "./program.ts";

interface Mock {
  url: string;
  start(): Promise<string>;
  stop(): Promise<void>;
  on(match: object, response: object): Mock;
}

const { LLMock } = await import("npm:@copilotkit/aimock@^1.43.0") as unknown as {
  LLMock: new (options: object) => Mock;
};

// The mock server keeps timers and sockets of its own for a while after it was stopped.
const options = { sanitizeOps: false, sanitizeResources: false };

Deno.test("run --model answers with a real model, behind hooks, and shows its key to nobody", options, async () => {
  await using folder = new Folder({ "note.txt": "the key is in the environment" });
  const mock = new LLMock({ port: 0 });
  await mock.start();
  try {
    mock.on({ hasToolResult: true }, { content: "There is a note." });
    mock.on({ userMessage: /look/ }, { toolCalls: [{ name: "bash", arguments: '{"command":"ls; env"}' }] });
    const session = `${folder.path}/session.jsonl`;
    const { code, stdout, stderr } = await run(
      [
        ...["run", "look around", "--cwd", folder.path, "--session", session, "--json"],
        ...["--model", "openai-compatible:test", "--base-url", `${mock.url}/v1`],
      ],
      { env: { OPENAI_API_KEY: "sk-canary", HOME: folder.path } },
    );
    assertEquals(code, 0, stderr);
    const messages = records(stdout).filter(({ type }) => type === "message_end");
    assertEquals(messages.length, 4);
    assertStringIncludes(JSON.stringify(messages.at(-1)), "There is a note.");
    assertStringIncludes(JSON.stringify(messages[2]), "note.txt");
    const everything = stdout + stderr + await Deno.readTextFile(session);
    assertEquals(everything.includes("sk-canary"), false);
  } finally {
    await mock.stop();
  }
});

Deno.test("run --model exits with 1 and says why when nobody answers", async () => {
  await using folder = new Folder();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const { code, stderr, stdout } = await run(
    [
      "run",
      "hello",
      "--cwd",
      folder.path,
      "--model",
      "openai-compatible:test",
      "--base-url",
      `http://127.0.0.1:${port}`,
    ],
    { env: { HOME: folder.path } },
  );
  assertEquals(code, 1);
  assertStringIncludes(stdout + stderr, "Cannot connect to API");
});
