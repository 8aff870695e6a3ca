/**
 * What a batch is, and how it is written: on the writer thread, or on the event loop if going to the thread would take
 * longer.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { Recent, tooFew } from "./statements.ts"

/** One statement for many rows, which come as one text of JSON. */
export interface BatchStatement {
  readonly sql: string
  readonly rows: string
  /**
   * Given, the statement takes the whole text and must give back so many rows; otherwise nothing of the batch is written.
   * Without it the statement inserts one row, and is run for each: lists of values in the order of its places.
   */
  readonly expects?: number
}

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
    for (const row of JSON.parse(rows) as ReadonlyArray<ReadonlyArray<SQLInputValue>>)
      last = statement.run(...row).lastInsertRowid
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
