/**
 * What the agent has set out to do.
 *
 * @module
 */

import type { SessionEntry } from "../entries.ts";
import type { TodoItem } from "../events.ts";
import type { ToolResult } from "../tool.ts";
import type { SessionTool } from "../tools/mod.ts";
import { isRecord } from "../values.ts";

/** When the agent is reminded of what is left to do. */
export interface TodoSettings {
  /** Whether there is a list at all; default true. */
  enabled: boolean;
  /** Whether the agent is reminded; default true. */
  reminders: boolean;
  /** How often at most after one prompt; default 3. */
  maxReminders: number;
}

/** What holds when nothing is set. */
export const DEFAULT_TODOS: TodoSettings = { enabled: true, reminders: true, maxReminders: 3 };

const STATUSES = ["pending", "in_progress", "completed", "abandoned"] as const;
/** Name of the tool that writes the list. */
export const TODO_TOOL = "todo_write";

/** The list, which the tool writes and the session reads. */
export class TodoList {
  #items: TodoItem[] = [];

  /** All items. */
  get items(): readonly TodoItem[] {
    return this.#items;
  }

  /** What is left to do, without anything a person did not ask for. */
  open(): TodoItem[] {
    return this.#items.filter(({ status }) => status === "pending" || status === "in_progress")
      .map(({ id, content, status }) => ({ id, content, status }));
  }

  /** Takes the list that a branch ends with. */
  restore(branch: readonly SessionEntry[]): void {
    this.#items = [];
    for (let i = branch.length - 1; i >= 0; i--) {
      const entry = branch[i]!;
      if (entry.type !== "message" || entry.message?.role !== "toolResult") continue;
      const { toolName, isError, details } = entry.message;
      if (toolName !== TODO_TOOL || isError || !isRecord(details) || !Array.isArray(details.todos)) continue;
      this.#items = details.todos.filter(isTodo);
      return;
    }
  }

  /** Puts a list in the place of the one before. */
  replace(items: readonly TodoItem[]): void {
    this.#items = [...items];
  }
}

/**
 * Makes the tool by which the model writes its list.
 *
 * @param list The list.
 * @returns The tool `todo_write`.
 */
export function createTodoTool(list: TodoList): SessionTool {
  return {
    name: TODO_TOOL,
    label: "todos",
    description:
      "Writes the list of what there is to do, whole each time. Use it for work of several steps: set one item to " +
      "in_progress, and to completed or abandoned as soon as it is.",
    parameters: {
      type: "object",
      properties: {
        todos: {
          type: "array",
          description: "All items",
          items: {
            type: "object",
            properties: {
              id: { type: "string", description: "Unique in the list; numbered when absent" },
              content: { type: "string", description: "What to do" },
              status: { type: "string", enum: STATUSES },
            },
            required: ["content", "status"],
          },
        },
      },
      required: ["todos"],
    },
    execute: (_id, params, signal) => {
      signal?.throwIfAborted();
      const todos = (params.todos as Partial<TodoItem>[]).map((todo, i) =>
        ({ ...todo, id: todo.id ?? String(i + 1) }) as TodoItem
      );
      const twice = todos.find((todo, i) => todos.findIndex((other) => other.id === todo.id) !== i);
      if (twice !== undefined) return Promise.reject(new Error(`Two items have the id ${JSON.stringify(twice.id)}`));
      list.replace(todos);
      const left = list.open().length;
      const result: ToolResult = {
        content: [{ type: "text", text: `${todos.length} items, ${left} left to do` }],
        details: { todos },
      };
      return Promise.resolve(result);
    },
  };
}

/** What the agent is told when it stops with things left to do. */
export function reminderText(todos: readonly TodoItem[]): string {
  const lines = todos.map(({ id, content, status }) => `- [${status}] ${content} (id ${id})`);
  return `These items of your list are not done:\n${lines.join("\n")}\n` +
    "Go on with them, or set them to completed or abandoned.";
}

function isTodo(value: unknown): value is TodoItem {
  return isRecord(value) && typeof value.id === "string" && typeof value.content === "string" &&
    (STATUSES as readonly unknown[]).includes(value.status);
}
