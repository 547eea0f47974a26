/**
 * Approvals by content alone, in a file that is passed on: what a person approved here may run there.
 *
 * @module
 */

import { errorText, isRecord } from "../values.ts";
import { type Approval, digestOf, parseApproval } from "./approval.ts";

/** Stands for every repository. */
export const ANY_REPOSITORY = "*";

/**
 * Writes approvals to a pin file.
 *
 * @param approvals The approvals.
 * @returns The text of the file, the same for the same approvals.
 */
export function writePins(approvals: readonly Approval[]): string {
  const pins = new Map<string, Approval>();
  for (const approval of approvals) {
    const digest = digestOf(approval, ANY_REPOSITORY);
    pins.set(digest, { ...approval, repository: ANY_REPOSITORY, digest });
  }
  const sorted = [...pins.values()].sort((a, b) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : a.digest < b.digest ? -1 : 1
  );
  return JSON.stringify({ version: 1, hooks: sorted }, undefined, 2) + "\n";
}

/**
 * Reads a pin file.
 *
 * @param text What it holds.
 * @returns The approvals in it.
 * @throws {Error} When any of it cannot be read: half a pin file approves nothing.
 */
export function readPins(text: string): Approval[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`it is no JSON (${errorText(error)}); make it with: xcsh-hooks trust --export`);
  }
  if (!isRecord(value) || value.version !== 1 || !Array.isArray(value.hooks)) {
    throw new Error("it is no pin file of version 1; make it with: xcsh-hooks trust --export");
  }
  return value.hooks.map((entry: unknown, i) => {
    const pin = parseApproval(entry);
    if (pin?.repository === ANY_REPOSITORY) return pin;
    throw new Error(`entry ${i + 1} is no pin, or has been changed; make it with: xcsh-hooks trust --export`);
  });
}
