/** kill -9 of a whole house while programs of a team work: a cut turn is said to be cut, waits survive, nothing is left behind. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { homes, kill, look, send, start, token } from "../killedHouse.ts"
import { leadAndWorker } from "./teamKit.ts"

interface Seen {
  readonly agent: string
  readonly turn?: string
  readonly pid?: number
  readonly child?: number
  readonly hangs?: true
}

for (const [name, home] of homes)
  describe(`teams and kill -9 on ${name}`, () => {
    it.live(
      "S3-21 S3-76 a wait outlives the house; a turn under way is cut, said to be, and not repeated in silence",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const rules = join(at.args[0]!, "program.json")
          const config = leadAndWorker(rules)
          const play = (...all: ReadonlyArray<object>) =>
            Effect.sync(() => writeFileSync(rules, JSON.stringify({ rules: all })))
          const seen = (): ReadonlyArray<Seen> =>
            existsSync(`${rules}.log`)
              ? readFileSync(`${rules}.log`, "utf8")
                  .split("\n")
                  .filter((line) => line !== "")
                  .map((line) => JSON.parse(line) as Seen)
              : []
          const until = Effect.fnUntraced(function* (so: () => boolean) {
            while (!so()) yield* Effect.sleep(20)
          })
          const asks = { tool: "send_message", input: { recipient: "worker", text: "How is it?" } }
          yield* play(
            { when: { agent: "lead", text: "Reply from" }, say: "It is done." },
            { when: { agent: "lead" }, call: [asks] },
            { when: { agent: "worker" }, child: true, hang: true },
          )
          const first = yield* start(at, config)
          assert.strictEqual((yield* send(first.url, token, "POST", "/agents/lead/say", { text: "begin" })).status, 201)
          yield* until(() => seen().some(({ hangs }) => hangs === true))
          // The lead's own turn is over by then: only the worker's is cut.
          for (;;) {
            const { body } = yield* send(first.url, token, "GET", "/runs?agent=lead&state=waiting_reply")
            if ((body["items"] as ReadonlyArray<unknown>).length === 1) break
            yield* Effect.sleep(20)
          }
          yield* kill(at, first.child)
          // Its programs go with it, and what they started.
          const pids = seen().flatMap(({ child, pid }) => [child ?? [], pid ?? []].flat())
          yield* until(() => !pids.some((pid) => existsSync(`/proc/${pid}`)))
          yield* play(
            { when: { agent: "lead", text: "Reply from" }, say: "It is done." },
            { when: { agent: "lead" }, call: [asks] },
            { when: { agent: "worker", text: "cut off" }, say: "I was cut off, and it is well." },
            { when: { agent: "worker" }, fail: "the same turn again" },
          )
          const second = yield* start(at, config)
          yield* until(() =>
            seen().some(({ agent, turn }) => agent === "lead" && turn?.startsWith("Reply from") === true),
          )
          for (;;) {
            const { body } = yield* send(second.url, token, "GET", "/runs?limit=100")
            const items = body["items"] as ReadonlyArray<{ readonly state: string }>
            if (items.every(({ state }) => state === "completed")) break
            assert.isFalse(
              items.some(({ state }) => state === "failed"),
              JSON.stringify(items),
            )
            yield* Effect.sleep(50)
          }
          yield* kill(at, second.child)
          const turns = seen().flatMap(({ agent, turn }) => (turn === undefined ? [] : [[agent, turn] as const]))
          assert.deepStrictEqual(
            turns.map(([agent]) => agent),
            ["lead", "worker", "worker", "lead"],
          )
          assert.match(
            turns[2]![1],
            /^Your last turn was cut off.*\nYou had called no tool\.\nYou were told this:\n\nMessage from lead.*\nHow is it\?/s,
          )
          assert.match(turns[3]![1], /^Reply from worker \(to message .*\):\nI was cut off, and it is well\.$/)
          yield* look(
            at,
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              const steps = yield* sql<{ name: string; number: number; state: string }>`SELECT p.name, s.number, s.state
                FROM steps s JOIN runs r ON r.id = s.run JOIN principals p ON p.id = r.agent ORDER BY p.name, s.number`
              assert.deepStrictEqual(
                steps.map((step) => `${step.name} ${step.number} ${step.state}`),
                ["lead 1 said", "lead 2 said", "worker 1 cut", "worker 2 said"],
              )
              assert.deepStrictEqual(yield* sql`SELECT id FROM tokens WHERE run IS NOT NULL AND revoked_at IS NULL`, [])
              assert.deepStrictEqual(yield* sql`SELECT id FROM waits WHERE state = 'open'`, [])
            }),
          )
        }),
      120_000,
    )
  })
