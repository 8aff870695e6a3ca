/**
 * Settles many calls that run in this process with one guarded UPDATE: all of them or none, beside the event loop, or those
 * that nobody else has settled meanwhile, in a transaction.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Journal } from "../store/Journal.ts"
import type { CallRow } from "./rows.ts"

const columns = ["id", "state", "output", "meta", "error", "settledAt"] as const
const given = ["call", "state", "output", "meta", "error", "settled_at"]
const mostTexts = 300

const set = (place: (column: number) => string): string =>
  `state = ${place(1)}, output = ${place(2)}, meta = ${place(3)}, error = ${place(4)}, settled_at = ${place(5)}, owner = NULL`

type Update = Parameters<Journal["Service"]["updateTogether"]>[0]

/** All of them, as SQLite takes them from one text of JSON. */
export const settleAll = (rows: ReadonlyArray<CallRow>, owner: string): Update => ({
  sql: whole,
  rows: JSON.stringify(rows.map((row) => [...columns.map((column) => row[column]), owner])),
  expects: rows.length,
})
const whole = `UPDATE calls SET ${set((at) => `value->>${at}`)} FROM json_each(?)
  WHERE calls.id = value->>0 AND calls.state = 'running' AND owner = value->>${columns.length} RETURNING id`

/** Gives back which of them were still running; of the others somebody else has written the end. */
export const makeSettleMany = (sql: SqlClient.SqlClient) => {
  const numbered = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const texts = new Map<number, string>()
  const textFor = (count: number): string => {
    const known = texts.get(count)
    if (known !== undefined) return known
    const place = (row: number) =>
      numbered
        ? `(${columns.map((_, at) => `$${row * columns.length + at + 1}`).join(",")})`
        : `(${columns.map(() => "?").join(",")})`
    const values = Array.from({ length: count }, (_, row) => place(row)).join(",")
    const text = `WITH ends (${given.join(", ")}) AS (VALUES ${values})
      UPDATE calls SET ${set((at) => `ends.${given[at]}`)}
      FROM ends WHERE id = ends.call AND calls.state = 'running' AND owner = ${numbered ? `$${count * columns.length + 1}` : "?"}
      RETURNING id`
    if (texts.size < mostTexts) texts.set(count, text)
    return text
  }
  return (rows: ReadonlyArray<CallRow>, owner: string): Effect.Effect<ReadonlySet<string>, SqlError.SqlError> => {
    const values = rows.flatMap((row) => columns.map((column) => row[column]))
    return Effect.map(
      sql.unsafe<{ readonly id: string }>(textFor(rows.length), [...values, owner]),
      (found) => new Set(found.map(({ id }) => id)),
    )
  }
}
