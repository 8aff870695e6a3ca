/** The audit trail against somebody who can write to the database and has no key: whatever they cut or change shows. */
import { assert, describe, it, layer } from "@effect/vitest"
import type { Finding } from "@stoa/contract"
import { Effect, Layer, Redacted } from "effect"
import { times } from "../../../../test/long.ts"
import { SqlClient } from "effect/sql"
import { Audit } from "../../src/access/audit/Audit.ts"
import { hashOfRow } from "../../src/access/audit/auditOf.ts"
import { Secrets } from "../../src/access/secrets/Secrets.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Readers } from "../../src/store/journal/readers/Readers.ts"
import { ask, Guest, house } from "../house.ts"
import { homes, kill, send, start, token } from "../killedHouse.ts"
import { ground, places, type Stored } from "../stores.ts"

let named = 0
/** So many rows more. */
const more = Effect.fnUntraced(function* (count: number) {
  const { admin } = yield* Guest
  for (let n = 0; n < count; n++) yield* ask(() => admin.principals.add({ kind: "agent", name: `one ${++named}` }))
  yield* (yield* Readers).receipt("audit")
})

const doctor = Effect.gen(function* () {
  const { admin } = yield* Guest
  const { findings } = yield* ask(() => admin.house.doctor())
  return findings.find(({ check }) => check === "audit")!
})

interface Row {
  readonly seq: number
  readonly hash: string
  readonly cursor: number
  readonly seal: string
}

type Sql = SqlClient.SqlClient
/** The trail's last row, forged with a hash that fits. */
const forgeRow = (sql: Sql) =>
  Effect.gen(function* () {
    const [last] = yield* sql<Parameters<typeof hashOfRow>[1] & Row>`SELECT * FROM audit ORDER BY seq DESC LIMIT 1`
    const row = { ...last!, seq: last!.seq + 1, action: "nothing", resource: "at all" }
    yield* sql`INSERT INTO audit ${sql.insert({ ...row, hash: hashOfRow(last!.hash, row) })}`
  })
const headOf = (sql: Sql) => Effect.map(sql<Row>`SELECT seq, hash, cursor, seal FROM audit_head`, ([row]) => row!)
const setHead = (sql: Sql, { cursor, hash, seal, seq }: Row) =>
  sql`UPDATE audit_head SET seq = ${seq}, hash = ${hash}, cursor = ${cursor}, seal = ${seal}`
/** The newest three rows go, and the head says what somebody without the key would have it say. */
const cutAndForge = (sql: Sql, seal?: string) =>
  Effect.gen(function* () {
    const head = yield* headOf(sql)
    yield* sql`DELETE FROM audit WHERE seq > ${head.seq - 3}`
    const [last] = yield* sql<Row>`SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1`
    yield* setHead(sql, { ...head, ...last!, seal: seal ?? head.seal })
  })

/** `older` is the end of the trail as it was some rows before, with its seal. */
const tamperings: Readonly<Record<string, (sql: Sql, older: Row) => Effect.Effect<unknown, unknown>>> = {
  "the newest row is cut off": (sql) => sql`DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)`,
  "the newest rows are cut off": (sql) => sql`DELETE FROM audit WHERE seq > (SELECT max(seq) FROM audit) - 4`,
  "all rows are deleted": (sql) => sql`DELETE FROM audit`,
  "all rows are deleted, and what says where they end": (sql) =>
    Effect.andThen(sql`DELETE FROM audit`, sql`DELETE FROM audit_head`),
  "all rows are deleted, and both ends say that there were none": (sql) =>
    Effect.all([
      sql`DELETE FROM audit`,
      sql`UPDATE audit_head SET seq = 0, hash = '', cursor = 0, seal = ''`,
      sql`UPDATE audit_anchor SET seq = 0, hash = '', seal = ''`,
    ]),
  "what says where they end is deleted": (sql) => sql`DELETE FROM audit_head`,
  "what says where they begin is deleted": (sql) => sql`DELETE FROM audit_anchor`,
  "the newest rows are cut off, and the head is set to what is left": (sql) => cutAndForge(sql),
  "the newest rows are cut off, and the head is set with another seal": (sql) => cutAndForge(sql, "0".repeat(64)),
  "the head is set to an earlier row under its own seal": (sql, older) => setHead(sql, older),
  "rows and head are replaced by an older copy": (sql, older) =>
    Effect.andThen(sql`DELETE FROM audit WHERE seq > ${older.seq}`, setHead(sql, older)),
  "the oldest rows are cut off": (sql) => sql`DELETE FROM audit WHERE seq <= 2`,
  "the oldest rows are cut off, and the anchor is moved": (sql) =>
    Effect.gen(function* () {
      const [last] = yield* sql<Row>`SELECT seq, hash FROM audit WHERE seq = 2`
      yield* sql`UPDATE audit_anchor SET seq = ${last!.seq}, hash = ${last!.hash}, seal = ${"0".repeat(64)}`
      yield* sql`DELETE FROM audit WHERE seq <= 2`
    }),
  "everything is cut off, and the anchor is set to the sealed head": (sql) =>
    Effect.gen(function* () {
      const { hash, seal, seq } = yield* headOf(sql)
      yield* sql`UPDATE audit_anchor SET seq = ${seq}, hash = ${hash}, seal = ${seal}`
      yield* sql`DELETE FROM audit`
    }),
  "a row is put behind the newest, with a hash that fits": forgeRow,
  "a row is changed, and every hash after it": (sql) =>
    Effect.gen(function* () {
      const rows = yield* sql<Parameters<typeof hashOfRow>[1]>`SELECT * FROM audit ORDER BY seq`
      let hash = ""
      for (const row of rows) {
        const changed = row.seq === 3 ? { ...row, principal: "nobody" } : row
        hash = hashOfRow(hash, changed)
        yield* sql`UPDATE audit SET principal = ${changed.principal}, hash = ${hash} WHERE seq = ${row.seq}`
      }
      yield* sql`UPDATE audit_head SET hash = ${hash}`
    }),
}

for (const store of ["sqlite", "postgres"] as const) {
  layer(house({ store }), { excludeTestServices: true, timeout: 30_000 })(`the sealed trail on ${store}`, (it) => {
    it.effect(
      "G-41 S4-103 whatever is cut off or changed without the key is found, and undone it is whole again",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const audit = yield* Audit
          yield* more(6)
          const older = yield* headOf(sql)
          yield* more(6)
          for (const [name, tamper] of Object.entries(tamperings)) {
            const found = yield* Effect.andThen(tamper(sql, older), audit.verify).pipe(
              Effect.flatMap(Effect.fail),
              sql.withTransaction,
              Effect.flip,
            )
            assert.isNotNull((found as { brokenAt: number | null }).brokenAt, `${name}: ${JSON.stringify(found)}`)
          }
          assert.deepInclude(yield* audit.verify, { brokenAt: null, sealed: true })
          assert.deepInclude(yield* doctor, { state: "ok" })
        }),
      120_000,
    )

    it.effect("a seal that was taken away is told, and so is that the house sealed the trail anew", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { admin } = yield* Guest
        yield* more(2)
        // As in a house from before there were seals; or as somebody would have it who cut the trail.
        yield* cutAndForge(sql, "")
        assert.deepInclude(yield* doctor, { state: "warn" })
        yield* more(1)
        const found: Finding = yield* doctor
        assert.strictEqual(found.state, "warn")
        assert.match(found.detail, /signed since row \d+/)
        const { findings } = yield* ask(() => admin.house.accept({ check: "audit" }))
        assert.deepInclude(
          findings.find(({ check }) => check === "audit")!,
          { state: "ok" },
        )
        const [accepted] = (yield* ask(() => admin.audit.list({}))).items
        assert.deepInclude(accepted!, { action: "accept", resource: "findings/audit", result: "success" })
      }),
    )
  })
}

/** The trail alone, without a house around it. */
const trail = (store: Stored) =>
  Audit.reader.pipe(
    Layer.provideMerge(Audit.layer),
    Layer.provideMerge(Secrets.layer(Redacted.make("the key of a trail"))),
    Layer.provideMerge(ground(store)),
  )
const happens = Effect.fnUntraced(function* (count: number) {
  const journal = yield* Journal
  for (let n = 0; n < count; n++)
    yield* journal.transact(journal.append({ kind: "secret.set", body: { name: `S${++named}` } }))
  yield* (yield* Readers).receipt("audit")
})

for (const [name, place] of places)
  describe(`a trail that goes on after it was changed, on ${name}`, () => {
    for (const [what, tamper] of Object.entries(tamperings))
      it.live(`G-41 still shows it: ${what}`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const audit = yield* Audit
          yield* happens(6)
          const older = yield* headOf(sql)
          yield* happens(6)
          assert.deepInclude(yield* audit.verify, { rows: 12, brokenAt: null, sealed: true })
          yield* tamper(sql, older)
          yield* happens(3)
          const [{ brokenAt }, { failed }] = [yield* audit.verify, yield* audit.resealed]
          assert.isTrue(brokenAt !== null || failed !== null, JSON.stringify({ brokenAt, failed }))
          // It is audited on: the newest rows are of what happened since.
          const [newest] = (yield* audit.list({})).items
          assert.strictEqual(newest!.resource, `secrets/S${named}`)
          assert.deepStrictEqual(
            (yield* (yield* Readers).list).map(({ failure }) => failure),
            [null],
          )
        }).pipe(Effect.provide(Layer.unwrap(Effect.map(place, trail))), Effect.scoped),
      )
  })

for (const [name, home] of homes)
  it.live(
    `kill -9 under load leaves a trail whose seal fits, on ${name}`,
    () =>
      Effect.gen(function* () {
        const at = yield* home
        for (let round = 0; round < times(3, 6); round++) {
          const { child, url } = yield* start(at)
          const { body } = yield* send(url, token, "GET", "/doctor")
          const findings = body["findings"] as ReadonlyArray<Finding>
          const audit = findings.find(({ check }) => check === "audit")!
          assert.strictEqual(audit.state, "ok", audit.detail)
          const busy = Effect.forEach(
            Array.from({ length: 60 }, (_, n) => `n${round}-${n}`),
            (name) => send(url, token, "POST", "/principals", { kind: "agent", name }),
            { concurrency: 8, discard: true },
          )
          // In the middle of it: after as many as the round says.
          yield* Effect.raceFirst(
            Effect.ignoreCause(busy),
            Effect.gen(function* () {
              const wanted = 5 + round * 7
              for (;;) {
                const { body } = yield* send(url, token, "GET", `/principals/n${round}-${wanted}`)
                if (body["id"] !== undefined) return
              }
            }),
          )
          yield* kill(at, child)
        }
      }).pipe(Effect.scoped),
    240_000,
  )
