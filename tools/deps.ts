/**
 * Makes the `jsr:` imports of `deno.json` resolve on networks that mirror npm and block JSR: it fills `vendor/`, which
 * Deno reads before the network, from an npm package that carries the same modules. Where JSR answers it leaves
 * `vendor/` to Deno. It runs before there are any dependencies, so it has none.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

/** What {@linkcode ensureVendor} works with. */
export interface VendorOptions {
  /** The folder that holds `vendor/`. */
  root: string;
  /** The packages that `deno.json` imports from JSR, by name. Whether JSR answers is asked of each of them. */
  imports: string[];
  /** The npm package that carries them, with its exact version. */
  spec: string;
  /** The integrity that its tarball must have, as npm writes it: `sha512-` and the digest in base64. */
  integrity: string;
  /** The packages to copy, by their folder in the tarball: `@scope/name/version`. What they import comes along. */
  packages: string[];
  /** How packages begin that have another name in the tarball, and how they begin on JSR. */
  renames: Record<string, string>;
  /** TypeScript files of ours that stand in for packages which the tarball lacks, by package name. */
  standIns: Record<string, { version: string; file: string }>;
  /** The environment for `npm`, and for Deno's `JSR_URL`. */
  env: Record<string, string | undefined>;
  /** Milliseconds that JSR has for an answer. */
  jsrLimit?: number;
  /** Milliseconds that `npm pack` has. */
  npmLimit?: number;
  /** Gives up, leaving no temporary file. */
  signal?: AbortSignal;
}

/**
 * How {@linkcode ensureVendor} ended: `vendor/` was `complete`, `jsr` answered so that Deno can fill it, or it has been
 * `filled` from npm.
 */
export type VendorState = "complete" | "jsr" | "filled";

/** What {@linkcode ensureVendor} did. */
export interface VendorResult {
  /** How it ended. */
  state: VendorState;
  /** Where a folder of modules went that was in the way and that this task had not made. */
  setAside?: string;
}

/** Something that kept the dependencies from being set up; the message says what to do. */
export class DepsError extends Error {
  /** Tells it from other errors across realms. */
  override name = "DepsError";
}

/** Changes when the same tarball would be laid out in another way. */
const LAYOUT = 1;
const TEMPORARY = ".tmp-";
const STAMP = "stand_in.json";
/** Deno names a folder of `vendor/` after the host that it stands for. */
const JSR_FOLDER = "jsr.io";
/** Where the tarball keeps modules and declarations. */
const MODULES = `package/esm/deps/${JSR_FOLDER}/`;
const TYPES = `package/types/deps/${JSR_FOLDER}/`;

/**
 * Sees to it that the imports from JSR resolve.
 *
 * @param options What to provide, and from where.
 * @returns What was done.
 * @throws {DepsError} If neither JSR nor npm gives the packages.
 */
export async function ensureVendor(options: VendorOptions): Promise<VendorResult> {
  const vendor = join(options.root, "vendor");
  try {
    const target = join(vendor, jsrFolder(options.env["JSR_URL"]));
    const source = sourceOf(options);
    const look = () => inspect(target, source, options.imports);
    const found = look();
    if (found === "complete") return { state: "complete" };
    if (await jsrAnswers(options)) {
      // A stand-in that is not whole would hide from Deno what JSR can give.
      if (found === "stale") rmSync(target, { recursive: true, force: true });
      return { state: "jsr" };
    }
    const setAside = await fill(options, vendor, target, source, look);
    return { state: "filled", ...(setAside ? { setAside } : {}) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new DepsError(
      `The dependencies cannot be written to ${vendor} (${error.message}). Make it writable, or free space on its disk, and run the task again.`,
      { cause: error },
    );
  }
}

/** What a stamp says of the folder that it lies in. */
interface Stamp {
  source: string;
  /** Size by path of everything beside the stamp. */
  files: Record<string, number>;
}

/** A file for the folder, by its path from there. */
type Files = Map<string, string>;

/** Deno's rule for the name of a host's folder: without a scheme for HTTPS, with underscores for colons. */
function jsrFolder(jsrUrl: string | undefined): string {
  if (!jsrUrl) return JSR_FOLDER;
  const url = parseJsrUrl(jsrUrl);
  return `${url.protocol === "http:" ? "http_" : ""}${url.host.replaceAll(":", "_")}${url.pathname}`.replace(/\/$/, "");
}

function parseJsrUrl(jsrUrl: string): URL {
  const url = URL.parse(jsrUrl);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new DepsError(
    `JSR_URL is ${JSON.stringify(jsrUrl)}, which is no HTTP address. Correct it or unset it, and run the task again.`,
  );
}

/** Fills the folder from npm, by way of a temporary one that is in `vendor/` so that nothing else takes notice of it. */
async function fill(
  options: VendorOptions,
  vendor: string,
  target: string,
  source: string,
  look: () => Found,
): Promise<string | undefined> {
  const temporary = join(vendor, `${TEMPORARY}${randomUUID()}`);
  try {
    mkdirSync(temporary, { recursive: true });
    sweep(vendor);
    const files = layOut(readTarball(await pack(options, temporary), options.spec), options);
    const staged = join(temporary, "staged");
    write(staged, files, source);
    return moveInPlace(staged, target, look);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    removeIfEmpty(vendor);
  }
}

/** Removes what a run that was killed has left. None lives as long as an hour. */
function sweep(vendor: string): void {
  for (const name of listing(vendor).filter((name) => name.startsWith(TEMPORARY))) {
    const path = join(vendor, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
    if (age > 3_600_000) rmSync(path, { recursive: true, force: true });
  }
}

/** What a folder is made from: another value means that it has to be made again. */
function sourceOf(options: VendorOptions): string {
  const parts = [LAYOUT, options.spec, options.integrity, options.packages, options.renames];
  const standIns = Object.entries(options.standIns).map((
    [name, standIn],
  ) => [name, standIn.version, readFileSync(standIn.file, "utf8")]);
  return createHash("sha256").update(JSON.stringify([...parts, standIns])).digest("hex");
}

/**
 * What is at the place of the modules: all that is needed (`complete`), a stand-in of ours that is old or has lost files
 * (`stale`), something that Deno or a person put there and that is not enough (`foreign`), or nothing.
 */
type Found = "complete" | "stale" | "foreign" | "absent";

function inspect(target: string, source: string, imports: string[]): Found {
  const stamp = readStamp(join(target, STAMP));
  if (stamp) return stamp.source === source && isWhole(target, stamp.files) ? "complete" : "stale";
  if (listing(target).length === 0) return "absent";
  const vendored = imports.every((name) => {
    const files = listing(join(target, name));
    return files.includes("meta.json") && files.some((file) => file.endsWith("_meta.json"));
  });
  return vendored ? "complete" : "foreign";
}

function readStamp(path: string): Stamp | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const stamp: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isRecord(stamp) && typeof stamp["source"] === "string" && isRecord(stamp["files"])) {
      return { source: stamp["source"], files: stamp["files"] as Record<string, number> };
    }
  } catch {
    // A stamp that cannot be read still tells whose folder it is.
  }
  return { source: "", files: {} };
}

function isWhole(folder: string, files: Record<string, number>): boolean {
  return Object.entries(files).every(([path, size]) =>
    statSync(join(folder, path), { throwIfNoEntry: false })?.size === size
  );
}

function listing(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error) && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
    throw error;
  }
}

/** Whether JSR describes every package that is wanted: a half-working mirror, an error page or silence count as no. */
async function jsrAnswers(options: VendorOptions): Promise<boolean> {
  const base = parseJsrUrl(options.env["JSR_URL"] || `https://${JSR_FOLDER}`);
  const ended = new AbortController();
  const limit = setTimeout(() => ended.abort(), options.jsrLimit ?? 3000);
  const signal = options.signal ? AbortSignal.any([ended.signal, options.signal]) : ended.signal;
  const described = async (name: string) => {
    const response = await fetch(`${base.href.replace(/\/$/, "")}/${name}/meta.json`, {
      headers: { accept: "application/json" },
      signal,
    });
    const meta: unknown = await response.json();
    if (
      !response.ok || !isRecord(meta) || `@${meta["scope"]}/${meta["name"]}` !== name || !isRecord(meta["versions"])
    ) {
      throw new Error(`${name} is not described`);
    }
  };
  try {
    await Promise.all(options.imports.map(described));
    return true;
  } catch {
    options.signal?.throwIfAborted();
    return false;
  } finally {
    clearTimeout(limit);
    // One refusal decides; the other answers need no waiting for.
    ended.abort();
  }
}

/** The bytes of the package's tarball, got by npm so that its settings hold: registry, proxy, certificates, cache. */
async function pack(options: VendorOptions, temporary: string): Promise<Uint8Array> {
  const { code, stderr, failure } = await npm(["pack", options.spec], {
    // Settings and not arguments: on Windows those pass through a shell.
    pack_destination: temporary,
    // The version is exact and its bytes are pinned, so what npm has in its cache is as good as new.
    prefer_offline: "true",
    // npm's own patience with a registry that is down is more than a minute.
    fetch_retries: "1",
    fetch_retry_mintimeout: "500",
    update_notifier: "false",
    loglevel: "error",
  }, options);
  const otherwise = "or run the task where JSR can be reached";
  if (failure) throw new DepsError(`JSR does not answer, and ${failure}, ${otherwise}.`);
  const name = readdirSync(temporary).find((file) => file.endsWith(".tgz"));
  if (code !== 0 || !name) {
    throw new DepsError(
      `JSR does not answer, and "npm pack ${options.spec}" failed: ${
        npmErrors(stderr) || `exit code ${code}`
      }. Check npm's registry and network settings (npm ping), ${otherwise}.`,
    );
  }
  const bytes = readFileSync(join(temporary, name));
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (integrity !== options.integrity) {
    throw new DepsError(
      `The tarball that npm gave for ${options.spec} is not the one this project pins: expected ${options.integrity}, got ${integrity}. Nothing of it was used; ask whoever runs the registry, ${otherwise}.`,
    );
  }
  return bytes;
}

/** How a run of npm ended. */
interface NpmEnd {
  code: number | null;
  stderr: string;
  /** Why there is no code, and what to do. */
  failure?: string;
}

/** One run of npm: how it ended, or why it could not. */
function npm(args: string[], settings: Record<string, string>, options: VendorOptions): Promise<NpmEnd> {
  const limit = options.npmLimit ?? 120_000;
  const env = { ...options.env };
  for (const [name, value] of Object.entries(settings)) env[`npm_config_${name}`] = value;
  return new Promise((done, fail) => {
    // On Windows npm is a batch file, which only a shell runs.
    const child = spawn("npm", args, {
      cwd: options.root,
      env,
      shell: process.platform === "win32",
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    let failure: string | undefined;
    const stop = () => child.kill("SIGKILL");
    const timer = setTimeout(() => {
      failure = `"npm ${args.join(" ")}" did not end within ${
        limit / 1000
      } s: check npm's registry and network settings (npm ping)`;
      stop();
    }, limit);
    const finish = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", stop);
    };
    options.signal?.addEventListener("abort", stop, { once: true });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => stderr += text);
    child.once("error", (error) => {
      finish();
      done({
        code: null,
        stderr,
        failure: `npm cannot be started (${error.message}): install Node.js, which brings npm`,
      });
    });
    child.once("close", (code) => {
      finish();
      if (options.signal?.aborted) fail(options.signal.reason);
      else done({ code, stderr, ...(failure ? { failure } : {}) });
    });
  });
}

/** What npm says went wrong, without its prefixes and its hint at a log file. */
function npmErrors(stderr: string): string {
  return stderr.split("\n")
    .map((line) => line.replace(/^npm (error|ERR!)( (code|errno|syscall))?/, "").trim())
    .filter((line) => line !== "" && !/complete log|debug-.*\.log/.test(line))
    .slice(0, 4).join("; ").replace(/\.$/, "");
}

/** The files of a gzipped tarball, by path. */
function readTarball(tarball: Uint8Array, spec: string): Files {
  const broken = (cause?: unknown) =>
    new DepsError(
      `The tarball of ${spec} cannot be read. Its integrity is what this project pins, so the pin is wrong: correct it in tools/deps.ts.`,
      { cause },
    );
  let bytes: Uint8Array;
  try {
    bytes = gunzipSync(tarball);
  } catch (error) {
    throw broken(error);
  }
  const decoder = new TextDecoder();
  const text = (start: number, length: number) =>
    decoder.decode(bytes.subarray(start, start + length)).replace(/\0.*$/s, "");
  const files: Files = new Map();
  let longPath: string | undefined;
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const type = text(at + 156, 1);
    if (!Number.isSafeInteger(size) || at + 512 + size > bytes.length) throw broken();
    const body = at + 512;
    if (type === "x") {
      longPath = /^\d+ path=(.*)$/m.exec(text(body, size))?.[1];
    } else {
      const prefix = text(at + 345, 155);
      const path = longPath ?? (prefix ? `${prefix}/${text(at, 100)}` : text(at, 100));
      longPath = undefined;
      // The rest of the package is not for us, and most of its bytes.
      if (type === "0" || type === "") {
        if (path.startsWith(MODULES) || path.startsWith(TYPES)) {
          files.set(path, decoder.decode(bytes.subarray(body, body + size)));
        }
      }
    }
    at = body + Math.ceil(size / 512) * 512;
  }
  return files;
}

/**
 * Turns the tarball's modules into what Deno takes for packages from JSR. They were compiled for Node: they reach for Deno
 * through a shim, and for each other by relative paths, which Deno's type checker refuses between packages.
 */
function layOut(tarball: Files, options: VendorOptions): Files {
  const laidOut: Files = new Map();
  const versions = new Map<string, string[]>();
  const publish = (name: string, version: string, files: Files, exports: Record<string, string>) => {
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const [path, text] of files) {
      const checksum = `sha256-${createHash("sha256").update(text).digest("hex")}`;
      manifest[`/${path}`] = { size: Buffer.byteLength(text), checksum };
      laidOut.set(`${name}/${version}/${path}`, text);
    }
    laidOut.set(`${name}/${version}_meta.json`, JSON.stringify({ manifest, exports }));
    versions.set(name, [...versions.get(name) ?? [], version]);
  };
  // A set hands out what is added while it is walked: the imports of the packages before.
  const folders = new Set(options.packages);
  for (const folder of folders) {
    const { files, imports } = copyPackage(tarball, folder, options);
    const { name, version } = splitFolder(folder, options.renames);
    publish(name, version, files, exportsOf(files.keys()));
    imports.forEach((found) => folders.add(found));
  }
  for (const [name, { version, file }] of Object.entries(options.standIns)) {
    publish(name, version, new Map([["mod.ts", readFileSync(file, "utf8")]]), { ".": "./mod.ts" });
  }
  for (const [folder, found] of versions) {
    const [scope, name] = folder.slice(1).split("/");
    const latest = found.findLast((version) => !version.includes("-")) ?? found.at(-1);
    const all = Object.fromEntries(found.map((version) => [version, {}]));
    laidOut.set(`${folder}/meta.json`, JSON.stringify({ scope, name, latest, versions: all }));
  }
  return laidOut;
}

/** A package's modules and declarations, with the folders of the packages that they import. */
function copyPackage(tarball: Files, folder: string, options: VendorOptions): { files: Files; imports: Set<string> } {
  const files: Files = new Map();
  const imports = new Set<string>();
  for (const [path, text] of tarball) {
    const root = [MODULES, TYPES].find((part) => path.startsWith(`${part}${folder}/`));
    if (!root || !/\.(js|d\.ts)$/.test(path)) continue;
    const name = path.slice(`${root}${folder}/`.length);
    const rewritten = rewrite(text, (specifier) => {
      const wanted = posix.join(posix.dirname(path), specifier).slice(root.length);
      if (!tarball.has(`${MODULES}${wanted}`)) {
        throw new DepsError(
          `The tarball of ${options.spec} lacks ${wanted}, which ${path} imports. Pin a version of the package that is whole in tools/deps.ts.`,
        );
      }
      if (wanted.startsWith(`${folder}/`)) return specifier;
      const [scope, base, version, ...rest] = wanted.split("/");
      imports.add(`${scope}/${base}/${version}`);
      return `jsr:${splitFolder(`${scope}/${base}/${version}`, options.renames).name}@${version}/${rest.join("/")}`;
    });
    const declarations = name.replace(/\.js$/, ".d.ts");
    const typed = name.endsWith(".js") && tarball.has(`${TYPES}${folder}/${declarations}`);
    files.set(name, typed ? `/* @ts-self-types="./${posix.basename(declarations)}" */\n${rewritten}` : rewritten);
  }
  if (files.size > 0) return { files, imports };
  throw new DepsError(
    `The tarball of ${options.spec} lacks ${folder}. Pin a version of the package that carries it in tools/deps.ts.`,
  );
}

/** Takes the shim out of a compiled file, and hands its relative imports to `replace`. */
function rewrite(text: string, replace: (specifier: string) => string): string {
  return text.split("\n")
    // The maps that these comments name are not copied.
    .filter((line) => !/^import \* as dntShim |^\/\/# sourceMappingURL=/.test(line))
    .map((line) =>
      // Examples in documentation import what is not there.
      /^\s*(\*|\/[*/])/.test(line) ? line : line
        .replaceAll("dntShim.dntGlobalThis", "globalThis")
        .replaceAll("dntShim.Deno", "Deno")
        .replace(/(\bfrom |\bimport |\bimport\()"(\.[^"]*)"/g, (_, before, path) => `${before}"${replace(path)}"`)
    )
    .join("\n");
}

/**
 * What a package exports: each module under its own path, for the other packages, and the names that users write:
 * `./ensure-dir` for `ensure_dir.js`, `./posix` for `posix/mod.js`.
 */
function exportsOf(paths: Iterable<string>): Record<string, string> {
  const exports: Record<string, string> = {};
  for (const path of paths) {
    if (!path.endsWith(".js")) continue;
    exports[`./${path}`] = `./${path}`;
    if (/(^|\/)_/.test(path)) continue;
    const name = path.replace(/(^|\/)mod\.js$/, "").replace(/\.js$/, "").replaceAll("_", "-");
    exports[name === "" ? "." : `./${name}`] = `./${path}`;
  }
  return exports;
}

function splitFolder(folder: string, renames: Record<string, string>): { name: string; version: string } {
  const [scope, base, version = ""] = folder.split("/");
  const name = `${scope}/${base}`;
  const [from, to] = Object.entries(renames).find(([prefix]) => name.startsWith(prefix)) ?? ["", ""];
  return { name: to + name.slice(from.length), version };
}

/** Writes the files and, last, the stamp that vouches for them. */
function write(folder: string, files: Files, source: string): void {
  const stamp: Stamp = { source, files: {} };
  const folders = new Set([...files.keys()].map((path) => dirname(path)));
  folders.forEach((path) => mkdirSync(join(folder, path), { recursive: true }));
  for (const [path, text] of files) {
    writeFileSync(join(folder, path), text);
    stamp.files[path] = Buffer.byteLength(text);
  }
  writeFileSync(join(folder, STAMP), JSON.stringify(stamp));
}

/**
 * Gives the staged folder its name. What has that name already is removed if it is an older stand-in, and kept under
 * another name if it is not ours. Another run may do the same at any moment; whichever comes first has done the work.
 *
 * @returns Where the folder went that was in the way.
 */
function moveInPlace(staged: string, target: string, look: () => Found): string | undefined {
  mkdirSync(dirname(target), { recursive: true });
  let setAside: string | undefined;
  for (let tries = 1;; tries++) {
    const found = look();
    if (found === "complete") return setAside;
    try {
      if (found !== "absent") {
        const aside = `${target}.kept-${randomUUID().slice(0, 8)}`;
        renameSync(target, aside);
        // Told by what was moved, not by what was seen: another run may have been in between.
        if (existsSync(join(aside, STAMP))) rmSync(aside, { recursive: true, force: true });
        else setAside = aside;
      }
      renameSync(staged, target);
      return setAside;
    } catch (error) {
      // Another run was faster, or else the next tries fail alike.
      if (tries === 5) throw error;
    }
  }
}

/** Leaves no empty `vendor/` behind a failure; another run may be filling it. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Not empty, or never made: both are right.
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

if (import.meta.main) {
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const here = dirname(fileURLToPath(import.meta.url));
  const interrupted = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => interrupted.abort(new DepsError(`Stopped by ${name}.`)));
  }
  try {
    const { state, setAside } = await ensureVendor({
      root: resolve(here, ".."),
      imports: ["@std/path", "@std/fs", "@std/assert", "@cliffy/command"],
      spec: "windmill-cli@1.596.0",
      integrity: "sha512-5aFVNTOEaGyTKyQlyjFI1FAZ8fTIQ2vGSmnqL3FfZuKpKWdqGXh8p9Azdp8N2MkIwyP1vYtOK9nfQk6jr6tRTw==",
      packages: [
        "@std/path/1.1.3",
        "@std/fs/1.0.20",
        "@std/yaml/1.0.10",
        "@std/fmt/1.0.8",
        "@std/encoding/1.0.4",
        "@windmill-labs/cliffy-command/1.0.0-rc.5",
        "@windmill-labs/cliffy-prompt/1.0.0-rc.6",
      ],
      renames: { "@windmill-labs/cliffy-": "@cliffy/" },
      standIns: { "@std/assert": { version: "1.0.0", file: join(here, "assert_stand_in.ts") } },
      env: process.env,
      signal: interrupted.signal,
    });
    if (setAside) say(`vendor/ held modules that this project cannot do with; they are now in ${setAside}.`);
    if (state === "filled") say("JSR does not answer: vendor/ has been filled from npm.");
  } catch (error) {
    if (!(error instanceof DepsError)) throw error;
    say(`Dependencies: ${error.message}`);
    process.exitCode = 1;
  }
}
