// deno-lint-ignore-file no-console -- a program that prints
/**
 * All that a commit must pass, one step after the other; stops at the first that fails. With `--after-tests`, where `deno task
 * test` has just passed, the examples in the documentation are the only tests that run, and coverage is left out.
 *
 * @module
 */

const EXPORTS = ["mod.ts", "src/session/mod.ts", "src/replay/mod.ts", "src/testing/mod.ts", "cli/main.ts"];
const COVERAGE = "coverage";

const STEPS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ["format", ["fmt", "--check", "--quiet"]],
  ["lint", ["lint", "--quiet"]],
  ["types", ["check", "--quiet", ...EXPORTS, "cli", "src", "examples", "tests", "bench", "tools"]],
  ["documentation", ["doc", "--lint", "--quiet", ...EXPORTS]],
  ["tests and doc tests", [
    "test",
    "-A",
    "--doc",
    "--parallel",
    "--quiet",
    `--coverage=${COVERAGE}`,
    "--coverage-raw-data-only",
    // The README's blocks build on each other; tests/readme_test.ts runs them.
    "tests",
    "src",
    "cli",
    "mod.ts",
  ]],
  // Of our own modules alone: what tests write and import has no business in it.
  ["coverage", ["coverage", "--quiet", `--include=^${new URL("..", import.meta.url).href}(src|cli)/`, COVERAGE]],
  ["publish", ["publish", "--dry-run", "--allow-dirty", "--quiet"]],
];

const DOC_TESTS = ["test", "-A", "--doc", "--parallel", "--quiet", "src", "cli", "mod.ts"];

const steps = !Deno.args.includes("--after-tests") ? STEPS : STEPS.flatMap(([name, args]) => {
  if (name === "coverage") return [];
  return [name.includes("doc tests") ? ["doc tests", DOC_TESTS] as const : [name, args] as const];
});

await Deno.remove(COVERAGE, { recursive: true }).catch(() => {});
for (const [name, args] of steps) {
  const start = performance.now();
  const { success } = await new Deno.Command(Deno.execPath(), { args: [...args], stdin: "null" }).spawn().status;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.error(`${success ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (!success) Deno.exit(1);
}
