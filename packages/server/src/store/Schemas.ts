/** Migrates the database to this program's version: only forward, completely or not at all, after a backup. */
import { Cause, Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { refuse, type StartError } from "./StartError.ts"
import { columnsOf, tableNames } from "./backup/tables.ts"
import { LongTransaction } from "./database/sqlite/groupCommit.ts"

export type Migrations = Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>

/** The table that lists the applied migrations. */
export const versionTable = "migrations"
const numberOf = (name: string): number => Number.parseInt(name)
export const newestSchema = (migrations: Migrations): number => Math.max(...Object.keys(migrations).map(numberOf))

/** The number of the last migration in the database; 0 if it is new. */
export const versionOf = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* tableNames).includes(versionTable)) return 0
  const rows = yield* sql<{ id: number | null }>`SELECT max(migration_id) AS id FROM ${sql(versionTable)}`
  return rows[0]?.id ?? 0
}).pipe(Effect.orDie)

/** Refuses to build on foreign tables: they could have names that ours need later. */
export const refuseForeign = Effect.gen(function* () {
  const tables = yield* tableNames
  const ours = (yield* columnsOf(versionTable)).some((column) => column.name === "migration_id")
  if (tables.includes(versionTable) && ours && (yield* versionOf) > 0) return
  const foreign = tables.filter((name) => !(name === versionTable && ours))
  if (foreign.length > 0)
    return yield* refuse(
      `The database has tables that are not Stoa's (${foreign.slice(0, 3).join(", ")}). Give Stoa an empty one; nothing was touched.`,
    )
}).pipe(Effect.catchTag("SqlError", Effect.die))

export const migrate = Effect.fn("Schemas.migrate")(function* (options: {
  readonly migrations: Migrations
  /** Called before an existing database is changed; returns where the copy is. */
  readonly backup: (from: number) => Effect.Effect<string, StartError>
  /** Stops at this version: a restore loads old rows into the schema they were written for. */
  readonly upTo?: number
}) {
  yield* refuseForeign
  const version = yield* versionOf
  const newest = newestSchema(options.migrations)
  if (version > newest)
    return yield* refuse(
      `The database is at version ${version}, this program knows ${newest}. Run a newer Stoa, or restore a backup made for this one.`,
    )
  const to = Math.min(newest, options.upTo ?? newest)
  if (version >= to) return { from: version, to: version, copy: undefined }
  const wanted = Object.fromEntries(Object.entries(options.migrations).filter(([name]) => numberOf(name) <= to))
  const copy = version === 0 ? undefined : yield* options.backup(version)
  yield* Migrator.make({})({ loader: Migrator.fromRecord(wanted), table: versionTable }).pipe(
    Effect.provideService(LongTransaction, true),
    Effect.catchCause((cause) =>
      Effect.fail(
        refuse(
          `The database could not be brought from version ${version} to ${to} (${why(cause)}); it was left at ${version}.` +
            (copy === undefined ? "" : ` A copy from before is at ${copy}.`) +
            " Run the previous Stoa, and report this.",
          cause,
        ),
      ),
    ),
  )
  return { from: version, to, copy }
})

/** The innermost reason: the outer ones say only that a migration failed. */
const why = (cause: Cause.Cause<unknown>): string => {
  let error: unknown = Cause.squash(cause)
  const seen: Array<string> = []
  while (error instanceof Error) {
    if (error.message !== "") seen.push(error.message)
    error = error.cause
  }
  return (
    [seen[0], seen.at(-1)].filter((one, n, all) => one !== undefined && all.indexOf(one) === n).join(": ") ||
    String(error)
  )
}
