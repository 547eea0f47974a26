/**
 * How commands find hooks, beside those that are named.
 *
 * @module
 */

import type { HookPermissions } from "../src/isolation/grants.ts";
import { createTrust, type DiscoverHooksOptions, trustRequests } from "../src/discovery/discover.ts";
import { capabilities } from "../src/discovery/providers.ts";
import { type DescribedLine, describeRequest } from "../src/trust/describe.ts";
import { readPins } from "../src/trust/pins.ts";
import type { Trust } from "../src/trust/trust.ts";
import { isYes } from "../src/ui/prompts.ts";
import { readUserSettings } from "../src/user_settings.ts";
import { errorText } from "../src/values.ts";
import type { DiscoveryOptions } from "./discovery_flags.ts";
import { UsageError } from "./errors.ts";
import type { Output } from "./output.ts";
import { TerminalInput } from "./terminal_input.ts";

/**
 * What discovery needs to know.
 *
 * @param options The options of a command.
 * @param cwd The folder that the session works in.
 * @param permissions What each hook may do; `undefined` when hooks run in this process.
 */
export async function discoveryOf(
  options: DiscoveryOptions,
  cwd: string,
  permissions: HookPermissions | undefined,
): Promise<DiscoverHooksOptions & { trust: Trust }> {
  const settings = await readUserSettings().catch((error) => {
    throw new UsageError(errorText(error));
  });
  capabilities.initializeWithSettings({
    disabledProviders: settings.disabledProviders,
    disabledExtensions: settings.disabledHooks,
  });
  const rights = { hookPermissions: settings.permissions, ...(permissions === undefined ? {} : { permissions }) };
  return {
    ...rights,
    shellHooks: options.shellHooks ?? settings.shellHooks,
    pluginDirs: options.pluginDir ?? [],
    trust: createTrust(cwd, rights, await pinsOf(options.trustLock)),
  };
}

async function pinsOf(path: string | undefined): Promise<ReturnType<typeof readPins>> {
  if (path === undefined) return [];
  try {
    return readPins(await Deno.readTextFile(path));
  } catch (error) {
    throw new UsageError(`--trust-lock ${path}: ${errorText(error)}`);
  }
}

/**
 * Asks the person about hooks of the project that were not approved, where there is a person to ask.
 *
 * @param cwd The project's folder.
 * @param discovery What discovery needs to know.
 * @param output Where to ask.
 */
export async function askForTrust(
  cwd: string,
  discovery: DiscoverHooksOptions & { trust: Trust },
  output: Output,
): Promise<void> {
  if (!Deno.stdin.isTerminal() || !Deno.stderr.isTerminal()) return;
  for (const request of await trustRequests(cwd, discovery)) {
    if (request.approved || (request.hook.kind !== "module" && !discovery.shellHooks)) continue;
    showLines(output, describeRequest(request));
    if (request.faults.length > 0) continue;
    if (await confirmed(output, "This hook comes with the project. Approve it?")) await request.approve();
  }
}

/** Prints a description on standard error. */
export function showLines(output: Output, lines: readonly DescribedLine[]): void {
  const { noteTheme } = output;
  const colours = { added: "success", removed: "error", warning: "warning" } as const;
  for (const { text, kind } of lines) {
    output.note(
      kind === "plain" ? text : kind === "title" ? noteTheme.bold(text) : noteTheme.fg(colours[kind], text),
    );
  }
}

/** Asks a question that only `y` or `yes` answers with yes, and nothing that was typed before it was asked. */
export async function confirmed(output: Output, question: string): Promise<boolean> {
  output.note(`${output.noteTheme.bold(question)} [y/N]`);
  const input = new TerminalInput();
  input.beginQuestion();
  const line = await input.nextAnswer(new AbortController().signal);
  input.endQuestion(line === undefined);
  return isYes(line ?? "");
}
