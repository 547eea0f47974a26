/**
 * Finds where a text stops being JSON, which the engine does not always tell.
 *
 * @module
 */

const PUNCTUATION = "[{}\\[\\],:]";
// JSON forbids control characters in strings.
const STRING = `"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"`;
const SCALAR = "(?:-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null)(?![\\w.])";
const TOKEN = new RegExp(`\\s*(?:(${PUNCTUATION})|(${STRING})|(${SCALAR}))`, "y");

/**
 * Finds the first place at which a text is not JSON.
 *
 * @param text The text.
 * @returns Line and column, both counted from 1; those of the end when nothing is wrong before it.
 */
export function jsonErrorPosition(text: string): { line: number; column: number } {
  const before = text.slice(0, errorOffset(text)).split("\n");
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

function errorOffset(text: string): number {
  const stack: ("object" | "array")[] = [];
  // What may come next.
  let state: "value" | "first-value" | "key" | "first-key" | "colon" | "after" = "value";
  TOKEN.lastIndex = 0;
  for (;;) {
    const from = TOKEN.lastIndex;
    const token = TOKEN.exec(text);
    const at = from + /^\s*/.exec(text.slice(from, from + 10_000))![0].length;
    if (token === null) return at;
    const [, mark, string] = token;
    const inside = stack.at(-1);
    const closes = mark === (inside === "object" ? "}" : "]") && inside !== undefined;
    if (closes && (state === "after" || state === "first-key" || state === "first-value")) {
      stack.pop();
      state = "after";
    } else if (state === "colon" && mark === ":") state = "value";
    else if ((state === "key" || state === "first-key") && string !== undefined) state = "colon";
    else if (state === "after" && mark === "," && inside !== undefined) state = inside === "object" ? "key" : "value";
    else if ((state === "value" || state === "first-value") && (mark === undefined || mark === "{" || mark === "[")) {
      if (mark !== undefined) stack.push(mark === "{" ? "object" : "array");
      state = mark === "{" ? "first-key" : mark === "[" ? "first-value" : "after";
    } else return at;
  }
}
