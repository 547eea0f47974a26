import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { type LoadedHook, silentLogger, textOf } from "../../mod.ts";
import { replaySession } from "../../src/replay/mod.ts";
import { createShellHook } from "../../src/shell/adapter.ts";
import { createTestHook } from "../../src/testing/mod.ts";
import { Project } from "../discovery/_project.ts";

// One policy, as people write it for Claude Code and as a hook. The scripts read JSON with patterns, since not every machine
// has jq.
const BEFORE = String.raw`#!/bin/bash
input=$(</dev/stdin)
command='"command":"(\\.|[^"\])*(git (push|reset|checkout|commit)|npm (install|publish)|rm -)'
path='"file_path":"(\\.|[^"\])*/(tui|package)[^"/\]*\.(ts|json)"'
if [[ $input == *'"tool_name":"Bash"'* ]]; then
  if [[ $input =~ $command ]]; then
    echo "not this command" >&2
    exit 2
  fi
elif [[ $input =~ $path ]]; then
  printf '%s' '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"not this file"}}'
fi
`;
const AFTER = String.raw`#!/bin/bash
input=$(</dev/stdin)
if [[ ${"$"}{input#*tool_response} == *apiKey* ]]; then
  printf '%s' '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"[left out]"}}'
fi
`;
const FORBIDDEN = /git (?:push|reset|checkout|commit)|npm (?:install|publish)|rm -/;
const PROTECTED = /\/(?:tui|package)[^/]*\.(?:ts|json)$/;

const REAL = join(import.meta.dirname!, "../../../shared/data/real-session.jsonl");

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function decisions(hooks: LoadedHook[]): Promise<string[]> {
  const found: string[] = [];
  for await (const record of replaySession(REAL, hooks)) {
    if (record.type !== "summary") found.push(JSON.stringify({ ...record, hookPath: "" }));
  }
  return found;
}

const left = isThere(REAL) ? "" : `: left out, since ${REAL} is not there`;

Deno.test({
  name: `the same policy as a shell hook and as a module decides alike over a real session${left}`,
  ignore: left !== "",
  async fn() {
    using project = new Project();
    const shell = (event: "PreToolUse" | "PostToolUse", matcher: string, name: string, text: string) =>
      createShellHook({
        path: name,
        resolvedPath: project.write(name, text, 0o755),
        event,
        matcher,
        program: { kind: "script", path: project.path(name) },
        cwd: project.cwd,
        logger: silentLogger,
      });
    const module = await createTestHook((pi) => {
      pi.on("tool_call", ({ toolName, input }) => {
        if (toolName === "bash" && FORBIDDEN.test(String(input.command))) {
          return { block: true, reason: "not this command" };
        }
        if ((toolName === "edit" || toolName === "write") && PROTECTED.test(String(input.path))) {
          return { block: true, reason: "not this file" };
        }
      });
      pi.on("tool_result", ({ toolName, content, isError }) => {
        if (toolName === "read" && !isError && textOf(content).includes("apiKey")) {
          return { content: [{ type: "text", text: "[left out]" }] };
        }
      });
    });
    const expected = await decisions([module]);
    const count = (type: string) => expected.filter((line) => line.includes(`"type":"${type}"`)).length;
    assert(count("block") >= 20 && count("redact") >= 3, expected.join("\n"));
    const shells = [
      shell("PreToolUse", "Bash|Edit|Write", "before.sh", BEFORE),
      shell("PostToolUse", "Read", "after.sh", AFTER),
    ];
    assertEquals(await decisions(shells), expected);
  },
});
