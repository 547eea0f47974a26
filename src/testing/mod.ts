/**
 * What a hook author needs to test a hook: no files, no model, no terminal.
 *
 * @example
 * ```ts
 * import { testHook } from "@xcsh/hooks/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const t = await testHook((pi) => {
 *   pi.on("tool_result", (event) => {
 *     for (const part of event.content) if (part.type === "text") part.text = part.text.replaceAll("hunter2", "***");
 *   });
 * });
 * const { content } = await t.runTool({ name: "read", result: "password: hunter2" });
 * assertEquals(content, [{ type: "text", text: "password: ***" }]);
 * ```
 *
 * @module
 */

export * from "./create_test_hook.ts";
export type { EventPayload } from "./default_events.ts";
export type { ExecAnswer, ExecAnswers, RecordedExec } from "./recorded_exec.ts";
export type { AskedQuestion, CustomAnswer, Notification, UIAnswers } from "./scripted_ui.ts";
export * from "./test_hook.ts";
