/** The lock of a house on its Postgres: what becomes of it when the connection that holds it is lost. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { pause } from "../../../../../test/pause.ts"
import { send, token } from "../../killedHouse.ts"
import { ownPostgres, proxyTo } from "./housesFaults.ts"
import { begun, cluster, clusterAt, open } from "./housesKit.ts"

const ofHouse = `locktype = 'advisory' AND objid = 7461002
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
const holders = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql<{ pid: number }>`SELECT pid FROM pg_locks WHERE ${sql.literal(ofHouse)} AND granted`.pipe(
    Effect.map((rows) => rows.map(({ pid }) => pid)),
  ),
)
/** Until another session has the lock than the one before. */
const heldAgain = Effect.fnUntraced(function* (before: number | undefined) {
  for (;;) {
    const now = yield* holders
    if (now.length === 1 && now[0] !== before) return now[0]!
    yield* Effect.promise(() => pause())
  }
})

it.live(
  "a house whose lock is lost with its connection takes it again, and ends where another house has taken it",
  () =>
    Effect.gen(function* () {
      const on = yield* cluster
      const house = yield* open(on, { runner: "single" })
      yield* on.look(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const lose = sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE ${sql.literal(ofHouse)}`
          const [before] = yield* holders
          yield* lose
          const after = yield* heldAgain(before)
          assert.include((yield* begun(on, { runner: "single" })).line, "refused Another Stoa already runs")
          assert.strictEqual((yield* send(house.url, token, "GET", "/me")).status, 200, "it goes on as before")
          assert.deepStrictEqual(yield* holders, [after])

          yield* lose
          const other = yield* sql.reserve
          assert.deepStrictEqual(yield* other.executeValues("SELECT pg_try_advisory_lock(7461002)", []), [[true]])
          assert.include(yield* house.child.line, "refused Another Stoa has taken over")
        }).pipe(Effect.scoped),
      )
    }),
  60_000,
)

it.live(
  "a house that lost its connections while the database still has their sessions ends its own, and no other house's",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ownPostgres
      const proxy = yield* proxyTo(Number(new URL(url).port))
      const through = new URL(url)
      through.port = String(proxy.port)
      const on = yield* clusterAt(url)
      const house = yield* open(on, { runner: "single", database: through.href })
      const [before] = yield* on.look(holders)
      proxy.lose()
      const after = yield* on.look(heldAgain(before))
      assert.notStrictEqual(after, before)
      assert.strictEqual((yield* send(house.url, token, "GET", "/me")).status, 200, "it goes on as before")
      assert.include((yield* begun(on, { runner: "single" })).line, "refused Another Stoa already runs")
      yield* house.child.kill
    }),
  60_000,
)
