/** Both databases for a suite: a new SQLite file and a new Postgres database, each gone when the suite ends. */
import fs, { mkdtempSync, rmSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Context, Effect, Layer, Redacted, References, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import pg from "pg"
import { inject } from "vitest"
import { pause } from "../../../test/pause.ts"
import { migrations } from "../src/Migrations.ts"
import { Files } from "../src/store/Files.ts"
import { Holder, SharedDatabase } from "../src/store/leases/Holder.ts"
import { Journal } from "../src/store/journal/Journal.ts"
import type { Notices } from "../src/store/journal/signals/Notices.ts"
import { Readers } from "../src/store/journal/readers/Readers.ts"
import { migrate } from "../src/store/Schemas.ts"
import type { StartError } from "../src/store/StartError.ts"
import { Store } from "../src/store/database/Store.ts"

export type Stored = Layer.Layer<Store | SqlClient.SqlClient | Notices, StartError>

export const tempFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
)

/** Statements for a Postgres database, by a connection of their own. */
export const askDatabase = async (connectionString: string, ...statements: ReadonlyArray<string>): Promise<void> => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
const admin = (statement: string) => Effect.promise(() => askDatabase(inject("databaseUrl"), statement))

let made = 0
const newDatabase = (from: () => string) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const name = `test_${process.pid}_${++made}`
      yield* admin(`CREATE DATABASE ${name}${from()}`)
      return { name, url: Redacted.make(inject("databaseUrl").replace(/\/postgres$/, `/${name}`)) }
    }),
    ({ name }) => admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  )

/** The address of a new, empty database. */
export const tempDatabase = newDatabase(() => "")
/** One that has its tables already: what a house would make at its first start, which takes a second. */
export const houseDatabase = newDatabase(() => ` TEMPLATE ${inject("databaseTemplate")} STRATEGY FILE_COPY`)

/** A database that a test opens, closes and opens again, as a process would: each build of the layer is one opening. */
export const places: ReadonlyArray<readonly [name: string, place: Effect.Effect<Stored, never, Scope.Scope>]> = [
  ["sqlite", Effect.map(tempFolder, (folder) => Store.layerSqlite(join(folder, "stoa.db")))],
  [
    "postgres",
    Effect.map(tempDatabase, ({ url }) => Layer.provide(Store.layerPostgres(url), Layer.succeed(SharedDatabase, true))),
  ],
]

const migrated = (store: Stored): Stored =>
  Layer.effectDiscard(migrate({ migrations, backup: () => Effect.die("a new database needs no backup") })).pipe(
    Layer.provideMerge(store),
  )

/** One contract suite, two databases: `for (const [name, store] of stores) layer(store)(name, ...)`. */
export const stores: ReadonlyArray<readonly [name: string, store: Stored]> = places.map(([name, place]) => [
  name,
  Layer.unwrap(place),
])

const floor = Layer.mergeAll(Readers.layer, Files.layer).pipe(
  Layer.provideMerge(Layer.merge(Journal.layer, Holder.layer)),
  Layer.provide(Layer.succeed(SharedDatabase, true)),
)

/** The ground floor without timers, which would fire on their own. */
export const ground = (store: Stored) => floor.pipe(Layer.provideMerge(migrated(store)))

/** One opening more: what a second process, or the next one, would have. */
export const opened = <A, E>(layer: Layer.Layer<A, E>): Effect.Effect<Context.Context<A>, E, Scope.Scope> =>
  Layer.build(Layer.fresh(layer))

/**
 * The ground floor again and again, as processes on one database would have it. SQLite has one process at a time, so
 * there they share the connection and nothing else.
 */
export const openings = (name: string, place: Effect.Effect<Stored, never, Scope.Scope>) =>
  Effect.gen(function* () {
    const store = migrated(yield* place)
    const shared = name === "sqlite" ? Layer.succeedContext(yield* opened(store)) : store
    return floor.pipe(Layer.provideMerge(shared))
  })

/** For tests of failures that are logged. */
export const quiet = Layer.succeed(References.MinimumLogLevel, "None")

/** Asks until it is so. */
export const until = <E, R>(asked: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(Effect.andThen(Effect.yieldNow, asked), (so) =>
    so ? Effect.void : Effect.andThen(Effect.promise(pause), until(asked)),
  )

/** While this runs, no sync of this process succeeds: neither those that are waited for nor the others. */
export const withBrokenDisk = <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const { fdatasync, fdatasyncSync } = fs
  const broken = new Error("the disk is gone")
  return Effect.acquireUseRelease(
    Effect.sync(() => {
      fs.fdatasync = ((_: number, done: (cause: Error) => void) => queueMicrotask(() => done(broken))) as never
      fs.fdatasyncSync = () => {
        throw broken
      }
      syncBuiltinESMExports()
    }),
    () => body,
    () =>
      Effect.sync(() => {
        Object.assign(fs, { fdatasync, fdatasyncSync })
        syncBuiltinESMExports()
      }),
  )
}
