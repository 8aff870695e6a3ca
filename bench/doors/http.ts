/** Requests a second through the whole door, against node:http that answers the same bytes. */
import { join } from "node:path"
import type { BareAnswer } from "../children/bare.ts"
import type { LoadAnswer, LoadQuestion } from "../children/load.ts"
import { ratio, spread, table } from "../kit/measure.ts"
import { startChild, startHouse, temporaryFolder } from "../processes.ts"

const rounds = 3
const connections = 16
const warmMillis = 400
const millis = 1500

const cases = [
  { name: "GET /healthz", method: "GET", path: "/healthz" },
  { name: "GET /api/v1/me", method: "GET", path: "/api/v1/me" },
  {
    name: "POST /api/v1/principals",
    method: "POST",
    path: "/api/v1/principals",
    body: '{"kind":"agent","name":"bench-#"}',
  },
]

/** What the house answers, to be given back by the peer; what node adds by itself is left to node. */
const sample = async (
  port: number,
  token: string,
  { body, method, path }: (typeof cases)[number],
): Promise<BareAnswer> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: body.replace("#", "sample") }),
  })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
  const own = new Set(["date", "connection", "keep-alive", "transfer-encoding"])
  const kept = [...response.headers].filter(([name]) => !own.has(name))
  return { status: response.status, headers: Object.fromEntries(kept), body: await response.text() }
}

export const http = async (): Promise<string> => {
  const house = await startHouse(join(temporaryFolder(), "house"))
  const load = startChild("load")
  const bare = startChild("bare")
  const rows: Array<ReadonlyArray<string>> = []
  for (const one of cases) {
    const { port } = await bare.ask<{ port: number }>(await sample(house.port, house.token, one))
    const answers: Record<"ours" | "bare", Array<LoadAnswer>> = { ours: [], bare: [] }
    for (let round = 0; round < rounds; round++)
      for (const who of ["bare", "ours"] as const) {
        const question: LoadQuestion = {
          ...one,
          port: who === "ours" ? house.port : port,
          token: house.token,
          connections,
          warmMillis,
          millis,
        }
        const answer = await load.ask<LoadAnswer>(question)
        if (answer.refused > 0) throw new Error(`${one.name}: ${answer.refused} of ${who} were not answered with 2xx`)
        answers[who].push(answer)
      }
    const each = (who: "ours" | "bare") => answers[who].map((answer) => answer.perSecond)
    for (const who of ["ours", "bare"] as const)
      rows.push([
        who === "ours" ? one.name : "  bare node:http, same bytes",
        spread(each(who)),
        spread(answers[who].map((answer) => answer.p50)),
        spread(answers[who].map((answer) => answer.p99)),
        who === "ours" ? ratio(each("ours"), each("bare")) : "1",
      ])
  }
  await Promise.all([load.stop(), bare.stop()])
  await house.stop()
  return [
    `${connections} keep-alive connections, ${rounds} rounds of ${millis / 1000} s each in turn. POST is a durable write here; the peer only reads the body.`,
    "",
    table(["request", "requests/s", "p50 ms", "p99 ms", "to bare"], rows),
  ].join("\n")
}
