/** What one owner's memory and chats cost the others: each piece of work on them has an end that does not grow with them. */
import { assert, layer } from "@effect/vitest"
import type { ChatSessionId } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../src/access/rights/Grants.ts"
import { Memories } from "../../src/memory/Memories.ts"
import { maxLines } from "../../src/memory/records/diff.ts"
import { ChatSessions } from "../../src/sessions/ChatSessions.ts"
import { messagesPerStep } from "../../src/sessions/SessionCleanup.ts"
import { Spaces } from "../../src/spaces/Spaces.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { ask, house } from "../house.ts"
import { chances } from "../spaces/spacesLeak.ts"
import { call, someone, statusOf } from "../spaces/spacesGuests.ts"
import { until } from "../runs/runsKit.ts"

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`bounded work on ${store}`, (it) => {
    const left = Effect.fnUntraced(function* (session: string) {
      const sql = yield* SqlClient.SqlClient
      const space = `spc_${session.slice(4)}`
      const [row] = yield* Effect.orDie(
        sql<{
          n: number
          archived: string | null
        }>`SELECT count(m.id) AS n, max(s.archived_at) AS archived FROM spaces s
          LEFT JOIN messages m ON m.space = s.id AND m.deleted_at IS NULL WHERE s.id = ${space}`,
      )
      return row!
    })

    it.effect(
      "S2-45 S2-49 X-62 a session of any length is gone at once; what was said in it goes in short pieces",
      () =>
        Effect.gen(function* () {
          const { transact } = yield* Journal
          const sessions = yield* ChatSessions
          const who = yield* someone("agent")
          const viewer = yield* Effect.orDie((yield* Grants).viewerNow(who.id as never, "agent", "spaces"))
          // The last five are kept by a clean-up.
          const counts = [0, 1, 2, messagesPerStep + 1, 2 * messagesPerStep + 7, 3, 0, 0, 0, 0]
          const made: Array<ChatSessionId> = []
          for (const count of counts) {
            const { id } = yield* ask(() => who.client.chatSessions.add({ agent: "hecate" }))
            for (let at = 0; at < count; at++)
              yield* ask(() => who.client.chatSessions.post(id, { text: `word ${at}` }))
            made.push(id as ChatSessionId)
          }
          const pieces = Effect.fnUntraced(function* (
            of: ReadonlyArray<string>,
            work: Effect.Effect<unknown, unknown, never>,
          ) {
            const sql = yield* SqlClient.SqlClient
            // Of these alone: what is left of another goes meanwhile.
            const spaces = of.map((id) => `spc_${id.slice(4)}`)
            const gone = sql<{ n: number }>`SELECT count(*) AS n FROM messages WHERE deleted_at IS NOT NULL
            AND ${sql.in("space", spaces)}`
            const done = transact(
              Effect.gen(function* () {
                const before = (yield* gone)[0]!.n
                yield* work
                return (yield* gone)[0]!.n - before
              }) as Effect.Effect<number>,
            )
            return yield* Effect.orDie(done)
          })
          const [, , , , long] = made
          assert.isAtMost(yield* pieces([long!], sessions.remove({ viewer }, long!) as never), messagesPerStep)
          assert.strictEqual(yield* statusOf(() => who.client.chatSessions.get(long!)), 404)
          assert.isAtMost(
            yield* pieces(made.slice(0, 4), sessions.cleanUp({ viewer }, "hecate") as never),
            messagesPerStep,
          )
          const { items } = yield* ask(() => who.client.chatSessions.list({ limit: 100 }))
          assert.sameMembers(
            items.map(({ id }) => id),
            made.slice(5),
          )
          for (const id of made.slice(0, 5)) {
            const end = yield* until(
              Effect.map(left(id), (now) => (now.n === 0 && now.archived !== null ? now : undefined)),
            )
            assert.strictEqual(end.n, 0)
          }
          assert.strictEqual((yield* left(made[5]!)).n, 3)
        }),
    )

    it.effect(
      "S2-45 X-62 a deleted session takes its messages with it, also if its space is archived, or becomes so",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { transact } = yield* Journal
          const [sessions, spaces] = [yield* ChatSessions, yield* Spaces]
          const who = yield* someone("agent")
          const viewer = yield* Effect.orDie((yield* Grants).viewerNow(who.id as never, "agent", "spaces"))
          const begin = Effect.gen(function* () {
            const { id, space } = yield* ask(() => who.client.chatSessions.add({ agent: "hecate" }))
            for (let at = 0; at <= messagesPerStep; at++)
              yield* ask(() => who.client.chatSessions.post(id, { text: `secret ${at}` }))
            const archive = Effect.gen(function* () {
              yield* spaces.change(yield* spaces.get(space, viewer), { archived: true }, viewer)
            })
            return { id, archive }
          })
          const before = yield* begin
          yield* transact(before.archive)
          yield* ask(() => who.client.chatSessions.remove(before.id))
          const during = yield* begin
          yield* transact(Effect.andThen(sessions.remove({ viewer }, during.id as ChatSessionId), during.archive))
          for (const { id } of [before, during]) {
            const end = yield* until(
              Effect.map(left(id), (now) => (now.n === 0 && now.archived !== null ? now : undefined)),
            )
            assert.strictEqual(end.n, 0)
            assert.strictEqual(yield* statusOf(() => who.client.chatSessions.get(id)), 404)
          }
          const kept = yield* sql`SELECT id FROM messages WHERE text LIKE ${"secret%"}`
          assert.lengthOf(kept, 0)
        }),
    )

    it.effect("a diff says what changed in so many lines, whatever the texts are", () =>
      Effect.gen(function* () {
        const who = yield* someone("service")
        const texts = [
          "",
          "\n".repeat(200_000),
          "a\n".repeat(100_000),
          "b\n".repeat(100_000),
          "one\ntwo",
          "x".repeat(200_000),
        ]
        const { id } = yield* ask(() => who.client.memory.put({ kind: "note", key: "d", content: "first" }))
        for (const content of texts) {
          yield* ask(() => who.client.memory.change(id, { content }))
          const { body, status } = yield* call(who, "GET", `/memory/${id}/diff`)
          assert.strictEqual(status, 200)
          const lines = body["lines"] as ReadonlyArray<object>
          assert.isAtMost(lines.length, maxLines)
          assert.isBelow(JSON.stringify(lines).length, 1_000_000)
        }
        const { left: more, lines } = yield* ask(() => who.client.memory.diff(id, { from: 3, to: 4 }))
        // Both end with an empty line, which stays.
        assert.strictEqual(lines.length + more!, 300_001)
      }),
    )

    it.effect("S0-40 S0-41 S0-42 a search by a text finds the newest among long and short passages alike", () =>
      Effect.gen(function* () {
        const { below } = chances(7)
        const { transact } = yield* Journal
        const memories = yield* Memories
        const who = yield* someone("agent")
        const by = { id: who.id as never }
        const wanted: Array<string> = []
        for (let at = 0; at < 80; at++) {
          const isWanted = below(2) === 0
          const filling = "z".repeat(below(5) === 0 ? 100_000 : below(50))
          const content = `${filling} ${isWanted ? "Needle" : "straw"} ${at}`
          const { record } = yield* Effect.orDie(
            transact(memories.put(by, by.id, { namespace: "office", kind: "passage", content })),
          )
          if (isWanted) wanted.unshift(record.id)
        }
        const found = yield* memories.containing(by, { namespace: "office", kind: "passage", text: "nEEDLE" })
        assert.deepStrictEqual(
          found.map(({ id }) => id as string),
          wanted.slice(0, 50),
        )
      }),
    )
  })
