/**
 * What a batch is, and how it is written: on the writer thread, or on the event loop if going to the thread would take
 * longer.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { chunksOf, Recent, tooFew } from "./statements.ts"

/** One statement for many rows. */
export type BatchStatement = Inserts | Changes
/** Inserts rows: lists of values in the order of the columns, or all of them as one text of JSON. */
interface Inserts {
  /** `INSERT INTO table (columns) VALUES`. */
  readonly into: string
  /** What is said of rows that are there. */
  readonly after?: string
  readonly rows: ReadonlyArray<ReadonlyArray<unknown>> | string
  readonly expects?: never
}
/** Takes all rows as one text of JSON, and must give back so many; otherwise nothing of the batch is written. */
export interface Changes {
  readonly sql: string
  readonly rows: string
  readonly expects: number
}

/** For another thread: one text is quicker there than a thousand values. */
export const asText = (statement: BatchStatement): BatchStatement =>
  typeof statement.rows === "string" ? statement : { ...statement, rows: JSON.stringify(statement.rows) }

/** Writes batches into one connection, each in a transaction of its own; gives the number of each statement's last row. */
export const batchWriter = (db: DatabaseSync) => {
  const known = new Recent<string, StatementSync>(500)
  const change = ({ expects, rows, sql }: Changes): number => {
    if (known.get(sql, () => db.prepare(sql)).all(rows).length !== expects) throw new Error(tooFew)
    return 0
  }
  const insert = ({ after = "", into, rows }: Inserts): number => {
    let last: number | bigint = 0
    const all = (typeof rows === "string" ? JSON.parse(rows) : rows) as ReadonlyArray<ReadonlyArray<SQLInputValue>>
    for (const some of chunksOf(all)) {
      const statement = known.get(`${some.length} ${into} ${after}`, () => {
        const places = `(${some[0]!.map(() => "?").join(",")})`
        return db.prepare(`${into} ${some.map(() => places).join(",")} ${after}`)
      })
      last = statement.run(...some.flat()).lastInsertRowid
    }
    return Number(last)
  }
  const run = (statement: BatchStatement): number =>
    statement.expects === undefined ? insert(statement) : change(statement)
  return (statements: ReadonlyArray<BatchStatement>): ReadonlyArray<number> => {
    try {
      db.exec("BEGIN IMMEDIATE")
      const last = statements.map(run)
      db.exec("COMMIT")
      return last
    } catch (cause) {
      try {
        if (db.isTransaction) db.exec("ROLLBACK")
      } catch {
        // The next BEGIN says what is wrong.
      }
      throw cause
    }
  }
}
