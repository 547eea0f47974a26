/**
 * Approvals: which hooks of a project may run.
 *
 * @module
 */

export { type Approval, type Json, type Subject } from "./approval.ts";
export { type Repository, repositoryOf } from "./repository.ts";
export { type StoredApprovals, trustFolder, TrustStore } from "./store.ts";
export { type FileChange, IN_PROCESS, Trust, type TrustOptions, type TrustRequest } from "./trust.ts";
