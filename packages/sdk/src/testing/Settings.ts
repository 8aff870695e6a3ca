/** What the kit takes from the environment. */
export const Settings = {
  /** The path of programs, for the MCP servers that a house starts. */
  path: (): string | undefined => process.env["PATH"],
}
