/**
 * Removes expired events: part by part of the journal, each part once. An index by kind would find them at once, but
 * every event would pay for it: a twentieth of a call.
 */
import { type EventKind, kinds } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { withinADay } from "../../Moment.ts"
import { yieldToEventLoop } from "../../fibers/EventLoop.ts"

/**
 * The most cursors to look at, and the most events to remove, in one statement, so that neither holds the writer for
 * long.
 */
const lookedAtOnce = 10_000
const removedAtOnce = 1000

const byDays = Map.groupBy(Object.keys(kinds) as Array<EventKind>, (kind) => kinds[kind].days)

export const makeRetain = Effect.fnUntraced(function* (end: Effect.Effect<number>, readAnew: Effect.Effect<void>) {
  const sql = yield* SqlClient.SqlClient
  /** By days of retention: up to this cursor all of them are gone. A new process looks again from the beginning. */
  const done = new Map<number, number>()

  /** The cursor up to which every named reader has read. */
  const allRead = Effect.gen(function* () {
    const rows = yield* sql<{ cursor: number | null }>`SELECT min(cursor) AS cursor FROM readers`
    return rows[0]?.cursor ?? (yield* end)
  })

  const remove = Effect.fnUntraced(function* (
    of: ReadonlyArray<EventKind>,
    before: string,
    from: number,
    upTo: number,
  ) {
    const gone = yield* sql<{ cursor: number }>`DELETE FROM journal WHERE cursor IN (SELECT cursor FROM journal
      WHERE cursor > ${from} AND cursor <= ${upTo} AND kind IN ${sql.in(of)} AND at < ${before}
      ORDER BY cursor LIMIT ${removedAtOnce}) RETURNING cursor`
    const highest = gone.reduce((most, row) => Math.max(most, row.cursor), 0)
    if (gone.length > 0) {
      yield* readAnew
      yield* sql`UPDATE journal_floor SET cursor = ${highest} WHERE cursor < ${highest}`
    }
    return gone.length
  }, sql.withTransaction)

  const sweep = Effect.fnUntraced(function* (days: number, of: ReadonlyArray<EventKind>, now: string, term: string) {
    const last = yield* allRead
    const first = Effect.map(
      sql<{ cursor: number | null }>`SELECT min(cursor) AS cursor FROM journal WHERE cursor > ${done.get(days) ?? 0}`,
      (rows) => (rows[0]?.cursor ?? last + 1) - 1,
    )
    /**
     * The time of the oldest event there, and of the oldest of these kinds. A time in the future says nothing about an
     * event's age.
     */
    const look = (from: number, upTo: number) =>
      Effect.map(
        sql<{ any: string | null; own: string | null }>`SELECT min(CASE WHEN at <= ${now} THEN at END) AS any,
          min(CASE WHEN kind IN ${sql.in(of)} THEN at END) AS own FROM journal WHERE cursor > ${from} AND cursor <= ${upTo}`,
        (rows) => rows[0]!,
      )
    let removed = 0
    let before: string | undefined
    let areAllGone = true
    for (let from = yield* first; from < last; from += lookedAtOnce) {
      const upTo = Math.min(from + lookedAtOnce, last)
      let { any, own } = yield* look(from, upTo)
      // From here on events are younger. One wrong time among older events does not end the search.
      if (any !== null && any >= (before ?? term)) break
      if (own !== null && own < term) {
        before ??= withinADay(own, term)
        let gone: number
        do removed += gone = yield* remove(of, before, from, upTo)
        while (gone === removedAtOnce)
        own = (yield* look(from, upTo)).own
      }
      areAllGone &&= own === null
      if (areAllGone) done.set(days, upTo)
      yield* yieldToEventLoop
    }
    return removed
  })

  return Effect.gen(function* () {
    const now = yield* DateTime.now
    let removed = 0
    for (const [days, of] of byDays) {
      const term = DateTime.formatIso(DateTime.subtract(now, { days }))
      removed += yield* sweep(days, of, DateTime.formatIso(now), term)
    }
    return removed
  }).pipe(Effect.orDie, Effect.withSpan("Journal.retain"))
})
