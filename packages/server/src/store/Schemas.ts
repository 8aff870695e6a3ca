/** Brings the database to this program's version: forward only, all or nothing, after a backup. */
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { refuse, type StartError } from "./StartError.ts"

export type Migrations = Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>

const table = "migrations"
const numberOf = (name: string): number => Number.parseInt(name)

/** The number of the last migration in the database; 0 if it is new. */
export const versionOf = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql.onDialectOrElse({
    pg: () => sql`SELECT 1 AS found WHERE to_regclass(${table}) IS NOT NULL`,
    orElse: () => sql`SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ${table}`,
  })
  if (found.length === 0) return 0
  const rows = yield* sql<{ id: number | null }>`SELECT max(migration_id) AS id FROM ${sql(table)}`
  return rows[0]?.id ?? 0
}).pipe(Effect.orDie)

export const migrate = Effect.fn("Schemas.migrate")(function* (options: {
  readonly migrations: Migrations
  /** Called before an existing database is changed; says where the copy went. */
  readonly backup: (from: number) => Effect.Effect<string, StartError>
  /** Stops at this version: a restore loads old rows into the schema they were made for. */
  readonly upTo?: number
}) {
  const version = yield* versionOf
  const newest = Math.max(...Object.keys(options.migrations).map(numberOf))
  if (version > newest)
    return yield* refuse(
      `The database is at version ${version}, this program knows ${newest}. Run a newer Stoa, or restore a backup made for this one.`,
    )
  const wanted = Object.fromEntries(
    Object.entries(options.migrations).filter(([name]) => numberOf(name) <= (options.upTo ?? newest)),
  )
  if (version === newest) return { from: version, to: newest, copy: undefined }
  const copy = version === 0 ? undefined : yield* options.backup(version)
  yield* Migrator.make({})({ loader: Migrator.fromRecord(wanted), table }).pipe(
    Effect.catchCause((cause) =>
      Effect.fail(
        refuse(
          `The database could not be brought from version ${version} to ${newest}; it was left at ${version}.` +
            (copy === undefined ? "" : ` A copy from before is at ${copy}.`) +
            " Run the previous Stoa, and report this.",
          cause,
        ),
      ),
    ),
  )
  return { from: version, to: options.upTo ?? newest, copy }
})
