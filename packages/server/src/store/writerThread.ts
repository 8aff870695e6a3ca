/** Writes batches into the SQLite database on a thread of its own: one transaction each, and synced before it is told. */
// edge: a worker speaks messages, and node:sqlite is synchronous.
import { fdatasyncSync, openSync } from "node:fs"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"
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
/** Told once it is committed and synced, with the number of the last row of each statement. */
export type Written =
  | { readonly last: ReadonlyArray<number> }
  | { readonly broken: { readonly message: string; readonly errcode: number | undefined } }

const { file } = workerData as { readonly file: string }
const port = parentPort!
const db = new DatabaseSync(file, { timeout: 5000 })
db.exec("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY")
const known = new Recent<string, StatementSync>(500)
let log: number | undefined

const tell = (written: Written) => port.postMessage(written)

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

port.on("message", (statements: ReadonlyArray<BatchStatement> | "close") => {
  if (statements === "close") {
    db.close()
    return port.close()
  }
  try {
    db.exec("BEGIN IMMEDIATE")
    const last = statements.map(run)
    db.exec("COMMIT")
    log ??= openSync(`${file}-wal`, "r+")
    fdatasyncSync(log)
    tell({ last })
  } catch (cause) {
    try {
      if (db.isTransaction) db.exec("ROLLBACK")
    } catch {
      // The next BEGIN says what is wrong.
    }
    const { errcode, message } = cause as Error & { readonly errcode?: number }
    tell({ broken: { message, errcode } })
  }
})
port.postMessage("ready")
