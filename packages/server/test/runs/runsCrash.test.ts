/** kill -9 of a whole house, twenty times, while agents work: each step once, each tool once, nothing lost or stuck. */
import { randomInt } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { http } from "../../../tools/test/egressLoopback.ts"
import { homes, kill, look, send, start, token } from "../killedHouse.ts"
import { config } from "./runsKit.ts"

const kills = 20
const agents = 4

/** Three steps with three calls: one outside, one in the store, one that changes nothing. */
const rules = [
  { when: { step: 1 }, call: [{ tool: "note", input: { word: "{{message}}" } }, { tool: "whoami" }] },
  { when: { step: 2 }, call: [{ tool: "post_message", input: { space: "log", text: "{{message}}" } }] },
  { when: { step: 3 }, call: [{ tool: "list_spaces" }], waitMs: 5 },
]

for (const [name, home] of homes)
  describe(`runs and kill -9 on ${name}`, () => {
    it.live(
      "G-23 S0-66 twenty random kills: every run ends, each step and each call is written once, no tool acts twice",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const seen: Array<string> = []
          const service = yield* http((_, response, body) => {
            seen.push((JSON.parse(body) as { readonly word: string }).word)
            response.writeHead(200, { "content-type": "application/json" }).end("{}")
          })
          writeFileSync(join(at.args[0]!, "rules.json"), JSON.stringify({ rules }))
          let house = yield* start(at, config)
          const post = (path: string, body: unknown) => send(house.url, token, "POST", path, body)
          yield* post("/tools", {
            name: "note",
            description: "Notes a word.",
            inputSchema: { type: "object", properties: { word: { type: "string" } } },
            executionType: "gateway",
            execution: { url: `${service.url}/note`, method: "POST", body: { word: "{{input.word}}" } },
          })
          const names = Array.from({ length: agents }, (_, at) => `bot${at}`)
          for (const name of names) {
            yield* post("/principals", { kind: "agent", name })
            yield* send(house.url, token, "PATCH", `/agents/${name}`, { model: "demo" })
            const made = yield* post("/spaces", { name: `with-${name}`, kind: "dm", members: [name] })
            assert.strictEqual(made.status, 201, JSON.stringify(made.body))
          }
          yield* post("/spaces", { name: "log", kind: "public", members: names })
          const accepted: Array<string> = []
          for (let killed = 0; killed < kills; killed++) {
            for (const name of names) {
              const said = yield* Effect.option(
                Effect.tryPromise(() =>
                  Effect.runPromise(post(`/spaces/with-${name}/messages`, { text: `work ${killed}` })),
                ),
              )
              if (said._tag === "Some" && said.value.status === 201) accepted.push(said.value.body["id"] as string)
            }
            yield* Effect.sleep(randomInt(0, 60))
            yield* kill(at, house.child)
            house = yield* start(at, config)
          }
          // Nothing is stuck: all of them end, as the feed says.
          for (;;) {
            const { body } = yield* send(house.url, token, "GET", "/runs?limit=100")
            const items = body["items"] as ReadonlyArray<{ readonly state: string }>
            if (items.every(({ state }) => ["completed", "failed", "canceled"].includes(state))) break
            yield* Effect.sleep(50)
          }
          yield* kill(at, house.child)
          yield* look(
            at,
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              const runs = yield* sql<{
                id: string
                state: string
                stop: string
                failure: string | null
                step: number
              }>`
                SELECT id, state, stop, failure, step FROM runs`
              assert.deepStrictEqual(
                [...new Set(runs.map(({ state, stop }) => `${state} ${stop}`))],
                ["completed end_turn"],
              )
              const woken = yield* sql<{ message: string; run: string }>`SELECT message, run FROM triggers`
              assert.sameMembers(
                woken.map(({ message }) => message),
                accepted,
                "every acknowledged message woke its agent, once",
              )
              const ends = yield* sql<{ n: number }>`SELECT count(*) AS n FROM journal WHERE kind = 'run.ended'`
              assert.strictEqual(ends[0]!.n, runs.length)
              for (const { id, step } of runs) {
                const steps = yield* sql<{ number: number }>`SELECT number FROM steps WHERE run = ${id} ORDER BY number`
                assert.deepStrictEqual(
                  steps.map(({ number }) => number),
                  Array.from({ length: step }, (_, at) => at + 1),
                )
              }
              const calls = yield* sql<{ run: string; step: number; place: number; state: string; tool: string }>`
                SELECT run, step, place, state, tool FROM calls`
              const places = calls.map(({ place, run, step }) => `${run} ${step} ${place}`)
              assert.strictEqual(new Set(places).size, places.length)
              assert.strictEqual(calls.length, runs.length * 4)
              assert.isTrue(calls.every(({ state }) => state === "done" || state === "failed"))
              // What went outside went at most once a run; what is in our rows exactly once.
              const words = new Map<string, number>()
              for (const word of seen) words.set(word, (words.get(word) ?? 0) + 1)
              assert.isTrue([...words.values()].every((times) => times === 1))
              const posts = yield* sql<{ text: string }>`SELECT m.text FROM messages m JOIN spaces s ON s.id = m.space
                WHERE s.name = 'log'`
              assert.strictEqual(posts.length, runs.length)
              assert.strictEqual(new Set(posts.map(({ text }) => text)).size, posts.length)
            }),
          )
        }),
      600_000,
    )
  })
