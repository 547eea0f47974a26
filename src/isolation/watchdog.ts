/**
 * What the children of one host have in common: a temporary folder, and a small shell that outlives a host which is killed. The
 * shell reads which process groups belong to the host; when the pipe from the host closes, for whatever reason, it ends the groups
 * and removes the folder. So no child survives its host, not even one that spins, ignores its pipe or has stopped itself.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "@std/path";
import { cacheFolder } from "./boot_folder.ts";

const SCRIPT = `
trap '' INT TERM HUP
folder=$1
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% "$group" *} \${groups#* "$group" }" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
rm -rf -- "$folder"
`;

/** In the user's own folder where there is one: no grant opens that for writing, as one for all of the temporary folder would. */
function makeFolder(): string {
  const prefix = "xcsh-hooks-";
  const user = cacheFolder();
  try {
    if (user === undefined) return Deno.makeTempDirSync({ prefix });
    const dir = join(user, "run");
    Deno.mkdirSync(dir, { recursive: true });
    return Deno.makeTempDirSync({ dir, prefix });
  } catch (error) {
    if (user === undefined || error instanceof Deno.errors.NotCapable) throw error;
    return Deno.makeTempDirSync({ prefix });
  }
}

let current: Nest | undefined;
let lastNumber = 0;

/** The folder and the shell, from the first child to the last. */
class Nest {
  readonly folder = makeFolder();
  readonly shell: ChildProcess | undefined;
  children = 0;

  constructor() {
    if (Deno.build.os === "windows") return;
    if (Deno.permissions.querySync({ name: "run", command: "/bin/sh" }).state !== "granted") {
      Deno.removeSync(this.folder, { recursive: true });
      throw new Deno.errors.NotCapable("Requires run access, run again with the --allow-run flag");
    }
    this.shell = spawn("/bin/sh", ["-c", SCRIPT, "xcsh-hooks", this.folder], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      env: { PATH: "/bin:/usr/bin" },
      cwd: "/",
    });
    this.shell.on("error", () => {});
    this.shell.stdin?.on("error", () => {});
    this.shell.unref();
  }

  tell(sign: "+" | "-", pid: number): void {
    this.shell?.stdin?.write(`${sign} ${pid}\n`);
  }

  /** Ends the shell when the last child has gone; it removes the folder. */
  async leave(): Promise<void> {
    if (--this.children > 0) return;
    if (current === this) current = undefined;
    await Deno.remove(this.folder, { recursive: true }).catch(() => {});
    const { shell } = this;
    if (shell === undefined || shell.exitCode !== null) return;
    const ended = new Promise((resolve) => shell.once("exit", resolve));
    shell.ref();
    shell.stdin?.end();
    await ended;
  }
}

/** The place of one child. */
export interface Place {
  /** A new folder for it alone. */
  readonly folder: string;
  /** What holds the folders of all children: closed to each of them. */
  readonly nest: string;
  /** Puts its process group under watch. */
  watch(pid: number): void;
  /** Ends the watch, and removes the folder. */
  leave(): Promise<void>;
}

/**
 * Makes a place for a child.
 *
 * @returns The place; it must be left when the child has ended, or could not be started.
 */
export function takePlace(): Place {
  const nest = current ??= new Nest();
  nest.children++;
  const folder = join(nest.folder, String(++lastNumber));
  Deno.mkdirSync(folder);
  let watched: number | undefined;
  return {
    folder,
    nest: nest.folder,
    watch(pid) {
      watched = pid;
      nest.tell("+", pid);
    },
    async leave() {
      if (watched !== undefined) nest.tell("-", watched);
      await Deno.remove(folder, { recursive: true }).catch(() => {});
      await nest.leave();
    },
  };
}
