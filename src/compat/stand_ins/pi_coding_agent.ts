/**
 * Stands in for `pi-coding-agent` and `xcsh`: what hooks import from there that is more than a type.
 *
 * @module
 */

import { keysOf } from "../other_ui.ts";
import { CancellableLoader, type Component, Container, Text } from "./pi_tui.ts";

export { EVENT_NAMES, EVENT_RULES, isHookEventName } from "../../events.ts";
export { StringEnum } from "./pi_ai.ts";
export { Type } from "./typebox.ts";

/** Version of the API that this stands in for. */
export const VERSION = "0.58.3";
/** Name of the project's folder of settings. */
export const CONFIG_DIR_NAME = ".xcsh";
/** Most lines of a tool's output that the built-in tools give. */
export const DEFAULT_MAX_LINES = 2_000;
/** Most bytes of a tool's output that the built-in tools give. */
export const DEFAULT_MAX_BYTES: number = 50 * 1024;

interface NamedEvent {
  toolName: string;
}

/** Whether a call is one of a tool. */
export function isToolCallEventType(name: string, event: NamedEvent): boolean {
  return event.toolName === name;
}

const isResultOf = (name: string) => (event: NamedEvent): boolean => event.toolName === name;

/** Whether a result is one of bash. */
export const isBashToolResult: (event: NamedEvent) => boolean = isResultOf("bash");
/** Whether a result is one of read. */
export const isReadToolResult: (event: NamedEvent) => boolean = isResultOf("read");
/** Whether a result is one of edit. */
export const isEditToolResult: (event: NamedEvent) => boolean = isResultOf("edit");
/** Whether a result is one of write. */
export const isWriteToolResult: (event: NamedEvent) => boolean = isResultOf("write");
/** Whether a result is one of grep. */
export const isGrepToolResult: (event: NamedEvent) => boolean = isResultOf("grep");
/** Whether a result is one of find. */
export const isFindToolResult: (event: NamedEvent) => boolean = isResultOf("find");
/** Whether a result is one of ls. */
export const isLsToolResult: (event: NamedEvent) => boolean = isResultOf("ls");

/** Gives a tool back as it is; for its type. */
export function defineTool<T>(tool: T): T {
  return tool;
}

/** A size for people. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1024 / 1024).toFixed(1)}MB`;
}

/** What was cut. */
export interface Truncation {
  /** What is left. */
  content: string;
  /** Whether something was cut. */
  truncated: boolean;
  /** Which limit cut it. */
  truncatedBy: "lines" | "bytes" | null;
  /** Lines before. */
  totalLines: number;
  /** Bytes before. */
  totalBytes: number;
  /** Lines left. */
  outputLines: number;
  /** Bytes left. */
  outputBytes: number;
}

/** Limits of {@linkcode truncateHead} and {@linkcode truncateTail}. */
export interface TruncationOptions {
  /** Most lines. */
  maxLines?: number;
  /** Most bytes. */
  maxBytes?: number;
}

/** Keeps the first lines. */
export function truncateHead(content: string, options: TruncationOptions = {}): Truncation {
  return truncated(content, options, (lines, count) => lines.slice(0, count));
}

/** Keeps the last lines. */
export function truncateTail(content: string, options: TruncationOptions = {}): Truncation {
  return truncated(content, options, (lines, count) => lines.slice(-count));
}

function truncated(
  content: string,
  { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES }: TruncationOptions,
  keep: (lines: string[], count: number) => string[],
): Truncation {
  const encoder = new TextEncoder();
  const size = (text: string) => encoder.encode(text).length;
  const all = content.split("\n");
  let kept = all.length > maxLines ? keep(all, maxLines) : all;
  let truncatedBy: Truncation["truncatedBy"] = kept.length < all.length ? "lines" : null;
  while (kept.length > 0 && size(kept.join("\n")) > maxBytes) {
    truncatedBy = "bytes";
    if (kept.length === 1) kept = [];
    else kept = keep(kept, kept.length - 1);
  }
  const text = kept.join("\n");
  return {
    content: text,
    truncated: truncatedBy !== null,
    truncatedBy,
    totalLines: all.length,
    totalBytes: size(content),
    outputLines: kept.length,
    outputBytes: size(text),
  };
}

/** Cuts a line that is too long. */
export function truncateLine(line: string, maxChars = 500): { text: string; wasTruncated: boolean } {
  if (line.length <= maxChars) return { text: line, wasTruncated: false };
  return { text: `${line.slice(0, maxChars)}... [truncated]`, wasTruncated: true };
}

/** A text without its front matter. */
export function stripFrontmatter(content: string): string {
  return parseFrontmatter(content).body;
}

/** Splits a text into its front matter, of simple `key: value` lines, and the rest. */
export function parseFrontmatter(content: string): { frontmatter: Record<string, string>; body: string } {
  const found = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(content);
  if (found === null) return { frontmatter: {}, body: content };
  const frontmatter: Record<string, string> = {};
  for (const line of found[1]!.split(/\r?\n/)) {
    const pair = /^([\w-]+)\s*:\s*(.*)$/.exec(line);
    if (pair !== null) frontmatter[pair[1]!] = pair[2]!.replace(/^(["'])(.*)\1$/, "$2");
  }
  return { frontmatter, body: content.slice(found[0].length) };
}

interface Entry {
  role?: string;
  content?: unknown;
}

/** Writes a conversation as text. */
export function serializeConversation(messages: readonly Entry[]): string {
  return messages.map(({ role, content }) => `[${role}]: ${textOf(content)}`).join("\n\n");
}

/** Messages as they are: those of hooks count as the person's. */
export function convertToLlm(messages: readonly Entry[]): Entry[] {
  return messages
    .filter(({ role }) => role === "user" || role === "assistant" || role === "toolResult" || role === "custom")
    .map((message) => message.role === "custom" ? { ...message, role: "user" } : message);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) =>
    part.type === "text" ? part.text : part.type === "toolCall" ? `${part.name}(${JSON.stringify(part.arguments)})` : ""
  ).filter((text) => text !== "").join("\n");
}

/** About how many tokens a message is: a quarter of its characters. */
export function estimateTokens(message: Entry): number {
  return Math.ceil(textOf(message.content).length / 4);
}

/** The folder of what a person set, which asks for the variable of the person's home. */
export function getAgentDir(): string {
  const home = Deno.env.get(Deno.build.os === "windows" ? "USERPROFILE" : "HOME") ?? "";
  return `${home}/${CONFIG_DIR_NAME}/agent`;
}

const running = new Map<string, Promise<unknown>>();

/** Runs what changes a file after what else changes it. */
export function withFileMutationQueue<T>(path: string, change: () => Promise<T>): Promise<T> {
  const before = running.get(path) ?? Promise.resolve();
  const done = before.then(change);
  const settled = done.catch(() => {}).finally(() => {
    if (running.get(path) === settled) running.delete(path);
  });
  running.set(path, settled);
  return done;
}

/** The keys of something that keys do, as text. */
export function keyText(does: string): string {
  return keysOf(does).join("/");
}

/** Says what the keys of something are for. */
export function keyHint(does: string, description: string): string {
  return rawKeyHint(keyText(does), description);
}

/** Says what a key is for. */
export function rawKeyHint(key: string, description: string): string {
  return `${key} ${description}`.trim();
}

const LANGUAGES: Readonly<Record<string, string>> = {
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  cts: "typescript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  go: "go",
  java: "java",
  kt: "kotlin",
  swift: "swift",
  c: "c",
  h: "c",
  cpp: "cpp",
  hpp: "cpp",
  cs: "csharp",
  php: "php",
  sh: "bash",
  bash: "bash",
  zsh: "bash",
  sql: "sql",
  html: "html",
  css: "css",
  scss: "scss",
  json: "json",
  yaml: "yaml",
  yml: "yaml",
  toml: "toml",
  xml: "xml",
  md: "markdown",
  lua: "lua",
};

/** The language of a file, by its name. */
export function getLanguageFromPath(path: string): string | undefined {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension] : undefined;
}

/** Code as lines, without colours. */
export function highlightCode(code: string, _language?: string): string[] {
  return code.split("\n");
}

type Paint = (text: string) => string;
const unpainted: Paint = (text) => text;

/** A theme for `Markdown`, without colours. */
export function getMarkdownTheme(): Record<string, Paint> {
  return Object.fromEntries(
    [
      "heading",
      "link",
      "linkUrl",
      "code",
      "codeBlock",
      "codeBlockBorder",
      "quote",
      "quoteBorder",
      "hr",
      "listBullet",
      "bold",
      "italic",
      "strikethrough",
      "underline",
    ]
      .map((name) => [name, unpainted]),
  );
}

/** A theme for `SelectList`, without colours. */
export function getSelectListTheme(): Record<string, Paint> {
  return Object.fromEntries(
    ["selectedPrefix", "selectedText", "description", "scrollInfo", "noMatch"].map((name) => [name, unpainted]),
  );
}

/** A theme for `SettingsList`, without colours. */
export function getSettingsListTheme(): Record<string, Paint | string> {
  return { label: unpainted, value: unpainted, description: unpainted, cursor: "→ ", hint: unpainted };
}

/** A line across. */
export class DynamicBorder implements Component {
  /** Makes it in a colour. */
  constructor(readonly color: Paint = unpainted) {}

  /** Nothing is kept. */
  invalidate(): void {}

  /** Its line. */
  render(width: number): string[] {
    return [this.color("─".repeat(Math.max(1, width)))];
  }
}

interface ThemeLike {
  fg(color: string, text: string): string;
}

/** A loader between two lines, that escape stops. */
export class BorderedLoader extends Container {
  /** Called when it was stopped. */
  onAbort?: () => void;
  readonly #loader: CancellableLoader;

  /** Makes it and starts it. */
  constructor(tui: { requestRender?: () => void } | undefined, theme: ThemeLike, message: string) {
    super();
    const border = (text: string) => theme.fg("border", text);
    this.#loader = new CancellableLoader(
      tui,
      (text) => theme.fg("accent", text),
      (text) => theme.fg("muted", text),
      message,
    );
    this.#loader.onAbort = () => this.onAbort?.();
    this.addChild(new DynamicBorder(border));
    this.addChild(this.#loader);
    this.addChild(new Text(theme.fg("muted", "esc to cancel"), 1, 0));
    this.addChild(new DynamicBorder(border));
  }

  /** Aborted when it was stopped. */
  get signal(): AbortSignal {
    return this.#loader.signal;
  }

  /** Takes a key. */
  handleInput(data: string): void {
    this.#loader.handleInput(data);
  }

  /** Stops it. */
  dispose(): void {
    this.#loader.stop();
  }
}
