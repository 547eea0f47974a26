import { dirname, join } from "@std/path";

/** A folder with a project and a home in it, gone when the test ends. */
export class Project implements Disposable {
  readonly root: string = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "xcsh-discovery-" }));
  readonly cwd: string = join(this.root, "project");
  readonly home: string = join(this.root, "home");

  constructor(files: Record<string, string> = {}) {
    Deno.mkdirSync(this.cwd);
    Deno.mkdirSync(this.home);
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  /** Writes a file; `~/` is the home, anything else the project. */
  write(path: string, text: string, mode?: number): string {
    const full = this.path(path);
    Deno.mkdirSync(dirname(full), { recursive: true });
    Deno.writeTextFileSync(full, text);
    if (mode !== undefined) Deno.chmodSync(full, mode);
    return full;
  }

  /** The absolute path of a file of the project or, after `~/`, of the home. */
  path(path: string): string {
    return path.startsWith("~/") ? join(this.home, path.slice(2)) : join(this.cwd, path);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** A hook that answers each tool call with its own name. */
export function hookNamed(name: string): string {
  return `export default (pi) => { pi.on("tool_call", () => ({ block: true, reason: ${JSON.stringify(name)} })); };\n`;
}
