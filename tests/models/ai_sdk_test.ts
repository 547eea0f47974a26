import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { textOf } from "../../src/messages.ts";
import {
  createModel,
  type LanguageModel,
  ModelSetupError,
  SessionManager,
  type SessionTool,
} from "../../src/session/mod.ts";
import { startSession, until, withFolder } from "../session/support.ts";

interface Mock {
  url: string;
  start(): Promise<string>;
  stop(): Promise<void>;
  on(match: object, response: object, options?: object): Mock;
  nextRequestError(status: number, body?: object): Mock;
  getRequests(): { headers: Record<string, string>; body: unknown }[];
}

// A public stand-in for the providers; fetched when these tests run.
const { LLMock } = await import("npm:@copilotkit/aimock@^1.43.0") as unknown as {
  LLMock: new (options: object) => Mock;
};

// The mock server keeps timers and sockets of its own for a while after it was stopped.
const options = { sanitizeOps: false, sanitizeResources: false };

// A connection that is kept for later would hold up the end of the server.
const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
const fetchOnce =
  ((input: Request | URL | string, init?: RequestInit) => fetch(input, { ...init, client })) as typeof fetch;

async function withMock(run: (mock: Mock) => Promise<void>): Promise<void> {
  const mock = new LLMock({ port: 0 });
  await mock.start();
  try {
    await run(mock);
  } finally {
    await mock.stop();
  }
}

const openai = (mock: { url: string }) =>
  createModel("openai-compatible:test-model", {
    baseUrl: `${mock.url}/v1`,
    apiKey: "sk-secret",
    fetch: fetchOnce,
    contextWindow: 10_000,
  });
const anthropic = (mock: { url: string }) =>
  createModel("anthropic:claude-test", { baseUrl: `${mock.url}/v1`, apiKey: "sk-secret", fetch: fetchOnce });

const weather: SessionTool = {
  name: "weather",
  description: "Tells the weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: (_id, { city }) => Promise.resolve({ content: [{ type: "text", text: `Sunny in ${city}` }] }),
};

async function startWith(model: LanguageModel, more = {}) {
  return await startSession({ model, tools: [weather], todos: { enabled: false }, retry: { baseDelayMs: 1 }, ...more });
}

for (const [name, make] of [["openai-compatible", openai], ["anthropic", anthropic]] as const) {
  Deno.test(
    `createModel("${name}:…") streams text, calls tools and counts tokens`,
    options,
    () =>
      withMock(async (mock) => {
        const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, input_tokens: 12, output_tokens: 5 };
        mock.on({ hasToolResult: true }, { content: "It is sunny in Oslo, so take no umbrella.", usage });
        mock.on({ userMessage: /weather/ }, { toolCalls: [{ name: "weather", arguments: '{"city":"Oslo"}' }] });
        const { session, told } = await startWith(await make(mock));
        await session.prompt("What is the weather?");
        await session.dispose();
        const roles = session.messages.map((message) => message.role);
        assertEquals(roles, ["user", "assistant", "toolResult", "assistant"]);
        const [, call, result, last] = session.messages;
        assertEquals(call?.role === "assistant" && call.stopReason, "toolUse");
        assertEquals(result?.role === "toolResult" && textOf(result.content), "Sunny in Oslo");
        assert(last?.role === "assistant");
        assertEquals(textOf(last.content), "It is sunny in Oslo, so take no umbrella.");
        assertEquals([last.provider, last.model, last.stopReason], [
          name,
          name === "anthropic" ? "claude-test" : "test-model",
          "stop",
        ]);
        assertEquals([last.usage!.input, last.usage!.output, last.usage!.totalTokens], [12, 5, 17]);
        assert(told.filter((event) => event.type === "message_update" && event.delta.type === "text").length > 1);
        assert(told.some((event) => event.type === "message_update" && event.delta.type === "toolCallDelta"));
      }),
  );

  Deno.test(
    `createModel("${name}:…") tries again after 429 and 500, and not after 401`,
    options,
    () =>
      withMock(async (mock) => {
        mock.on({ userMessage: /./ }, { content: "ok" });
        for (const status of [429, 500]) {
          mock.nextRequestError(status, { message: `status ${status}` });
          const { session, told } = await startWith(await make(mock));
          await session.prompt("go");
          await session.dispose();
          const retries = told.filter((event) => event.type === "auto_retry_start" || event.type === "auto_retry_end");
          assertEquals(retries.map((event) => event.type), ["auto_retry_start", "auto_retry_end"], String(status));
          const last = session.messages.at(-1);
          assertEquals(last?.role === "assistant" && textOf(last.content), "ok");
        }
        mock.nextRequestError(401, { message: "Incorrect key sk-secret" });
        const { session, told } = await startWith(await make(mock));
        await session.prompt("go");
        await session.dispose();
        assertEquals(told.some((event) => event.type === "auto_retry_start"), false);
        const last = session.messages.at(-1);
        assertStringIncludes(last?.role === "assistant" ? last.errorMessage! : "", "401 Incorrect key [key]");
      }),
  );

  Deno.test(
    `createModel("${name}:…") ends its request when the run is aborted`,
    options,
    () =>
      withMock(async (mock) => {
        mock.on({ userMessage: /./ }, { content: "word ".repeat(2_000) }, { latency: 20, chunkSize: 5 });
        const { session, told } = await startWith(await make(mock));
        const run = session.prompt("go");
        await until("text comes", () => told.some((event) => event.type === "message_update"));
        await session.abort();
        await run;
        await session.dispose();
        const last = session.messages.at(-1);
        assertEquals(last?.role === "assistant" && last.stopReason, "aborted");
      }),
  );

  Deno.test(`createModel("${name}:…") sends pictures`, options, async () => {
    const { promise: body, resolve } = Promise.withResolvers<string>();
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      resolve(await request.text());
      return new Response("no", { status: 400 });
    });
    const { session } = await startWith(await make({ url: `http://127.0.0.1:${server.addr.port}` }));
    await session.prompt("What is it?", { images: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }] });
    await session.dispose();
    assertStringIncludes(await body, "iVBORw0KGgo=");
  });
}

Deno.test(
  "createModel() keeps its key from hooks, the session file and errors",
  options,
  () =>
    withMock((mock) =>
      withFolder(async (folder) => {
        mock.on({ userMessage: /./ }, { content: "ok" });
        Deno.env.set("ANTHROPIC_API_KEY", "sk-canary");
        const model = await createModel("anthropic:claude-test", { baseUrl: `${mock.url}/v1`, fetch: fetchOnce });
        assertEquals(Deno.env.get("ANTHROPIC_API_KEY"), undefined);
        const seen: unknown[] = [];
        const { session, told } = await startWith(model, {
          sessionManager: SessionManager.create(folder, folder),
          hooks: [(pi: import("../../src/api.ts").HookAPI) => {
            pi.on("agent_start", async (_event, ctx) => {
              seen.push(ctx.model, ctx.modelRegistry.getAvailable(), await ctx.modelRegistry.getApiKey(ctx.model!));
            });
          }],
        });
        await session.prompt("go");
        mock.nextRequestError(401, { message: "bad key sk-canary" });
        await session.prompt("go");
        const file = session.sessionManager.getSessionFile()!;
        await session.dispose();
        assertEquals(seen.slice(0, 3), [
          { id: "claude-test", provider: "anthropic", contextWindow: 200_000 },
          [{ id: "claude-test", provider: "anthropic", contextWindow: 200_000 }],
          undefined,
        ]);
        const everything = (await Deno.readTextFile(file)) + JSON.stringify(told) + Deno.inspect(model, { depth: 9 });
        assertEquals(everything.includes("sk-canary"), false);
        assertEquals(mock.getRequests()[0]!.headers["x-api-key"] !== undefined, true);
      })
    ),
);

for (
  const [name, place] of [
    ["gpt", "write openai-compatible:NAME or anthropic:NAME"],
    ["nobody:x", "write openai-compatible:NAME or anthropic:NAME"],
    ["anthropic:", "write openai-compatible:NAME or anthropic:NAME"],
    ["openai-compatible:x", "--base-url"],
    ["anthropic:x", "needs a key in ANTHROPIC_API_KEY"],
  ]
) {
  Deno.test(`createModel(${JSON.stringify(name)}) says what is missing`, async () => {
    await assertRejects(() => createModel(name!), ModelSetupError, place);
  });
}

Deno.test("createModel() refuses what is no address", async () => {
  await assertRejects(
    () => createModel("openai-compatible:x", { baseUrl: "localhost:1" }),
    ModelSetupError,
    "is no URL",
  );
});

/** A server that answers each request with raw bytes, and then breaks the connection. */
async function withRawServer(answers: string[], run: (url: string) => Promise<void>): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(64 * 1024));
      const body = answers.shift() ?? sse([{ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }] }], true);
      const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
      const bytes = new TextEncoder().encode(body);
      const end = body.endsWith("[DONE]\n\n") ? "0\r\n\r\n" : "";
      await connection.write(new TextEncoder().encode(`${head}${bytes.length.toString(16)}\r\n${body}\r\n${end}`));
      connection.close();
    }
  })();
  try {
    await run(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/v1`);
  } finally {
    listener.close();
    await serving;
  }
}

function sse(chunks: object[], done: boolean): string {
  const base = { id: "x", object: "chat.completion.chunk", created: 1, model: "m" };
  const data = chunks.map((chunk) => `data: ${JSON.stringify({ ...base, ...chunk })}\n\n`).join("");
  return done ? `${data}data: [DONE]\n\n` : data;
}

Deno.test(
  "createModel() tries again when the stream breaks off",
  options,
  () =>
    withRawServer([sse([{ choices: [{ delta: { content: "half an ans" } }] }], false)], async (baseUrl) => {
      const { session, told } = await startWith(
        await createModel("openai-compatible:m", { baseUrl, apiKey: "k", fetch: fetchOnce }),
      );
      await session.prompt("go");
      await session.dispose();
      assertEquals(told.filter((event) => event.type === "auto_retry_end").length, 1);
      const last = session.messages.at(-1);
      assertEquals(last?.role === "assistant" && textOf(last.content), "ok");
    }),
);

Deno.test(
  "createModel() ends with a clear error when a chunk is malformed",
  options,
  () =>
    withRawServer(['data: {"choices": [oops\n\ndata: [DONE]\n\n'], async (baseUrl) => {
      const { session } = await startWith(
        await createModel("openai-compatible:m", { baseUrl, apiKey: "k", fetch: fetchOnce }),
      );
      await session.prompt("go");
      await session.dispose();
      const last = session.messages.at(-1);
      assertEquals(last?.role === "assistant" && last.stopReason, "error");
      assertStringIncludes(last?.role === "assistant" ? last.errorMessage! : "", "JSON");
    }),
);

Deno.test("createModel() tries again when arguments are no JSON", options, () => {
  const call = { index: 0, id: "c1", type: "function", function: { name: "weather", arguments: '{"city": ' } };
  const broken = sse([{ choices: [{ delta: { tool_calls: [call] } }] }, {
    choices: [{ delta: {}, finish_reason: "tool_calls" }],
  }], true);
  return withRawServer([broken], async (baseUrl) => {
    const { session, told } = await startWith(
      await createModel("openai-compatible:m", { baseUrl, apiKey: "k", fetch: fetchOnce }),
    );
    await session.prompt("go");
    await session.dispose();
    const last = session.messages.at(-1);
    const shown = JSON.stringify(told.filter((event) => event.type !== "message_update"));
    assertEquals(last?.role === "assistant" && textOf(last.content), "ok", shown);
  });
});

Deno.test("createModel() ends with a clear error when nobody listens", options, async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const model = await createModel("openai-compatible:m", {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: "k",
    fetch: fetchOnce,
  });
  const { session, told } = await startWith(model, { retry: { baseDelayMs: 1, maxRetries: 2 } });
  await session.prompt("go");
  await session.dispose();
  assertEquals(told.filter((event) => event.type === "auto_retry_start").length, 2);
  const last = session.messages.at(-1);
  assertStringIncludes(last?.role === "assistant" ? last.errorMessage! : "", "Cannot connect to API");
});
