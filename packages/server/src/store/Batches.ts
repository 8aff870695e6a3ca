/**
 * The other side of `writerThread.ts`: many rows that need nothing read are written beside the event loop. The thread is
 * started by the first batch; until it stands, and wherever there is none, whoever asks writes by themselves.
 */
// edge: a worker thread. What is lost with it was not committed, or is answered as unknown.
import { Worker } from "node:worker_threads"
import { Effect, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { GroupCommit } from "./groupCommit.ts"
import type { BatchStatement, Written } from "./writerThread.ts"

/** Of each statement the number of its last row. */
type Last = ReadonlyArray<number>
type Fail = (cause: unknown) => SqlError.SqlError

interface Asked {
  readonly free: () => void
  readonly done: (result: Effect.Effect<Last, SqlError.SqlError>) => void
  last: Last | undefined
}

const all = new WeakMap<SqlClient.SqlClient, Batches>()

/** The batches of a database that has them: SQLite in a file. */
export const batchesOf = (sql: SqlClient.SqlClient): Batches | undefined => all.get(sql)
export const giveBatches = (sql: SqlClient.SqlClient, batches: Batches): void => void all.set(sql, batches)

export class Batches {
  readonly #file: string
  readonly #group: GroupCommit
  readonly #fail: Fail
  #worker: Worker | undefined
  #ready = false
  #closed = false
  #next = 0
  readonly #asked = new Map<number, Asked>()

  constructor(file: string, group: GroupCommit, fail: Fail) {
    this.#file = file
    this.#group = group
    this.#fail = fail
  }

  /** Whether the thread stands; if not, it is started for the next time. */
  get ready(): boolean {
    if (!this.#ready && !this.#closed && this.#worker === undefined) this.#start()
    return this.#ready
  }

  /** One transaction, committed and synced when this returns. Nothing of the main connection is open while it is written. */
  write(statements: ReadonlyArray<BatchStatement>): Effect.Effect<Last, SqlError.SqlError> {
    return Effect.uninterruptible(
      Effect.callback<Last, SqlError.SqlError>((resume) => {
        this.#group.lend((free) => {
          const worker = this.#worker
          if (worker === undefined) {
            free()
            return resume(Effect.fail(this.#fail(new Error("the writer thread has ended"))))
          }
          // Only what waits for its answer keeps the process alive.
          if (this.#asked.size === 0) worker.ref()
          const id = this.#next++
          this.#asked.set(id, { free, done: resume, last: undefined })
          try {
            worker.postMessage({ id, statements })
          } catch (cause) {
            // Something that no thread can be told; a database could not keep it either.
            this.#refuse(id, cause)
          }
        })
      }),
    )
  }

  /** After the last batch. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#closed = true
    const worker = this.#worker
    if (worker === undefined) return resume(Effect.void)
    worker.ref()
    worker.once("exit", () => resume(Effect.void))
    worker.postMessage("close")
  })

  #start(): void {
    const worker = new Worker(new URL("./writerThread.ts", import.meta.url), {
      env: {},
      workerData: { file: this.#file },
    })
    this.#worker = worker
    worker.on("message", (written: Written | "ready") => {
      if (written === "ready") this.#ready = true
      else this.#hear(written)
    })
    worker.on("error", (cause) => this.#end(worker, cause))
    worker.on("exit", () => this.#end(worker, new Error("the writer thread has ended")))
    worker.unref()
  }

  #hear(written: Written): void {
    const asked = this.#asked.get(written.id)
    if (asked === undefined) return
    if ("committed" in written) {
      asked.last = written.committed
      return asked.free()
    }
    if ("broken" in written) {
      const { errcode, message } = written.broken
      return this.#refuse(written.id, Object.assign(new Error(message), { errcode }))
    }
    this.#forget(written.id)
    asked.done(Effect.succeed(asked.last!))
  }

  #forget(id: number): void {
    this.#asked.delete(id)
    if (this.#asked.size === 0) this.#worker?.unref()
  }

  #refuse(id: number, cause: unknown): void {
    const asked = this.#asked.get(id)!
    this.#forget(id)
    asked.free()
    asked.done(Effect.fail(this.#fail(cause)))
  }

  #end(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#ready = false
    for (const { done, free } of this.#asked.values()) {
      free()
      done(Effect.fail(this.#fail(cause)))
    }
    this.#asked.clear()
  }
}

/** Batches that end with the scope, before the database closes. */
export const makeBatches = (file: string, group: GroupCommit, fail: Fail): Effect.Effect<Batches, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Batches(file, group, fail)),
    (batches) => batches.close,
  )
