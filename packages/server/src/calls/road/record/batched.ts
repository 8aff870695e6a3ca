/**
 * Calls that are not shown in a space and have no idempotency key need no transaction of their own: they are written
 * together with others, and on SQLite outside the event loop.
 */
import type { Provenance } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeInsert } from "../../../store/database/dialect/Inserts.ts"
import { type CausedEvent, Journal } from "../../../store/journal/Journal.ts"
import { makeBatch } from "../../../store/journal/Batch.ts"
import type { Traces } from "../Handler.ts"
import { first } from "./lifecycle.ts"
import {
  type HandlerEnd,
  outcomeOf,
  receivedEvent,
  type CallRecorder,
  settledEvent,
  CallExists,
  wholeEvent,
} from "./record.ts"
import { type CallRow, type NewRow, unsettled } from "./rows.ts"
import { makeSettleMany } from "./settleMany.ts"

/** The columns that such a call may have when it is first written; the others are empty. */
const columns = [
  "id",
  "principal",
  "context",
  "tool",
  "input",
  "digest",
  "fingerprint",
  "state",
  "space",
  "visibility",
  "customUi",
  "output",
  "meta",
  "error",
  "rule",
  "correlationId",
  "owner",
  "createdAt",
  "settledAt",
] as const
const places = ["run", "step", "place"] as const

interface New {
  readonly row: CallRow
  readonly events: ReadonlyArray<CausedEvent>
}
interface End {
  readonly row: CallRow
  readonly event: CausedEvent
}

/** How a handler has ended its call, and when. */
export interface Settlement {
  readonly settledAt: string
  readonly durationMs: number
  readonly ending: HandlerEnd
  readonly traces: Traces
  readonly provenance: Provenance
}

const takes = (row: NewRow): boolean =>
  row.idempotencyKey === null && (row.space === null || row.visibility === "hidden")

/** The row and the event of its end; undefined if it needs a transaction of its own. */
const endOf = (
  row: NewRow,
  { durationMs, ending, provenance, settledAt, traces }: Settlement,
  eventOf: typeof settledEvent | typeof wholeEvent = settledEvent,
): End | undefined => {
  if (!takes(row)) return undefined
  const outcome = outcomeOf(settledAt, ending, row.tool, traces)
  if (outcome.large !== undefined) return undefined
  const caused = { at: settledAt, provenance, correlationId: row.correlationId }
  return {
    row: { ...row, ...unsettled, ...outcome.columns, message: null },
    event: { ...eventOf(row, outcome.columns, durationMs), ...caused },
  }
}

/** `owner`: this process, whose calls it settles. */
export const makeBatched = Effect.fnUntraced(function* (record: CallRecorder, owner: string) {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const insertMany = makeInsert<CallRow>(sql, "calls", columns)
  const insertOfRuns = makeInsert<CallRow>(sql, "calls", [...columns, ...places], "", ["step", "place"])
  const { settleAll, settleSome } = makeSettleMany(sql, owner)

  const writeNew =
    (insert: typeof insertMany) =>
    (calls: ReadonlyArray<New>): Effect.Effect<() => void> =>
      journal
        .writeTogether(
          [insert.with(calls.map(({ row }) => row))],
          calls.flatMap(({ events }) => events),
        )
        .pipe(
          // The writer may have died between COMMIT and its answer: if one row of the batch is there, all of them are.
          Effect.catchCause((cause) =>
            Effect.flatMap(record.byId(calls[0]!.row.id), (row) =>
              row === undefined
                ? Effect.failCause(cause)
                : // Callers wait until the data is safe: an empty transaction waits for the disk. Then all read again.
                  Effect.andThen(
                    journal.transact(
                      Effect.logWarning("A batch was written, but its readers were not notified", cause),
                    ),
                    journal.readAnew,
                  ),
            ),
          ),
          Effect.as(() => {}),
        )

  /** Returns which ends were written; the others were settled elsewhere meanwhile. */
  const writeEnds = Effect.fnUntraced(function* (ends: ReadonlyArray<End>) {
    const rows = ends.map(({ row }) => row)
    const all = yield* journal.moveTogether(
      settleAll(rows),
      [],
      ends.map(({ event }) => event),
    )
    if (all) return () => true
    const ids = yield* journal.transact(writeSome(ends))
    // Rows that were written, but whose confirmation was lost, count as ours.
    for (const { row } of ends) {
      if (ids.has(row.id)) continue
      const now = yield* record.byId(row.id)
      if (now?.state === row.state && now.settledAt === row.settledAt && now.output === row.output) ids.add(row.id)
    }
    return ({ row }: End) => ids.has(row.id)
  })
  const writeSome = Effect.fnUntraced(function* (ends: ReadonlyArray<End>) {
    const ids = yield* Effect.orDie(settleSome(ends.map(({ row }) => row)))
    yield* journal.appendAll(ends.flatMap(({ event, row }) => (ids.has(row.id) ? [event] : [])))
    return new Set(ids)
  })

  const news = yield* makeBatch(writeNew(insertMany))
  const newsOfRuns = yield* makeBatch(writeNew(insertOfRuns))
  const ends = yield* makeBatch(writeEnds)

  /** A place in a run can be taken once: the second call is rolled back and gets the first. */
  const write = (call: New): Effect.Effect<void, CallExists> => {
    const { place, run, step } = call.row
    if (run === null) return news(call)
    return Effect.catchCause(newsOfRuns(call), (cause) =>
      Effect.flatMap(record.byPlace(run, step!, place!), (row) =>
        row === undefined ? Effect.failCause(cause) : Effect.fail(new CallExists()),
      ),
    )
  }

  return {
    /** Records a call that begins to run in this process; false if it cannot be batched. */
    begin: (row: NewRow, at: string, provenance: Provenance): Effect.Effect<boolean, CallExists> => {
      if (!takes(row)) return Effect.succeed(false)
      const written: CallRow = { ...row, ...unsettled, state: first("start"), owner, message: null }
      const event: CausedEvent = { ...receivedEvent(row), at, provenance, correlationId: row.correlationId }
      return Effect.as(write({ row: written, events: [event] }), true)
    },
    /** A call that ended before it was recorded; undefined if it needs a transaction of its own. */
    whole: (row: NewRow, ended: Settlement): Effect.Effect<CallRow, CallExists> | undefined => {
      const end = endOf(row, ended, wholeEvent)
      if (end === undefined) return undefined
      const { at, correlationId, provenance } = end.event
      const events: ReadonlyArray<CausedEvent> = [{ ...receivedEvent(row), at, provenance, correlationId }, end.event]
      return Effect.as(write({ row: end.row, events }), end.row)
    },
    /** The end of a call begun here; yields undefined if it was settled elsewhere meanwhile. */
    end: (row: NewRow, ended: Settlement): Effect.Effect<CallRow | undefined> | undefined => {
      const end = endOf(row, ended)
      return end && Effect.map(ends(end), (written) => (written ? end.row : undefined))
    },
  }
})
