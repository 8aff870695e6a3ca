/** Tells readers that something was committed: within the process, and by NOTIFY where several use one Postgres. */
import { Context, Duration, Effect, Layer, type Redacted, Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { SharedDatabase } from "../Holder.ts"
import { listen } from "../database/postgres.ts"

/** A channel as Postgres has it. */
export const noticeChannel = (channel: string): string => `stoa_${channel}`

/** The answer to a COMMIT can be lost with its connection, and what runs after it with that. */
const onPostgres = Duration.seconds(2)

export class Notices extends Context.Service<
  Notices,
  {
    /** Inside a transaction the notice goes out with its COMMIT, or not at all. A payload is at most 7,999 bytes. */
    readonly send: (channel: string, payload?: string) => Effect.Effect<void, SqlError.SqlError>
    /** The payload is empty where none was sent, and where the listening begins anew. */
    readonly listen: (channel: string, hear: (payload: string) => void) => Effect.Effect<void, never, Scope.Scope>
    /** How long a reader may trust silence. A lost notice costs this much, never an event. */
    readonly patience: Duration.Duration
  }
>()("server/store/journal/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.map(SqlClient.SqlClient, (sql) => within(sql, Duration.seconds(30))),
  )

  /** Where others use the database, too. A house that is alone tells itself, and asks Postgres nothing. */
  static readonly layerPostgres = (url: Redacted.Redacted) =>
    Layer.effect(
      Notices,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        if (!(yield* SharedDatabase)) return within(sql, onPostgres)
        return Notices.of({
          patience: onPostgres,
          send: (channel, payload = "") => Effect.asVoid(sql`SELECT pg_notify(${noticeChannel(channel)}, ${payload})`),
          listen: (channel, hear) => listen(url, noticeChannel(channel), hear),
        })
      }),
    )
}

/** Within this process. */
const within = (sql: SqlClient.SqlClient, patience: Duration.Duration): Notices["Service"] => {
  const hearers = new Map<string, Set<(payload: string) => void>>()
  return {
    patience,
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
