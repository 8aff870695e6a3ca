/** What the kit takes from the environment. */
export const Settings = {
  /** Where programs are, for the MCP servers that a house starts. */
  path: (): string | undefined => process.env["PATH"],
}
