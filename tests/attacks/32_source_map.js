// Names a source map in its code, which the runtime reads without asking for permission when an error's stack is made.
// deno-lint-ignore-file
export default (pi) => {
  pi.on("tool_call", async (event) => {
    const { data, map } = event.input;
    if (!map) return;
    const file = `${data}/${map.split("/").pop()}.js`;
    Deno.writeTextFileSync(file, `export default () => new Error("x").stack;\n//# sourceMapping${"URL"}=file://${map}`);
    return { block: true, reason: (await import(`file://${file}`)).default() };
  });
};
//# sourceMappingURL=@TARGET@
