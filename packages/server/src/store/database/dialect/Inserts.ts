/** Many rows of the same shape in few INSERTs. Values are text, numbers or null. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { chunksOf, toSnake, type BatchStatement } from "../statements.ts"

/** Rows to be inserted into their table. */
export interface Rows {
  readonly count: number
  /** All rows as one text: one parameter for Postgres. Copying a thousand values takes longer. */
  readonly text: () => string
  readonly statement: () => BatchStatement
  /** The same with `after`, such as an ON CONFLICT clause. */
  readonly wholeStatement: () => BatchStatement
  /** On Postgres: selects from the parameter with this number. */
  readonly selectFrom: (place: number, before?: string) => string
  /** The same with `after`, such as an ON CONFLICT clause. */
  readonly wholeFrom: (place: number) => string
  readonly run: () => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
}

export const makeInsert = <Row extends object>(
  sql: SqlClient.SqlClient,
  table: string,
  columns: ReadonlyArray<keyof Row & string>,
  after = "",
  integers: ReadonlyArray<keyof Row & string> = [],
) => {
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
    texts.set(count, text)
    return text
  }
  const insertSome = (rows: ReadonlyArray<Row>): Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> => {
    const values: Array<unknown> = []
    for (const row of rows) for (const column of columns) values.push(row[column])
    return sql.unsafe(textFor(rows.length), values)
  }
  const into = `INSERT INTO ${table} (${names}) VALUES`
  const valuesOf = (rows: ReadonlyArray<Row>) => rows.map((row) => columns.map((column) => row[column] ?? null))
  const textOf = (rows: ReadonlyArray<Row>): string => JSON.stringify(valuesOf(rows))
  const statement = (rows: ReadonlyArray<Row>): BatchStatement => ({ into, rows: valuesOf(rows) })
  /** Joined with `before`. */
  const selectFrom = (place: number, before = ""): string =>
    `INSERT INTO ${table} (${names}) SELECT ${columns.map((name, at) => (integers.includes(name) ? `(v->>${at})::bigint` : `v->>${at}`)).join(",")}
        FROM ${before}jsonb_array_elements($${place}::jsonb) WITH ORDINALITY AS t(v, n) ORDER BY n`
  const run = (rows: ReadonlyArray<Row>): Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> =>
    rows.length === 1
      ? insertSome(rows)
      : Effect.map(Effect.forEach(chunksOf(rows), insertSome), (given) => given.flat())
  return {
    textOf,
    statement,
    selectFrom,
    run,
    with: (rows: ReadonlyArray<Row>): Rows => {
      let known: string | undefined
      const text = () => (known ??= textOf(rows))
      return {
        count: rows.length,
        text,
        statement: () => statement(rows),
        wholeStatement: () => ({ into, after, rows: valuesOf(rows) }),
        selectFrom,
        wholeFrom: (place) => `${selectFrom(place)} ${after}`,
        run: () => run(rows),
      }
    },
  }
}

/** Inserts one row by its column names. The statement's text is built once per list of columns. */
export const makeRowInsert = <Given extends object = never>(sql: SqlClient.SqlClient, table: string, after = "") => {
  const inserts = new Map<string, Insert<Record<string, unknown>>>()
  return (row: object): Effect.Effect<ReadonlyArray<Given>, SqlError.SqlError> => {
    const columns = Object.keys(row)
    const names = columns.join()
    let insert = inserts.get(names)
    if (insert === undefined) inserts.set(names, (insert = makeInsert(sql, table, columns, after)))
    return insert.run([row as Record<string, unknown>]) as Effect.Effect<ReadonlyArray<Given>, SqlError.SqlError>
  }
}

/** Both databases store a lone surrogate as a question mark, but not if it comes in JSON. */
export const isWhole = (rows: BatchStatement["rows"]): boolean =>
  typeof rows === "string"
    ? !/\\ud[89a-f]/i.test(rows)
    : rows.every((row) => row.every((value) => typeof value !== "string" || value.isWellFormed()))

export type Insert<Row extends object> = ReturnType<typeof makeInsert<Row>>
