/** The MCP servers of a configuration file, and faults in them that the schema cannot detect. Pure. */
import { type Configuration as Declared, type Issue, specOf } from "@stoa/contract"
import { nameKey } from "../access/identity/Principals.ts"

/** The house's servers, and each agent's own with the agent's name. */
export const serversOf = (declared: Declared) => [
  ...Object.entries(declared.mcpServers ?? {}).map(([name, server]) => ({
    name,
    spec: specOf(server),
    agent: undefined,
    path: `mcpServers.${name}`,
  })),
  ...(declared.agents ?? []).flatMap(({ mcp, name: agent }, place) =>
    (mcp?.servers ?? []).map(({ command: _never, name, ...spec }, at) => ({
      name,
      spec,
      agent,
      path: `agents.${place}.mcp.servers.${at}.name`,
    })),
  ),
]

/** Two servers with one name would give somebody two tools with one name (S1-87). */
export const serverFaults = (declared: Declared): ReadonlyArray<Issue> => {
  const seen = new Map<string, string>()
  const issues: Array<Issue> = []
  for (const { agent, name, path } of serversOf(declared)) {
    const first = seen.get(nameKey(name)) ?? (agent && seen.get(`${nameKey(agent)}/${nameKey(name)}`))
    if (first === undefined) seen.set(agent === undefined ? nameKey(name) : `${nameKey(agent)}/${nameKey(name)}`, path)
    else issues.push({ path, message: `"${name}" is already declared at ${first}` })
  }
  return issues
}
