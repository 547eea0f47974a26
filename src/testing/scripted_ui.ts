import type { Component, HookUIContext } from "../api.ts";
import { createNoOpUIContext, plainTheme } from "../ui/noop.ts";

/**
 * Uses a component that a hook shows, as a person would: reads `render`, presses keys with `handleInput`. `close` closes it
 * from outside.
 */
export type CustomAnswer = (component: Component, close: (result?: unknown) => void) => void | Promise<void>;

/** What the person in a test answers, each list in the order of the questions. */
export interface UIAnswers {
  /** Answers to `ctx.ui.select`; `undefined` closes it. */
  select?: readonly (string | undefined)[];
  /** Answers to `ctx.ui.confirm`. */
  confirm?: readonly boolean[];
  /** Answers to `ctx.ui.input`; `undefined` closes it. */
  input?: readonly (string | undefined)[];
  /** Answers to `ctx.ui.editor`; `undefined` closes it. */
  editor?: readonly (string | undefined)[];
  /** How the components of `ctx.ui.custom` are used. */
  custom?: readonly CustomAnswer[];
  /** Text of the prompt editor at the beginning. */
  editorText?: string;
}

/** A question that a hook asked. */
export interface AskedQuestion {
  /** How it was asked. */
  kind: "select" | "confirm" | "input" | "editor" | "custom";
  /** Its title; empty for `custom`. */
  title: string;
  /** The message of `confirm`, the placeholder of `input`, the prefill of `editor`. */
  message?: string;
  /** The options of `select`. */
  options?: string[];
}

/** A note that a hook showed. */
export interface Notification {
  /** What it says. */
  message: string;
  /** How grave it is. */
  type: "info" | "warning" | "error";
}

/** What a hook did with the UI. */
export interface UIRecord {
  /** The questions, in order. */
  asked: AskedQuestion[];
  /** The notes, in order. */
  notifications: Notification[];
  /** The status texts that are set, by key. */
  statuses: Map<string, string>;
  /** The lines of widgets, by key. */
  widgets: Map<string, string[]>;
  /** The text of the prompt editor. */
  editorText: string;
}

/**
 * Makes a UI whose person is a script.
 *
 * @param answers What the person answers; `undefined` when nobody is there.
 * @param record Gets what the hook does.
 * @param fault Told of questions that have no answer; makes the error.
 */
export function scriptedUI(
  answers: UIAnswers | undefined,
  record: UIRecord,
  fault: (message: string) => Error,
): HookUIContext {
  const nobody = createNoOpUIContext();
  const next: Record<AskedQuestion["kind"], number> = { select: 0, confirm: 0, input: 0, editor: 0, custom: 0 };

  /** The answer to a question, or nobody's. */
  function ask<T>(question: AskedQuestion, queue: readonly T[] | undefined): T {
    record.asked.push(question);
    const index = next[question.kind]++;
    if (queue === undefined || index >= queue.length) {
      const shown = [question.title, question.message, question.options?.join(" | ")].filter((text) => text).join(": ");
      throw fault(
        `The hook asked ui.${question.kind}(${JSON.stringify(shown)}), and the test has ${
          index === 0 ? "no answer" : `only ${index} of these answers`
        }: give ui: { ${question.kind}: [${"…, ".repeat(index)}…] }`,
      );
    }
    return queue[index]!;
  }

  return {
    async select(title, options) {
      if (answers === undefined) return await nobody.select(title, options);
      const answer = ask({ kind: "select", title, options: [...options] }, answers.select);
      if (answer !== undefined && !options.includes(answer)) {
        throw fault(
          `The test answers ui.select(${JSON.stringify(title)}) with ${JSON.stringify(answer)}, which is none of ${
            JSON.stringify(options)
          }`,
        );
      }
      return answer;
    },
    async confirm(title, message) {
      if (answers === undefined) return await nobody.confirm(title, message);
      return ask({ kind: "confirm", title, message }, answers.confirm);
    },
    async input(title, placeholder) {
      if (answers === undefined) return await nobody.input(title, placeholder);
      return ask({ kind: "input", title, ...message(placeholder) }, answers.input);
    },
    async editor(title, prefill, options) {
      if (answers === undefined) return await nobody.editor(title, prefill, options);
      return ask({ kind: "editor", title, ...message(prefill) }, answers.editor);
    },
    async custom<T>(factory: Parameters<typeof nobody.custom<T>>[0]): Promise<T | undefined> {
      if (answers === undefined) return await nobody.custom(factory);
      const answer = ask({ kind: "custom", title: "" }, answers.custom);
      const { promise, resolve } = Promise.withResolvers<T>();
      let closed = false;
      const done = (result: T) => {
        closed = true;
        resolve(result);
      };
      const component = await factory({ requestRender() {} }, plainTheme, done);
      await answer(component, (result) => done(result as T));
      // A component may close itself a moment after the key.
      await new Promise((later) => setTimeout(later, 0));
      if (!closed) {
        throw fault(
          "The component of ui.custom is still open after the test has used it: press its key, or call close()",
        );
      }
      component.dispose?.();
      return await promise;
    },
    notify: (text, type = "info") => void record.notifications.push({ message: text, type }),
    setWidget(key, content) {
      if (typeof content !== "function") {
        if (content === undefined) record.widgets.delete(key);
        else record.widgets.set(key, [...content]);
        return;
      }
      const component = content({ requestRender() {} }, plainTheme);
      const draw = () => void record.widgets.set(key, component.render(80));
      if (component.whenDrawn === undefined) draw();
      else component.whenDrawn(80).then(draw, () => {});
    },
    setStatus(key, text) {
      if (text === undefined) record.statuses.delete(key);
      else record.statuses.set(key, text);
    },
    setEditorText(text) {
      if (answers !== undefined) record.editorText = text;
    },
    getEditorText: () => record.editorText,
    theme: plainTheme,
  };
}

function message(text: string | undefined): { message?: string } {
  return text === undefined ? {} : { message: text };
}
