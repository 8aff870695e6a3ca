/** Which database the house uses: SQLite in the data folder, or Postgres by DATABASE_URL. */
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Notices } from "../journal/signals/Notices.ts"
import { askVersion, layerPostgres } from "./postgres.ts"
import { layerSqlite } from "./sqlite/sqlite.ts"
import { refuse, type StartError } from "../StartError.ts"

export class Store extends Context.Service<
  Store,
  { readonly dialect: "sqlite" | "postgres"; readonly where: string; readonly version: string }
>()("server/store/database/Store") {
  static readonly layerSqlite = (file: string): Layer.Layer<Store | SqlClient.SqlClient | Notices, StartError> =>
    Layer.mergeAll(
      Notices.layer,
      Layer.effect(
        Store,
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const rows = yield* sql<{ version: string }>`SELECT sqlite_version() AS version`
          return Store.of({ dialect: "sqlite", where: file, version: rows[0]!.version })
        }),
      ),
    ).pipe(
      Layer.provideMerge(layerSqlite({ file })),
      Layer.catchCause((cause) =>
        Layer.effectContext(
          Effect.fail(
            refuse(
              `The database ${file} cannot be opened. Is it a Stoa database? Restore a backup with "stoa restore".`,
              cause,
            ),
          ),
        ),
      ),
    ) as never

  static readonly layerPostgres = (
    url: Redacted.Redacted,
    connections = 16,
  ): Layer.Layer<Store | SqlClient.SqlClient | Notices, StartError> =>
    Layer.mergeAll(
      Notices.layerPostgres(url),
      Layer.effect(
        Store,
        Effect.gen(function* () {
          const where = whereOf(url)
          const version = yield* Effect.mapError(askVersion(url), (error) => unreachable(where, error))
          if (Number.parseInt(version) < oldest)
            return yield* refuse(
              `${where} is Postgres ${version}; Stoa needs ${oldest} or newer. Upgrade it, or use another.`,
            )
          return Store.of({ dialect: "postgres", where, version })
        }),
      ),
    ).pipe(Layer.provideMerge(Layer.orDie(layerPostgres({ url, connections }))))
}

const oldest = 15

/** Host and database only: a connection string contains a password. */
const whereOf = (url: Redacted.Redacted): string => {
  const parsed = URL.parse(Redacted.value(url))
  return parsed === null ? "the database of DATABASE_URL" : `postgres://${parsed.host}${parsed.pathname}`
}

const unreachable = (where: string, error: SqlError.SqlError): StartError =>
  refuse(
    `${where} cannot be reached: ${error.reason.message ?? "no answer"}. Check DATABASE_URL and that Postgres runs.`,
    error,
  )
