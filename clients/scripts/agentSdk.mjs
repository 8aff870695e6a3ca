// The Claude Agent SDK with a set of tools for each of two agents: first the servers alone, then the whole program, twice at
// once. Says who wrote what; the house is asked elsewhere whether that is true.
import { createSdkMcpServer, query } from "@anthropic-ai/claude-agent-sdk"

const { agents, env, sdk, url } = JSON.parse(process.argv[2])
const { getTools } = await import(sdk)

/** A server and somebody who talks to it, in one process. */
const talkTo = async (instance) => {
  const waiting = new Map()
  const transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => waiting.get(message.id)?.(message.result),
  }
  await instance.connect(transport)
  let ids = 0
  const ask = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++ids, resolve)
      transport.onmessage({ jsonrpc: "2.0", id: ids, method, params })
    })
  const clientInfo = { name: "in-process", version: "1" }
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
  return ask
}

// #region tools
// With the agent's own token, or with an admin's token and the agent's name.
const own = async (token) => createSdkMcpServer({ name: "stoa", tools: await getTools({ url, token }) })
const named = async (agent, token) => createSdkMcpServer({ name: "stoa", tools: await getTools(agent, { url, token }) })
// #endregion tools

const serverFor = ({ admin, name, token }) => (admin === undefined ? own(token) : named(name, admin))

const alone = await Promise.all(
  agents.map(async (agent) => {
    const server = await serverFor(agent)
    const ask = await talkTo(server.instance)
    const { tools } = await ask("tools/list", {})
    const text = `${agent.name}, by hand`
    const sent = await ask("tools/call", { name: "send_message", arguments: { channelId: "general", text } })
    const bad = await ask("tools/call", { name: "motto", arguments: { loud: "very" } })
    return { server, tools, sent, bad }
  }),
)

const programs = await Promise.all(
  agents.map(async (agent) => {
    const options = {
      mcpServers: { stoa: await serverFor(agent) },
      allowedTools: ["mcp__stoa"],
      cwd: env.HOME,
      env: { ...env, ANTHROPIC_BASE_URL: agent.model },
      model: "claude-loopback",
      settingSources: [],
      maxTurns: 6,
    }
    let said
    for await (const message of query({ prompt: `You are ${agent.name}. Say so.`, options }))
      if (message.type === "result") said = { subtype: message.subtype, result: message.result }
    return said
  }),
)
const separate = alone[0].server !== alone[1].server && alone[0].server.instance !== alone[1].server.instance
console.log(JSON.stringify({ separate, alone: alone.map(({ bad, sent, tools }) => ({ bad, sent, tools })), programs }))
process.exit(0)
