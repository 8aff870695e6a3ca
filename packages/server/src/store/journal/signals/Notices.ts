/**
 * Tells readers that something was committed: within the process, and by NOTIFY if several processes use one Postgres.
 */
import { Context, Duration, Effect, Layer, type Redacted, Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { SharedDatabase } from "../../leases/Holder.ts"
import { listen } from "../../database/postgres.ts"

/** The channel's name in Postgres. */
export const noticeChannel = (channel: string): string => `stoa_${channel}`

/** The answer to a COMMIT can be lost with its connection, and with it the work after the commit. */
const onPostgres = Duration.seconds(2)

export class Notices extends Context.Service<
  Notices,
  {
    /** Inside a transaction the notice is sent with its COMMIT, or not at all. A payload has at most 7,999 bytes. */
    readonly send: (channel: string, payload?: string) => Effect.Effect<void, SqlError.SqlError>
    /** The payload is empty if none was sent, and when listening begins again. */
    readonly listen: (channel: string, hear: (payload: string) => void) => Effect.Effect<void, never, Scope.Scope>
    /** How long a reader may trust silence. A lost notice costs this much time, never an event. */
    readonly maxDelay: Duration.Duration
  }
>()("server/store/journal/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.map(SqlClient.SqlClient, (sql) => within(sql, Duration.seconds(30))),
  )

  /** For a shared database. A process that is alone notifies itself, without Postgres. */
  static readonly layerPostgres = (url: Redacted.Redacted) =>
    Layer.effect(
      Notices,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        if (!(yield* SharedDatabase)) return within(sql, onPostgres)
        return Notices.of({
          maxDelay: onPostgres,
          send: (channel, payload = "") => Effect.asVoid(sql`SELECT pg_notify(${noticeChannel(channel)}, ${payload})`),
          listen: (channel, hear) => listen(url, noticeChannel(channel), hear),
        })
      }),
    )
}

const within = (sql: SqlClient.SqlClient, maxDelay: Duration.Duration): Notices["Service"] => {
  const hearers = new Map<string, Set<(payload: string) => void>>()
  return {
    maxDelay,
    send: (channel, payload = "") =>
      sql.afterCommit(Effect.sync(() => hearers.get(channel)?.forEach((hear) => hear(payload)))),
    listen: (channel, hear) => {
      const all = hearers.get(channel) ?? new Set()
      hearers.set(channel, all)
      return Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => all.add(hear)),
          () => Effect.sync(() => all.delete(hear)),
        ),
      )
    },
  }
}
