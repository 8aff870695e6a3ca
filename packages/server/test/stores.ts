/** Both databases for a suite: a new SQLite file and a new Postgres database, each gone when the suite ends. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import pg from "pg"
import { inject } from "vitest"
import { migrations } from "../src/Migrations.ts"
import type { Notices } from "../src/store/Notices.ts"
import { migrate } from "../src/store/Schemas.ts"
import type { StartError } from "../src/store/StartError.ts"
import { Store } from "../src/store/Store.ts"

type Stored = Layer.Layer<Store | SqlClient.SqlClient | Notices, StartError>

export const tempFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stoa-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
)

const admin = (statement: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: inject("databaseUrl") })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  })

let made = 0
/** The address of a new, empty database. */
export const tempDatabase = Effect.acquireRelease(
  Effect.gen(function* () {
    const name = `test_${process.pid}_${++made}`
    yield* admin(`CREATE DATABASE ${name}`)
    return { name, url: Redacted.make(inject("databaseUrl").replace(/\/postgres$/, `/${name}`)) }
  }),
  ({ name }) => admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
)

const sqlite: Stored = Layer.unwrap(Effect.map(tempFolder, (folder) => Store.layerSqlite(join(folder, "stoa.db"))))
const postgres: Stored = Layer.unwrap(Effect.map(tempDatabase, ({ url }) => Store.layerPostgres(url)))

export const migrated = (store: Stored): Stored =>
  Layer.effectDiscard(migrate({ migrations, backup: () => Effect.die("a new database needs no backup") })).pipe(
    Layer.provideMerge(store),
  )

/** One contract suite, two databases: `for (const [name, store] of stores) layer(store)(name, ...)`. */
export const stores: ReadonlyArray<readonly [name: string, store: Stored]> = [
  ["sqlite", sqlite],
  ["postgres", postgres],
]
