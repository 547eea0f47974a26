import { assertEquals } from "@std/assert";
import { WriteQueue } from "../../cli/write_queue.ts";

/** A stream that takes so many bytes, and then no more until it is told to. */
function stream(take: number) {
  const taken: Uint8Array[] = [];
  const { promise: stuck, resolve: release } = Promise.withResolvers<void>();
  return {
    release,
    text: () => new TextDecoder().decode(new Uint8Array(taken.flatMap((bytes) => [...bytes]))),
    async write(bytes: Uint8Array): Promise<number> {
      if (taken.length >= take) await stuck;
      taken.push(bytes.slice());
      return bytes.length;
    },
  };
}

Deno.test("WriteQueue writes everything in order, in pieces that fit", async () => {
  const out = stream(Infinity);
  const sizes: number[] = [];
  const queue = new WriteQueue(
    {
      write(bytes) {
        sizes.push(bytes.length);
        return out.write(bytes);
      },
    },
    8,
    () => {},
  );
  for (const text of ["a", "bc", "", "ä".repeat(10), "x"]) queue.add(text);
  await queue.written();
  assertEquals(out.text(), `abc${"ä".repeat(10)}x`);
  assertEquals(sizes, [1, 8, 8, 7]);
});

Deno.test("WriteQueue writes what is added at the moment when it has written all", async () => {
  for (let moment = 0; moment < 20; moment++) {
    const out = stream(Infinity);
    const queue = new WriteQueue(out, 8, () => {});
    queue.add("a");
    for (let i = 0; i < moment; i++) await Promise.resolve();
    queue.add("b");
    await queue.written();
    assertEquals(out.text(), "ab", `added after ${moment} steps`);
  }
});

Deno.test("WriteQueue writes a piece on that was taken in part", async () => {
  let text = "";
  const write = (bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes.subarray(0, 3));
    return Promise.resolve(Math.min(3, bytes.length));
  };
  const queue = new WriteQueue({ write }, 8, () => {});
  queue.add("abcdefghijk");
  await queue.written();
  assertEquals(text, "abcdefghijk");
});

Deno.test("WriteQueue waits for a reader that comes back, and gives up one that is too far behind", async () => {
  const out = stream(0);
  let gone = 0;
  const queue = new WriteQueue(out, 8, () => gone++);
  const large = "x".repeat(100 * 1024 * 1024);
  queue.add(large);
  queue.add(large);
  assertEquals(gone, 0);
  queue.add("one more");
  queue.add("and more");
  assertEquals(gone, 1);
  await queue.written();
  out.release();
});

Deno.test("WriteQueue gives up a reader that is gone", async () => {
  let gone = 0;
  const write = () => Promise.reject(new Deno.errors.BrokenPipe());
  const queue = new WriteQueue({ write }, 8, () => gone++);
  queue.add("a");
  await queue.written();
  queue.add("b");
  await queue.written();
  assertEquals(gone, 1);
});
