/**
 * Emissions against a bare loop, and against what else npm has.
 *
 * @module
 */

import Emittery from "npm:emittery@1";
import { createHooks } from "npm:hookable@5";
import tapable from "npm:tapable@2";
import type { HookEvent } from "@xcsh/hooks";
import { runnerOf } from "./hooks.ts";
import { compare, type Work } from "./measure.ts";
import { type Row, us } from "./row.ts";

type Handler = (event: HookEvent<"session_before_switch">) => void | Promise<void>;

const EVENT: HookEvent<"session_before_switch"> = { type: "session_before_switch", reason: "new" };
const synchronous: Handler = () => {};
const asynchronous: Handler = async () => {};

function emission(handler: Handler, count: number): Work {
  const runner = runnerOf("session_before_switch", handler, count);
  return () => runner.emit(EVENT);
}

/** The least that does the job: wait for each, keep the last answer. */
function bareLoop(handler: Handler, count: number): Work {
  const handlers = Array<Handler>(count).fill(handler);
  return async () => {
    let result: unknown;
    for (const handler of handlers) {
      const answer: unknown = await handler(EVENT);
      if (answer) result = answer;
    }
    return result;
  };
}

function hookable(handler: Handler, count: number): Work {
  const hooks = createHooks<{ session_before_switch: Handler }>();
  for (let i = 0; i < count; i++) hooks.hook("session_before_switch", handler);
  return () => hooks.callHook("session_before_switch", EVENT);
}

function bailHook(handler: Handler, count: number): Work {
  const hook = new tapable.AsyncSeriesBailHook<[typeof EVENT], void>(["event"]);
  for (let i = 0; i < count; i++) hook.tapPromise(`hook_${i}`, (event) => Promise.resolve(handler(event)));
  return () => hook.promise(EVENT);
}

function emittery(handler: Handler, count: number): Work {
  const emitter = new Emittery<{ session_before_switch: typeof EVENT }>();
  for (let i = 0; i < count; i++) {
    // Each its own function, since one that is there already is not added.
    emitter.on(
      "session_before_switch",
      (event) => handler((event as unknown as { data?: typeof EVENT }).data ?? EVENT),
    );
  }
  return () => emitter.emitSerial("session_before_switch", EVENT);
}

function against(name: string, ours: Work, theirs: Work, atMost: number): Row {
  return {
    name,
    unit: "×",
    target: { atMost },
    async run() {
      const { ours: a, theirs: b, ratio } = await compare(ours, theirs);
      return { value: ratio, detail: `${us(a)} against ${us(b)}` };
    },
  };
}

const empty = async () => {};

/** Rows about emissions. */
export const emissionRows: readonly Row[] = [
  ...[1, 10].map((count) =>
    against(`emit to ${count} sync, of a bare loop`, emission(synchronous, count), bareLoop(synchronous, count), 0.6)
  ),
  ...[1, 10].flatMap((count) => [
    against(
      `emit to ${count} async, of a bare loop`,
      emission(asynchronous, count),
      bareLoop(asynchronous, count),
      1.3,
    ),
    against(`emit to ${count} async, of hookable`, emission(asynchronous, count), hookable(asynchronous, count), 1),
    against(`emit to ${count} async, of tapable`, emission(asynchronous, count), bailHook(asynchronous, count), 1),
    against(`emit to ${count} async, of emittery`, emission(asynchronous, count), emittery(asynchronous, count), 1),
  ]),
  against("emit with no handler, of an empty async call", emission(synchronous, 0), () => empty(), 1.5),
];
