/** A call through the house to a server behind it, against the official client that calls that server itself. */
import { join } from "node:path"
import { addAgent, ask, urlOf } from "../kit/api.ts"
import type { LoadAnswer, LoadQuestion } from "../children/load.ts"
import { callOf } from "./mcpMessages.ts"
import { delaysOf, number, spread, table } from "../kit/measure.ts"
import { peers, startPeer } from "../kit/peers.ts"
import { startChild, startHouse } from "../processes.ts"

const rounds = 3
const warm = 200
const count = 600
const millis = 1500

const ways = ["stdio", "http"] as const

export const proxied = async (folder: string): Promise<ReadonlyArray<string>> => {
  const official = await startPeer("server.mjs", "server")
  const house = await startHouse(join(folder, "gateway"), {
    config: { egress: { allow: [`127.0.0.1:${official.port}`] } },
  })
  const program = { command: process.execPath, args: [`${peers}stdioServer.mjs`] }
  const address = { url: `http://127.0.0.1:${official.port}/mcp` }
  await ask(house, "POST", "/mcp-servers", { name: "stdio", ...program })
  await ask(house, "POST", "/mcp-servers", { name: "http", ...address })
  const token = await addAgent(house, "caller")
  const client = await startPeer("client.mjs")
  const load = startChild("load")
  await client.ask({
    connect: [
      { name: "stdio", ...program },
      { name: "http", ...address },
      { name: "house", url: `${urlOf(house)}/mcp`, token },
    ],
  })
  const rows: Array<ReadonlyArray<string>> = []
  for (const way of ways) {
    const found: Record<"direct" | "client" | "plain", Array<ReturnType<typeof delaysOf>>> = {
      direct: [],
      client: [],
      plain: [],
    }
    for (let round = 0; round < rounds; round++) {
      const timed = async (server: string, tool: string) =>
        delaysOf((await client.ask<{ readonly millis: ReadonlyArray<number> }>({ server, tool, warm, count })).millis)
      found.direct.push(await timed(way, "hello"))
      found.client.push(await timed("house", `${way}__hello`))
      const question: LoadQuestion = {
        port: house.port,
        token,
        connections: 1,
        expect: '"ok":true',
        warmMillis: 200,
        millis,
        ...callOf("2025-11-25", `${way}__hello`),
      }
      const plain = await load.ask<LoadAnswer>(question)
      if (plain.refused > 0) throw new Error(`through the house to ${way}: ${plain.fault}`)
      found.plain.push(plain)
    }
    const names = {
      direct: `official client to ${way} server`,
      client: "  the same through the house",
      plain: "  a plain socket through the house",
    }
    for (const who of ["direct", "client", "plain"] as const) {
      const added = found[who].map((one, round) => one.p50 - found.direct[round]!.p50)
      const shares = added.map((one, round) => one / found.direct[round]!.p50)
      rows.push([
        names[who],
        spread(found[who].map((one) => one.p50)),
        spread(found[who].map((one) => one.p99)),
        who === "direct" ? "" : spread(added),
        who === "direct" ? "" : `${spread(shares)} x`,
      ])
    }
  }
  await Promise.all([client.stop(), load.stop()])
  await house.stop()
  await official.stop()
  return [
    `Through the house to a server of the official package behind it, one call at a time, ${rounds} rounds of ${number(count)} calls in turn. Aim: added p50 under the direct call's own (1 x).`,
    "",
    table(["call", "p50 ms", "p99 ms", "added p50 ms", "to direct p50"], rows),
  ]
}
