/** Backups: one consistent state in one file, whole or not there, and back into either database. */
import * as fs from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Backup } from "../../src/store/backup/Backup.ts"
import { columnTypes } from "../../src/store/database/dialect/Columns.ts"
import { type Migrations, migrate, versionOf } from "../../src/store/Schemas.ts"
import { createSearchIndex } from "../../src/store/search/index/tables.ts"
import { opened, places, tempFolder, until } from "../stores.ts"

/** Every type of column, a reference that sorts before what it refers to, a search index and a seeded row. */
const first: Migrations = {
  "0001_things": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { bigint, bytes, counter, flag } = yield* columnTypes
    yield* sql`CREATE TABLE things (id TEXT PRIMARY KEY, good ${flag}, size INTEGER, big ${bigint}, weight DOUBLE PRECISION, raw ${bytes})`
    yield* sql`CREATE TABLE counted (cursor ${counter}, half TEXT NOT NULL, pair INTEGER NOT NULL)`
    yield* sql`CREATE TABLE children (id TEXT PRIMARY KEY, thing TEXT NOT NULL REFERENCES things (id))`
    yield* sql`CREATE TABLE seeded (one INTEGER PRIMARY KEY, value TEXT)`
    yield* sql`INSERT INTO seeded VALUES (1, 'as the migration put it')`
    yield* createSearchIndex
  }),
}
const second: Migrations = {
  ...first,
  "0002_more": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE things ADD COLUMN label TEXT`
    yield* sql`UPDATE things SET label = 'was ' || id`
  }),
}

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const things = [
    {
      id: "é, 'quoted' and \n long",
      good: true,
      size: 7,
      big: 9_007_199_254_740_993n,
      weight: 0.1,
      raw: Buffer.from([0, 255, 1]),
    },
    { id: "empty", good: null, size: null, big: null, weight: null, raw: null },
    { id: "false", good: false, size: -1, big: -1n, weight: 1, raw: Buffer.alloc(100_000, 7) },
  ]
  yield* Effect.forEach(things, (thing) => sql`INSERT INTO things ${sql.insert(thing)}`)
  yield* sql`INSERT INTO children ${sql.insert({ id: "child", thing: "empty" })}`
  yield* Effect.forEach(
    Array.from({ length: 450 }),
    (_, pair) => sql`INSERT INTO counted ${sql.insert({ half: "a", pair })}`,
    { discard: true },
  )
  // The counter stands further than any row does.
  yield* sql`DELETE FROM counted WHERE pair >= 430`
  yield* sql`UPDATE seeded SET value = 'as it was changed'`
  const entry = { scope: 1, ref: "n1", part: 0, place: 0, len: 2, labels: "", terms: "uber wolk", tokens: "uber wolk" }
  yield* sql`INSERT INTO search_index ${sql.insert(entry)}`
})

/** Everything that can be seen of a house. */
const seen = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const integers = Effect.provideService(SqlClient.SafeIntegers, true)
  const things = yield* integers(sql<Record<string, unknown>>`SELECT * FROM things ORDER BY id`)
  return {
    things: things.map((thing) =>
      Object.fromEntries(
        Object.entries(thing).map(([name, value]) => [
          name,
          value instanceof Uint8Array
            ? Buffer.from(value).toString("hex")
            : value === null
              ? null
              : name === "good"
                ? value === true || Number(value) === 1
                : `${value as string | number | bigint}`,
        ]),
      ),
    ),
    children: yield* sql`SELECT * FROM children`,
    counted: (yield* sql<{ cursor: number }>`SELECT cursor FROM counted ORDER BY cursor`).map((row) => row.cursor),
    seeded: yield* sql`SELECT value FROM seeded`,
    found: yield* sql.onDialectOrElse({
      pg: () => sql`SELECT ref FROM search_index WHERE words @@ 'wolk & uber'::tsquery`,
      orElse: () =>
        sql`SELECT ref FROM search_index WHERE seq IN (SELECT rowid FROM search_words WHERE search_words MATCH 'wolk AND uber')`,
    }),
  }
})

const nextCursor = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<{
    cursor: number
  }>`INSERT INTO counted ${sql.insert({ half: "a", pair: -1 })} RETURNING cursor`)[0]!.cursor
})

/** A new house on a new database; its copies go into a folder of its own. */
const house = (
  place: (typeof places)[number][1],
  migrations: Migrations,
  librariesTables?: Effect.Effect<void, unknown, SqlClient.SqlClient>,
) =>
  Effect.gen(function* () {
    const folder = yield* tempFolder
    const store = yield* place
    const extra = librariesTables === undefined ? {} : { librariesTables }
    const backups = Backup.layer({ program: "1.2.3", migrations, folder: join(folder, "backups"), ...extra })
    const context = yield* opened(backups.pipe(Layer.provideMerge(store)))
    const on = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, context)
    return { folder, on, backup: Context.get(context, Backup) }
  })
const built = (place: (typeof places)[number][1], migrations: Migrations) =>
  Effect.tap(house(place, migrations), ({ on }) => on(migrate({ migrations, backup: () => Effect.die("new") })))

const sentence = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.match(error.message, /^[^\n]+\.$/)
    return error.message
  })

for (const [name, place] of places)
  describe(`G-28 backup on ${name}`, () => {
    for (const [target, there] of places)
      it.live(`comes back into ${target} as it was, and is brought to the program's version there`, () =>
        Effect.gen(function* () {
          const from = yield* built(place, first)
          yield* from.on(fill)
          const file = join(from.folder, "house.db")
          const made = yield* from.backup.make(file)
          assert.deepInclude(made, { file, schema: 1, hasKey: false })
          assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
          assert.deepStrictEqual(fs.readdirSync(from.folder), ["house.db"])
          const before = yield* from.on(seen)

          const to = yield* house(there, second)
          const restored = yield* to.backup.restore(file, { replace: false })
          assert.deepInclude(restored, { schema: 1, hasKey: false, replaced: undefined, rows: made.rows })
          const after = yield* to.on(seen)
          const labels = after.things.map((thing) => {
            const label = thing["label"]
            delete thing["label"]
            return label
          })
          assert.deepStrictEqual(after, before)
          assert.deepStrictEqual(
            labels,
            before.things.map((thing) => `was ${thing["id"]}`),
          )
          assert.strictEqual(yield* to.on(versionOf), 2)
          // A cursor is not given out twice.
          assert.strictEqual(yield* to.on(nextCursor), yield* from.on(nextCursor))
          assert.strictEqual(yield* to.on(nextCursor), 452)
        }),
      )

    it.live("is one consistent state, though writers go on all the while", () =>
      Effect.gen(function* () {
        const { backup, folder, on } = yield* built(place, first)
        const sql = yield* on(SqlClient.SqlClient)
        yield* on(
          Effect.forEach(
            Array.from({ length: 40 }),
            (_, n) => sql`INSERT INTO things ${sql.insert({ id: `weight ${n}`, raw: Buffer.alloc(500_000, n) })}`,
            { discard: true },
          ),
        )
        let pairs = 0
        let between = 0
        const write = Effect.forever(
          Effect.suspend(() => {
            const pair = ++pairs
            return sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`INSERT INTO counted ${sql.insert({ half: "a", pair })}`
                yield* Effect.yieldNow
                yield* sql`INSERT INTO things ${sql.insert({ id: `pair ${pair}` })}`
              }),
            )
          }).pipe(Effect.tap(() => Effect.sync(() => void between++))),
        )
        const writers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(on(write)))
        yield* until(Effect.sync(() => between >= 50))
        between = 0
        const files = yield* Effect.forEach([1, 2, 3], (n) => backup.make(join(folder, `${n}.db`)))
        assert.isAbove(between, 20, "the house went on while the copies were made")
        yield* Fiber.interruptAll(writers)
        for (const { file } of files) {
          const db = new DatabaseSync(file, { readOnly: true })
          const broken = db
            .prepare(
              `SELECT 'pair ' || pair AS id FROM counted EXCEPT SELECT id FROM things
              UNION ALL SELECT * FROM (SELECT id FROM things WHERE id LIKE 'pair %' EXCEPT SELECT 'pair ' || pair FROM counted)`,
            )
            .all()
          const [{ n, most }] = db.prepare("SELECT count(*) AS n, max(cursor) AS most FROM counted").all() as [
            { n: number; most: number },
          ]
          assert.deepStrictEqual(broken, [])
          assert.isAbove(n, 50)
          const about = db.prepare("SELECT counts, counters FROM stoa_backup").get() as {
            counts: string
            counters: string
          }
          assert.strictEqual((JSON.parse(about.counts) as { counted: number }).counted, n)
          assert.isAtLeast((JSON.parse(about.counters) as { counted: number }).counted, most)
          db.close()
        }
      }),
    )

    it.live("has the secret key in it if that was asked for, and says so", () =>
      Effect.gen(function* () {
        const from = yield* built(place, first)
        const file = join(from.folder, "with.db")
        const made = yield* from.backup.make(file, { secretKey: Redacted.make("the secret key") })
        assert.isTrue(made.hasKey)
        const to = yield* house(place, first)
        const restored = yield* to.backup.restore(file, { replace: false })
        assert.isTrue(restored.hasKey)
        assert.strictEqual(Redacted.value(Option.getOrThrow(restored.secretKey)), "the secret key")
        const without = yield* from.backup.make(join(from.folder, "without.db"))
        assert.isFalse(without.hasKey)
        assert.notInclude(fs.readFileSync(without.file, "latin1"), "the secret key")
      }),
    )

    it.live("is handed out as bytes, and nothing of it stays behind", () =>
      Effect.gen(function* () {
        const from = yield* built(place, first)
        yield* from.on(fill)
        const bytes = Buffer.concat(yield* Stream.runCollect(from.backup.stream()))
        assert.deepStrictEqual(fs.readdirSync(join(from.folder, "backups")), [])
        const file = join(from.folder, "sent.db")
        fs.writeFileSync(file, bytes)
        const to = yield* house(place, first)
        yield* to.backup.restore(file, { replace: false })
        assert.deepStrictEqual(yield* to.on(seen), yield* from.on(seen))
      }),
    )

    it.live("is made before a migration, and takes the old house back when asked to", () =>
      Effect.gen(function* () {
        const old = yield* built(place, first)
        yield* old.on(fill)
        const before = yield* old.on(seen)
        const moved = yield* old.on(migrate({ migrations: second, backup: old.backup.beforeMigration }))
        assert.match(moved.copy!, /backups\/before-1-.*\.db$/)
        assert.strictEqual(yield* old.on(versionOf), 2)
        const refused = yield* sentence(old.backup.restore(moved.copy!, { replace: false }))
        assert.include(refused, "is not empty")
        // The database is at 2 and this program knows 1: a restore is the way back, and 2 is kept.
        const { replaced } = yield* old.backup.restore(moved.copy!, { replace: true })
        assert.strictEqual(yield* old.on(versionOf), 1)
        assert.deepStrictEqual(yield* old.on(seen), before)
        const again = yield* house(place, second)
        yield* again.backup.restore(replaced!, { replace: false })
        assert.strictEqual((yield* again.on(seen)).things[0]!["label"], `was ${before.things[0]!["id"]}`)
      }),
    )

    it.live("a file that cannot be restored is refused in one sentence, and the house stays as it was", () =>
      Effect.gen(function* () {
        const { backup, folder, on } = yield* built(place, first)
        yield* on(fill)
        const before = yield* on(seen)
        const refused = (file: string) => sentence(backup.restore(join(folder, file), { replace: true }))
        const spoilt = (file: string, change: (db: DatabaseSync) => void) =>
          Effect.gen(function* () {
            yield* backup.make(join(folder, file))
            const db = new DatabaseSync(join(folder, file))
            change(db)
            db.close()
            return yield* refused(file)
          })
        assert.include(yield* refused("nowhere.db"), "There is no file")
        fs.writeFileSync(join(folder, "notes.txt"), "milk, bread")
        assert.include(yield* refused("notes.txt"), "cannot be read as a backup: file is not a database")
        new DatabaseSync(join(folder, "foreign.db")).exec("CREATE TABLE customers (id)")
        assert.include(yield* refused("foreign.db"), "not a backup of Stoa")
        assert.include(
          yield* spoilt("format.db", (db) => db.exec("UPDATE stoa_backup SET format = 2")),
          "made by a newer Stoa",
        )
        assert.include(
          yield* spoilt("schema.db", (db) => db.exec("UPDATE stoa_backup SET schema = 9")),
          "made at version 9 by Stoa 1.2.3; this program knows 1",
        )
        assert.include(
          yield* spoilt("rows.db", (db) => db.exec("DELETE FROM counted WHERE pair = 3")),
          "counted has 429 rows instead of 430",
        )
        const strange = yield* spoilt("strange.db", (db) =>
          db.exec(
            "CREATE TABLE later (id); INSERT INTO later VALUES (1); UPDATE stoa_backup SET counts = json_set(counts, '$.later', 1)",
          ),
        )
        assert.include(strange, "tables that this Stoa does not know (later)")
        yield* backup.make(join(folder, "cut.db"))
        fs.truncateSync(join(folder, "cut.db"), 40_000)
        assert.match(yield* refused("cut.db"), /cut\.db (is damaged|cannot be read as a backup)/)
        assert.deepStrictEqual(yield* on(seen), before)
        assert.include(yield* sentence(backup.make(join(folder, "rows.db"))), "already exists")
        assert.include(yield* sentence(backup.make(join(folder, "no/such/folder.db"))), "could not be written: ENOENT")
      }),
    )

    it.live("carries tables that a library has made by itself", () =>
      Effect.gen(function* () {
        const library = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`CREATE TABLE lib_state (id TEXT PRIMARY KEY, done BOOLEAN)`,
        )
        const from = yield* built(place, first)
        yield* from.on(
          Effect.andThen(
            library,
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO lib_state VALUES ('x', true)`),
          ),
        )
        const { file } = yield* from.backup.make(join(from.folder, "house.db"))
        const to = yield* house(place, first, Effect.asVoid(library))
        yield* to.backup.restore(file, { replace: false })
        assert.lengthOf(
          yield* to.on(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM lib_state WHERE done = true`)),
          1,
        )
      }),
    )
  })
