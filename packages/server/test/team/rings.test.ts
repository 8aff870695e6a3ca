/** Agents of a ring who ask each other in the same moment, on two houses with one Postgres: never do all of them wait. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { send, token } from "../killedHouse.ts"
import { cluster, open } from "../runs/houses/housesKit.ts"
import { allEnded } from "../runs/houses/runsHistory.ts"
import { tempFolder } from "../stores.ts"

const standIn = fileURLToPath(new URL("./standIn.mjs", import.meta.url))
const isLong = process.env["STOA_TEST_LONG"] !== undefined
const rounds = isLong ? 40 : 2
/** Each asks the next of its ring. */
const rings = [
  ["a", "b"],
  ["c", "d", "e"],
]
const asks = rings.flatMap((ring) => ring.map((name, n) => ({ name, next: ring[(n + 1) % ring.length]! })))

it.live(
  `S3-11 in ${rounds} races of two rings on two houses each request is answered or refused, and nobody is left waiting`,
  () =>
    Effect.gen(function* () {
      const on = yield* cluster
      const rules = join(yield* tempFolder, "program.json")
      const input = (recipient: string) => ({ recipient, text: "How is it?" })
      writeFileSync(
        rules,
        JSON.stringify({
          rules: [
            ...asks.map(({ name, next }) => ({
              when: { agent: name, text: "begin" },
              call: [{ tool: "send_message", input: input(next) }],
              say: "I have asked.",
            })),
            { say: "It is well." },
          ],
        }),
      )
      const thinker = { kind: "program", program: "command", command: [process.execPath, standIn, rules] }
      const agents = [
        { name: "root", toolsets: ["team"] },
        ...asks.map(({ name }) => ({ name, toolsets: ["team"], thinker, parent: "root" })),
      ]
      const config = { ...on.config, agents }
      const houses = yield* Effect.all([open({ ...on, config }), open({ ...on, config })], {
        concurrency: "unbounded",
      })
      for (let round = 0; round < rounds; round++) {
        yield* Effect.forEach(
          asks,
          ({ name }, n) =>
            Effect.map(
              send(houses[(round + n) % 2]!.url, token, "POST", `/agents/${name}/trigger`, { text: `begin ${round}` }),
              ({ body, status }) => assert.isBelow(status, 300, JSON.stringify(body)),
            ),
          { concurrency: "unbounded" },
        )
        // Whoever waited in a ring would wait for ever: no wait of a team has a deadline.
        yield* allEnded(houses[round % 2]!.url)
      }
      yield* on.look(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const left = yield* sql`SELECT w.id, p.name, r.state, r.step FROM waits w LEFT JOIN runs r ON r.id = w.run
            JOIN principals p ON p.id = w.agent WHERE w.state = 'open'`
          assert.deepStrictEqual(left, [])
          assert.deepStrictEqual(yield* sql`SELECT id, failure FROM runs WHERE state <> 'completed'`, [])
          const sent = yield* sql<{ state: string; error: string | null }>`SELECT state, error FROM calls
            WHERE tool = 'send_message'`
          assert.isAtLeast(sent.length, rounds * rings.length)
          const refused = sent.filter(({ state }) => state !== "done")
          for (const { error } of refused) assert.include(error, "neither could continue")
          // Else they never met, and nothing is proven.
          if (isLong) assert.isAbove(refused.length, 0)
          const waited = yield* sql<{ n: number }>`SELECT count(*) AS n FROM waits WHERE run IS NOT NULL`
          assert.isAtLeast(waited[0]!.n, rounds)
        }),
      )
      for (const { child } of houses) yield* child.kill
    }),
  isLong ? 600_000 : 120_000,
)
