/**
 * What a look at a module's text tells about what it needs to be loaded, without parsing it.
 *
 * @module
 */

/** An import, as it stands in the text. */
export interface SeenImport {
  /** What is imported. */
  specifier: string;
  /** Whether the import says what kind of data it wants, so that it is none of code. */
  data: boolean;
  /** Where it stands. */
  index: number;
}

const IMPORT = /\b(?:from|import|require)\s*\(?\s*(["'])((?:(?!\1)[^\n\\])+)\1(\s*(?:,|with\b|assert\b))?/g;
/** Words that only CommonJS modules know. */
const COMMONJS = /\b(?:require|__dirname|__filename|module\.exports|exports\.\w+)\b/;
const BUN = /\bBun\b|\bimport\.meta\.(?:dir|file|path)\b|["']bun(?::[\w/]+)?["']/;

/**
 * Finds imports in a module's text: also some that only look like imports, and `require` calls.
 *
 * @param text The text.
 * @returns What it finds.
 */
export function seenImports(text: string): SeenImport[] {
  return Array.from(text.matchAll(IMPORT), (match) => ({
    specifier: match[2]!,
    data: match[3] !== undefined,
    index: match.index,
  }));
}

/**
 * Tells whether a module uses what only CommonJS modules have: `require`, `__dirname`, `__filename`, `module.exports`.
 *
 * @param text Its text.
 * @returns Whether it does and does not define them itself.
 */
export function usesCommonJs(text: string): boolean {
  return COMMONJS.test(text) && commonJsNames(text).length > 0;
}

/** The names of CommonJS that a module uses and does not define. */
export function commonJsNames(text: string): string[] {
  const code = codeOf(text);
  const uses = (name: string) => new RegExp(`(?<![.\\w$])${name}\\b(?!\\s*:)`).test(code);
  const defines = (name: string) =>
    new RegExp(`\\b(?:const|let|var|function|import)\\s+(?:\\{[^}]{0,500}\\b)?${name}\\b|\\bas\\s+${name}\\b`).test(
      code,
    );
  const names = ["require", "__dirname", "__filename"].filter((name) => uses(name) && !defines(name));
  const isModule = /^[ \t]*(?:import\b(?!\s*\()|export\b)/m.test(code);
  if (!isModule && /(?<![.\w$])(?:module\.exports|exports\.\w+\s*=)/.test(code)) names.push("module");
  return names;
}

/** Something of Bun's own that a module uses. */
export interface BunUse {
  /** What, such as `Bun.spawn`. */
  name: string;
  /** Counted from 1. */
  line: number;
  /** How it is said in Deno. */
  instead: string;
}

const INSTEAD: Readonly<Record<string, string>> = {
  "import.meta.dir": "import.meta.dirname",
  "import.meta.path": "import.meta.filename",
  "import.meta.file": "the basename of import.meta.filename",
  "Bun.spawn": "pi.exec(program, [arguments]), or new Deno.Command(program, { args })",
  "Bun.spawnSync": "pi.exec(program, [arguments]), or new Deno.Command(program, { args }).outputSync()",
  "Bun.$": "pi.exec(program, [arguments])",
  "Bun.file": "Deno.readTextFile(path)",
  "Bun.write": "Deno.writeTextFile(path, text)",
  "Bun.env": "Deno.env.get(name)",
  "Bun.sleep": "new Promise((resolve) => setTimeout(resolve, ms))",
  "Bun.which": "pi.exec, which finds programs itself",
  "Bun.hash": "crypto.subtle.digest",
  "Bun.Glob": "the tools of @std/fs, such as expandGlob",
  "Bun.serve": "Deno.serve",
  "Bun.stringWidth": "visibleWidth of pi-tui",
  "bun:sqlite": "node:sqlite",
  "bun:test": "Deno.test",
};

/**
 * Finds the first use of what only Bun has.
 *
 * @param text The module's text.
 * @returns The use; `undefined` when there is none, or when the module asks first whether it runs in Bun.
 */
export function bunUse(text: string): BunUse | undefined {
  if (!BUN.test(text)) return undefined;
  const code = codeOf(text);
  const guarded =
    /\btypeof\s+Bun\b|\bglobalThis\.Bun\b|\bprocess\.versions\.bun\b|\bimport\.meta\.(?:dirname|filename)\b/
      .test(code);
  if (guarded) return undefined;
  const found = /(?<![.\w$])Bun\.(?:\$|\w+)|(?<![.\w$])Bun\b(?=\s*[.[(])|\bimport\.meta\.(?:dir|file|path)\b/.exec(
    code,
  );
  // The name of a module stands in a string, which `codeOf` blanks.
  const builtin = /(?:\bfrom|\bimport|\brequire\s*\()\s*["'](bun(?::[\w/]+)?)["']/.exec(text);
  const [name, index] = found !== null ? [found[0], found.index] : [builtin?.[1], builtin?.index ?? 0];
  if (name === undefined) return undefined;
  return { name, line: text.slice(0, index).split("\n").length, instead: INSTEAD[name] ?? "an API of Deno or of Node" };
}

/**
 * Blanks comments and texts, so that what is left is code at the same place. Templates keep what stands in `${}`. What does not
 * end goes on to the end of its line or of the text: looking for an end in vain, again and again, would take for ever.
 */
export function codeOf(text: string): string {
  return text.replaceAll(
    /\/\/[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{[^}`]*\})*`?|(?<=[=(,:!&|?{};\n]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.){0,200}\]){1,200}\//g,
    (match) =>
      match.startsWith("`")
        ? match.split(/(\$\{[^}`]*\})/).map((part, i) => i % 2 === 1 ? part : blank(part)).join("")
        : blank(match),
  );
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}
