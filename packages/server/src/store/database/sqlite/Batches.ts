/**
 * Writes rows that need no reads in batches: large batches on a thread (`writerThread.ts`), small ones here, because
 * the round trip to the thread would take longer. The first batch that needs the thread starts it; until it runs,
 * callers write themselves.
 */
// edge: a worker thread, and a synchronous write. What is lost with the thread was not committed, or is answered as unknown.
import { Worker } from "node:worker_threads"
import { Effect, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { GroupCommit } from "./groupCommit.ts"
import { asText, type BatchStatement } from "../statements.ts"
import type { Batch, WriteResult } from "./writerThread.ts"

/** For each statement, the number of its last row. */
type Last = ReadonlyArray<number>
type Fail = (cause: unknown) => SqlError.SqlError

type Done = (result: Effect.Effect<Last, SqlError.SqlError>) => void

/** The part of the main connection that batches need. */
export interface BatchConnection {
  /** Writes one transaction, on the event loop. */
  readonly write: (statements: ReadonlyArray<BatchStatement>) => Last
  /** Waits for the disk, on the event loop. */
  readonly sync: () => void
  /** The disk did not sync what the thread wrote. */
  readonly syncFailed: (cause: Error) => void
  /** Whether this connection checkpoints the log: not while the thread does. */
  readonly movesLog: (does: boolean) => void
}

/** Up to this many rows are written here. For more there is no gain, and they would block the event loop. */
const few = 128
/** How often the thread checkpoints the log, while there is something in it. */
const moveEveryMs = 1000

const all = new WeakMap<SqlClient.SqlClient, Batches>()

/** The batches of a database. Only SQLite in a file has them. */
export const batchesOf = (sql: SqlClient.SqlClient): Batches | undefined => all.get(sql)
export const giveBatches = (sql: SqlClient.SqlClient, batches: Batches): void => void all.set(sql, batches)

export class Batches {
  readonly #file: string
  readonly #group: GroupCommit
  readonly #fail: Fail
  readonly #here: BatchConnection
  #written = 0
  #moved = 0
  #moving: NodeJS.Timeout | undefined
  #worker: Worker | undefined
  #ready = false
  #closed = false
  readonly #asked: Array<Done> = []
  /** Returns the database, while the thread has it. */
  #free: (() => void) | undefined

  constructor(file: string, group: GroupCommit, fail: Fail, here: BatchConnection) {
    this.#file = file
    this.#group = group
    this.#fail = fail
    this.#here = here
  }

  /** Whether the thread is running. */
  get standing(): boolean {
    return this.#ready
  }

  /**
   * Whether a batch of this many rows can be written now. If it needs the thread and that is not running, starts it for
   * the next time.
   */
  takes(rows: number): boolean {
    const isForHere = this.#isForHere(rows)
    // On a slow disk the thread is needed to checkpoint the log.
    if ((!isForHere || this.#group.isSlow) && !this.#ready && !this.#closed && this.#worker === undefined) this.#start()
    return isForHere || this.#ready
  }

  #isForHere(rows: number): boolean {
    return rows <= few && this.#free === undefined && this.#group.idle
  }

  /**
   * One transaction, committed when this returns, and on disk if `synced`. Nothing else of the main connection is open
   * while it is written.
   */
  write(
    statements: ReadonlyArray<BatchStatement>,
    rows: number,
    synced = true,
  ): Effect.Effect<Last, SqlError.SqlError> {
    return Effect.suspend(() =>
      this.#isForHere(rows) ? this.#writeHere(statements, synced) : this.#lent(statements, synced),
    )
  }

  #writeHere(statements: ReadonlyArray<BatchStatement>, synced: boolean): Effect.Effect<Last, SqlError.SqlError> {
    const written = Effect.try({
      try: () => {
        this.#group.flush()
        const last = this.#here.write(statements)
        this.#written++
        if (!synced) return Effect.succeed(last)
        if (!this.#group.isQuick) return Effect.as(this.#group.syncedNext(), last)
        const from = performance.now()
        this.#here.sync()
        this.#group.took(performance.now() - from)
        return Effect.as(this.#group.answered, last)
      },
      catch: this.#fail,
    })
    return Effect.flatten(written)
  }

  #lent(statements: ReadonlyArray<BatchStatement>, synced: boolean): Effect.Effect<Last, SqlError.SqlError> {
    const written = Effect.callback<Last, SqlError.SqlError>((resume) => {
      this.#written++
      this.#hand({ statements, synced }, resume)
    })
    return Effect.uninterruptible(synced ? Effect.tap(written, this.#group.answered) : written)
  }

  /** While the thread has the database it also gets the next batch, unless somebody else waits for the database. */
  #hand(batch: Batch | "move log", done: Done): void {
    if (this.#free !== undefined && !this.#group.wanted) return this.#send(batch, done)
    this.#group.lend((free) => {
      this.#free = free
      this.#send(batch, done)
    })
  }

  /** Nobody writes meanwhile: a log that is never completely checkpointed would never restart at its beginning. */
  #moveLog(): void {
    const now = this.#written + this.#group.commits
    if (now === this.#moved) return
    this.#moved = now
    this.#hand("move log", () => {})
  }

  #send(batch: Batch | "move log", done: Done): void {
    // A few rows that turned out not to be writable here: the thread writes them when it runs.
    if (this.#worker === undefined && !this.#closed) this.#start()
    const worker = this.#worker
    this.#asked.push(done)
    try {
      if (worker === undefined) throw new Error("the writer thread has ended")
      // Only a pending answer keeps the process alive.
      worker.ref()
      worker.postMessage(batch === "move log" ? batch : { ...batch, statements: batch.statements.map(asText) })
    } catch (cause) {
      // Or a value that cannot be sent to a thread; a database could not store it either.
      this.#asked.pop()
      this.#rest()
      done(Effect.fail(this.#fail(cause)))
    }
  }

  /** After the last batch. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#closed = true
    clearInterval(this.#moving)
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
    worker.on("message", (written: WriteResult | "ready") => {
      if (written !== "ready") return this.#hear(written)
      this.#ready = true
      this.#here.movesLog(false)
      this.#moving = setInterval(() => this.#moveLog(), moveEveryMs).unref()
    })
    worker.on("error", (cause) => this.#end(worker, cause))
    worker.on("exit", () => this.#end(worker, new Error("the writer thread has ended")))
    worker.unref()
  }

  /** Answers arrive in the order of the requests. */
  #hear(written: WriteResult): void {
    const done = this.#asked.shift()
    this.#rest()
    if ("last" in written) {
      if (written.syncMs > 0) this.#group.took(written.syncMs)
      return done?.(Effect.succeed(written.last))
    }
    const { isUnsynced, message, ...codes } = written.broken
    const cause = Object.assign(new Error(message), codes)
    if (isUnsynced) this.#here.syncFailed(cause)
    done?.(Effect.fail(this.#fail(cause)))
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
    clearInterval(this.#moving)
    this.#here.movesLog(true)
    const all = this.#asked.splice(0)
    this.#rest()
    for (const done of all) done(Effect.fail(this.#fail(cause)))
  }
}

/** Batches that end with the scope, before the database closes. */
export const makeBatches = (
  file: string,
  group: GroupCommit,
  fail: Fail,
  here: BatchConnection,
): Effect.Effect<Batches, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Batches(file, group, fail, here)),
    (batches) => batches.close,
  )
