/**
 * Keeps shell commands that destroy something from running: with a person there, they are asked; without, it is blocked.
 *
 * The command line is read as a shell reads it (quotes, pipes, `sh -c`, `$(…)`, `xargs`, `find -exec`), so that `r"m" -fr /`
 * is seen and `echo "rm -rf /"` is left alone. It is a seat belt against a model's mistakes. It is no wall: a program that
 * is run can do anything, so put what must hold into the sandbox that bash runs in.
 *
 * Needs no permission.
 *
 * @module
 */
import { basename, relative, resolve } from "node:path";
import type { HookAPI } from "@xcsh/hooks";

/** Asks before a dangerous command runs. */
export default function blockUnsafeBash(pi: HookAPI): void {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return;
    const command = String(event.input.command ?? "");
    const dangers = dangersIn(command, ctx.cwd);
    if (dangers.length === 0) return;
    const what = dangers.join("; ");
    if (!ctx.hasUI) return { block: true, reason: `Blocked: ${what}. Nobody is here to allow it.` };
    const allowed = await ctx.ui.confirm("Run a dangerous command?", `${command}\n\n${what}`);
    if (!allowed) return { block: true, reason: `Blocked by the user: ${what}.` };
  });
}

/** Says what a rule finds in a command, if anything. `args` are the words after the program. */
type Rule = (args: string[], place: Place) => string | false | undefined;

/** Where a command runs. */
interface Place {
  /** The folder of the project. */
  project: string;
  /** The folder that the command runs in; `undefined` after a `cd` that cannot be followed. */
  cwd: string | undefined;
}

const has = (args: string[], long: string, short = ""): boolean =>
  args.some((arg) => arg === long || (short !== "" && /^-[^-]/.test(arg) && arg.includes(short)));
const starts = (args: string[], ...words: string[]): boolean => words.every((word, i) => operands(args)[i] === word);
const operands = (args: string[]): string[] => args.filter((arg) => !arg.startsWith("-"));
const deletes = (args: string[], place: Place): string | undefined =>
  first(operands(args), (path) => unsafePath(path, place));
const always = (text: string): Rule => () => text;

/** What is dangerous, by program. Add your own here. */
const RULES: Record<string, Rule> = {
  rm(args, place) {
    if (!has(args, "--recursive", "r") && !has(args, "--recursive", "R")) return;
    const where = deletes(args, place);
    return where && `rm -r deletes ${where}`;
  },
  find(args, place) {
    if (!args.includes("-delete")) return;
    const where = first(args.slice(0, args.findIndex((arg) => arg.startsWith("-"))), (path) => outside(path, place));
    return where && `find -delete deletes in ${where}`;
  },
  chmod: (args, place) => has(args, "--recursive", "R") && recursive("chmod", operands(args).slice(1), place),
  chown: (args, place) => has(args, "--recursive", "R") && recursive("chown", operands(args).slice(1), place),
  mv: (args) => operands(args).at(-1) === "/dev/null" && "mv to /dev/null destroys a file",
  dd: (args) => args.some((arg) => /^of=\/dev\/(?!null$)/.test(arg)) && "dd writes to a device",
  tee: (args) => first(operands(args), unsafeWrite),
  git(args) {
    const rest = withoutGitOptions(args);
    if (starts(rest, "reset") && has(rest, "--hard")) return "git reset --hard drops uncommitted work";
    if (starts(rest, "clean") && has(rest, "--force", "f") && !has(rest, "--dry-run", "n")) {
      return "git clean -f deletes untracked files";
    }
    if (starts(rest, "push")) {
      if (has(rest, "--force", "f") || operands(rest).some((ref) => ref.startsWith("+"))) {
        return "git push --force overwrites what others have";
      }
      if (has(rest, "--delete", "d") || has(rest, "--mirror")) return "git push deletes branches of others";
    }
    if (starts(rest, "checkout") && (rest.includes("--") || rest.includes(".") || has(rest, "--force", "f"))) {
      return "git checkout drops uncommitted work";
    }
    if (starts(rest, "restore") && (!has(rest, "--staged", "S") || has(rest, "--worktree", "W"))) {
      return "git restore drops uncommitted work";
    }
    if (starts(rest, "branch") && has(rest, "--delete-force", "D")) return "git branch -D may lose commits";
    if (starts(rest, "stash", "drop") || starts(rest, "stash", "clear")) return "git stash drop loses stashed work";
    if (starts(rest, "filter-branch") || starts(rest, "reflog", "expire")) return `git ${rest[0]} rewrites history`;
  },
  docker: (args) => /\bprune\b|\bvolume rm\b/.test(args.join(" ")) && "docker deletes images or volumes",
  kubectl: (args) => starts(args, "delete") && "kubectl delete removes resources of a cluster",
  helm: (args) => /^(uninstall|delete)$/.test(operands(args)[0] ?? "") && "helm uninstall removes a release",
  terraform: (args) =>
    (starts(args, "destroy") || (starts(args, "apply") && /-auto-approve/.test(args.join(" ")))) &&
    "terraform changes real infrastructure",
  aws: (args) => / (rm|rb|terminate-|delete-)/.test(` ${args.join(" ")}`) && "aws deletes resources",
  gh: (args) => starts(args, "repo", "delete") && "gh deletes a repository",
  npm: (args) => /^(publish|unpublish)$/.test(operands(args)[0] ?? "") && "npm changes what is published",
  psql: sql,
  mysql: sql,
  sqlite3: sql,
  "redis-cli": (args) => /\bflush(all|db)\b/i.test(args.join(" ")) && "redis-cli deletes a database",
  dropdb: always("dropdb deletes a database"),
  crontab: (args) => has(args, "-r", "r") && "crontab -r deletes all jobs",
  kill: (args) => args.slice(1).includes("-1") && "kill -1 ends every process",
  killall: always("killall ends processes by name"),
  shutdown: always("shutdown stops the machine"),
  reboot: always("reboot stops the machine"),
  halt: always("halt stops the machine"),
  poweroff: always("poweroff stops the machine"),
  shred: always("shred destroys files"),
  wipefs: always("wipefs destroys a file system"),
  fdisk: always("fdisk changes partitions"),
  parted: always("parted changes partitions"),
  sudo: always("sudo runs it as another user"),
  doas: always("doas runs it as another user"),
  su: always("su runs it as another user"),
  pkexec: always("pkexec runs it as another user"),
};

const SHELLS = new Set(["sh", "bash", "zsh", "dash", "ksh", "fish", "ash"]);
const INTERPRETERS = new Set([...SHELLS, "python", "python3", "node", "deno", "perl", "ruby", "php"]);
const DOWNLOADS = new Set(["curl", "wget", "http", "https", "fetch"]);
const CODE_THAT_DELETES = /rmtree|rmSync|rmdirSync|unlinkSync|rm_rf|remove_tree|Deno\.remove|os\.system|execSync/;

/** Programs that run the program named after them, with the options of theirs that take a value. */
const WRAPPERS: Record<string, string[]> = {
  sudo: ["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T"],
  doas: ["-u", "-C"],
  env: ["-u", "-C", "-S"],
  nice: ["-n"],
  ionice: ["-c", "-n"],
  timeout: ["-s", "-k"],
  xargs: ["-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s"],
  nohup: [],
  time: [],
  setsid: [],
  command: [],
  exec: [],
  builtin: [],
  stdbuf: ["-i", "-o", "-e"],
  busybox: [],
};
const KEYWORDS = new Set(["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time"]);

/**
 * Lists what is dangerous in a command line.
 *
 * @param line The command line.
 * @param project The folder that it may change.
 * @returns One text for each danger; none when nothing is known to be dangerous.
 */
export function dangersIn(line: string, project: string): string[] {
  const found = new Set<string>();
  inspect(line, { project, cwd: project }, found, 0);
  return [...found];
}

function inspect(line: string, place: Place, found: Set<string>, depth: number): void {
  if (depth > 8) return void found.add("commands are nested too deeply to be read");
  if (/([^\s(){}|&;]{1,32})\s{0,9}\(\)\s{0,9}\{[^}]{0,99}\1\s{0,9}\|\s{0,9}\1\s{0,9}&/.test(line)) {
    found.add("a fork bomb stops the machine");
  }
  const { commands, nested } = readShell(line);
  for (const inner of nested) inspect(inner, { ...place }, found, depth + 1);
  let fed: string | undefined;
  for (const command of commands) {
    for (const path of command.writes) {
      const danger = unsafeWrite(path);
      if (danger) found.add(danger);
    }
    const program = inspectWords(command.words, place, found, depth);
    if (command.piped && fed !== undefined && DOWNLOADS.has(fed) && INTERPRETERS.has(program ?? "")) {
      found.add(`${fed} feeds what it downloads to ${program}`);
    }
    if (SHELLS.has(program ?? "") && command.input !== undefined) {
      inspect(command.input, { ...place }, found, depth + 1);
    }
    fed = command.piped && DOWNLOADS.has(fed ?? "") ? fed : program;
  }
}

/** Inspects one simple command; returns its program without the path. */
function inspectWords(words: string[], place: Place, found: Set<string>, depth: number): string | undefined {
  while (words.length > 0 && (KEYWORDS.has(words[0]!) || /^\w+\+?=/.test(words[0]!))) words = words.slice(1);
  if (words.length === 0) return;
  const program = basename(words[0]!);
  const args = words.slice(1);
  if (/[$`]/.test(program)) found.add(`the program ${program} is known only when it runs`);
  if (/^mkfs(\.|$)/.test(program)) found.add("mkfs destroys a file system");

  const danger = Object.hasOwn(RULES, program) && RULES[program]!(args, place);
  if (danger) found.add(danger);

  const script = args[args.findIndex((arg) => /^-\w*c$/.test(arg) || arg === "-e" || arg === "--eval") + 1] ?? "";
  if (SHELLS.has(program) && args.some((arg) => /^-\w*c$/.test(arg))) inspect(script, { ...place }, found, depth + 1);
  else if (program === "eval") inspect(args.join(" "), place, found, depth + 1);
  else if (INTERPRETERS.has(program) && CODE_THAT_DELETES.test(args.join(" "))) {
    found.add(`${program} runs code that deletes files or starts programs`);
  }
  if (
    (SHELLS.has(program) || program === "eval" || program === "source" || program === ".") &&
    /[$<`]\(?\s*(curl|wget)\b/.test(args.join(" "))
  ) found.add(`${program} runs what is downloaded`);
  if (program === "cd" || program === "pushd") {
    const target = operands(args)[0] ?? "~";
    place.cwd = place.cwd === undefined || /^[~$-]|[$`*]/.test(target) ? undefined : resolve(place.cwd, target);
  }
  if (program === "find") {
    const at = args.findIndex((arg) => /^-(exec|execdir|ok|okdir)$/.test(arg));
    const start = args.findIndex((arg) => arg.startsWith("-"));
    // What find puts in for `{}` lies below the folders that it starts from.
    const roots = args.slice(0, start);
    if (at !== -1) {
      const inner = args.slice(at + 1).filter((arg) => arg !== ";" && arg !== "+");
      const filled = inner.flatMap((arg) => arg === "{}" ? roots.map((root) => `${root}/_`) : [arg]);
      inspectWords(filled, place, found, depth + 1);
    }
  }
  if (Object.hasOwn(WRAPPERS, program)) {
    let i = 0;
    while (i < args.length && (args[i]!.startsWith("-") || /^\w+=/.test(args[i]!))) {
      i += WRAPPERS[program]!.includes(args[i]!) ? 2 : 1;
    }
    if (program === "timeout") i++;
    let inner = args.slice(i);
    // The paths come from a pipe.
    if (program === "xargs" && inner.length > 0) inner = [...inner, "$xargs"];
    return inspectWords(inner, place, found, depth + 1) ?? program;
  }
  return program;
}

function first(paths: string[], check: (path: string) => string | undefined): string | undefined {
  for (const path of paths) {
    const danger = check(path);
    if (danger) return danger;
  }
}

function recursive(program: string, paths: string[], place: Place): string | undefined {
  const where = first(paths, (path) => outside(path, place));
  return where && `${program} -R changes ${where}`;
}

/** What is dangerous in deleting a path. */
function unsafePath(path: string, place: Place): string | undefined {
  const where = outside(path, place);
  if (where !== undefined) return where;
  const inside = relative(place.project, resolve(place.cwd!, path));
  if (inside === "" || /^(\*|\.\*)?$/.test(inside)) return "everything in the project";
  if (inside === ".git" || inside.startsWith(".git/")) return "the history of the project";
}

/** Says what a path is that is not in the project, nor in a folder of its own under /tmp. */
function outside(path: string, { project, cwd }: Place): string | undefined {
  if (path === "$xargs") return "whatever the pipe names";
  if (/^~|^\$\{?HOME\b/.test(path)) return `${path}, in the home directory`;
  if (/[$`]|\{.*,.*\}/.test(path)) return `${path}, which is known only when it runs`;
  if (cwd === undefined && !path.startsWith("/")) return `${path}, in a folder that is known only when it runs`;
  const full = resolve(cwd ?? "/", path);
  if (full === project || full.startsWith(`${project}/`)) return undefined;
  if (project.startsWith(full === "/" ? "/" : `${full}/`)) return `${full}, which holds the project`;
  if (/^\/(private\/)?tmp\/[^/*?]+/.test(full)) return undefined;
  return `${full}, outside of the project`;
}

function unsafeWrite(path: string): string | undefined {
  if (/^\/dev\/(?!null$|stdout$|stderr$|tty$|fd\/)/.test(path)) return `writing to the device ${path}`;
  if (/^\/(etc|boot|usr|bin|sbin|lib|sys|proc)\//.test(path)) return `writing to the system file ${path}`;
  if (/^(~|\$HOME|\$\{HOME\})\/\.(ssh|bash|zsh|profile|gitconfig|config\/fish)/.test(path)) {
    return `writing to ${path}, which runs or rules later sessions`;
  }
}

function sql(args: string[]): string | false {
  return /\b(drop\s+(table|database|schema)|truncate)\b/i.test(args.join(" ")) && "SQL that drops data";
}

function withoutGitOptions(args: string[]): string[] {
  let i = 0;
  while (i < args.length && args[i]!.startsWith("-")) i += args[i] === "-C" || args[i] === "-c" ? 2 : 1;
  return args.slice(i);
}

/** A simple command of a shell. */
interface ShellCommand {
  /** The program and its arguments, unquoted. */
  words: string[];
  /** Files that its output goes to. */
  writes: string[];
  /** Whether it reads what the command before it writes. */
  piped: boolean;
  /** What a here-document gives it. */
  input?: string;
}

/** Reads a command line into simple commands, and the command lines that are substituted into it. */
function readShell(line: string): { commands: ShellCommand[]; nested: string[] } {
  const commands: ShellCommand[] = [];
  const nested: string[] = [];
  const heredocs: { delimiter: string; command: ShellCommand }[] = [];
  let command: ShellCommand = { words: [], writes: [], piped: false };
  let word: string | undefined;
  let redirect: "write" | "read" | "heredoc" | undefined;
  let i = 0;

  const endWord = () => {
    if (word === undefined) return;
    if (redirect === "write") command.writes.push(word);
    else if (redirect === "heredoc") heredocs.push({ delimiter: word, command });
    else if (redirect === undefined) command.words.push(word);
    word = redirect = undefined;
  };
  const endCommand = (piped: boolean) => {
    endWord();
    if (command.words.length > 0 || command.writes.length > 0) commands.push(command);
    command = { words: [], writes: [], piped };
  };
  const add = (text: string) => word = (word ?? "") + text;
  /** Reads what is substituted, from after its opening to before its end. */
  const substitute = (open: string, close: string) => {
    const from = i + open.length;
    const to = close === "`" ? endOfBackticks(line, from) : endOfParens(line, from);
    nested.push(line.slice(from, to));
    add(`${open}${line.slice(from, to)}${close}`);
    i = to + 1;
  };

  while (i < line.length) {
    const char = line[i]!;
    const two = line.slice(i, i + 2);
    if (char === "\\") {
      if (line[i + 1] !== "\n") add(line[i + 1] ?? "");
      i += 2;
    } else if (char === "'" || two === "$'") {
      const from = i + (char === "'" ? 1 : 2);
      let to = from;
      while (to < line.length && line[to] !== "'") to += char === "$" && line[to] === "\\" ? 2 : 1;
      const text = line.slice(from, to);
      add(
        char === "'"
          ? text
          : text.replaceAll(/\\x([0-9a-f]{1,2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
      );
      i = to + 1;
    } else if (char === '"') {
      add("");
      i++;
      while (i < line.length && line[i] !== '"') {
        if (line.startsWith("$(", i)) substitute("$(", ")");
        else if (line[i] === "`") substitute("`", "`");
        else if (line[i] === "\\") {
          add(/["\\$`]/.test(line[i + 1] ?? "") ? line[i + 1]! : line.slice(i, i + 2));
          i += 2;
        } else add(line[i++]!);
      }
      i++;
    } else if (two === "$(") substitute("$(", ")");
    else if ((two === "<(" || two === ">(") && redirect === undefined) substitute(two, ")");
    else if (char === "`") substitute("`", "`");
    else if (char === "#" && word === undefined) { while (i < line.length && line[i] !== "\n") i++; }
    else if (char === " " || char === "\t") {
      endWord();
      i++;
    } else if (char === "\n") {
      endCommand(false);
      i++;
      for (const { delimiter, command: reader } of heredocs.splice(0)) {
        const end = line.slice(i).search(new RegExp(`^\\t*${delimiter.replaceAll(/\W/g, "\\$&")}$`, "m"));
        reader.input = end === -1 ? line.slice(i) : line.slice(i, i + end);
        i = end === -1
          ? line.length
          : line.indexOf("\n", i + end) === -1
          ? line.length
          : line.indexOf("\n", i + end) + 1;
      }
    } else if (char === "<" || char === ">" || two === "&>") {
      // A number right before it is a file descriptor.
      if (word !== undefined && /^\d+$/.test(word)) word = undefined;
      endWord();
      const [operator] = /^(?:<<<|<<-?|<>|<&|<|&>>?|>>|>\||>&|>)/.exec(line.slice(i)) ?? [char];
      redirect = operator.startsWith("<<") && operator !== "<<<"
        ? "heredoc"
        : operator.startsWith("<")
        ? "read"
        : "write";
      i += operator.length;
    } else if (char === ";" || char === "|" || char === "&" || char === "(" || char === ")") {
      const pipe = char === "|" && two !== "||";
      endCommand(pipe);
      i += two === "||" || two === "&&" || two === ";;" || two === "|&" ? 2 : 1;
    } else {
      add(char);
      i++;
    }
  }
  endCommand(false);
  return { commands, nested };
}

/** Finds the `)` that ends what began before `from`. */
function endOfParens(line: string, from: number): number {
  let depth = 1;
  let quote = "";
  for (let i = from; i < line.length; i++) {
    const char = line[i]!;
    if (char === "\\" && quote !== "'") i++;
    else if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return i;
  }
  return line.length;
}

function endOfBackticks(line: string, from: number): number {
  for (let i = from; i < line.length; i++) {
    if (line[i] === "\\") i++;
    else if (line[i] === "`") return i;
  }
  return line.length;
}
