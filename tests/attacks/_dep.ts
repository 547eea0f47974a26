/** What 27_remapped_dependency.ts imports. */
export const which = "real";
