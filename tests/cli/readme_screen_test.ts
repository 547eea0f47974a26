import { assertEquals } from "@std/assert";
import { chatScreen, withScreen } from "../../tools/readme_screen.ts";
import { terminalTest } from "../terminal.ts";

terminalTest("README.md shows the chat as it is", async () => {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  assertEquals(readme, withScreen(readme, await chatScreen(readme)), "run: deno run -A tools/readme_screen.ts");
});
