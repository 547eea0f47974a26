/**
 * Whether rights go beyond what was approved.
 *
 * @module
 */

import { PERMISSION_KINDS } from "../isolation/grants.ts";
import { isRecord } from "../values.ts";
import { canonicalJson, type Json } from "./approval.ts";

/** What a hook may do that runs in the host's own process: all that this may. */
export const IN_PROCESS: Json = "in-process";

/**
 * Whether an approval of rights covers others. Fewer rights need no new approval.
 *
 * @param approved The rights that were approved.
 * @param asked The rights that the hook would have.
 */
export function covers(approved: Json, asked: Json): boolean {
  if (canonicalJson(approved) === canonicalJson(asked)) return true;
  if (!isRecord(asked)) return false;
  if (approved === IN_PROCESS) return true;
  if (!isRecord(approved)) return false;
  const known = new Set<string>([...PERMISSION_KINDS, "exec", "deny", "links"]);
  // Rights of a kind that is not known here cannot be compared.
  if (Object.keys(asked).some((key) => !known.has(key))) return false;
  if (asked.links === true && approved.links !== true) return false;
  return [...PERMISSION_KINDS, "exec"].every((kind) =>
    isAtMost(asked[kind], approved[kind]) &&
    (asked[kind] === undefined || isAtMost(denied(approved, kind), denied(asked, kind)))
  );
}

function denied(rights: Record<string, unknown>, kind: string): unknown {
  return isRecord(rights.deny) ? rights.deny[kind] : undefined;
}

/** Whether a list, or `true` for all, holds nothing that another one does not. */
function isAtMost(less: unknown, more: unknown): boolean {
  if (less === undefined || more === true) return true;
  if (!Array.isArray(less)) return false;
  return less.every((entry) => Array.isArray(more) && more.includes(entry));
}
