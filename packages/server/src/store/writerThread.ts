/** Writes batches into the SQLite database on a thread of its own: one transaction each, and synced before it is told. */
// edge: a worker speaks messages, and node:sqlite is synchronous.
import { fdatasyncSync, openSync } from "node:fs"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"
import { Recent, tooFew } from "./statements.ts"

/** One statement for many rows, which it takes as one text of JSON. */
export interface BatchStatement {
  readonly sql: string
  readonly rows: string
  /** How many rows it must give back; otherwise nothing of the batch is written. */
  readonly expects?: number
}
export interface Batch {
  readonly id: number
  readonly statements: ReadonlyArray<BatchStatement>
}
/** Committed first: then the database is free for others. Synced next: then it is kept, whatever happens. */
export type Written =
  | { readonly id: number; readonly committed: ReadonlyArray<ReadonlyArray<unknown>> }
  | { readonly id: number; readonly synced: true }
  | { readonly id: number; readonly broken: { readonly message: string; readonly errcode: number | undefined } }

const { file } = workerData as { readonly file: string }
const port = parentPort!
const db = new DatabaseSync(file, { timeout: 5000 })
db.exec("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY")
const known = new Recent<string, StatementSync>(500)
let log: number | undefined

const tell = (written: Written) => port.postMessage(written)

const broken = (id: number, cause: unknown): void => {
  const { errcode, message } = cause as Error & { readonly errcode?: number }
  tell({ id, broken: { message, errcode } })
}

port.on("message", (batch: Batch | "close") => {
  if (batch === "close") {
    db.close()
    return port.close()
  }
  const { id, statements } = batch
  try {
    db.exec("BEGIN IMMEDIATE")
    const given = statements.map(({ expects, rows, sql }) => {
      const found = known.get(sql, () => db.prepare(sql)).all(rows)
      if (expects !== undefined && found.length !== expects) throw new Error(tooFew)
      return found
    })
    db.exec("COMMIT")
    tell({ id, committed: given })
  } catch (cause) {
    try {
      if (db.isTransaction) db.exec("ROLLBACK")
    } catch {
      // The next BEGIN says what is wrong.
    }
    return broken(id, cause)
  }
  try {
    log ??= openSync(`${file}-wal`, "r+")
    fdatasyncSync(log)
    tell({ id, synced: true })
  } catch (cause) {
    broken(id, cause)
  }
})
port.postMessage("ready")
