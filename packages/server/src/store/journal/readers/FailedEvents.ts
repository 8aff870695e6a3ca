/**
 * Events that a reader cannot handle. After a few attempts, such an event becomes a dead letter, a row for an operator
 * to look at, and the reader continues (G-24). For atomic readers, which one event would otherwise stop for everybody.
 */
import type { Event } from "@stoa/contract"
import { Cause, DateTime, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { becauseOf, newId } from "../Correlation.ts"
import { Journal } from "../Journal.ts"

const tries = 3

/** `name`: the reader's name in the row and in the log. */
export const makeFailedEvents = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const failed = new Map<number, number>()

  const bury = Effect.fnUntraced(function* (event: Event, cause: Cause.Cause<unknown>) {
    yield* Effect.logError(
      `The reader ${name} cannot handle event ${event.cursor} (${event.kind}): it is a dead letter`,
      cause,
    )
    const row = {
      id: newId("dls"),
      kind: event.kind,
      subject: String(event.cursor),
      reader: name,
      event: JSON.stringify(event.body),
      failure: Cause.pretty(cause).slice(0, 2000),
      tried: tries,
      at: DateTime.formatIso(yield* DateTime.now),
      state: "open",
    }
    yield* Effect.orDie(sql`INSERT INTO dead_letters ${sql.insert(row)}`)
  })

  /**
   * Handles one event, with the event's cause. A failed attempt fails the whole batch, which rolls back; the last
   * attempt has its own transaction, so that only its writes are rolled back.
   */
  return Effect.fnUntraced(function* <E, R>(event: Event, handle: Effect.Effect<unknown, E, R>) {
    const attempt = becauseOf(event, handle)
    const isLast = (failed.get(event.cursor) ?? 0) === tries - 1
    const exit = yield* Effect.exit(isLast ? journal.transact(attempt) : attempt)
    if (Exit.isSuccess(exit)) return void failed.delete(event.cursor)
    if (Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
    const tried = (failed.get(event.cursor) ?? 0) + 1
    failed.set(event.cursor, tried)
    // The reader tries again, starting with this event.
    if (tried < tries) return yield* Effect.failCause(exit.cause)
    failed.delete(event.cursor)
    yield* bury(event, exit.cause)
  })
})
