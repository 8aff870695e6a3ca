/**
 * Writes batches into the SQLite database on its own thread: one transaction each, synced before it replies. It also
 * checkpoints the write-ahead log from time to time, which would block the event loop.
 */
// edge: a worker speaks messages, and node:sqlite is synchronous.
import { fdatasyncSync, openSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"
import { type BatchStatement, batchWriter } from "../statements.ts"

export interface Batch {
  readonly statements: ReadonlyArray<BatchStatement>
  /** Whether it must survive a power failure before the reply. */
  readonly synced: boolean
}
/** The reply after the commit: the number of each statement's last row, and how long the disk took. */
export type WriteResult =
  | { readonly last: ReadonlyArray<number>; readonly syncMs: number }
  | { readonly broken: Broken }
interface Broken {
  /** It was committed, but the sync failed. */
  readonly isUnsynced: boolean
  readonly message: string
  readonly errcode: number | undefined
  readonly code: string | undefined
}

/** After this many pages the log is checkpointed at the next commit, if it was not requested before: 64 MB. */
const maxPages = 16_000

const { file } = workerData as { readonly file: string }
const port = parentPort!
const db = new DatabaseSync(file, { timeout: 5000 })
db.exec("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY")
db.exec(`PRAGMA wal_autocheckpoint=${maxPages}`)
const write = batchWriter(db)
let log: number | undefined

const tell = (written: WriteResult) => port.postMessage(written)

const sync = (): number => {
  log ??= openSync(`${file}-wal`, "r+")
  const from = performance.now()
  fdatasyncSync(log)
  return performance.now() - from
}

port.on("message", (batch: Batch | "move log" | "close") => {
  if (batch === "close") {
    db.close()
    return port.close()
  }
  let isUnsynced = false
  try {
    if (batch === "move log") {
      db.exec("PRAGMA wal_checkpoint(PASSIVE)")
      return tell({ last: [], syncMs: 0 })
    }
    const last = write(batch.statements)
    isUnsynced = batch.synced
    tell({ last, syncMs: batch.synced ? sync() : 0 })
  } catch (cause) {
    const { code, errcode, message } = cause as Error & { readonly errcode?: number; readonly code?: string }
    tell({ broken: { isUnsynced, message, errcode, code } })
  }
})
port.postMessage("ready")
