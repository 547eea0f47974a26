// deno-lint-ignore-file no-console
/**
 * Shows a coding session behind the hooks in `examples/hooks`: a dangerous command is blocked, a secret is redacted, and slash
 * commands run. The model is scripted; the program, the tools, the session and the hooks are the real ones.
 *
 * `deno task demo`, or `deno task demo --json` for the same as one JSON record a line. `deno task demo --full` shows every event.
 *
 * @module
 */
import { fromFileUrl, join } from "@std/path";

const ROOT = fromFileUrl(new URL("..", import.meta.url));
const SECRET = "shown-to-nobody-4711";
const FILES: Record<string, string> = {
  "main.ts": 'console.log("hello");\n',
  "settings.env": `PORT=8080\nAPI_KEY=${SECRET}\n`,
  "build/main.js": "// made from main.ts\n",
};

interface Step {
  says: string;
  prompt: string;
  script?: string;
  hooks: string[];
}

const STEPS: Step[] = [
  {
    says:
      "A model cleans up a project. Two hooks watch every tool: one blocks what destroys, one hides secrets. Each runs in a\n   process of its own that has no permission at all: no file, no network, no program.",
    prompt: "Clean up this project",
    script: "examples/demo.json",
    hooks: ["block_unsafe_bash", "redact_secrets"],
  },
  {
    says: "A hook adds the command /note, and draws its messages in its own way.",
    prompt: "/note The key in settings.env is for tests alone.",
    hooks: ["notes"],
  },
  {
    says: "A hook adds the command /handoff: it goes on in a new session that knows what matters of this one.",
    prompt: "/handoff Write a test for main.ts",
    hooks: ["handoff"],
  },
];

const args = Deno.args.filter((arg) => arg !== "--");
const json = args.includes("--json");
const unknown = args.find((arg) => arg !== "--json" && arg !== "--full");
if (unknown !== undefined) {
  console.error(`error: ${unknown} is no option of the demo; there are --json and --full`);
  Deno.exit(2);
}
if (args.includes("--full")) {
  const full = fromFileUrl(new URL("demo_full.ts", import.meta.url));
  const options = json ? ["--json"] : [];
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", full, ...options],
    cwd: ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  Deno.exit(code);
}

const colour = Deno.stdout.isTerminal() && !Deno.noColor;
const bold = (text: string) => colour ? `\x1b[1m${text}\x1b[22m` : text;
const dim = (text: string) => colour ? `\x1b[90m${text}\x1b[39m` : text;
const green = (text: string) => colour ? `\x1b[32m${text}\x1b[39m` : text;
const say = (text = "") => json || console.log(text);

const scratch = await Deno.makeTempDir({ prefix: "xcsh-demo-" });
const folder = join(scratch, "project");
const session = join(scratch, "session.jsonl");
let failed: string | undefined;
try {
  await Deno.mkdir(join(folder, "build"), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) await Deno.writeTextFile(join(folder, name), text);
  for (const [i, step] of STEPS.entries()) {
    say(`${i === 0 ? "" : "\n"}${bold(`${i + 1}. ${step.says}`)}`);
    failed ??= await play(step);
  }
  failed ??= await verify();
  if (failed === undefined) {
    say(dim(`\n  The new session begins with\n${(await handedOff()).replaceAll(/^(?=.)/gm, "    ")}`));
  }
} finally {
  await Deno.remove(scratch, { recursive: true });
}
if (failed !== undefined) {
  console.error(`error: ${failed}`);
  Deno.exit(1);
}
say(
  `\n${
    green("✓")
  } The files are still there, and the key is nowhere in the session: not on the screen, not in its file.`,
);
say(`  Read the hooks in ${bold("examples/hooks/")}. Each is one file; copy what you need.`);

/** Runs the program as a person would; says what went wrong, if anything did. */
async function play({ prompt, script, hooks }: Step): Promise<string | undefined> {
  const options = [
    ...(script === undefined ? [] : ["--script", script]),
    ...hooks.flatMap((name) => ["--hook", `examples/hooks/${name}.ts`]),
  ];
  say(dim(`   $ xcsh-hooks run ${JSON.stringify(prompt)} ${options.join(" ")}\n`));
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "cli/main.ts", "run", prompt, ...options, "--cwd", folder, "--session", session, ...args],
    cwd: ROOT,
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  return code === 0 ? undefined : `the session ended with exit code ${code}`;
}

/** What the demo claims must be so. */
async function verify(): Promise<string | undefined> {
  const kept = ["main.ts", "settings.env"];
  for (const name of kept) {
    if (await Deno.readTextFile(join(folder, name)) !== FILES[name]) return `${name} was changed`;
  }
  const transcript = await Deno.readTextFile(session);
  if (!transcript.includes("[REDACTED]") || transcript.includes(SECRET)) return "the key was not redacted";
}

/** What the session that came last begins with. */
async function handedOff(): Promise<string> {
  for await (const { name } of Deno.readDir(scratch)) {
    const path = join(scratch, name);
    if (!name.endsWith(".jsonl") || path === session) continue;
    const [, first] = (await Deno.readTextFile(path)).split("\n");
    return JSON.parse(first ?? "{}").message.content;
  }
  throw new Error("/handoff made no session");
}
