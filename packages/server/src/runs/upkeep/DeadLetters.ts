/**
 * Events that a reader could not handle, however often it tried. The reader continued; a person looks at them here
 * (G-24).
 */
import { type Caller, DeadLetter, type Forbidden, Missing, type Page, WrongState } from "@stoa/contract"
import { Cause, Context, DateTime, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Grants } from "../../access/rights/Grants.ts"
import { PlanReader } from "../../memory/plans/Plans.ts"
import { becauseOf } from "../../store/journal/Correlation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { Wake } from "../waking/Wake.ts"

interface Row {
  readonly id: string
  readonly kind: string
  readonly subject: string
  /** Which reader could not handle it. */
  readonly reader: string
  readonly failure: string
  readonly tried: number
  readonly at: string
  readonly state: DeadLetter["state"]
}

const letterFrom = ({ at, subject, ...row }: Row): DeadLetter =>
  new DeadLetter({
    id: row.id,
    kind: row.kind,
    failure: row.failure,
    tried: row.tried,
    state: row.state,
    cursor: Number(subject),
    at: DateTime.makeUnsafe(at),
  })

export class DeadLetters extends Context.Service<
  DeadLetters,
  {
    /** The open ones, oldest first. Whoever may read them sees them; whoever may change them, retries and dismisses. */
    readonly list: Effect.Effect<Page<DeadLetter>, Forbidden, Caller>
    /** Handles it now, as if it had just happened. If that fails, it stays open, with the new failure. */
    readonly retry: (id: string) => Effect.Effect<DeadLetter, Missing | WrongState | Forbidden, Caller>
    readonly dismiss: (id: string) => Effect.Effect<DeadLetter, Missing | WrongState | Forbidden, Caller>
  }
>()("server/runs/upkeep/DeadLetters") {
  static readonly layer = Layer.effect(
    DeadLetters,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* Journal
      const wake = yield* Wake
      const plans = yield* PlanReader
      const { require } = yield* Grants

      /** One to deal with. */
      const open = Effect.fnUntraced(function* (id: string) {
        yield* require("admin", "house/dead-letters")
        const rows = yield* Effect.orDie(sql<Row>`SELECT * FROM dead_letters WHERE id = ${id}`)
        const row = rows[0]
        if (row === undefined) return yield* new Missing({ noun: "dead letter", ref: id })
        if (row.state !== "open") return yield* new WrongState({ detail: `This letter was ${row.state} already.` })
        return row
      })

      /** If two close it at once, one succeeds. */
      const close = Effect.fnUntraced(function* (row: Row, state: "retried" | "dismissed") {
        const rows = yield* Effect.orDie(
          sql<Row>`UPDATE dead_letters SET state = ${state} WHERE id = ${row.id} AND state = 'open' RETURNING *`,
        )
        if (rows[0] === undefined)
          return yield* new WrongState({ detail: "Somebody else has dealt with this letter meanwhile." })
        return letterFrom(rows[0])
      })

      const retry: DeadLetters["Service"]["retry"] = Effect.fn("DeadLetters.retry")(function* (id) {
        const row = yield* open(id)
        const cursor = Number(row.subject)
        const [event] = yield* journal.read({ after: cursor - 1, limit: 1 })
        if (event?.cursor !== cursor)
          return yield* new WrongState({
            detail: "The event has expired and is no longer in the journal. Dismiss this letter.",
          })
        const closing = Effect.andThen(
          becauseOf(event, (row.reader === "plans" ? plans : wake).one(event)),
          close(row, "retried"),
        )
        const exit = yield* Effect.exit(journal.transact(closing))
        if (Exit.isSuccess(exit)) return exit.value
        const failed = Cause.squash(exit.cause)
        if (failed instanceof WrongState) return yield* Effect.fail(failed)
        const failure = Cause.pretty(exit.cause).slice(0, 2000)
        yield* Effect.orDie(sql`UPDATE dead_letters SET tried = tried + 1, failure = ${failure} WHERE id = ${id}`)
        return yield* new WrongState({
          detail: `It failed again and stays open: ${failed instanceof Error ? failed.message : "the log says why"}`,
        })
      })

      return DeadLetters.of({
        retry,
        dismiss: Effect.fn("DeadLetters.dismiss")((id) => Effect.flatMap(open(id), (row) => close(row, "dismissed"))),
        list: Effect.gen(function* () {
          yield* require("read", "house/dead-letters")
          const rows = yield* Effect.orDie(
            sql<Row>`SELECT * FROM dead_letters WHERE state = 'open' ORDER BY at, id LIMIT 1000`,
          )
          return { items: rows.map(letterFrom), next: null }
        }),
      })
    }),
  )
}
