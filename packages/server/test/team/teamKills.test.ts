/** kill -9 after each event that a team's work writes: the tree stands, no mail is lost, no wait is left, no turn is repeated in silence. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { homes, kill, look, send, start, token } from "../killedHouse.ts"
import { isLong } from "../../../../test/long.ts"
import { leadAndWorker } from "./teamKit.ts"

/** It is killed after each event that a round writes, until one is over before; or after some of them. */
const maxEvents = isLong ? 80 : 24
const stride = isLong ? 1 : 11

/** Returns once so many events have been written since; false: the round was over before. */
const heard = (url: string, count: number, begin: () => Promise<unknown>) =>
  Effect.promise(async () => {
    const stop = new AbortController()
    const headers = { authorization: `Bearer ${token}` }
    const stream = await fetch(new URL("/api/v1/events", url), { headers, signal: stop.signal })
    const frames = stream.body!.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>
    const late = setTimeout(() => stop.abort(), 20_000)
    void begin()
    let seen = 0
    try {
      for await (const text of frames) {
        seen += text.match(/^id: /gm)?.length ?? 0
        if (seen >= count) break
      }
    } catch {
      // Nothing more was written for a while.
    }
    clearTimeout(late)
    stop.abort()
    return seen >= count
  })

interface Written {
  readonly cursor: number
  readonly kind: string
  readonly body: string
}
const journal = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Written>`SELECT cursor, kind, body FROM journal ORDER BY cursor`,
)

for (const [name, home] of isLong ? homes : homes.slice(0, 1))
  describe(`a team killed at its write points on ${name}`, () => {
    it.live(
      `${isLong ? "S3-75 " : ""}after every kill the work is taken up: the log only grows, mail is in it first, waits end, the tree stands`,
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const rules = join(at.args[0]!, "program.json")
          const config = leadAndWorker(rules)
          const asks = { tool: "send_message", input: { recipient: "worker", text: "How is it?" } }
          writeFileSync(
            rules,
            JSON.stringify({
              rules: [
                { when: { agent: "lead", text: "(Reply|No reply) from" }, say: "It is done." },
                { when: { agent: "lead" }, call: [asks] },
                { when: { agent: "worker" }, say: "It is well." },
              ],
            }),
          )
          let house = yield* start(at, config)
          const said: Array<string> = []
          let before: ReadonlyArray<Written> = []
          let isWhole = false
          for (let count = isLong ? 1 : 4; count <= maxEvents && !isWhole; count += stride) {
            const text = `begin ${count}`
            const { url } = house
            const reached = yield* heard(url, count, () =>
              Effect.runPromise(Effect.ignoreCause(send(url, token, "POST", "/agents/lead/say", { text }))).then(
                () => undefined,
              ),
            )
            isWhole = !reached
            yield* kill(at, house.child)
            // What was written stays as it was written: nothing of it is changed, gone or in another order.
            const after = yield* look(at, journal)
            assert.deepStrictEqual(after.slice(0, before.length), before)
            before = after
            house = yield* start(at, config)
            // What was not written before the kill was never said.
            const kept = yield* look(
              at,
              Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM messages WHERE text = ${text}`),
            )
            if (kept.length > 0) said.push(text)
            for (;;) {
              const { body } = yield* send(house.url, token, "GET", "/runs?limit=100")
              const items = body["items"] as ReadonlyArray<{ readonly state: string }>
              const busy = items.filter(({ state }) => !["completed", "failed", "canceled"].includes(state))
              const { body: tree } = yield* send(house.url, token, "GET", "/agents/tree")
              const mail = (tree["items"] as ReadonlyArray<{ readonly inbox: number }>).some(({ inbox }) => inbox > 0)
              if (busy.length === 0 && !mail) break
              yield* Effect.sleep(50)
            }
          }
          const { body } = yield* send(house.url, token, "GET", "/agents/tree")
          assert.deepStrictEqual(
            (body["items"] as ReadonlyArray<{ readonly name: string; readonly depth: number }>).map(
              ({ depth, name: who }) => `${depth} ${who}`,
            ),
            ["0 lead", "1 worker"],
          )
          yield* kill(at, house.child)
          assert.isAbove(said.length, 0)
          // Else there are write points that it was not killed at.
          if (isLong) assert.isTrue(isWhole)
          const log = existsSync(`${rules}.log`) ? readFileSync(`${rules}.log`, "utf8") : ""
          for (const text of said) assert.include(log, text)
          yield* look(
            at,
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              assert.deepStrictEqual(yield* sql`SELECT id FROM waits WHERE state = 'open'`, [])
              assert.deepStrictEqual(yield* sql`SELECT id FROM tokens WHERE run IS NOT NULL AND revoked_at IS NULL`, [])
              const failed = yield* sql`SELECT id, failure FROM runs WHERE state <> 'completed'`
              assert.deepStrictEqual(failed, [])
              // Each is in one run, and each step is written once.
              const lost = yield* sql`SELECT source FROM triggers WHERE run IS NULL AND delivered_at IS NULL`
              assert.deepStrictEqual(lost, [])
              // Mail is in the journal before anybody works on it.
              const events = yield* journal
              const mail = yield* sql<{ message: string; run: string }>`SELECT message, run FROM triggers
                WHERE message IS NOT NULL AND run IS NOT NULL`
              for (const { message, run } of mail) {
                const logged = events.findIndex(
                  ({ body, kind }) => kind === "message.created" && body.includes(message),
                )
                const worked = events.findIndex(({ body, kind }) => kind === "run.stepped" && body.includes(run))
                assert.isTrue(logged >= 0 && worked > logged, `${message} in ${run}`)
              }
              const twice = yield* sql`SELECT run, number FROM steps GROUP BY run, number HAVING count(*) > 1`
              assert.deepStrictEqual(twice, [])
            }),
          )
        }),
      isLong ? 1_800_000 : 180_000,
    )
  })
