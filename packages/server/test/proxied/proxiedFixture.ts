/**
 * `node proxiedFixture.ts`: an MCP server over stdio with two resources. Its tool `touch` says that one of them has new
 * contents, to whoever has subscribed to it; `subscribed` says which those are. `enter` wants a person to visit an address
 * first, once.
 */
import { createInterface } from "node:readline"

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const subscribed = new Set<string>()
const text = (words: string) => ({ content: [{ type: "text", text: words }] })

interface Heard {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly uri?: string; readonly name?: string; readonly arguments?: { readonly uri?: string } }
}

const resultOf = ({ method, params = {} }: Heard): object | undefined => {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: "fixture", version: "1.0.0" },
      }
    case "tools/list":
      return { tools: ["touch", "subscribed", "enter"].map((name) => ({ name, inputSchema: { type: "object" } })) }
    case "resources/list":
      return { resources: ["mem://one", "mem://two"].map((uri) => ({ uri, name: uri })) }
    case "resources/templates/list":
      return { resourceTemplates: [] }
    case "resources/subscribe":
      subscribed.add(params.uri!)
      return {}
    case "resources/unsubscribe":
      subscribed.delete(params.uri!)
      return {}
    case "tools/call": {
      const uri = params.arguments?.uri
      if (params.name === "touch" && uri !== undefined && subscribed.has(uri))
        say({ method: "notifications/resources/updated", params: { uri } })
      return text([...subscribed].toSorted().join(" "))
    }
    default:
      return undefined
  }
}

let entered = false
const refusalOf = ({ method, params = {} }: Heard): object | undefined => {
  if (method !== "tools/call" || params.name !== "enter" || entered) return undefined
  entered = true
  const visit = { mode: "url", message: "Sign in", url: "https://sign-in.example/", elicitationId: "e1" }
  return { code: -32_042, message: "Sign in first", data: { elicitations: [visit] } }
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const heard = JSON.parse(line) as Heard
    if (heard.id === undefined) return
    const error = refusalOf(heard)
    const result = error === undefined ? resultOf(heard) : undefined
    const missing = { code: -32_601, message: "Method not found" }
    say({ id: heard.id, ...(result === undefined ? { error: error ?? missing } : { result }) })
  })
  .on("close", () => process.exit(0))
