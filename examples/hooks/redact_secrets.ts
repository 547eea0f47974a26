/**
 * Keeps secrets out of what the model reads, and so out of the transcript and the session file: tokens of known shapes,
 * private keys, passwords in URLs and headers, and the values of settings with a telling name.
 *
 * Needs no permission.
 *
 * @module
 */
import type { HookAPI } from "@xcsh/hooks";

/** Replaces secrets in the results and errors of all tools. */
export default function redactSecrets(pi: HookAPI): void {
  pi.on("tool_result", (event) => ({
    content: event.content.map((part) => part.type === "text" ? { ...part, text: redact(part.text) } : part),
    details: redactAll(event.details),
  }));
}

/** Secrets that show by their shape. Add your own here. */
const SHAPES: readonly (readonly [name: string, shape: RegExp])[] = [
  ["private key", /-----BEGIN ([A-Z ]*PRIVATE KEY(?: BLOCK)?)-----[^]*?(?:-----END \1-----|$)/g],
  ["AWS key id", /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g],
  ["GitHub token", /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b/g],
  ["GitLab token", /\bgl(?:pat|dt|rt|cbt|ptt|soat)-[\w-]{20,255}/g],
  ["Anthropic key", /\bsk-ant-[\w-]{20,255}/g],
  ["OpenAI key", /\bsk-(?:proj-|svcacct-|admin-)?[\w-]{20,255}/g],
  ["Stripe key", /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}\b/g],
  ["Slack token", /\bxox[abeoprs]-[\w-]{10,255}/g],
  ["Slack webhook", /https:\/\/hooks\.slack\.com\/services\/[\w/]{20,255}/g],
  ["Google key", /\bAIza[\w-]{35}/g],
  ["npm token", /\bnpm_[A-Za-z0-9]{36}\b/g],
  ["PyPI token", /\bpypi-[\w-]{50,255}/g],
  ["Hugging Face token", /\bhf_[A-Za-z0-9]{30,255}\b/g],
  ["DigitalOcean token", /\bdo[opr]_v1_[a-f0-9]{64}\b/g],
  ["SendGrid key", /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/g],
  ["JWT", /\beyJ[\w-]{8,4096}\.eyJ[\w-]{8,8192}\.[\w-]{8,4096}/g],
];

/** Secrets that show by what stands before them, which stays. */
const PLACES: readonly RegExp[] = [
  // scheme://user:password@host
  /\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,255}:)([^\s/@]{1,255})(?=@)/gi,
  /\b((?:proxy-)?authorization["']?\s{0,9}[:=]\s{0,9}["']?(?:bearer|basic|token)\s{1,9})([^\s"',]{6,4096})/gi,
  // SOME_API_KEY=value, as in a .env file or a list of environment variables
  /^((?:export\s{1,9})?[A-Z0-9_]{0,64}(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)[A-Z0-9_]{0,64}=["']?)([^\s"']{1,4096})/gm,
  // "password": "value", as in JSON and YAML
  /((?:api[-_]?key|access[-_]?key|private[-_]?key|account[-_]?key|client[-_]?secret|secret|token|password|passwd|passphrase)["']?\s{0,9}[:=]\s{0,9}["'])([^"'\n]{4,4096})(?=["'])/gi,
  /^(\s{0,40}[\w-]{0,40}(?:api[-_]key|password|passwd|secret|token):[ \t]{1,9})((?!(?:string|number|boolean|bytes|unknown|never|null|undefined|true|false|None|required|optional)\b)[^\s"'{[$<|>&*!#(][^\s(]{2,4095}[^\s(;,])[ \t]*$/gim,
];

/**
 * Replaces the secrets in a text.
 *
 * @param text The text.
 * @returns The text with a mark such as `[REDACTED GitHub token]` for each secret.
 */
export function redact(text: string): string {
  for (const [name, shape] of SHAPES) text = text.replaceAll(shape, `[REDACTED ${name}]`);
  for (const place of PLACES) {
    text = text.replaceAll(place, (all, before: string, secret: string) =>
      // What an earlier rule has marked keeps its name.
      secret.startsWith("[REDACTED") ? all : `${before}[REDACTED]`);
  }
  return text;
}

/** Redacts the texts in a value, all the way down. */
function redactAll<T>(value: T): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map(redactAll) as T;
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    // A key such as "password" tells what its value is.
    Object.entries(value).map(([key, inner]) => [
      key,
      typeof inner === "string" && redact(`"${key}": "${inner}"`) === `"${key}": "[REDACTED]"`
        ? "[REDACTED]"
        : redactAll(inner),
    ]),
  ) as T;
}
