// What every library is asked to do: list, call, call what needs a person, and look at what became of it. Where the house
// is comes as JSON in the first argument; what was seen goes out as one line of JSON at the end.
import { once } from "node:events"
import { createInterface } from "node:readline"

/** @type {{ client: string, url?: string, token?: string, command?: string, args?: string[], env?: Record<string, string> }} */
export const wanted = JSON.parse(process.argv[2])
const input = createInterface({ input: process.stdin })

/** `call` gives the result of a tool as MCP shows it. */
export const play = async ({ call, close, list, revision }) => {
  const tools = await list()
  const motto = await call("motto", { loud: true })
  const asked = await call("wipe", { folder: "logs" })
  const waiting = JSON.parse(asked.content[0].text)
  console.log(JSON.stringify({ waiting }))
  // Somebody decides meanwhile, and says so.
  await once(input, "line")
  const status = await call("call_status", { call: waiting.call })
  const bad = await call("motto", { loud: "very" })
  await close()
  console.log(JSON.stringify({ revision, tools, motto, status, bad }))
  input.close()
}
