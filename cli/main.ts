/**
 * The command line: `xcsh-hooks`.
 *
 * @example
 * ```sh
 * deno run -A jsr:@xcsh/hooks/cli run "say hello" --script script.json --hook ./gate.ts
 * ```
 *
 * @module
 */

import { Command, ValidationError } from "@cliffy/command";
import deno from "../deno.json" with { type: "json" };
import { errorText } from "../src/values.ts";
import { plainText } from "../src/ui/text.ts";
import { EXIT_FAILED, EXIT_USAGE, ExitError, UsageError } from "./errors.ts";
import { addGrantFlags, refuseEmptyGrants } from "./grants.ts";
import { chat } from "./chat/chat.ts";
import { check } from "./check.ts";
import { type Helped, helpOf } from "./help.ts";
import { importCommand } from "./import.ts";
import { list } from "./list.ts";
import { Output } from "./output.ts";
import { permissions } from "./permissions.ts";
import { replay } from "./replay.ts";
import { run } from "./run.ts";
import { trust } from "./trust.ts";

/**
 * Runs the command line.
 *
 * @param args What was typed after the program's name.
 * @returns The exit code: 0 done; 1 a hook failed to load, a gate broke or the work failed; 2 wrong usage.
 */
export async function main(args: string[]): Promise<number> {
  const output = new Output();
  const program = new Command()
    .name("xcsh-hooks")
    .version(deno.version)
    .versionOption("-V, --version", "Show the version.", () => {
      output.line(`xcsh-hooks ${deno.version}`);
      throw new ExitError(0);
    })
    .help((command: Helped) => helpOf(command, output))
    .description("Run, list and try hooks of coding agents.")
    .example("Run a session behind a hook", 'xcsh-hooks run "clean up" --script script.json --hook ./gate.ts')
    .example("See what hooks register", "xcsh-hooks list --hook ./gate.ts --hook ./redact.ts")
    .noExit()
    .action(() => {
      throw new UsageError("Name a command; xcsh-hooks --help lists them");
    });
  addGrantFlags(program)
    .command("run", run)
    .command("chat", chat)
    .command("list", list)
    .command("trust", trust)
    .command("replay", replay)
    .command("check", check)
    .command("permissions", permissions)
    .command("import", importCommand)
    .command("completions", await completions(args));
  try {
    refuseEmptyGrants(args);
    await program.parse(args);
    return 0;
  } catch (error) {
    if (error instanceof ExitError) return error.code;
    const { noteTheme } = output;
    output.note(`${noteTheme.fg("error", "error:")} ${plainText(errorText(error))}`);
    if (!(error instanceof ValidationError)) return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
    const hint = error.message.startsWith("Too many arguments") ? "Put a prompt of several words in quotes. " : "";
    output.note(noteTheme.fg("muted", `${hint}See ${error.cmd?.getPath() ?? "xcsh-hooks"} --help`));
    return EXIT_USAGE;
  }
}

/** The generators of completions take time to load, so they are loaded only to be run. */
async function completions(args: string[]): Promise<Command> {
  const description = "Print a script that completes commands and options in bash, fish or zsh.";
  if (args[0] !== "completions") return new Command().description(description);
  const { CompletionsCommand } = await import("@cliffy/command/completions");
  return new CompletionsCommand() as unknown as Command;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
