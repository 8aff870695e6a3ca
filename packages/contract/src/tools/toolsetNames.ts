/** The names of the toolsets as a plain list, for the schema, and for a page without loading a schema. */
export const toolsetNames = ["stoa", "office", "gateway", "engrams", "team", "skills"] as const
