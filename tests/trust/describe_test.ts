import { assert, assertEquals } from "@std/assert";
import { describeRequest, trustRequests } from "../../mod.ts";
import { Repository } from "./_repository.ts";

const HOOK = ".xcsh/hooks/pre/bash.ts";

async function described(repo: Repository): Promise<string[]> {
  const [request] = await trustRequests(repo.cwd, repo.options());
  return describeRequest(request!).map(({ text }) => text);
}

Deno.test("describeRequest() shows what a hook is, may do, takes from elsewhere and leaves open, and its code", async () => {
  using repo = new Repository({
    [HOOK]: 'import "npm:left-pad@1";\nimport(name);\nexport default () => {};\n',
    "~/.xcsh/hooks/pre/bash.ts": "export default () => {};",
  });
  assertEquals(await described(repo), [
    `${HOOK}  (xcsh, pre bash)`,
    "never approved",
    "may do: whatever this program may",
    `takes the place of your ${repo.path("~/.xcsh/hooks/pre/bash.ts")}`,
    "takes from elsewhere: npm:left-pad@1",
    "not covered: bash.ts line 2: an import whose module is computed",
    `${HOOK} (new)`,
    '+ import "npm:left-pad@1";',
    "+ import(name);",
    "+ export default () => {};",
  ]);
});

Deno.test("describeRequest() shows only what changed, with what is around it", async () => {
  const lines = Array.from({ length: 30 }, (_, i) => `// line ${i}`);
  using repo = new Repository({ [HOOK]: lines.join("\n") });
  await repo.approve();
  repo.write(HOOK, lines.with(10, "// other").toSpliced(20, 1).join("\n"));
  const shown = await described(repo);
  assertEquals(
    shown.slice(3),
    [
      HOOK,
      "  …",
      ..."7 8 9".split(" ").map((i) => `  // line ${i}`),
      "- // line 10",
      "+ // other",
      ..."11 12 13".split(" ").map((i) => `  // line ${i}`),
      "  …",
      ..."17 18 19".split(" ").map((i) => `  // line ${i}`),
      "- // line 20",
      ..."21 22 23".split(" ").map((i) => `  // line ${i}`),
    ].map((line) => line),
  );
});

Deno.test("describeRequest() shows characters that would hide or move others, and never all of a long file", async () => {
  using repo = new Repository({
    [HOOK]: `const a = "\u202e\u2066\x1b[2J\u200b\ufeff\u{e0041}";\r\n${"//\n".repeat(1_000)}`,
  });
  const shown = await described(repo);
  assert(shown.includes('+ const a = "\\u{202e}\\u{2066}\\u{1b}[2J\\u{200b}\\u{feff}\\u{e0041}";\\u{d}'), shown[4]);
  assertEquals(shown.at(-1), "… 601 more lines: look at the file");
});

Deno.test("describeRequest() names binaries by their hash, and why a hook cannot be approved", async () => {
  using repo = new Repository({ [HOOK]: 'import "./a.wasm"; import "/etc/x.ts";' });
  Deno.writeFileSync(repo.path(".xcsh/hooks/pre/a.wasm"), new Uint8Array([0, 97, 115, 109]));
  const shown = await described(repo);
  assert(
    shown.includes('cannot be approved: bash.ts imports "/etc/x.ts", and only relative imports can be approved'),
    shown.join("\n"),
  );
  assert(shown.some((line) => /^ {2}binary, 4 bytes, SHA-256 [0-9a-f]{64}$/.test(line)));
});
