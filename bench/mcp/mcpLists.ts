/** `tools/list` of 1,000 tools, against a bare handler that gives the same bytes, and against the official servers. */
import { join } from "node:path"
import { addAgent, urlOf } from "../kit/api.ts"
import type { LoadAnswer, LoadQuestion } from "../children/load.ts"
import { callOf, hello, listOf, openSession } from "./mcpMessages.ts"
import { number, ratio, spread, table } from "../kit/measure.ts"
import { startPeer } from "../kit/peers.ts"
import { startChild, startHouse } from "../processes.ts"

const rounds = 3
const many = 1000
const millis = 1200

export const lists = async (folder: string): Promise<ReadonlyArray<string>> => {
  const names = Array.from({ length: many - 1 }, (_, index) => `tool-${String(index).padStart(4, "0")}`)
  const tools = [hello, ...names.map((name) => ({ ...hello, name }))]
  const house = await startHouse(join(folder, "library"), { config: { tools } })
  const token = await addAgent(house, "reader")
  const [server, sdk] = await Promise.all(
    (["server", "sdk-sessions"] as const).map((kind) => startPeer("server.mjs", kind, String(many - 1))),
  )
  const bare = startChild("bare")
  const load = startChild("load")

  const { body, headers, path } = listOf("2025-11-25")
  const response = await fetch(`${urlOf(house)}${path}`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body!,
  })
  const text = await response.text()
  const shown = (JSON.parse(text) as { readonly result: { readonly tools: ReadonlyArray<unknown> } }).result.tools
  if (shown.length < many) throw new Error(`the house shows ${shown.length} tools of ${many}`)
  const bytes = Buffer.byteLength(text)
  const { port } = await bare.ask<{ readonly port: number }>({
    status: 200,
    headers: { "content-type": "application/json", "content-length": String(bytes) },
    body: text,
  })

  const targets = [
    { name: "Stoa, 2025-11-25", ask: { port: house.port, token, ...listOf("2025-11-25") } },
    { name: "Stoa, 2026-07-28", ask: { port: house.port, token, ...listOf("2026-07-28") } },
    { name: "bare node:http, same bytes", ask: { port, token, ...listOf("2025-11-25") } },
    { name: "server 2.4, 2026-07-28", ask: { port: server!.port, token, ...listOf("2026-07-28") } },
    {
      name: "sdk 1.32, kept session",
      ask: { port: sdk!.port, token, ...listOf("2025-11-25", await openSession(sdk!.port)) },
    },
    { name: "Stoa, one of them called", ask: { port: house.port, token, ...callOf("2025-11-25", "hello") } },
  ]
  const found = targets.map((): Array<LoadAnswer> => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, target] of targets.entries()) {
      const question: LoadQuestion = { ...target.ask, connections: 4, expect: '"jsonrpc"', warmMillis: 400, millis }
      const answer = await load.ask<LoadAnswer>(question)
      if (answer.refused > 0) throw new Error(`${target.name}: ${answer.refused} went wrong, such as ${answer.fault}`)
      found[index]!.push(answer)
    }
  await Promise.all([load.stop(), bare.stop(), server!.stop(), sdk!.stop()])
  await house.stop()
  const each = (index: number) => found[index]!.map((one) => one.perSecond)
  const rows = targets.map(({ name }, index) => [
    name,
    spread(each(index)),
    spread(found[index]!.map((one) => one.p50)),
    spread(found[index]!.map((one) => one.p99)),
    ratio(each(index), each(2)),
  ])
  return [
    `\`tools/list\` of ${number(shown.length)} tools (${number(bytes / 1000)} kB), 4 connections, ${rounds} rounds of ${millis / 1000} s each in turn.`,
    "",
    table(["server", "requests/s", "p50 ms", "p99 ms", "to bare"], rows),
  ]
}
