/** The official client. Told where servers are, it connects to them; then it calls `hello` there, one call at a time. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"

const clients = new Map()

const transportOf = ({ args, command, token, url }) =>
  url === undefined
    ? new StdioClientTransport({ command, args, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
      })

const connect = async (servers) => {
  for (const server of servers) {
    const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } })
    await client.connect(transportOf(server))
    clients.set(server.name, client)
  }
  return {}
}

const call = async ({ count, server, tool, warm }) => {
  const client = clients.get(server)
  const once = async () => {
    const result = await client.callTool({ name: tool, arguments: { word: "x" } })
    if (result.isError === true || result.structuredContent?.ok !== true)
      throw new Error(`${server} answered ${JSON.stringify(result)}`)
  }
  // A first call may start what it needs, and take too long for that; the last of these must do.
  for (let done = 1; done < warm; done++) await once().catch(() => {})
  await once()
  const millis = []
  for (let done = 0; done < count; done++) {
    const started = performance.now()
    await once()
    millis.push(performance.now() - started)
  }
  return { millis }
}

const close = async () => {
  for (const client of clients.values()) await client.close()
  process.exit(0)
}
process.once("disconnect", () => void close())
process.on("message", (question) => {
  const answer = question.connect === undefined ? call(question) : connect(question.connect)
  answer.then(
    (told) => process.send(told),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.send({ port: 0 })
