/**
 * What a Claude-style hook reads from its standard input.
 *
 * @module
 */

import type { HookContext } from "../api.ts";
import type { HookEvent } from "../events.ts";
import { textOf } from "../messages.ts";
import { toolPath } from "../tools/path.ts";
import { isRecord } from "../values.ts";
import { SHELL_EVENTS, type ShellEventName } from "./settings.ts";
import { CLAUDE_TOOLS } from "./tools.ts";

/**
 * Writes an event as JSON, under the names of Claude Code and under ours.
 *
 * @param name The event's name in Claude Code.
 * @param event The event.
 * @param ctx What the handler was given.
 * @param more Fields that only the caller knows.
 * @returns One line of JSON.
 */
export function shellInput(
  name: ShellEventName,
  event: HookEvent,
  ctx: HookContext,
  more: Record<string, unknown> = {},
): string {
  const common = {
    session_id: ctx.sessionManager.getSessionId(),
    transcript_path: ctx.sessionManager.getSessionFile() ?? "",
    cwd: ctx.cwd,
    permission_mode: "default",
    hook_event_name: name,
    event: SHELL_EVENTS[name],
  };
  return JSON.stringify({ ...common, ...fieldsOf(event, ctx.cwd), ...more }) + "\n";
}

function fieldsOf(event: HookEvent, cwd: string): Record<string, unknown> {
  switch (event.type) {
    case "tool_call":
      return toolFields(event, cwd);
    case "tool_result": {
      const { content, details, isError } = event;
      const text = textOf(content);
      return {
        ...toolFields(event, cwd),
        tool_response: { content, details: details ?? null, stdout: text, stderr: "", isError, is_error: isError },
        isError,
      };
    }
    case "before_agent_start":
      return { prompt: event.prompt };
    case "session_start":
      return { source: "startup" };
    case "session_shutdown":
      return { reason: "other" };
    case "session_before_compact": {
      const instructions = event.customInstructions ?? "";
      return { trigger: instructions === "" ? "auto" : "manual", custom_instructions: instructions };
    }
    default:
      return {};
  }
}

function toolFields(
  { toolName, toolCallId, input }: HookEvent<"tool_call"> | HookEvent<"tool_result">,
  cwd: string,
): Record<string, unknown> {
  const many = toolName === "edit" && Array.isArray(input.edits);
  const [first = toolName] = CLAUDE_TOOLS.get(toolName) ?? [];
  return {
    tool_name: many ? "MultiEdit" : first,
    tool_input: claudeInput(toolName, input, cwd),
    tool_use_id: toolCallId,
    toolName,
    input,
    toolCallId,
  };
}

/** The arguments under both names. Where a name means another thing in Claude Code, that is what it holds. */
function claudeInput(tool: string, input: Record<string, unknown>, cwd: string): Record<string, unknown> {
  const both: Record<string, unknown> = { ...input };
  if ((tool === "read" || tool === "write" || tool === "edit") && typeof input.path === "string") {
    both.file_path = absolute(input.path, cwd);
  }
  if (tool === "edit") {
    Object.assign(both, editNames(input));
    if (Array.isArray(input.edits)) {
      both.edits = input.edits.map((edit: unknown) => isRecord(edit) ? { ...edit, ...editNames(edit) } : edit);
    }
  }
  // Milliseconds there, seconds here.
  if (tool === "bash" && typeof input.timeout === "number") both.timeout = input.timeout * 1_000;
  return both;
}

function editNames({ oldText, newText }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(oldText === undefined ? {} : { old_string: oldText }),
    ...(newText === undefined ? {} : { new_string: newText }),
  };
}

/** A policy on paths must see where the tool will really go. */
function absolute(path: string, cwd: string): string {
  try {
    return toolPath(path, cwd);
  } catch {
    return path;
  }
}
