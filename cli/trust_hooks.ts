/**
 * What `xcsh-hooks trust` does.
 *
 * @module
 */

import { isAbsolute, relative, resolve } from "@std/path";
import { shellWord } from "../src/check/paths.ts";
import { type DiscoverHooksOptions, trustRequests } from "../src/discovery/discover.ts";
import type { Approval } from "../src/trust/approval.ts";
import { describeRequest } from "../src/trust/describe.ts";
import { writePins } from "../src/trust/pins.ts";
import { writeAtomically } from "../src/trust/store.ts";
import type { Trust, TrustRequest } from "../src/trust/trust.ts";
import { plainText } from "../src/ui/text.ts";
import { errorText } from "../src/values.ts";
import { folderOf } from "./arguments.ts";
import { confirmed, discoveryOf, showLines } from "./discovery.ts";
import { EXIT_FAILED, ExitError, UsageError } from "./errors.ts";
import { type GrantOptions, grantsOf } from "./grants.ts";
import { Output } from "./output.ts";

/** Options of {@linkcode trustHooks}. */
export interface TrustCommandOptions extends GrantOptions {
  /** Show approvals. */
  list?: boolean | undefined;
  /** Take approvals back. */
  revoke?: boolean | undefined;
  /** Write a pin file. */
  export?: string | undefined;
  /** Approve without asking. */
  yes?: boolean | undefined;
  /** Folders of plugins. */
  pluginDir?: string[] | undefined;
  /** The project. */
  cwd?: string | undefined;
  /** Print one JSON object. */
  json?: boolean | undefined;
}

/** Approves hooks, shows approvals, or takes them back. */
export async function trustHooks(options: TrustCommandOptions, typed: readonly string[]): Promise<void> {
  const cwd = await folderOf(options.cwd);
  const paths = typed.map((path) => isAbsolute(path) || path.startsWith("~") ? path : resolve(path));
  const output = new Output();
  const discovery = await discoveryOf(options, cwd, grantsOf(options));
  if (options.list) return showApprovals(output, discovery.trust.list(), options.json);
  if (options.revoke) return await revoke(output, discovery.trust, paths, options.json);
  if (paths.length > 0) await approve(output, cwd, discovery, paths, options);
  if (options.export !== undefined) return exportPins(output, discovery.trust, options.export);
  if (paths.length === 0) await showOpen(output, cwd, discovery, options.json);
}

async function approve(
  output: Output,
  cwd: string,
  discovery: DiscoverHooksOptions & { trust: Trust },
  paths: readonly string[],
  options: TrustCommandOptions,
): Promise<void> {
  let left = 0;
  const outcomes: object[] = [];
  for (const path of paths) {
    const requests = await trustRequests(cwd, discovery, path);
    if (requests.length === 0) {
      throw new UsageError(
        `${path} is no hook that comes with the project ${cwd}, so it needs no approval; xcsh-hooks list shows those that do`,
      );
    }
    for (const request of requests) {
      const state = await decide(output, request, options.yes ?? false);
      if (state === "left" || state === "refused") left++;
      outcomes.push({ path: request.hook.path, state, files: request.subject.files, faults: request.faults });
      if (!options.json) output.line(`${state.padEnd(9)} ${plainText(request.hook.path)}`);
    }
  }
  if (options.json) output.record({ hooks: outcomes });
  if (left > 0) throw new ExitError(EXIT_FAILED);
}

async function decide(output: Output, request: TrustRequest, yes: boolean): Promise<string> {
  if (request.approved) return "known";
  showLines(output, describeRequest(request));
  if (request.faults.length > 0) return "refused";
  if (!yes) {
    if (!Deno.stdin.isTerminal()) {
      output.note("Nobody is there to be asked; look at the hook, and approve it with --yes");
      return "left";
    }
    if (!await confirmed(output, "Approve it?")) return "left";
  }
  await request.approve();
  return "approved";
}

function showApprovals(output: Output, approvals: readonly Approval[], json = false): void {
  if (json) return output.record({ approvals });
  if (approvals.length === 0) output.line("Nothing is approved here.");
  for (const { path, approvedAt, files, command, grants } of approvals) {
    output.line(output.theme.bold(plainText(path)));
    output.line(`  approved  ${approvedAt.slice(0, 16).replace("T", " ")}`);
    if (command !== undefined) output.line(`  runs      ${plainText(command.command)}`);
    output.line(`  may do    ${plainText(typeof grants === "string" ? grants : JSON.stringify(grants))}`);
    for (const file of Object.keys(files)) output.line(`  file      ${plainText(file)}`);
  }
}

async function revoke(output: Output, trust: Trust, paths: readonly string[], json = false): Promise<void> {
  if (paths.length === 0) throw new UsageError("Name what is no longer trusted: xcsh-hooks trust --revoke <path>");
  const revoked: string[] = [];
  for (const path of paths) revoked.push(...(await trust.revoke(path)).map((approval) => approval.path));
  if (json) output.record({ revoked });
  else for (const path of revoked) output.line(`revoked   ${plainText(path)}`);
  if (revoked.length > 0) return;
  output.note("Nothing there was approved; xcsh-hooks trust --list shows what is");
  throw new ExitError(EXIT_FAILED);
}

function exportPins(output: Output, trust: Trust, file: string): void {
  const approvals = trust.list();
  if (approvals.length === 0) {
    throw new UsageError("Nothing is approved here, so there is nothing to pin; approve it: xcsh-hooks trust <path>");
  }
  try {
    writeAtomically(resolve(file), writePins(approvals));
  } catch (error) {
    throw new UsageError(`--export ${file}: ${errorText(error)}`);
  }
  const pinned = approvals.length === 1 ? "1 approval is" : `${approvals.length} approvals are`;
  output.note(`${pinned} in ${file}; use it with: xcsh-hooks run --trust-lock ${file}`);
}

async function showOpen(
  output: Output,
  cwd: string,
  discovery: DiscoverHooksOptions & { trust: Trust },
  json = false,
): Promise<void> {
  const requests = await trustRequests(cwd, discovery);
  const shown = requests.map(({ hook, approved, previous }) => ({
    path: hook.path,
    state: approved ? "approved" : previous === undefined ? "new" : "changed",
  }));
  if (json) return output.record({ hooks: shown });
  if (shown.length === 0) output.line("No hook comes with this project.");
  for (const { path, state } of shown) output.line(`${state.padEnd(9)} ${plainText(path)}`);
  const open = shown.find(({ state }) => state !== "approved");
  if (open !== undefined) {
    const near = relative(Deno.cwd(), open.path);
    const path = plainText(near.startsWith("..") ? open.path : near);
    output.note(`Look at one and approve it: xcsh-hooks trust ${shellWord(path)}`);
  }
}
