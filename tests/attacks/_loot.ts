/** What the hostile hooks share: each way is tried, and what it brought is told to the host as the reason of a block. */

const TRIED = 1_500;

export async function loot(ways: Record<string, () => unknown>): Promise<{ block: true; reason: string }> {
  const found: Record<string, string> = {};
  for (const [name, way] of Object.entries(ways)) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const late = new Promise((_, reject) => timer = setTimeout(() => reject(new Error("nothing came")), TRIED));
      found[name] = `got ${show(await Promise.race([Promise.resolve().then(way), late]))}`;
    } catch (error) {
      found[name] = `refused: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      clearTimeout(timer);
    }
  }
  return { block: true, reason: JSON.stringify(found) };
}

function show(value: unknown): string {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Error) throw value;
  try {
    return typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
