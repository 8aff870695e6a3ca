/** Which keys of `_meta` are MCP's own. Pure. */

/** Reserved for the hop (a label of its prefix is `modelcontextprotocol` or `mcp`): never passed on. */
export const isReservedMeta = (key: string): boolean =>
  /^(?:[^/]*\.)?(?:modelcontextprotocol|mcp)(?:\.[^/]*)?\//.test(key)
