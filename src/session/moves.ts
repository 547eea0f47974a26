/**
 * Goes on somewhere else: in a new, another, copied or branched session, or elsewhere in the tree. Nothing has changed when
 * hooks are asked, and all has when they are told.
 *
 * @module
 */

import type { NewSessionOptions } from "../api.ts";
import type { SessionEntry } from "../entries.ts";
import type { HookResult, SwitchReason } from "../events.ts";
import { textOf } from "../messages.ts";
import type { LanguageModel } from "../models/model.ts";
import type { HookRunner } from "../runner.ts";
import { type BranchSummary, summarizeBranch } from "./branch_summary.ts";
import { landing } from "./input.ts";
import type { SessionEvent, SessionIdentity } from "./session_events.ts";
import { findSessionFile } from "./own_file.ts";
import { SessionManager } from "./store.ts";
import { settle } from "./wait.ts";

/** What moves need of the session. */
export interface MovesHost {
  /** Knows the hooks. */
  readonly runner: HookRunner;
  /** The folder that it works in. */
  readonly cwd: string;
  /** Tokens kept free for summaries. */
  readonly reserveTokens: number;
  /** The session's entries. */
  manager(): SessionManager;
  /** The model in use. */
  model(): LanguageModel | undefined;
  /** Which session it is now. */
  identity(): SessionIdentity;
  /** Aborted when waiting for hooks should end. */
  signal(): AbortSignal;
  /** Stops what the agent does. */
  abort(): Promise<void>;
  /** Stops what the agent does, and keeps the session busy while something else goes on. */
  alone(act: (signal: AbortSignal) => void | Promise<void>): Promise<void>;
  /** Puts another session in the place of this one, and closes this one; `keepMemory` keeps the agent's messages. */
  replace(next: SessionManager, keepMemory: boolean): void;
  /** Builds the agent's memory anew. */
  restore(): void;
  /** Emits an event to the hooks, and does not wait much longer than until the signal aborts. */
  emit(event: Parameters<HookRunner["emit"]>[0], signal: AbortSignal): Promise<void>;
  /** Tells those who watch the session. */
  tell(event: SessionEvent): void;
}

/** Moves one agent between sessions, and within one. */
export class SessionMoves {
  readonly #host: MovesHost;

  /**
   * Makes it for a session.
   *
   * @param host The session.
   */
  constructor(host: MovesHost) {
    this.#host = host;
  }

  /** Begins a new session. */
  async newSession(options: NewSessionOptions): Promise<{ cancelled: boolean }> {
    if (await this.#isCancelled({ type: "session_before_switch", reason: "new" })) return { cancelled: true };
    await this.#host.abort();
    const next = this.#host.manager().createNewSession({
      ...options.parentSession !== undefined && { parentSession: options.parentSession },
    });
    let used = false;
    try {
      await options.setup?.(next);
      await this.#switchTo(() => {
        used = true;
        return next;
      }, "new");
    } catch (error) {
      if (!used) next.discard();
      throw error;
    }
    return { cancelled: false };
  }

  /** Goes on with another file. */
  async switchSession(file: string): Promise<{ cancelled: boolean }> {
    if (findSessionFile(file).path === this.#host.manager().getSessionFile()) return { cancelled: false };
    const cancelled = await this.#isCancelled({
      type: "session_before_switch",
      reason: "resume",
      targetSessionFile: file,
    });
    if (cancelled) return { cancelled };
    await this.#switchTo(() => SessionManager.open(file, { cwd: this.#host.cwd }), "resume");
    return { cancelled: false };
  }

  /** Goes on in a copy. */
  async fork(): Promise<{ cancelled: boolean }> {
    if (this.#host.manager().getSessionFile() === undefined) {
      throw new Error("A session in memory cannot be forked; it has no file");
    }
    if (await this.#isCancelled({ type: "session_before_switch", reason: "fork" })) return { cancelled: true };
    await this.#switchTo(() => this.#host.manager().fork(), "fork");
    return { cancelled: false };
  }

  /** Goes on before a user message, in a session of its own. */
  async branch(entryId: string): Promise<{ cancelled: boolean; selectedText: string }> {
    const entry = this.#host.manager().getEntry(entryId);
    if (entry?.type !== "message" || entry.message?.role !== "user") {
      throw new Error(`Invalid entry ID for branching: ${entryId}`);
    }
    const selectedText = textOf(entry.message.content);
    const answer: HookResult<"session_before_branch"> | undefined = await this.#ask(
      this.#host.runner.emit({ type: "session_before_branch", entryId }),
    );
    if (answer?.cancel) return { cancelled: true, selectedText };
    let previousSessionFile: string | undefined;
    await this.#host.alone(() => {
      const previous = this.#host.manager();
      previousSessionFile = previous.getSessionFile();
      this.#host.replace(previous.createBranchedSession(entry.parentId), answer?.skipConversationRestore ?? false);
    });
    await this.#host.emit({ type: "session_branch", previousSessionFile }, this.#host.signal());
    this.#host.tell({
      type: "session_branch",
      ...this.#host.identity(),
      ...previousSessionFile !== undefined && { previousSessionFile },
    });
    return { cancelled: false, selectedText };
  }

  /** Moves to another entry of the tree. */
  async navigateTree(targetId: string, summarize: boolean): Promise<{ cancelled: boolean; editorText?: string }> {
    const target = this.#host.manager().getEntry(targetId);
    if (target === undefined) throw new Error(`Entry ${targetId} not found`);
    const oldLeafId = this.#host.manager().getLeafId();
    if (targetId === oldLeafId) return { cancelled: false };
    if (summarize && this.#host.model() === undefined) throw new Error("No model available for summarization");
    const { newLeafId, editorText } = landing(target);
    const before = this.#leftBehind(targetId);
    await using controller = new DisposableController();
    const answer: HookResult<"session_before_tree"> | undefined = await this.#ask(this.#host.runner.emit({
      type: "session_before_tree",
      preparation: {
        targetId,
        oldLeafId,
        commonAncestorId: before.commonAncestorId,
        entriesToSummarize: before.left,
        userWantsSummary: summarize,
      },
      signal: controller.signal,
    }));
    if (answer?.cancel) return { cancelled: true };
    await this.#host.abort();
    // A run that was stopped has left its end there.
    const leftLeafId = this.#host.manager().getLeafId();
    const { left } = this.#leftBehind(targetId);
    const fromHook = summarize ? answer?.summary : undefined;
    const summary = fromHook ?? (summarize && left.length > 0 ? await this.#summarize(left) : undefined);
    let summaryId: string | undefined;
    await this.#host.alone(() => {
      if (summary?.summary) {
        const isHooks = fromHook !== undefined;
        summaryId = this.#host.manager().branchWithSummary(newLeafId, summary.summary, summary.details, isHooks);
      } else if (newLeafId === null) this.#host.manager().resetLeaf();
      else this.#host.manager().branch(newLeafId);
      this.#host.restore();
    });
    await this.#emitTree(leftLeafId, summaryId);
    return { cancelled: false, ...editorText !== undefined && { editorText } };
  }

  async #isCancelled(event: { type: "session_before_switch"; reason: SwitchReason; targetSessionFile?: string }) {
    return Boolean((await this.#ask(this.#host.runner.emit(event)))?.cancel);
  }

  /** What hooks answer; an abort while they are asked counts as a no. */
  async #ask<T>(pending: Promise<T>): Promise<T | { cancel: true }> {
    const signal = this.#host.signal();
    try {
      return await settle(pending, signal);
    } catch (error) {
      if (signal.aborted) return { cancel: true };
      throw error;
    }
  }

  async #switchTo(open: () => SessionManager, reason: SwitchReason): Promise<void> {
    let previousSessionFile: string | undefined;
    await this.#host.alone(() => {
      previousSessionFile = this.#host.manager().getSessionFile();
      this.#host.replace(open(), false);
    });
    await this.#host.emit({ type: "session_switch", reason, previousSessionFile }, this.#host.signal());
    this.#host.tell({
      type: "session_switch",
      reason,
      ...this.#host.identity(),
      ...previousSessionFile !== undefined && { previousSessionFile },
    });
  }

  #leftBehind(targetId: string): { commonAncestorId: string | null; left: SessionEntry[] } {
    const onTarget = new Set(this.#host.manager().getBranch(targetId).map((entry) => entry.id));
    const branch = this.#host.manager().getBranch();
    let common = branch.length;
    while (common > 0 && !onTarget.has(branch[common - 1]!.id)) common--;
    return { commonAncestorId: branch[common - 1]?.id ?? null, left: branch.slice(common) };
  }

  async #summarize(entries: readonly SessionEntry[]): Promise<BranchSummary> {
    let summary: BranchSummary | undefined;
    const model = this.#host.model()!;
    await this.#host.alone(async (signal) => {
      summary = await summarizeBranch(entries, model, this.#host.reserveTokens, signal);
    });
    return summary!;
  }

  async #emitTree(oldLeafId: string | null, summaryId: string | undefined): Promise<void> {
    const newLeafId = this.#host.manager().getLeafId();
    const entry = summaryId === undefined ? undefined : this.#host.manager().getEntry(summaryId);
    const summaryEntry = entry?.type === "branch_summary" ? entry : undefined;
    await this.#host.emit({
      type: "session_tree",
      newLeafId,
      oldLeafId,
      ...summaryEntry && { summaryEntry, fromExtension: summaryEntry.fromExtension ?? false },
    }, this.#host.signal());
    this.#host.tell({ type: "session_tree", newLeafId, oldLeafId, ...summaryEntry && { summaryEntry } });
  }
}

/** Aborts its signal at the end of a scope, so that nobody waits for it afterwards. */
class DisposableController extends AbortController implements AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void> {
    this.abort();
    return Promise.resolve();
  }
}
