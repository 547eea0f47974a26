import { assertEquals, assertMatch } from "@std/assert";
import { createSocket } from "node:dgram";
import { Listener, until } from "../isolation/support.ts";
import { assertAlive, assertAllRefused, attack, lootOf } from "./_attack.ts";

Deno.test("08: nothing is sent by any interface", async () => {
  await using server = new Listener();
  await using a = await attack("08_sends_by_fetch.ts");
  const found = lootOf(await a.call({ url: server.url, port: server.port }));
  assertEquals(Object.values(found).filter((text) => text === "got connected"), []);
  await assertAlive(a);
  assertEquals(server.connections, 0);
});

Deno.test("08: a grant for the host lets it through, so that the test above can fail", async () => {
  await using server = new Listener();
  await using a = await attack("08_sends_by_fetch.ts", { permissions: { net: [`127.0.0.1:${server.port}`] } });
  const found = lootOf(await a.call({ url: server.url, port: server.port }));
  assertEquals(server.connections > 2, true);
  assertMatch(found["Deno.connect by name"]!, /^refused: Requires net access/);
});

for (const grant of ["none", "an empty list", "another host", "denied altogether"] as const) {
  Deno.test(`09: no module is imported from a server: ${grant}`, async () => {
    await using server = new Listener();
    await using a = await attack("09_remote_import.ts", {
      permissions: {
        "none": {},
        "an empty list": { import: [] },
        "another host": { import: ["example.org"] },
        "denied altogether": { import: true as const, deny: { import: true as const } },
      }[grant],
    });
    const called = await a.call({ url: server.url });
    assertAllRefused(called);
    for (const host of ["a default host", "another", "esm.sh", "deno.land"]) {
      // Refused before anything is sent, where Deno would ask the server by default.
      assertMatch(lootOf(called)[host]!, /--no-remote is specified|Requires import access/);
    }
    await assertAlive(a);
    assertEquals(server.connections, 0);
  });
}

Deno.test("09: a grant for the host lets it through", async () => {
  await using server = new Listener();
  await using a = await attack("09_remote_import.ts", { permissions: { import: [`127.0.0.1:${server.port}`] } });
  await a.call({ url: server.url });
  assertEquals(server.connections > 0, true);
});

Deno.test("10: no package is fetched from a registry", async () => {
  await using server = new Listener();
  // A registry that would be asked, were it not for the flags.
  const environment = { NPM_CONFIG_REGISTRY: server.url, JSR_URL: server.url };
  await using a = await attack("10_npm_import.ts", { isolation: { environment } });
  assertAllRefused(await a.call({ url: server.url }));
  await assertAlive(a);
  assertEquals(server.connections, 0);
});

Deno.test("11: nothing is sent by WebSocket, datagram or DNS", async () => {
  await using server = new Listener();
  const udp = createSocket("udp4");
  let datagrams = 0;
  udp.on("message", () => datagrams++);
  await new Promise<void>((done) => udp.bind(0, "127.0.0.1", done));
  try {
    const input = { port: server.port, udp: udp.address().port };
    {
      await using a = await attack("11_websocket_and_dns.ts");
      assertAllRefused(await a.call(input));
      await assertAlive(a);
      assertEquals([server.connections, datagrams], [0, 0]);
    }
    // With a grant they come, so that what is above can fail.
    await using b = await attack("11_websocket_and_dns.ts", { permissions: { net: ["127.0.0.1"] } });
    await b.call(input);
    await until("the server has seen who came", () => server.connections > 0 && datagrams > 0);
  } finally {
    await new Promise<void>((done) => udp.close(() => done()));
  }
});
