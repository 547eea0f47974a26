/**
 * Approvals: which hooks of a project may run.
 *
 * @module
 */

export { type Approval, type Json, type Subject } from "./approval.ts";
export { type DescribedLine, describeRequest } from "./describe.ts";
export { readPins, writePins } from "./pins.ts";
export { type Repository, repositoryOf } from "./repository.ts";
export { IN_PROCESS } from "./rights.ts";
export { approvedFolder, type StoredApprovals, trustFolder, TrustStore } from "./store.ts";
export { type FileChange, Trust, type TrustOptions, type TrustRequest } from "./trust.ts";
