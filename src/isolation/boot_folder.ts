/**
 * Where the child's own modules and its warm caches lie: a folder of the user, made once for each version of them, or a temporary
 * one where the user has none.
 *
 * @module
 */

import { dirname, join, resolve } from "@std/path";
import { homeDirectory } from "../paths.ts";
import { BOOT_FILES } from "./boot_files.ts";

/** A folder with the child's modules. */
export interface BootFolder {
  /** The child's entry. */
  entry: string;
  /** Caches to start from: copied for each child. Absent until they have been made. */
  cache: string;
}

/** Folder of the user in which this module keeps what it can make again; `undefined` when there is none. */
export function cacheFolder(): string | undefined {
  const base = cachesOfUser();
  return base ? join(base, "xcsh-hooks") : undefined;
}

/** Folder from which the runtime takes what this program imports of others; `undefined` when it is not known. */
export function importsFolder(): string | undefined {
  const named = variable("DENO_DIR");
  if (named !== undefined) return resolve(named);
  const home = homeDirectory();
  const base = Deno.build.os === "darwin" ? home && join(home, "Library", "Caches") : cachesOfUser();
  return base ? join(base, "deno") : undefined;
}

function cachesOfUser(): string | undefined {
  const home = homeDirectory();
  return Deno.build.os === "windows"
    ? variable("LOCALAPPDATA")
    : variable("XDG_CACHE_HOME") ?? (home && join(home, ".cache"));
}

function variable(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch {
    return undefined; // Not granted.
  }
}

/**
 * Lays out the child's modules.
 *
 * @param temporary Used where the user has no folder that can be written.
 * @param compat Whether hooks in it import the way other hosts do.
 * @param packages Modules of packages from npm, and the child's entry with them, where its hook needs any.
 * @returns Where they are. What is there is checked against what should be there.
 */
export async function layBootFolder(
  temporary: string,
  compat: boolean,
  packages?: Readonly<Record<string, string>>,
): Promise<BootFolder> {
  const texts = Object.entries(compat ? { ...BOOT_FILES, ...await compatFiles(), ...packages } : BOOT_FILES);
  const entry = packages !== undefined ? "boot_npm.ts" : compat ? "boot_compat.ts" : "boot.ts";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(texts)));
  const version = `${Deno.version.deno}-${new Uint8Array(digest).toHex().slice(0, 16)}`;
  const user = cacheFolder();
  for (const base of user === undefined ? [temporary] : [user, temporary]) {
    try {
      const folder = join(base, version);
      const sources = join(folder, "src");
      for (const [name, text] of texts) layFile(join(sources, name), text);
      return {
        entry: join(sources, "isolation", entry),
        cache: join(folder, "deno"),
      };
    } catch (error) {
      if (base === temporary) throw error;
    }
  }
  throw new Error("unreachable: the temporary folder is always tried");
}

async function compatFiles(): Promise<Readonly<Record<string, string>>> {
  return (await import("./compat_files.ts")).COMPAT_FILES;
}

function layFile(path: string, text: string): void {
  try {
    if (Deno.readTextFileSync(path) === text) return;
  } catch {
    // It is not there yet.
  }
  Deno.mkdirSync(dirname(path), { recursive: true });
  // Renamed into place, since another host may be reading it.
  const fresh = `${path}.${crypto.randomUUID()}`;
  Deno.writeTextFileSync(fresh, text);
  Deno.renameSync(fresh, path);
}

/** Copies the warm caches into the folder of a child, if there are any. */
export async function copyCache(boot: BootFolder, to: string): Promise<boolean> {
  try {
    await copyFolder(boot.cache, to);
    return true;
  } catch {
    return false;
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  await Promise.all(Array.from(Deno.readDirSync(from), ({ name, isDirectory }) => {
    const [source, target] = [join(from, name), join(to, name)];
    return isDirectory ? copyFolder(source, target) : Deno.copyFile(source, target);
  }));
}

/** Keeps the caches of a child that ran no hook, so that the next ones start from them. */
export async function keepCache(boot: BootFolder, from: string): Promise<void> {
  const fresh = `${boot.cache}.${crypto.randomUUID()}`;
  try {
    await copyFolder(from, fresh);
    await Deno.rename(fresh, boot.cache);
  } catch {
    // Another host was first, or the folder cannot be written: children then start cold.
    await Deno.remove(fresh, { recursive: true }).catch(() => {});
  }
}
