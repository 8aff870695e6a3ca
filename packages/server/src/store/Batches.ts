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

type Done = (result: Effect.Effect<Last, SqlError.SqlError>) => void

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
  readonly #asked: Array<Done> = []
  /** Gives the database back, while the thread has it. */
  #free: (() => void) | undefined

  constructor(file: string, group: GroupCommit, fail: Fail) {
    this.#file = file
    this.#group = group
    this.#fail = fail
  }

  /** Whether the thread stands. */
  get standing(): boolean {
    return this.#ready
  }

  /** The same; if it does not, it is started for the next time. */
  get ready(): boolean {
    if (!this.#ready && !this.#closed && this.#worker === undefined) this.#start()
    return this.#ready
  }

  /** One transaction, committed and synced when this returns. Nothing of the main connection is open while it is written. */
  write(statements: ReadonlyArray<BatchStatement>): Effect.Effect<Last, SqlError.SqlError> {
    return Effect.uninterruptible(
      Effect.callback<Last, SqlError.SqlError>((resume) => {
        // While the thread has the database it takes the next as well, unless somebody else waits for it.
        if (this.#free !== undefined && !this.#group.wanted) return this.#send(statements, resume)
        this.#group.lend((free) => {
          this.#free = free
          this.#send(statements, resume)
        })
      }),
    )
  }

  #send(statements: ReadonlyArray<BatchStatement>, done: Done): void {
    const worker = this.#worker
    this.#asked.push(done)
    try {
      if (worker === undefined) throw new Error("the writer thread has ended")
      // Only what waits for its answer keeps the process alive.
      worker.ref()
      worker.postMessage(statements)
    } catch (cause) {
      // Or something that no thread can be told; a database could not keep it either.
      this.#asked.pop()
      this.#rest()
      done(Effect.fail(this.#fail(cause)))
    }
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

  /** Answers come in the order of the questions. */
  #hear(written: Written): void {
    const done = this.#asked.shift()
    this.#rest()
    if ("last" in written) return done?.(Effect.succeed(written.last))
    const { errcode, message } = written.broken
    done?.(Effect.fail(this.#fail(Object.assign(new Error(message), { errcode }))))
  }

  #rest(): void {
    if (this.#asked.length > 0) return
    this.#worker?.unref()
    const free = this.#free
    this.#free = undefined
    free?.()
  }

  #end(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#ready = false
    const all = this.#asked.splice(0)
    this.#rest()
    for (const done of all) done(Effect.fail(this.#fail(cause)))
  }
}

/** Batches that end with the scope, before the database closes. */
export const makeBatches = (file: string, group: GroupCommit, fail: Fail): Effect.Effect<Batches, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Batches(file, group, fail)),
    (batches) => batches.close,
  )
