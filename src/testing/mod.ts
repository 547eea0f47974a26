/**
 * What a hook author needs to test a hook: no files, no model, no terminal.
 *
 * @module
 */

export * from "./create_test_hook.ts";
