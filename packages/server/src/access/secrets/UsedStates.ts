/**
 * What was sealed to be brought back once: whoever takes it first takes it for every process on the database, also after
 * a restart.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Journal } from "../../store/journal/Journal.ts"

/** Rows outlive what they stand for by a day: another house's clock may be behind, or this one may be set back. */
const keptLonger = { days: 1 }

export class UsedStates extends Context.Service<
  UsedStates,
  {
    /** False if it was taken before. `until`: when it stops being valid, in milliseconds. */
    readonly take: (id: string, until: number) => Effect.Effect<boolean>
  }
>()("server/access/UsedStates") {
  static readonly layer = Layer.effect(
    UsedStates,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { transact } = yield* Journal
      const take: UsedStates["Service"]["take"] = Effect.fn("UsedStates.take")(
        function* (id, until) {
          const before = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, keptLonger))
          yield* sql`DELETE FROM used_states WHERE until < ${before}`
          const ends = DateTime.formatIso(DateTime.makeUnsafe(until))
          const mine = yield* sql`INSERT INTO used_states ${sql.insert({ id, until: ends })}
            ON CONFLICT (id) DO NOTHING RETURNING id`
          return mine.length > 0
        },
        Effect.orDie,
        transact,
      )
      return UsedStates.of({ take })
    }),
  )
}
