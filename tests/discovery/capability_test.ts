import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CapabilityRegistry, type HookItem, HOOKS_CAPABILITY, hooksCapability, type Provider } from "../../mod.ts";

function item(provider: string, over: Partial<HookItem> = {}): HookItem {
  const path = `/${provider}/${over.name ?? "b.ts"}`;
  return {
    name: "b.ts",
    path,
    realPath: path,
    type: "pre",
    tool: "bash",
    level: "user",
    kind: "module",
    _source: { provider, path, level: "user" },
    ...over,
  };
}

/** The registry of the reference's vectors: hi 90, hi2 90 registered later, err 50 throws, lo 10. */
function vectors(items: Record<string, HookItem[]> = {}, warnings: Record<string, string[]> = {}): CapabilityRegistry {
  const registry = new CapabilityRegistry();
  registry.defineCapability(hooksCapability);
  const provider = (id: string, priority: number): Provider<HookItem> => ({
    id,
    displayName: id.toUpperCase(),
    description: `The ${id} provider.`,
    priority,
    load: () => {
      if (id === "err") throw new Error("boom");
      return { items: items[id] ?? [], warnings: warnings[id] ?? [] };
    },
  });
  for (const [id, priority] of [["lo", 10], ["hi", 90], ["err", 50], ["hi2", 90]] as const) {
    registry.registerProvider(HOOKS_CAPABILITY, provider(id, priority));
  }
  return registry;
}

const same = () => ({ hi: [item("hi")], hi2: [item("hi2")], lo: [item("lo")] });

Deno.test("C2.5 A.4 load() keeps the first item of a key and marks later ones shadowed", async () => {
  const { items, all, excluded, providers } = await vectors(same()).load<HookItem>(HOOKS_CAPABILITY);
  assertEquals(items.map(({ path }) => path), ["/hi/b.ts"]);
  assertEquals(all.map(({ path, _shadowed }) => [path, _shadowed]), [
    ["/hi/b.ts", undefined],
    ["/hi2/b.ts", true],
    ["/lo/b.ts", true],
  ]);
  assertEquals(excluded.map(({ cause, reason }) => [cause, reason]), [
    ["shadowed", "shadowed by /hi/b.ts"],
    ["shadowed", "shadowed by /hi/b.ts"],
  ]);
  assertEquals(providers, ["hi", "hi2", "lo"]);
});

Deno.test("C2.5 A.4 load() drops an invalid item before it can hide a good one", async () => {
  const broken = item("hi", { type: "during" as "pre" });
  const key = { ...item("hi2"), type: "during" as "pre" };
  const { items, all } = await vectors({ hi: [broken], hi2: [item("hi2")] }).load<HookItem>(HOOKS_CAPABILITY);
  assertEquals(items.map(({ path }) => path), ["/hi2/b.ts"]);
  assert(all.includes(broken));
  const twice = vectors({ hi: [{ ...broken }], lo: [key] });
  assertEquals((await twice.load(HOOKS_CAPABILITY)).items, []);
  assertEquals((await twice.load(HOOKS_CAPABILITY, { includeInvalid: true })).items.length, 2);
});

Deno.test("C2.5 A.4 load() names every fault of an item", async () => {
  const faults = await vectors({
    hi: [
      item("hi", { name: "" }),
      item("hi", { path: "" }),
      item("hi", { type: "x" as "pre" }),
      item("hi", { tool: "" }),
    ],
  }).load<HookItem>(HOOKS_CAPABILITY);
  assertEquals(faults.excluded.map(({ reason }) => reason), [
    "Missing name",
    "Missing path",
    "Invalid type (must be 'pre' or 'post')",
    "Missing tool",
  ]);
});

Deno.test("C2.5 A.4 load() orders warnings: providers', missing _source, failure, then validation", async () => {
  const { _source: _, ...homeless } = item("hi");
  const registry = vectors({ hi: [homeless as HookItem, item("hi", { tool: "" })] }, { hi: ["careful"] });
  const { warnings } = await registry.load(HOOKS_CAPABILITY);
  assertEquals(warnings, [
    "[HI] careful",
    "[HI] An item without _source was left out",
    "[ERR] Failed to load: boom",
    "[HI] /hi/b.ts: Missing tool",
  ]);
});

Deno.test("C2.5 A.4 load() leaves out a disabled provider, unless it is asked for by name", async () => {
  const registry = vectors(same());
  registry.disableProvider("hi");
  assertEquals((await registry.load<HookItem>(HOOKS_CAPABILITY)).items[0]?.path, "/hi2/b.ts");
  const named = await registry.load<HookItem>(HOOKS_CAPABILITY, { providers: ["hi"] });
  assertEquals(named.items.map(({ path }) => path), ["/hi/b.ts"]);
  const explained = await registry.load<HookItem>(HOOKS_CAPABILITY, { explain: true });
  assertEquals(explained.items[0]?.path, "/hi2/b.ts");
  assertEquals(explained.excluded[0]?.reason, "the provider hi is disabled");
  registry.enableProvider("hi");
  const excluding = await registry.load<HookItem>(HOOKS_CAPABILITY, { excludeProviders: ["hi", "hi2"] });
  assertEquals(excluding.items[0]?.path, "/lo/b.ts");
});

Deno.test("C2.5 A.4 load() leaves out a disabled id of every provider", async () => {
  const disabledExtensions = ["hook:pre:bash:b.ts"];
  const off = await vectors(same()).load<HookItem>(HOOKS_CAPABILITY, { disabledExtensions });
  assertEquals([off.items, off.all], [[], []]);
  assertEquals(off.excluded.map(({ cause }) => cause), ["disabled", "disabled", "disabled"]);
  const kept = await vectors(same()).load<HookItem>(HOOKS_CAPABILITY, { disabledExtensions, includeDisabled: true });
  assertEquals(kept.items.length, 1);
});

Deno.test("C2.5 initializeWithSettings() takes over and reports what is switched off", async () => {
  const registry = vectors(same());
  const saved: string[][] = [];
  registry.initializeWithSettings({
    disabledProviders: ["hi"],
    disabledExtensions: ["hook:pre:bash:b.ts"],
    saveDisabledProviders: (ids) => void saved.push(ids),
  });
  assertEquals((await registry.load(HOOKS_CAPABILITY)).items, []);
  assertEquals(
    (await registry.load<HookItem>(HOOKS_CAPABILITY, { disabledExtensions: [] })).items[0]?.path,
    "/hi2/b.ts",
  );
  registry.disableProvider("lo");
  registry.setDisabledProviders([]);
  assertEquals(saved, [["hi", "lo"], []]);
  assertEquals(registry.getDisabledProviders(), []);
});

Deno.test("C2.5 refuse() keeps an item from hiding another one", async () => {
  const { items, excluded } = await vectors(same()).load<HookItem>(HOOKS_CAPABILITY, {
    refuse: ({ path }, found) => path === "/hi/b.ts" ? `no, of ${found.length}` : undefined,
  });
  assertEquals(items[0]?.path, "/hi2/b.ts");
  assertEquals(excluded[0]?.reason, "no, of 3");
});

Deno.test("C2.5 an item without a key is never shadowed", async () => {
  const registry = new CapabilityRegistry();
  registry.defineCapability<HookItem>({ ...hooksCapability, key: () => undefined });
  registry.registerProvider<HookItem>(HOOKS_CAPABILITY, {
    id: "a",
    displayName: "A",
    description: "",
    priority: 1,
    load: () => ({ items: [item("a"), item("a")] }),
  });
  assertEquals((await registry.load(HOOKS_CAPABILITY)).items.length, 2);
});

Deno.test("C2.5 introspection tells capabilities and providers by priority", () => {
  const registry = vectors();
  assertEquals(registry.listCapabilities(), [HOOKS_CAPABILITY]);
  assertEquals(registry.getCapability(HOOKS_CAPABILITY)?.displayName, "Hooks");
  assertEquals(registry.getCapabilityInfo(HOOKS_CAPABILITY)?.providers.map(({ id }) => id), ["hi", "hi2", "err", "lo"]);
  assertEquals(registry.getAllCapabilitiesInfo().length, 1);
  assertEquals(registry.getAllProvidersInfo().map(({ id, priority }) => [id, priority]), [
    ["hi", 90],
    ["hi2", 90],
    ["err", 50],
    ["lo", 10],
  ]);
  registry.disableProvider("lo");
  assertEquals(registry.getProviderInfo("lo")?.enabled, false);
  assertEquals(registry.getProviderInfo("none"), undefined);
  assertEquals(registry.getCapabilityInfo("none"), undefined);
  registry.reset();
  assertEquals([registry.listCapabilities(), registry.getAllProvidersInfo(), registry.cacheStats().size], [[], [], 0]);
});

Deno.test("C2.5 defineCapability() and registerProvider() refuse a second id and an unknown capability", async () => {
  const registry = vectors();
  assertThrows(() => registry.defineCapability(hooksCapability), Error, 'Capability "hooks" is already defined');
  assertThrows(
    () => new CapabilityRegistry().registerProvider("hooks", { ...({} as Provider) }),
    Error,
    "define it first",
  );
  await assertRejects(() => registry.load("hook"), Error, 'did you mean "hooks"?');
});
