/**
 * Group commit for SQLite: transactions take turns on one connection, each inside its own savepoint, and those that
 * arrive close together share one COMMIT. Syncing happens on another thread: transactions that commit while the disk is
 * busy share the next sync. No request is answered before a sync that began after its COMMIT has finished.
 */
// edge: setImmediate and performance.now decide when a batch closes; they hold no state that matters after a crash.
import { Context, Deferred, Effect, Exit, Scope } from "effect"
import type { SqlError } from "effect/sql"

/** The part of the database that a batch needs. */
export interface BatchWriter {
  readonly begin: () => void
  readonly commit: () => void
  /** Makes everything committed so far safe against a power failure, then calls `done`. */
  readonly sync: (done: (cause: Error | null) => void) => void
  readonly rollback: () => void
  readonly exec: (sql: string) => void
  /** SQLite ends a transaction on its own when the disk is full or fails. */
  readonly inTransaction: () => boolean
  readonly toError: (cause: unknown, operation: string) => SqlError.SqlError
}

interface Batch {
  readonly openedAt: number
  readonly done: Deferred.Deferred<void, SqlError.SqlError>
  members: number
}

/** A transaction's turn on the connection. */
export interface ConnectionTurn {
  batch: Batch | undefined
  /** A fiber that outlives its transaction still has the turn, but no longer the connection. */
  held: boolean
  startedAt: number
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A batch closes at 256 transactions or after 5 ms, so that the first in it does not wait for the last. */
const most = 256
const longestMillis = 5
/** A slower disk is not waited for on the event loop. */
const quickMs = 0.5
const lookEveryMs = 200
/** A transaction that holds the writer longer than this contains something that does not belong there. */
const slowMillis = 250
/** A transaction that may take long, because nobody waits for it yet. */
export const LongTransaction = Context.Reference<boolean>("server/store/LongTransaction", { defaultValue: () => false })

export class GroupCommit {
  readonly #writer: BatchWriter
  /** Fibers that wait for the connection, in order. Effect's Semaphore copies its whole queue at every release. */
  readonly #line = new Map<ConnectionTurn, (go: Effect.Effect<void>) => void>()
  #calling = false
  #resting = false
  #holder: ConnectionTurn | undefined
  #batch: Batch | undefined
  #closing = false
  /** Committed, waiting for the next sync. */
  #unsynced: Array<Batch> = []
  /** The batches of the running sync. */
  #inSync: ReadonlyArray<Batch> = []
  /** The last batch whose answer is under way. */
  #answering: Batch | undefined
  #syncing = false
  /** How long the disk took recently. */
  #syncMs = 0
  #lookedAt = 0
  readonly #idle: Array<() => void> = []
  /** The number of commits so far. */
  commits = 0

  constructor(writer: BatchWriter) {
    this.#writer = writer
  }

  /** Waits for the connection. The turn ends with the scope, unless commit or rollback ended it before. */
  acquire(restore: Restore): Effect.Effect<ConnectionTurn, never, Scope.Scope> {
    return Effect.suspend(() => {
      const turn: ConnectionTurn = { batch: undefined, held: false, startedAt: 0 }
      return restore(this.#wait(turn)).pipe(
        Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => this.#forget(turn)))),
        Effect.andThen(Scope.Scope.use((scope) => Scope.addFinalizer(scope, this.#release(turn)))),
        Effect.as(turn),
      )
    })
  }

  #wait(turn: ConnectionTurn): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.idle) {
        this.#give(turn)
        return Effect.void
      }
      return Effect.callback<void>((resume) => void this.#line.set(turn, resume))
    })
  }

  #give(turn: ConnectionTurn): void {
    turn.held = true
    turn.startedAt = performance.now()
    this.#holder = turn
  }

  /** A waiting fiber was interrupted. It may just have been given the connection. */
  #forget(turn: ConnectionTurn): void {
    if (this.#line.delete(turn)) {
      // The batch may have been left open for this turn, which is not coming now.
      if (this.#line.size === 0) this.#closeSoon()
    } else this.#giveBack(turn)
  }

  /** A loop and not a recursion: a fiber that is resumed here may end its turn before `resume` returns. */
  #next(): void {
    if (this.#calling) return
    this.#calling = true
    for (const [turn, resume] of this.#line) {
      if (this.#holder !== undefined || this.#resting) break
      this.#line.delete(turn)
      this.#give(turn)
      resume(Effect.void)
    }
    this.#calling = false
  }

  /** Callers that were just answered may write again at once: after a full batch the event loop runs first. */
  #rest(): void {
    this.#resting = true
    setImmediate(() => {
      this.#resting = false
      this.#next()
    })
  }

  /** The connection without a transaction: each statement commits by itself, so no batch may be open. */
  acquireAlone(restore: Restore): Effect.Effect<ConnectionTurn, never, Scope.Scope> {
    return Effect.tap(this.acquire(restore), () =>
      Effect.andThen(
        Effect.sync(() => this.flush()),
        Scope.Scope.use((scope) =>
          Scope.addFinalizer(
            scope,
            Effect.sync(() => this.#rollback()),
          ),
        ),
      ),
    )
  }

  /** Whether nobody has the connection or waits for it. */
  get idle(): boolean {
    return this.#holder === undefined && !this.#resting && this.#line.size === 0
  }

  /** Whether somebody waits for the connection. */
  get wanted(): boolean {
    return this.#line.size > 0
  }

  /** Lends the database to another connection: nothing is open here from the call of `use` until it calls `free`. */
  lend(use: (free: () => void) => void): void {
    const turn: ConnectionTurn = { batch: undefined, held: false, startedAt: 0 }
    const go = () => {
      this.flush()
      use(() => this.#giveBack(turn))
    }
    if (this.idle) {
      this.#give(turn)
      go()
    } else this.#line.set(turn, go)
  }

  begin(turn: ConnectionTurn): Effect.Effect<void, SqlError.SqlError> {
    return this.#try("begin", () => {
      if (this.#batch !== undefined && !this.#writer.inTransaction())
        this.#fail(this.#batch, this.#writer.toError(new Error("SQLite rolled the batch back"), "begin"))
      if (this.#batch === undefined) {
        // What a failed ROLLBACK left open must not become part of this batch.
        if (this.#writer.inTransaction()) this.#writer.rollback()
        this.#writer.begin()
        this.#batch = { openedAt: performance.now(), done: Deferred.makeUnsafe(), members: 0 }
      }
      turn.batch = this.#batch
      this.#writer.exec("SAVEPOINT turn")
    })
  }

  commit(turn: ConnectionTurn): Effect.Effect<void, SqlError.SqlError> {
    return this.#try("commit", () => this.#end(turn, "RELEASE turn")).pipe(Effect.andThen(this.#leave(turn)))
  }

  /**
   * Also waits for its batch, and fails with it: a refusal may be based on the writes of an earlier member, and must
   * not outlive them.
   */
  rollback(turn: ConnectionTurn): Effect.Effect<void, SqlError.SqlError> {
    return this.#try("rollback", () => this.#end(turn, "ROLLBACK TO turn; RELEASE turn")).pipe(
      Effect.matchEffect({
        // The whole batch was rolled back, including this turn; the error that led here says why.
        onFailure: () => this.#release(turn),
        onSuccess: () => this.#leave(turn),
      }),
    )
  }

  /** Commits the open batch now. Only between turns. */
  flush(): void {
    if (this.#batch !== undefined) this.#close(this.#batch)
  }

  /**
   * If a savepoint cannot be ended, this turn's writes cannot be told from the others': all of them are rolled back.
   */
  #end(turn: ConnectionTurn, sql: string): void {
    try {
      this.#writer.exec(sql)
    } catch (cause) {
      this.#fail(turn.batch!, this.#writer.toError(cause, "commit"))
      throw cause
    }
  }

  #leave(turn: ConnectionTurn): Effect.Effect<void, SqlError.SqlError> {
    return Effect.suspend(() => {
      const batch = turn.batch!
      batch.members++
      const now = performance.now()
      if (batch.members >= most || now - batch.openedAt >= longestMillis) {
        this.#rest()
        this.#close(batch)
      }
      const slow = now - turn.startedAt
      return Effect.andThen(
        this.#release(turn),
        slow < slowMillis
          ? Deferred.await(batch.done)
          : Effect.andThen(
              Effect.flatMap(LongTransaction, (mayBe) =>
                mayBe
                  ? Effect.void
                  : Effect.logWarning(
                      `A transaction held the writer for ${Math.round(slow)} ms: only SQL belongs in a transaction`,
                    ),
              ),
              Deferred.await(batch.done),
            ),
      )
    })
  }

  /** Waits one more turn of the event loop, so that writers that were just answered can join. */
  #closeSoon(): void {
    if (this.#closing || this.#batch === undefined) return
    this.#closing = true
    setImmediate(() => {
      this.#closing = false
      // The holder of the connection closes the batch when it leaves.
      if (this.#holder === undefined) this.flush()
    })
  }

  #close(batch: Batch): void {
    try {
      this.#writer.commit()
    } catch (cause) {
      return this.#fail(batch, this.#writer.toError(cause, "commit"))
    }
    this.#batch = undefined
    this.commits++
    this.#unsynced.push(batch)
    if (!this.#syncing) this.#sync()
  }

  /** One sync at a time: batches that are committed meanwhile share the next. */
  #sync(): void {
    this.#inSync = this.#unsynced
    this.#unsynced = []
    this.#syncing = true
    this.#writer.sync((cause) => {
      const exit = cause === null ? Exit.void : Exit.fail(this.#writer.toError(cause, "sync"))
      for (const batch of this.#inSync) this.#answer(batch, exit)
      // The failed write may belong to a batch that was committed meanwhile, and the next sync would not report it.
      if (cause !== null) for (const batch of this.#unsynced.splice(0)) this.#answer(batch, exit)
      this.#inSync = []
      this.#syncing = false
      if (this.#unsynced.length > 0) this.#sync()
      else for (const resume of this.#idle.splice(0)) resume()
    })
  }

  /**
   * How long the disk alone took. One slow sync among many quick ones does not make a slow disk, several do; one quick
   * sync ends that.
   */
  took(syncMs: number): void {
    this.#lookedAt = performance.now()
    this.#syncMs = this.isSlow && syncMs < quickMs ? syncMs : this.#syncMs + (syncMs - this.#syncMs) / 16
  }

  get isSlow(): boolean {
    return this.#syncMs >= quickMs
  }

  /**
   * Whether the disk is free, and quick enough to wait for it on the event loop. A slow disk is tried again from time
   * to time.
   */
  get isQuick(): boolean {
    return !this.#syncing && (!this.isSlow || performance.now() - this.#lookedAt > lookEveryMs)
  }

  /** Something else has just committed on this connection: the next sync covers it as if it were a batch. */
  syncedNext(): Effect.Effect<void, SqlError.SqlError> {
    const batch: Batch = { openedAt: 0, done: Deferred.makeUnsafe(), members: 1 }
    this.#unsynced.push(batch)
    if (!this.#syncing) this.#sync()
    return Deferred.await(batch.done)
  }

  /**
   * Waits until everything committed so far is answered, successfully or not, so that later writes are also reported
   * later.
   */
  readonly answered: Effect.Effect<void> = Effect.suspend(() => {
    const last = this.#unsynced.at(-1) ?? this.#inSync.at(-1) ?? this.#answering
    return last === undefined ? Effect.void : Effect.ignore(Deferred.await(last.done))
  })

  /** Waits until no sync is running. */
  readonly settled: Effect.Effect<void> = Effect.callback((resume) => {
    if (!this.#syncing) return resume(Effect.void)
    this.#idle.push(() => resume(Effect.void))
  })

  #fail(batch: Batch, error: SqlError.SqlError): void {
    this.#rollback()
    this.#batch = undefined
    this.#answer(batch, Exit.fail(error))
  }

  /**
   * Deferred: the members would otherwise continue inside the run of the fiber that closes the batch, and
   * Effect.forEach with a bound then starts an item twice and skips another (effect 4.1.0).
   */
  #answer(batch: Batch, exit: Exit.Exit<void, SqlError.SqlError>): void {
    this.#answering = batch
    queueMicrotask(() => {
      if (this.#answering === batch) this.#answering = undefined
      Deferred.doneUnsafe(batch.done, exit)
    })
  }

  #rollback(): void {
    try {
      if (this.#writer.inTransaction()) this.#writer.rollback()
    } catch {
      // The next `begin` tries again and reports it.
    }
  }

  #release(turn: ConnectionTurn): Effect.Effect<void> {
    return Effect.sync(() => this.#giveBack(turn))
  }

  #giveBack(turn: ConnectionTurn): void {
    if (!turn.held) return
    turn.held = false
    this.#holder = undefined
    // Waiting turns close the batch when they leave.
    if (this.#line.size === 0) this.#closeSoon()
    // Not inside the run of the fiber that leaves: see #answer.
    else if (!this.#calling) queueMicrotask(() => this.#next())
  }

  #try(operation: string, step: () => void): Effect.Effect<void, SqlError.SqlError> {
    return Effect.try({ try: step, catch: (cause) => this.#writer.toError(cause, operation) })
  }
}
