/**
 * Every code block of README.md runs, in the order in which they stand there.
 *
 * They run in one folder, as for a reader who copies them one after the other. A block whose first line is a comment with a
 * name, or that follows the name of a JSON file, becomes that file; `ts` files are type-checked. `sh` blocks run line by line in `sh`, with `deno` on the path being the
 * Deno that runs this test. In the place of what the network would give, `@xcsh/hooks` is this repository (`deno install` gets
 * a module that starts its `cli/main.ts`), and `npx -y deno@2.9.6` is that Deno. Two commands do not run: `task test`, which is
 * what runs this, and the chat, which another test runs in a terminal.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { CHAT } from "../tools/readme_screen.ts";
import { withTables } from "../tools/readme.ts";

const ROOT = fromFileUrl(new URL("..", import.meta.url));
const README = await Deno.readTextFile(join(ROOT, "README.md"));

interface Block {
  language: string;
  text: string;
  file?: string;
}

// A file's name is told by its first line, or for JSON, which has no comments, by the sentence before it: "This is `x.json`:".
const BLOCKS: Block[] = [...README.matchAll(/(?:`(\S+\.json)`:\n\n)?^```(\w*)\n([^]*?)^```$/gm)].map(
  ([, json, language, body]) => {
    const name = json ?? /^\/\/ (\S+)\n/.exec(body!)?.[1];
    return { language: language!, text: body!, ...name !== undefined && { file: name } };
  },
);

/** What the output of commands must show. */
const SHOWS: Record<string, string[]> = {
  "npx -y deno@2.9.6 task demo": ["✗ blocked by", "[REDACTED]", "✓ The files are still there"],
  'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts': [
    "✗ blocked by ./gate.ts",
    "rm -rf is not allowed",
  ],
  'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts --json': ['"blocked":true,"hook":"./gate.ts"'],
  'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts --no-ui': ["rm -rf is not allowed"],
  "xcsh-hooks list ./gate.ts": ["tool_call", "isolated"],
  'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts --allow-read=. --allow-exec="git status --porcelain"':
    ["✗ blocked by ./gate.ts"],
  "xcsh-hooks list ./gate.ts --allow-read=. --deny-read=secrets --allow-run=git": [
    "--allow-run=git",
    "can leave the sandbox: run=git",
  ],
  "xcsh-hooks trust .xcsh/hooks/pre/bash.ts --yes": ["approved"],
  'xcsh-hooks run "clean up" --script script.json --require-trust': ["rm -rf is not allowed"],
  "xcsh-hooks list": ["loaded", ".xcsh/hooks/pre/bash.ts", "project, xcsh, module pre bash"],
  "xcsh-hooks check ./gate.ts": ["tool_call", "can leave none"],
  "xcsh-hooks permissions record ./gate.ts --events events.jsonl": ["1 event"],
  "xcsh-hooks replay session.jsonl --hook ./gate.ts": ["rm -rf is not allowed"],
  "xcsh-hooks replay session.jsonl --hook ./gate.ts --json": ['"type":"block"', '"type":"summary"'],
  "deno test gate_test.ts": ["1 passed"],
  'echo \'{ "type": "prompt", "id": 1, "text": "clean up" }\' | xcsh-hooks run --rpc --no-session --script script.json --hook ./gate.ts':
    ['"reason":"end_of_input"', '"reason":"rm -rf is not allowed"', '"id":1,"to":"prompt","ok":true'],
  "deno run --allow-run=xcsh-hooks editor.ts": ["asks: Dangerous command (rm -rf build)", "bash was blocked"],
  "deno run --allow-read=. agent.ts": ["bash was blocked: rm -rf is not allowed"],
  "deno run --allow-read=. tools.ts": ["ran ls", "rm -rf is not allowed"],
};

Deno.test("README.md shows the tables as they are now", () => {
  assertEquals(README, withTables(README), "run: deno run -A tools/readme.ts");
});

Deno.test("README.md links to what is there", async () => {
  for (const [, target] of README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) await Deno.stat(join(ROOT, target!));
  const examples = [...Deno.readDirSync(join(ROOT, "examples/hooks"))].map(({ name }) => name);
  for (const name of examples) assertStringIncludes(README, `\`${name}\``);
});

Deno.test({ name: "README.md: every code block runs", ignore: Deno.build.os === "windows" }, async (t) => {
  const root = await Deno.makeTempDir({ prefix: "xcsh-readme-" });
  const folder = join(root, "project");
  await Deno.mkdir(folder);
  try {
    const env = await reader(root);
    for (const block of BLOCKS) {
      if (block.file !== undefined) {
        await Deno.writeTextFile(join(folder, block.file), block.text);
      } else if (block.language === "sh") {
        for (const line of block.text.trim().split("\n")) {
          await t.step(line, async () => {
            if (line.endsWith("deno@2.9.6 task test")) {
              const { tasks } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
              assertStringIncludes(JSON.stringify(tasks.test), "deno test");
              return;
            }
            // It needs a terminal: tests/cli/readme_screen_test.ts runs it.
            if (line === CHAT) return;
            const inClone = line.includes(" task ");
            const { code, output } = await sh(line, inClone ? ROOT : folder, env);
            assertEquals(code, 0, output);
            for (const text of SHOWS[line] ?? []) assertStringIncludes(output, text);
          });
        }
      } else assertEquals(block.language, "text", "a block that nobody runs");
    }
    const files = BLOCKS.flatMap(({ language, file }) => language === "ts" && file !== undefined ? [file] : []);
    await t.step(`type check of ${files.join(", ")}`, async () => {
      const { code, output } = await sh(`deno check ${files.join(" ")}`, folder, env);
      assertEquals(code, 0, output);
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
  const lines = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ text }) => text.trim().split("\n"));
  for (const line of Object.keys(SHOWS)) assert(lines.includes(line), `README.md has no longer: ${line}`);
});

/** Makes what a reader has around the project: settings by which it depends on this module, and programs on the path. */
async function reader(folder: string): Promise<Record<string, string>> {
  const config = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const imports = Object.entries<string>(config.imports).map(([name, target]) => [
    name,
    target.startsWith("./") ? new URL(`../${target}`, import.meta.url).href : target,
  ]);
  const { compilerOptions } = config;
  await Deno.writeTextFile(
    join(folder, "deno.json"),
    JSON.stringify({ imports: Object.fromEntries(imports), vendor: true, lock: false, compilerOptions }),
  );
  await Deno.symlink(join(ROOT, "vendor"), join(folder, "vendor"));
  const bin = join(folder, "bin");
  await Deno.mkdir(bin);
  const program = (name: string, body: string) =>
    Deno.writeTextFile(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const standIn = join(bin, "stand_in.ts");
  await Deno.writeTextFile(
    standIn,
    `const args = ["run", "-A", ${JSON.stringify(join(ROOT, "cli/main.ts"))}, ...Deno.args];
Deno.exit(new Deno.Command(Deno.execPath(), { args, stdin: "inherit", stdout: "inherit", stderr: "inherit" }).outputSync().code);`,
  );
  await program(
    "deno",
    `for arg; do
  shift
  [ "$arg" = "jsr:@xcsh/hooks/cli" ] && arg="${standIn}"
  set -- "$@" "$arg"
done
exec "${Deno.execPath()}" "$@"`,
  );
  await program("npx", `[ "$1 $2" = "-y deno@2.9.6" ] || exit 9\nshift 2\nexec "${Deno.execPath()}" "$@"`);
  const path = `${bin}:${join(folder, "installed/bin")}:${Deno.env.get("PATH")}`;
  return { PATH: path, DENO_INSTALL_ROOT: join(folder, "installed"), NO_COLOR: "1" };
}

async function sh(line: string, cwd: string, env: Record<string, string>): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", line],
    cwd,
    env,
    stdin: "null",
  }).output();
  return { code, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}
