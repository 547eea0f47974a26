/**
 * Regular expressions whose time is linear in the text, for those that come from models and projects.
 *
 * @module
 */

import { errorText } from "./values.ts";

/** Whether a text matches. */
export type TextTest = (text: string) => boolean;

/** Makes a test of a regular expression, or throws and says why not. */
export type Compile = (pattern: string) => TextTest;

interface Re2 {
  LOOKBEHINDS: number;
  compile(pattern: string, flags: number): { test(text: string): boolean };
  translateRegExp(pattern: string): string;
}

/**
 * Fetches the engine from npm (`re2js`), and only when it is asked for.
 *
 * @returns What compiles regular expressions of JavaScript, without look-aheads and references back.
 * @throws {Error} When it cannot be fetched.
 */
export async function loadLinearEngine(): Promise<Compile> {
  // Not written as one literal, so that only those who need it fetch it.
  const specifier = ["npm:re2js", "^2.10.0"].join("@");
  const { RE2JS } = await import(specifier) as { RE2JS: Re2 };
  return (pattern) => {
    try {
      const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), RE2JS.LOOKBEHINDS);
      return (text) => compiled.test(text);
    } catch (error) {
      throw new Error(`${errorText(error)}; look-aheads and references back cannot be matched in bounded time`, {
        cause: error,
      });
    }
  };
}

/**
 * Whether the platform's own engine takes at most quadratic time: it repeats no group, and not more than one thing without end.
 *
 * @param pattern A regular expression of JavaScript.
 */
export function isQuick(pattern: string): boolean {
  // What is escaped, and what stands in brackets, repeats nothing.
  const bare = pattern.replaceAll(/\\./gs, "a").replaceAll(/\[[^\]]*\]/g, "a");
  const endless = bare.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  return endless <= 1 && !/\)(?:[*+]|\{)/.test(bare) && !/\\[1-9k]/.test(pattern);
}
