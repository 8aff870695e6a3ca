/** Databases of one durable, throw-away Postgres: one for each who is measured, and what each has committed. */
import { Effect, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Store } from "../../packages/server/src/store/database/Store.ts"
import { startPostgres } from "../../test/postgres.ts"

export interface Databases {
  /** The address of a new one. */
  readonly add: (name: string) => Promise<string>
  /** How many transactions it has had since it is there. */
  readonly transactions: (name: string) => Promise<number>
  readonly stop: () => Promise<void>
}

export const startDatabases = async (): Promise<Databases> => {
  const server = await startPostgres({ max_connections: "200" })
  const runtime = ManagedRuntime.make(Store.layerPostgres(Redacted.make(server.url), 2))
  const query = <A extends object>(statement: string, parameters: ReadonlyArray<unknown> = []) =>
    runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<A>(statement, [...parameters])))
  return {
    add: async (name) => {
      await query(`CREATE DATABASE ${name}`)
      return server.url.replace(/\/postgres$/, `/${name}`)
    },
    transactions: async (name) => {
      const counted = "SELECT CAST(xact_commit + xact_rollback AS TEXT) AS n FROM pg_stat_database WHERE datname = $1"
      return Number((await query<{ readonly n: string }>(counted, [name]))[0]!.n)
    },
    stop: async () => {
      await runtime.dispose()
      await server.stop()
    },
  }
}
