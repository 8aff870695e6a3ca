/**
 * Makes up for what older rows lack, while the house runs: indexes texts that were written before they could be searched,
 * counts what was stored before it was counted. Each transaction holds one
 * bounded step and its progress, so that a kill -9 costs at most one step and nothing waits for it.
 */
import { DateTime, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Journal, type Transaction } from "../../journal/Journal.ts"

/** Increase it to index again: when the terms of a text, or what is stored of it, change. */
const edition = 2

interface Fill<R> {
  readonly name: string
  /** What they are made: a word for the log. */
  readonly aim: string
  /** One step from where the last one ended ("" at first); null: there is no more. */
  readonly step: (reached: string) => Effect.Effect<string | null, never, R | Transaction>
}

const runFill = Effect.fnUntraced(function* <R>({ aim, name, step }: Fill<R>) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const held = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE", orElse: () => "" }))
  const row = `${name} ${edition}`
  const one = Effect.gen(function* () {
    yield* sql`INSERT INTO search_fills (name, reached) VALUES (${row}, '') ON CONFLICT (name) DO NOTHING`
    const rows = yield* sql<{ reached: string; doneAt: string | null }>`SELECT reached, done_at FROM search_fills
      WHERE name = ${row} ${held}`
    if (rows[0]!.doneAt !== null) return true
    const reached = yield* step(rows[0]!.reached)
    const doneAt = reached === null ? DateTime.formatIso(yield* DateTime.now) : null
    yield* sql`UPDATE search_fills SET reached = ${reached ?? rows[0]!.reached}, done_at = ${doneAt} WHERE name = ${row}`
    return reached === null
  })
  let steps = 0
  while (!(yield* journal.transact(Effect.orDie(one)))) {
    steps++
    if (steps === 20) yield* Effect.logInfo(`Older ${name} are being made ${aim}`)
    // Others come first.
    yield* Effect.sleep("5 millis")
  }
  if (steps >= 20) yield* Effect.logInfo(`All ${name} are ${aim}`)
})

export const fillLayer = <R>(fill: Fill<R>) =>
  Layer.effectDiscard(
    runFill(fill).pipe(
      Effect.tapCause((cause) =>
        Effect.logError(`Making ${fill.name} ${fill.aim} failed and will be tried again`, cause),
      ),
      Effect.sandbox,
      Effect.retry(Schedule.spaced("10 seconds")),
      Effect.forkScoped,
    ),
  )
