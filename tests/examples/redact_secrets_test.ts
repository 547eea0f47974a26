import { assert, assertEquals, assertRejects } from "@std/assert";
import { testHook } from "@xcsh/hooks/testing";
import redactSecrets, { redact } from "../../examples/hooks/redact_secrets.ts";
import { assertNoHookErrors, realSession, toolEnds } from "./real_session.ts";

// Put together here, so that no scanner takes this file for a leak.
const x = (count: number) => "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z".repeat(9).slice(0, count);
const SECRETS: [text: string, secret: string][] = [
  ["AKIA" + "ABCDEFGHIJKLMNOP", "AKIA" + "ABCDEFGHIJKLMNOP"],
  [`token ghp_${x(36)}.`, `ghp_${x(36)}`],
  [`github_pat_${x(60)}`, `github_pat_${x(60)}`],
  [`glpat-${x(20)}`, `glpat-${x(20)}`],
  [`sk-ant-api03-${x(80)}`, x(80)],
  [`sk-proj-${x(48)}`, x(48)],
  [`sk_live_${x(24)}`, x(24)],
  [`xoxb-123456789012-${x(24)}`, x(24)],
  [`https://hooks.slack.com/services/T000/B000/${x(24)}`, x(24)],
  [`AIza${x(35)}`, x(35)],
  [`npm_${x(36)}`, x(36)],
  [`hf_${x(34)}`, x(34)],
  [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${x(43)}`, x(43)],
  [`-----BEGIN RSA PRIVATE KEY-----\n${x(64)}\n-----END RSA PRIVATE KEY-----`, x(64)],
  [`-----BEGIN OPENSSH PRIVATE KEY-----\n${x(64)}\ncut`, x(64)],
  ["postgres://ann:s3cr3t@db.example/app", "s3cr3t"],
  [`Authorization: Bearer ${x(20)}`, x(20)],
  [`curl -H 'authorization: Basic ${x(12)}='`, x(12)],
  ["API_KEY=abc", "abc"],
  ["export STRIPE_SECRET='a-b'", "a-b"],
  ["PATH=/bin\nDB_PASSWORD=pa$$word!\nA=1", "pa$$word!"],
  ['{"password": "correct horse"}', "correct horse"],
  ["  client_secret: 'abcd'", "abcd"],
  ["db:\n  password: hunter22\n", "hunter22"],
  ['const apiKey = "abcd1234";', "abcd1234"],
];
const HARMLESS = [
  "const token = getToken();",
  "password: <your password>",
  "password: ${PASSWORD}",
  "TOKEN is missing",
  "The secret: nobody knows it.",
  "https://user@example.com/path",
  "https://example.com:8080/a@b",
  "sk-learn and ghp_short",
  "KEYBOARD=us",
  "function password(secret: string): void {}",
  "eyJ is how a JWT begins",
  "token: string;",
  "  token: string",
  "  password: required",
];

Deno.test("redact() replaces secrets, and leaves what stands around them", () => {
  for (const [text, secret] of SECRETS) {
    const redacted = redact(text);
    assert(!redacted.includes(secret), `${text} -> ${redacted}`);
    assert(redacted.includes("[REDACTED"), redacted);
  }
  assertEquals(redact("PATH=/bin\nDB_PASSWORD=x\nA=1"), "PATH=/bin\nDB_PASSWORD=[REDACTED]\nA=1");
  assertEquals(redact("postgres://ann:pw@db/app"), "postgres://ann:[REDACTED]@db/app");
});

Deno.test("redact() leaves other text alone", () => {
  for (const text of HARMLESS) assertEquals(redact(text), text);
});

Deno.test("redact() takes time that grows with the text alone", () => {
  const begin = performance.now();
  for (const text of ["a", "A", "password: ", "eyJ", "-----BEGIN PRIVATE KEY-----", "://a:", " ", "TOKEN", "sk-"]) {
    redact(text.repeat(200_000 / text.length));
  }
  assert(performance.now() - begin < 5_000);
});

Deno.test("redact_secrets redacts content, details and errors", async () => {
  const t = await testHook(redactSecrets);
  const result = await t.runTool({
    name: "read",
    result: {
      content: [{ type: "text", text: "API_KEY=abc" }, { type: "image", data: "AAAA", mimeType: "image/png" }],
      details: { lines: ["API_KEY=abc"], env: { password: "hunter22", user: "ann" } },
    },
  });
  assertEquals(result, {
    content: [{ type: "text", text: "API_KEY=[REDACTED]" }, { type: "image", data: "AAAA", mimeType: "image/png" }],
    details: { lines: ["API_KEY=[REDACTED]"], env: { password: "[REDACTED]", user: "ann" } },
  });
  await assertRejects(
    () => t.runTool({ name: "bash", result: new Error("no access to https://ann:pw@db") }),
    Error,
    "no access to https://ann:[REDACTED]@db",
  );
});

Deno.test("C7.5 redact_secrets keeps a secret out of the events, the context and the file of a real session", async () => {
  const turns = [{
    toolCalls: [
      { name: "read", arguments: { path: "config.env" } },
      { name: "bash", arguments: { command: "cat config.env; exit 3" } },
    ],
  }];
  await using real = await realSession("redact_secrets", turns, { "config.env": "PORT=80\nAPI_KEY=hunter2\n" });
  await real.session.prompt("look");
  const ends = toolEnds(real.events);
  assertEquals(ends[1]?.text, "PORT=80\nAPI_KEY=[REDACTED]\n\nThe command ended with code 3");
  assertEquals(JSON.stringify([real.events, real.model.lastRequest?.messages]).includes("hunter2"), false);
  const file = await Deno.readTextFile(real.session.sessionManager.getSessionFile()!);
  assertEquals([file.includes("[REDACTED]"), file.includes("hunter2")], [true, false]);
  assertNoHookErrors(real.events);
});
