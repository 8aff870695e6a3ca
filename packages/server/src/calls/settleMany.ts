/** Settles many calls that run in this process with one guarded UPDATE; its text is made once for each number of them. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { CallRow } from "./rows.ts"

const columns = ["id", "state", "output", "meta", "error", "settledAt"] as const
const mostTexts = 300

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
    const text = `WITH ends (call, state, output, meta, error, settled_at) AS (VALUES ${values})
      UPDATE calls SET state = ends.state, output = ends.output, meta = ends.meta, error = ends.error,
        settled_at = ends.settled_at, owner = NULL
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
