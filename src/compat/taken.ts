/**
 * What a module takes from a package, told by its text.
 *
 * @module
 */

import { codeOf, seenImports } from "./source.ts";

/** Something that a module takes from another. */
export interface Taken {
  /** The other module. */
  specifier: string;
  /** The name that it exports it by; `*` for everything that it exports. */
  name: string;
  /** What it is called here; absent where it is only passed on. */
  local?: string;
  /** Where that stands. */
  index: number;
  /** Whether a name of this kind is there when the module runs: TypeScript drops an import that only types use. */
  isValue: boolean;
}

/** Most characters of an import. */
const MAX_CLAUSE = 4_000;
/** Most imports that are looked at. */
const MAX_IMPORTS = 1_000;

/**
 * Finds what a module takes from others.
 *
 * @param text Its text.
 * @param isMeant Which others.
 * @returns What is taken, and the text as code alone, at the same places.
 */
export function takenFrom(text: string, isMeant: (specifier: string) => boolean): { taken: Taken[]; code: string } {
  const imports = seenImports(text).filter(({ specifier }) => isMeant(specifier)).slice(0, MAX_IMPORTS);
  if (imports.length === 0) return { taken: [], code: "" };
  const code = codeOf(text);
  const taken = imports.flatMap(({ specifier, index }) => {
    // What stands in a comment or in a text is none.
    if (code[index] === " ") return [];
    const before = code.slice(Math.max(0, index - MAX_CLAUSE), index);
    return text.startsWith("from", index)
      ? declared(specifier, before, index)
      : called(specifier, before, text.slice(index, index + MAX_CLAUSE), index);
  });
  return { taken, code };
}

function declared(specifier: string, before: string, index: number): Taken[] {
  const found = /^([^]*)\b(import|export)\b([^]*)$/.exec(before);
  if (found === null) return [];
  const [, , word, clause] = found;
  if (/^\s*type\s+(?!,|from\b)[\w${*]/.test(clause!)) return [];
  const isImport = word === "import";
  const taken: Taken[] = [];
  const all = /\*(?:\s*as\s+([\w$]+))?/.exec(clause!);
  if (all !== null) {
    taken.push({ specifier, name: "*", ...(all[1] === undefined ? {} : { local: all[1] }), index, isValue: !isImport });
  }
  const list = /\{([^{}]*)\}/.exec(clause!);
  if (list !== null) taken.push(...named(specifier, list[1]!, /\s+as\s+/, index, !isImport));
  const first = isImport ? /^\s*([A-Za-z_$][\w$]*)\s*(?:,|$)/.exec(clause!)?.[1] : undefined;
  if (first !== undefined) taken.push({ specifier, name: "default", local: first, index, isValue: false });
  return taken;
}

/** What comes of `require` and of `import()`. */
function called(specifier: string, before: string, after: string, index: number): Taken[] {
  const direct = /^(\w+)\s*\(\s*["'][^"'\n]*["']\s*\)([\s)]*)\??\.\s*([A-Za-z_$][\w$]*)/.exec(after);
  if (direct !== null && direct[3] !== "then") {
    // `import("…").Name` is a type: the module itself comes later.
    const isType = direct[1] === "import" && !direct[2]!.includes(")");
    return isType ? [] : [{ specifier, name: direct[3]!, index, isValue: true }];
  }
  const target = /(?:\b(?:const|let|var)\s+)?(\{[^{}]*\}|[A-Za-z_$][\w$]*)\s*=[\s(]*(?:await[\s(]*)?$/.exec(before)
    ?.[1];
  const given = target ?? /\)\s*\.\s*then\s*\(\s*(?:async\s*)?\(?\s*(\{[^{}]*\}|[A-Za-z_$][\w$]*)/.exec(after)?.[1];
  if (given === undefined) return [];
  if (given.startsWith("{")) return named(specifier, given.slice(1, -1), /\s*:\s*/, index, true);
  return [{ specifier, name: "*", local: given, index, isValue: true }];
}

function named(specifier: string, list: string, as: RegExp, index: number, isValue: boolean): Taken[] {
  return list.split(",").flatMap((entry) => {
    const text = entry.trim().replace(/\s*=[^]*$/, "");
    if (text === "" || text.startsWith("...") || /^type\s+(?!as\b)/.test(text)) return [];
    const [name, local = name] = text.split(as);
    return { specifier, name: name!, local: local!, index, isValue };
  });
}

/** A member of something, and where it is used. */
export interface Use {
  /** The member. */
  member: string;
  /** Where. */
  index: number;
  /** Whether it is no type. */
  isValue: boolean;
}

/** Finds the members of what a module calls by a name. */
export function membersOf(code: string, local: string): Use[] {
  const name = local.replaceAll("$", "\\$");
  const uses = Array.from(
    code.matchAll(new RegExp(`(?<![.\\w$])${name}\\s{0,20}\\??\\.\\s{0,20}([A-Za-z_$][\\w$]*)`, "g")),
    ({ 0: all, 1: member, index }) => ({ member: member!, index, isValue: isValueAt(code, index, all.length) }),
  );
  for (const { index } of code.matchAll(new RegExp(`(?<=\\}\\s{0,20}=\\s{0,20})${name}\\b(?!\\s*[.([])`, "g"))) {
    const list = /\{([^{}]*)\}\s*=\s*$/.exec(code.slice(Math.max(0, index - MAX_CLAUSE), index))?.[1] ?? "";
    uses.push(...named("", list, /\s*:\s*/, index, true).map(({ name }) => ({ member: name, index, isValue: true })));
  }
  return uses;
}

/** Finds where a name stands for something that is there when the module runs, as far as its text shows. */
export function valueUse(code: string, name: string): number | undefined {
  const pattern = new RegExp(`(?<![.\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`, "g");
  for (const { index } of code.matchAll(pattern)) if (isValueAt(code, index, name.length)) return index;
  return undefined;
}

/** Whether what stands at a place is no type. */
export function isValueAt(code: string, index: number, length: number): boolean {
  const before = code.slice(Math.max(0, index - 200), index).trimEnd();
  const after = code.slice(index + length, index + length + 40).trimStart();
  if (/\b(?:as|implements|keyof|satisfies|is|type|interface|infer|import|export)$/.test(before)) return false;
  if (/\bextends$/.test(before)) return /\bclass\b[^{}<]*extends$/.test(before);
  if (/\b(?:new|instanceof|return|await|yield|throw)$/.test(before)) return true;
  const isCalled = /^(?:\(|`|\?\.|\.\s*\w+\s*\()/.test(after);
  // `key: Name` and `() => Name` may be types as well.
  if (/(?::|=>)$/.test(before)) return isCalled;
  if (/(?:^|[^|])\|$|(?:^|[^&])&$|<$/.test(before)) return false;
  if (isCalled || after.startsWith(".")) return true;
  if (/[^=!<>]=$/.test(before)) return !/\btype\s+[\w$]+(?:<[^=]*>)?\s*=$/.test(before);
  return /(?:[([{,?!|&]|\.\.\.)$/.test(before) && /^[,)\]};:]/.test(after) && !isInImport(before);
}

function isInImport(before: string): boolean {
  return /\b(?:import|export)\b[^;()=]*$/.test(before);
}
