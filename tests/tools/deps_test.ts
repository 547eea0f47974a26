import { assertEquals, assertFalse, assertRejects, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { DepsError, ensureVendor, type VendorOptions } from "../../tools/deps.ts";

const TOOLS = new URL("../../tools/", import.meta.url);

/** Two packages as the real tarball holds them: compiled for Node, with a shim, and one importing the other. */
const FIXTURE: Record<string, string> = {
  "package/package.json": JSON.stringify({ name: "fixture", version: "1.0.0" }),
  "package/esm/_dnt.shims.js": "export const Deno = {}; export const dntGlobalThis = {};",
  "package/esm/deps/jsr.io/@std/path/1.2.3/mod.js":
    'import * as dntShim from "../../../../../_dnt.shims.js";\nimport { shout } from "../../../@there/acme-text/2.0.0-rc.1/sub/shout_loud.js";\n' +
    "export const version = () => shout(typeof dntShim.Deno.version.deno + typeof dntShim.dntGlobalThis.Deno);\n//# sourceMappingURL=mod.js.map\n",
  "package/types/deps/jsr.io/@std/path/1.2.3/mod.d.ts": "export declare function version(): string;\n",
  "package/esm/deps/jsr.io/@there/acme-text/2.0.0-rc.1/sub/shout_loud.js":
    'import { upper } from "../mod.js";\nexport const shout = (text) => upper(text) + "!";\n',
  "package/types/deps/jsr.io/@there/acme-text/2.0.0-rc.1/sub/shout_loud.d.ts":
    "export declare function shout(text: string): string;\n",
  "package/esm/deps/jsr.io/@there/acme-text/2.0.0-rc.1/mod.js": "export const upper = (text) => text.toUpperCase();\n",
  "package/types/deps/jsr.io/@there/acme-text/2.0.0-rc.1/mod.d.ts":
    "export declare function upper(text: string): string;\n",
};

Deno.test("ensureVendor() leaves vendor/ to Deno where JSR answers", async () => {
  await using place = await Place.make({ jsr: describePackage });
  assertEquals(await ensureVendor(place.options()), { state: "jsr" });
  assertEquals(place.files(), []);
  assertEquals(place.npmRequests, []);
});

Deno.test("ensureVendor() gives Deno modules that it runs and checks where JSR answers 404", async () => {
  await using place = await Place.make({ jsr: () => new Response("Not found", { status: 404 }) });
  assertEquals(await ensureVendor(place.options()), { state: "filled" });
  await place.write("deno.json", JSON.stringify({ vendor: true, lock: false }));
  await place.write(
    "main.ts",
    'import { version } from "jsr:@std/path@^1.2.0";\nimport { shout } from "jsr:@acme/text@^2.0.0-rc.1/sub/shout-loud";\n' +
      'import { assertEquals } from "jsr:@std/assert@^1";\nconst text: string = version();\nassertEquals(text, "STRINGOBJECT!");\nconsole.log(text, shout("ok"));\n',
  );
  assertEquals(await place.deno(["run", "--check", "main.ts"]), { code: 0, stdout: "STRINGOBJECT! OK!\n", stderr: "" });
  await place.write("wrong.ts", 'import { version } from "jsr:@std/path@^1.2.0";\nversion() satisfies number;\n');
  assertStringIncludes((await place.deno(["check", "wrong.ts"])).stderr, "TS1360");
});

for (
  const [name, jsr] of Object.entries<Handler>({
    "answers garbage": () => new Response("<html>Sign in to the network</html>"),
    "answers with another package's description": () => Response.json({ scope: "x", name: "y", versions: {} }),
    "fails for one package only": (request) =>
      request.url.includes("assert") ? new Response(null, { status: 503 }) : describePackage(request),
    "does not answer": hang,
    "stops in the middle of an answer": () =>
      new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array([123])) })),
  })
) {
  Deno.test(`ensureVendor() turns to npm when JSR ${name}`, async () => {
    await using place = await Place.make({ jsr });
    await Deno.mkdir(`${place.root}/bin`);
    const env = { ...place.options().env, PATH: `${place.root}/bin` };
    await fails(
      place,
      { env, jsrLimit: 150 },
      "JSR does not answer, and npm cannot be started",
      "install Node.js, which brings npm",
    );
  });
}

Deno.test("ensureVendor() asks nobody when vendor/ is complete", async () => {
  await using place = await Place.make();
  await ensureVendor(place.options());
  const before = place.requests();
  assertEquals(await ensureVendor(place.options()), { state: "complete" });
  assertEquals(place.requests(), before);
});

Deno.test("ensureVendor() makes vendor/ again when a file is lost, cut short or made from something else", async () => {
  await using place = await Place.make();
  await ensureVendor(place.options());
  const whole = place.files();
  const lost = `${place.target}/@std/path/1.2.3/mod.d.ts`;
  await Deno.remove(lost);
  assertEquals(await ensureVendor(place.options()), { state: "filled" });
  await Deno.truncate(lost, 3);
  assertEquals(await ensureVendor(place.options()), { state: "filled" });
  const other = { ...place.options(), standIns: {} };
  assertEquals(await ensureVendor(other), { state: "filled" });
  assertEquals(await ensureVendor(place.options()), { state: "filled" });
  assertEquals(place.files(), whole);
});

Deno.test("ensureVendor() removes a broken stand-in where JSR answers by now", async () => {
  let up = false;
  await using place = await Place.make({
    jsr: (request) => up ? describePackage(request) : new Response(null, { status: 502 }),
  });
  await ensureVendor(place.options());
  up = true;
  assertEquals(await ensureVendor(place.options()), { state: "complete" });
  await Deno.remove(`${place.target}/@std/path/1.2.3/mod.js`);
  assertEquals(await ensureVendor(place.options()), { state: "jsr" });
  assertEquals(place.files(), []);
});

Deno.test("ensureVendor() keeps what Deno vendored when it has every import", async () => {
  await using place = await Place.make();
  for (const name of place.options().imports) {
    await place.write(`${place.folder}/${name}/meta.json`, "{}");
    await place.write(`${place.folder}/${name}/1.0.0_meta.json`, "{}");
  }
  const before = place.files();
  assertEquals(await ensureVendor(place.options()), { state: "complete" });
  assertEquals(place.files(), before);
});

Deno.test("ensureVendor() sets aside what it did not make and cannot use", async () => {
  await using place = await Place.make();
  await place.write(`${place.folder}/@std/path/meta.json`, "from JSR");
  await place.write("vendor/example.com/mod.ts", "other");
  const { state, setAside } = await ensureVendor(place.options());
  assertEquals(state, "filled");
  assertEquals(await Deno.readTextFile(`${setAside}/@std/path/meta.json`), "from JSR");
  assertEquals(await Deno.readTextFile(`${place.root}/vendor/example.com/mod.ts`), "other");
  assertEquals(await ensureVendor(place.options()), { state: "complete" });
});

Deno.test("ensureVendor() may run twice at the same time", async () => {
  await using place = await Place.make();
  const both = () => Promise.all([ensureVendor(place.options()), ensureVendor(place.options())]);
  assertEquals(await both(), [{ state: "filled" }, { state: "filled" }]);
  const whole = place.files();
  await Deno.remove(`${place.target}/@std/path/1.2.3/mod.js`);
  assertEquals(await both(), [{ state: "filled" }, { state: "filled" }]);
  assertEquals(place.files(), whole);
  assertEquals(place.entries(), ["cache", "vendor"]);
  assertEquals(place.entries("vendor"), [place.folder.slice("vendor/".length)]);
});

Deno.test("ensureVendor() refuses a tarball that is not the pinned one, and shows both integrities", async () => {
  await using place = await Place.make();
  const integrity = integrityOf(new Uint8Array([1]));
  await fails(place, { integrity }, `expected ${integrity}, got ${place.integrity}`);
});

Deno.test("ensureVendor() shows what npm says of a tarball that was corrupted on its way", async () => {
  await using place = await Place.make({ tarball: (bytes) => bytes.with(bytes.length - 1, 255) });
  await fails(place, {}, `"npm pack fixture@1.0.0" failed: EINTEGRITY`);
});

Deno.test("ensureVendor() shows what npm says of a package that its registry lacks", async () => {
  await using place = await Place.make();
  await fails(place, { spec: "fixture@9.9.9" }, `"npm pack fixture@9.9.9" failed: ETARGET`);
});

Deno.test("ensureVendor() shows what npm says of a registry that is down", async () => {
  await using place = await Place.make();
  const env = { ...place.options().env, npm_config_registry: closedAddress() };
  await fails(place, { env }, `"npm pack fixture@1.0.0" failed: ECONNREFUSED`);
});

Deno.test("ensureVendor() gives up on an npm that does not end", async () => {
  await using place = await Place.make({ npm: hang });
  await fails(place, { npmLimit: 1500 }, `"npm pack fixture@1.0.0" did not end within 1.5 s`);
});

Deno.test("ensureVendor() names the package that a tarball lacks", async () => {
  await using place = await Place.make();
  await fails(place, { packages: ["@std/fs/1.0.20"] }, "The tarball of fixture@1.0.0 lacks @std/fs/1.0.20");
});

Deno.test("ensureVendor() names the file that a tarball lacks", async () => {
  const { "package/esm/deps/jsr.io/@there/acme-text/2.0.0-rc.1/mod.js": _, ...files } = FIXTURE;
  await using place = await Place.make({ files });
  await fails(place, {}, "lacks @there/acme-text/2.0.0-rc.1/mod.js");
});

Deno.test("ensureVendor() says so when it cannot write", async () => {
  await using place = await Place.make();
  await place.write("vendor", "a file in the way");
  const error = await assertRejects(() => ensureVendor(place.options()), DepsError);
  assertStringIncludes(error.message, `cannot be written to ${place.root}/vendor`);
});

Deno.test("ensureVendor() refuses a JSR_URL that is no address", async () => {
  await using place = await Place.make();
  await fails(place, { env: { JSR_URL: "nowhere" } }, 'JSR_URL is "nowhere"');
});

Deno.test("ensureVendor() stops when it is told to, also while npm waits", async () => {
  const stop = new AbortController();
  await using place = await Place.make({
    npm: (request, ended) => {
      stop.abort(new Error("enough"));
      return hang(request, ended);
    },
  });
  await assertRejects(() => ensureVendor({ ...place.options(), signal: stop.signal }), Error, "enough");
  assertEquals(place.entries(), ["cache"]);
});

Deno.test("deps.ts sets up this project's imports from npm, and is silent the next time", async () => {
  await using place = await Place.make();
  await place.copyTools();
  await place.write(
    "deno.json",
    JSON.stringify({
      vendor: true,
      lock: false,
      imports: {
        "@std/assert": "jsr:@std/assert@^1.0.0",
        "@std/fs": "jsr:@std/fs@^1.0.20",
        "@std/path": "jsr:@std/path@^1.1.3",
        "@cliffy/command": "jsr:@cliffy/command@^1.0.0-rc.5",
      },
    }),
  );
  await place.write(
    "main.ts",
    'import { Command } from "@cliffy/command";\nimport { assertEquals } from "@std/assert";\nimport { ensureDir } from "@std/fs/ensure-dir";\nimport { exists } from "@std/fs";\nimport { join } from "@std/path";\n' +
      'await ensureDir(join("a", "b"));\nassertEquals(await exists("a/b"), true);\n' +
      'const command = new Command().name("x").option("-p, --port <port:number>", "Port.");\n' +
      'const { options } = await command.parse(["--port", "7"]);\nconst port: number | undefined = options.port;\nconsole.log(port);\n',
  );
  // The machine's own npm settings, to get the real package.
  const env = { JSR_URL: place.jsrUrl };
  assertEquals(await place.deno(["run", "-A", "tools/deps.ts"], env), {
    code: 0,
    stdout: "",
    stderr: "JSR does not answer: vendor/ has been filled from npm.\n",
  });
  assertEquals(await place.deno(["run", "-A", "--check", "main.ts"], env), { code: 0, stdout: "7\n", stderr: "" });
  assertEquals(await place.deno(["run", "-A", "tools/deps.ts"], env), { code: 0, stdout: "", stderr: "" });
});

Deno.test("deps.ts ends with 1 and one message when there is neither JSR nor npm", async () => {
  await using place = await Place.make();
  await place.copyTools();
  const env = { ...place.options().env, npm_config_registry: closedAddress() };
  const { code, stderr } = await place.deno(["run", "-A", "tools/deps.ts"], env);
  assertEquals(code, 1);
  assertStringIncludes(
    stderr,
    'Dependencies: JSR does not answer, and "npm pack windmill-cli@1.596.0" failed: ECONNREFUSED',
  );
  assertEquals(stderr.trim().split("\n").length, 1);
  assertFalse(place.entries().includes("vendor"));
});

/** A server's answer; the signal is given when the test has ended. */
type Handler = (request: Request, ended: AbortSignal) => Response | Promise<Response>;

/** What a test may want otherwise than a JSR that is not there and an npm registry that works. */
interface PlaceOptions {
  jsr?: Handler;
  npm?: Handler;
  files?: Record<string, string>;
  /** What becomes of the tarball on its way, after the registry has described it. */
  tarball?: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
}

/** A temporary project with a JSR and an npm registry of its own, all gone at the end of the test. */
class Place implements AsyncDisposable {
  readonly #ended = new AbortController();
  readonly npmRequests: string[] = [];
  readonly #jsrRequests: string[] = [];
  readonly #jsr: Deno.HttpServer<Deno.NetAddr>;
  readonly #npm: Deno.HttpServer<Deno.NetAddr>;
  readonly #tarball: Uint8Array<ArrayBuffer>;

  private constructor(readonly root: string, readonly given: PlaceOptions) {
    this.#tarball = pack(given.files ?? FIXTURE);
    const listen = (requests: string[], handler: Handler) =>
      Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
        requests.push(request.url);
        return handler(request, this.#ended.signal);
      });
    this.#jsr = listen(this.#jsrRequests, given.jsr ?? (() => new Response(null, { status: 404 })));
    this.#npm = listen(this.npmRequests, given.npm ?? ((request) => this.#answerNpm(request)));
  }

  static async make(given: PlaceOptions = {}): Promise<Place> {
    return new Place(await Deno.realPath(await Deno.makeTempDir({ prefix: "deps_test_" })), given);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await Promise.all([this.#jsr.shutdown(), this.#npm.shutdown()]);
    await Deno.remove(this.root, { recursive: true });
  }

  get jsrUrl(): string {
    return `http://127.0.0.1:${this.#jsr.addr.port}`;
  }

  get integrity(): string {
    return integrityOf(this.#tarball);
  }

  /** Where Deno looks for modules of this place's JSR, from the root. */
  get folder(): string {
    return `vendor/http_127.0.0.1_${this.#jsr.addr.port}`;
  }

  get target(): string {
    return `${this.root}/${this.folder}`;
  }

  options(): VendorOptions {
    return {
      root: this.root,
      imports: ["@std/path", "@std/assert"],
      spec: "fixture@1.0.0",
      integrity: this.integrity,
      packages: ["@std/path/1.2.3"],
      renames: { "@there/acme-": "@acme/" },
      standIns: { "@std/assert": { version: "1.0.0", file: fileURLToPath(new URL("assert_stand_in.ts", TOOLS)) } },
      env: {
        ...Deno.env.toObject(),
        NO_PROXY: "127.0.0.1",
        JSR_URL: this.jsrUrl,
        npm_config_registry: `http://127.0.0.1:${this.#npm.addr.port}`,
        npm_config_cache: `${this.root}/cache`,
      },
    };
  }

  requests(): number {
    return this.#jsrRequests.length + this.npmRequests.length;
  }

  /** The names in a folder of the place. */
  entries(path = "."): string[] {
    return [...Deno.readDirSync(`${this.root}/${path}`)].map((entry) => entry.name).sort();
  }

  /** The files that Deno would find for its imports, none if there is no folder for them. */
  files(): string[] {
    const walk = (folder: string): string[] =>
      [...Deno.readDirSync(folder)].flatMap((entry) =>
        entry.isDirectory ? walk(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`.slice(this.target.length + 1)]
      );
    return this.entries().includes("vendor") && this.entries("vendor").length > 0 ? walk(this.target).sort() : [];
  }

  async write(path: string, text: string): Promise<void> {
    const full = `${this.root}/${path}`;
    await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(full, text);
  }

  async copyTools(): Promise<void> {
    for (const name of ["deps.ts", "assert_stand_in.ts"]) {
      await this.write(`tools/${name}`, await Deno.readTextFile(new URL(name, TOOLS)));
    }
  }

  async deno(
    args: string[],
    env?: Record<string, string | undefined>,
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...args.slice(0, 1), "--quiet", ...args.slice(1)],
      cwd: this.root,
      env: { ...env ?? this.options().env, NO_COLOR: "1" } as Record<string, string>,
      stdin: "null",
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, stdout: text(stdout), stderr: text(stderr) };
  }

  #answerNpm(request: Request): Response {
    const url = new URL(request.url);
    if (url.pathname.endsWith(".tgz")) return new Response((this.given.tarball ?? ((bytes) => bytes))(this.#tarball));
    return Response.json({
      name: "fixture",
      "dist-tags": { latest: "1.0.0" },
      versions: {
        "1.0.0": {
          name: "fixture",
          version: "1.0.0",
          dist: { tarball: new URL("/fixture/-/fixture-1.0.0.tgz", url).href, integrity: this.integrity },
        },
      },
    });
  }
}

/** Asserts that the set-up fails with a message that says so much, and leaves the place as it was. */
async function fails(place: Place, options: Partial<VendorOptions>, ...messages: string[]): Promise<void> {
  const error = await assertRejects(() => ensureVendor({ ...place.options(), ...options }), DepsError);
  for (const message of messages) assertStringIncludes(error.message, message);
  assertFalse(place.entries().includes("vendor"), `left ${place.entries()}`);
}

/** JSR's description of whatever package it is asked for. */
function describePackage(request: Request): Response {
  const [, scope, name] = /@(.*)\/(.*)\/meta\.json$/.exec(request.url) ?? [];
  return Response.json({ scope, name, latest: "1.0.0", versions: { "1.0.0": {} } });
}

/** An answer that comes when nobody waits for it any more. */
function hang(_request: Request, ended: AbortSignal): Promise<Response> {
  return new Promise((done) => ended.addEventListener("abort", () => done(new Response(null)), { once: true }));
}

/** An address on which nobody listens. */
function closedAddress(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}

function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

/** A gzipped tarball. Long paths are written as npm does: in a header of their own. */
function pack(files: Record<string, string>): Uint8Array<ArrayBuffer> {
  const entry = (path: string, type: string, body: Buffer) => {
    const header = Buffer.alloc(512);
    header.write(path.slice(0, 100), 0);
    header.write("0000644\0", 100);
    header.write(body.length.toString(8).padStart(11, "0"), 124);
    header.write("        ", 148);
    header.write(type, 156);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return Buffer.concat([header, body, Buffer.alloc((512 - body.length % 512) % 512)]);
  };
  const parts = Object.entries(files).flatMap(([path, text]) => {
    const body = Buffer.from(text);
    if (path.length < 80) return [entry(path, "0", body)];
    const record = ` path=${path}\n`;
    const length = record.length + String(record.length + 2).length;
    return [entry("PaxHeader", "x", Buffer.from(`${length}${record}`)), entry("shortened", "0", body)];
  });
  return new Uint8Array(gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)])));
}
