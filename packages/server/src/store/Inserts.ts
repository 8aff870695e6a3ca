/** Many rows of one shape in one INSERT: its text is made once for each number of rows. */
import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { toSnake } from "./statements.ts"

const mostTexts = 300

export const makeInsert = <Row extends object>(
  sql: SqlClient.SqlClient,
  table: string,
  columns: ReadonlyArray<keyof Row & string>,
  after = "",
): ((rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) => {
  const names = columns.map((column) => `"${toSnake(column)}"`).join(",")
  const numbered = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const unnumbered = `(${columns.map(() => "?").join(",")})`
  const texts = new Map<number, string>()
  const textFor = (count: number): string => {
    const known = texts.get(count)
    if (known !== undefined) return known
    const place = (row: number) =>
      numbered ? `(${columns.map((_, at) => `$${row * columns.length + at + 1}`).join(",")})` : unnumbered
    const values = Array.from({ length: count }, (_, row) => place(row)).join(",")
    const text = `INSERT INTO ${table} (${names}) VALUES ${values} ${after}`
    if (texts.size < mostTexts) texts.set(count, text)
    return text
  }
  return (rows) => {
    const values: Array<unknown> = []
    for (const row of rows) for (const column of columns) values.push(row[column])
    return sql.unsafe(textFor(rows.length), values)
  }
}
