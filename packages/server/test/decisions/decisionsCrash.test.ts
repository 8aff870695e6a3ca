/** kill -9 while people are told of a question: it still goes to whom it should, they are told, and what they say counts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { escalationPurpose } from "../../src/decisions/Decisions.ts"
import { notificationPurpose } from "../../src/decisions/notices/Notifications.ts"
import { config, holding, told } from "../calls/callsKit.ts"
import { type Home, homes, kill, look, send, start, token } from "../killedHouse.ts"

/** As if its next try, or the hour of its escalation, had come: nobody waits for that here. */
const hasCome = (at: Home, decision: string) =>
  look(
    at,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ purpose: string }>`UPDATE timers SET due_at = '2020-01-01T00:00:00.000Z'
        WHERE key LIKE ${`${decision}%`} AND ${sql.in("purpose", [notificationPurpose, escalationPurpose])}
        RETURNING purpose`
      return rows.map(({ purpose }) => purpose).toSorted()
    }),
  )

for (const [name, home] of homes)
  describe(`telling people and kill -9 on ${name}`, () => {
    it.live(
      "G-08 killed before it has arrived, and before it escalates: who should answer is told again, and so are the others",
      () =>
        Effect.gen(function* () {
          const at = yield* home
          const hook = yield* holding
          const people = ["Pam", "Nora"].map((person) => ({ name: person, notify: `${hook.url}/${person}` }))
          /** Whom the next word that comes is for, and what it says. */
          const word = Effect.map(hook.arrived, ({ answer, body }) => ({
            answer,
            to: hook.seen.find((one) => one.body === body)!.url,
            said: JSON.parse(body) as { readonly decision: string; readonly link: string },
          }))
          const declared = { ...config, people }
          const first = yield* start(at, declared)
          yield* send(first.url, token, "POST", "/principals", { kind: "agent", name: "bot" })
          const bot = (yield* send(first.url, token, "POST", "/tokens", { principal: "bot" })).body["token"] as string
          const tool = yield* send(first.url, token, "POST", "/tools", {
            name: "asks",
            description: "Does it.",
            inputSchema: { type: "object" },
            executionType: "internal",
            execution: { output: { ok: true } },
            requiresApproval: true,
            approval: { approver: "Pam", escalation: { afterSeconds: 3600, to: ["Nora"] } },
          })
          assert.strictEqual(tool.status, 201, JSON.stringify(tool.body))
          const call = told(yield* send(first.url, bot, "POST", "/tools/asks/call", {}))
          const decision = call.on!.id
          const one = yield* word
          assert.deepStrictEqual([one.to, one.said.decision], ["/Pam", decision])
          // Pam's address has not answered, so she may not know; nobody else has been told.
          yield* kill(at, first.child)
          assert.deepStrictEqual(yield* hasCome(at, decision), [notificationPurpose, escalationPurpose].toSorted())

          const second = yield* start(at, declared)
          const both = [yield* word, yield* word]
          assert.sameMembers(
            both.map(({ to }) => to),
            ["/Pam", "/Nora"],
          )
          for (const { said } of both) assert.strictEqual(said.decision, decision)
          both.find(({ to }) => to === "/Pam")!.answer("{}")
          // Only what has not arrived is left to be sent.
          const left = look(
            at,
            Effect.flatMap(
              SqlClient.SqlClient,
              (sql) =>
                sql`SELECT id FROM timers WHERE key LIKE ${`${decision} %`} AND purpose = ${notificationPurpose}`,
            ),
          )
          yield* Effect.repeat(left, { until: (rows) => rows.length === 1 })
          yield* kill(at, second.child)
          assert.deepStrictEqual(yield* hasCome(at, decision), [notificationPurpose])

          const third = yield* start(at, declared)
          const last = yield* word
          assert.strictEqual(last.to, "/Nora")
          last.answer("{}")
          assert.isTrue(last.said.link.startsWith(third.url), last.said.link)
          const pressed = yield* Effect.promise(() => fetch(`${last.said.link}/approve`, { method: "POST" }))
          assert.strictEqual(pressed.status, 200)
          const done = told(yield* send(third.url, token, "GET", `/calls/${call.id}?wait=20`))
          assert.deepStrictEqual([done.state, done.output], ["done", { ok: true }])
          const kinds = yield* look(
            at,
            Effect.gen(function* () {
              const sql = yield* SqlClient.SqlClient
              return yield* sql<{ kind: string }>`SELECT kind FROM journal
                WHERE kind LIKE 'decision.%' AND body LIKE ${`%${decision}%`} ORDER BY cursor`
            }),
          )
          assert.deepStrictEqual(
            kinds.map(({ kind }) => kind),
            ["decision.asked", "decision.escalated", "decision.answered"],
          )
          assert.lengthOf(hook.seen, 4)
          yield* third.child.kill
        }),
      90_000,
    )
  })
