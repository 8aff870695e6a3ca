/** kill -9 after each event that a team's work writes: the tree stands, no mail is lost, no wait is left, no turn is repeated in silence. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { homes, kill, look, send, start, token } from "../killedHouse.ts"
import { isLong } from "../../../../test/long.ts"
import { leadAndWorker } from "./teamKit.ts"

/** How many events one round writes at most; in between it is killed after every one of them, or after some. */
const events = 24
const stride = isLong ? 1 : 11

/** Returns once so many events have been written since. */
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
      // The round was over before so many were written.
    }
    clearTimeout(late)
    stop.abort()
  })

for (const [name, home] of isLong ? homes : homes.slice(0, 1))
  describe(`a team killed at its write points on ${name}`, () => {
    it.live(
      "after every kill the work is taken up: mail is delivered, waits end, and the tree is the same",
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
          for (let count = isLong ? 1 : 4; count <= events; count += stride) {
            const text = `begin ${count}`
            const { url } = house
            yield* heard(url, count, () =>
              Effect.runPromise(Effect.ignoreCause(send(url, token, "POST", "/agents/lead/say", { text }))).then(
                () => undefined,
              ),
            )
            yield* kill(at, house.child)
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
              const twice = yield* sql`SELECT run, number FROM steps GROUP BY run, number HAVING count(*) > 1`
              assert.deepStrictEqual(twice, [])
            }),
          )
        }),
      isLong ? 600_000 : 180_000,
    )
  })
