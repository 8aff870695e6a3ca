/**
 * What a batch is, and how it is written: on the writer thread, or on the event loop if going to the thread would take
 * longer.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { Recent, tooFew } from "./statements.ts"

/** One statement for many rows. */
export type BatchStatement = Inserts | Changes
/** Inserts one row, and is run for each: lists of values in the order of its places, or all of them as one text of JSON. */
interface Inserts {
  readonly sql: string
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
  typeof statement.rows === "string" ? statement : { sql: statement.sql, rows: JSON.stringify(statement.rows) }

/** Writes batches into one connection, each in a transaction of its own; gives the number of each statement's last row. */
export const batchWriter = (db: DatabaseSync) => {
  const known = new Recent<string, StatementSync>(500)
  const run = ({ expects, rows, sql }: BatchStatement): number => {
    const statement = known.get(sql, () => db.prepare(sql))
    if (expects !== undefined) {
      if (statement.all(rows).length !== expects) throw new Error(tooFew)
      return 0
    }
    let last: number | bigint = 0
    const all = (typeof rows === "string" ? JSON.parse(rows) : rows) as ReadonlyArray<ReadonlyArray<SQLInputValue>>
    for (const row of all) last = statement.run(...row).lastInsertRowid
    return Number(last)
  }
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
