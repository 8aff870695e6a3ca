/**
 * Group commit for SQLite: transactions take turns on one connection, each inside its own savepoint, and those that come
 * close together share one synced COMMIT. Nobody is answered before that COMMIT has returned.
 *
 * The driver below is synchronous today; every step here is an Effect or a callback, so that a writer thread can take its
 * place without a change above.
 */
// edge: setImmediate and performance.now decide when a batch closes; they hold no state that matters after a crash.
import { Deferred, Effect, Exit, Scope, Semaphore } from "effect"
import type { SqlError } from "effect/sql"

/** What a batch needs of the database. */
export interface BatchWriter {
  readonly begin: () => void
  readonly commit: () => void
  readonly rollback: () => void
  readonly exec: (sql: string) => void
  readonly toError: (cause: unknown, operation: string) => SqlError.SqlError
}

interface Batch {
  readonly openedAt: number
  readonly done: Deferred.Deferred<void, SqlError.SqlError>
  members: number
}

/** A transaction's time on the connection. */
export interface Turn {
  batch: Batch | undefined
  held: boolean
  readonly startedAt: number
}

/** A batch closes at 256 transactions or after 5 ms, so that the first in it does not wait for the last. */
const most = 256
const longestMillis = 5
/** A transaction that holds the writer longer than this has something in it that does not belong there. */
const slowMillis = 250

export class GroupCommit {
  readonly #writer: BatchWriter
  readonly #turns = Semaphore.makeUnsafe(1)
  #waiting = 0
  #holder: Turn | undefined
  #batch: Batch | undefined
  #closing = false

  constructor(writer: BatchWriter) {
    this.#writer = writer
  }

  /** Waits for the connection; the turn ends with the scope, if commit or rollback has not ended it before. */
  acquire(
    restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
  ): Effect.Effect<Turn, never, Scope.Scope> {
    return Effect.suspend(() => {
      this.#waiting++
      return restore(this.#turns.take(1)).pipe(
        Effect.ensuring(Effect.sync(() => void this.#waiting--)),
        Effect.flatMap(() => {
          const turn: Turn = { batch: undefined, held: true, startedAt: performance.now() }
          this.#holder = turn
          return Effect.as(
            Scope.Scope.use((scope) => Scope.addFinalizer(scope, this.#release(turn))),
            turn,
          )
        }),
      )
    })
  }

  begin(turn: Turn): Effect.Effect<void, SqlError.SqlError> {
    return this.#try("begin", () => {
      if (this.#batch === undefined) {
        this.#writer.begin()
        this.#batch = { openedAt: performance.now(), done: Deferred.makeUnsafe(), members: 0 }
      }
      turn.batch = this.#batch
      this.#writer.exec("SAVEPOINT turn")
    })
  }

  commit(turn: Turn): Effect.Effect<void, SqlError.SqlError> {
    return Effect.flatMap(
      this.#try("commit", () => this.#writer.exec("RELEASE turn")),
      () => this.#leave(turn),
    )
  }

  /** Also waits: a refusal may rest on what an earlier member of the batch wrote, and must not outlive it. */
  rollback(turn: Turn): Effect.Effect<void, SqlError.SqlError> {
    return Effect.flatMap(
      this.#try("rollback", () => this.#writer.exec("ROLLBACK TO turn; RELEASE turn")),
      () => Effect.ignore(this.#leave(turn)),
    )
  }

  #leave(turn: Turn): Effect.Effect<void, SqlError.SqlError> {
    const batch = turn.batch!
    batch.members++
    const now = performance.now()
    if (batch.members >= most || now - batch.openedAt >= longestMillis) this.#close()
    else if (this.#waiting === 0) this.#closeSoon()
    const slow = now - turn.startedAt
    return Effect.andThen(
      this.#release(turn),
      slow < slowMillis
        ? Deferred.await(batch.done)
        : Effect.andThen(
            Effect.logWarning(
              `A transaction held the writer for ${Math.round(slow)} ms: keep everything but SQL out of it`,
            ),
            Deferred.await(batch.done),
          ),
    )
  }

  /** One more turn of the event loop, so that writers who were just answered can join. */
  #closeSoon(): void {
    if (this.#closing) return
    this.#closing = true
    setImmediate(() => {
      this.#closing = false
      // Whoever is on the connection closes the batch when it leaves.
      if (this.#holder === undefined && this.#batch !== undefined) this.#close()
    })
  }

  #close(): void {
    const batch = this.#batch!
    this.#batch = undefined
    let exit: Exit.Exit<void, SqlError.SqlError> = Exit.void
    try {
      this.#writer.commit()
    } catch (cause) {
      exit = Exit.fail(this.#writer.toError(cause, "commit"))
      this.#writer.rollback()
    }
    Deferred.doneUnsafe(batch.done, exit)
  }

  #release(turn: Turn): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!turn.held) return Effect.void
      turn.held = false
      this.#holder = undefined
      // An acquired turn that never began leaves the batch as it found it; nobody else may be there to close it.
      if (this.#batch !== undefined && this.#waiting === 0) this.#closeSoon()
      return Effect.asVoid(this.#turns.release(1))
    })
  }

  #try(operation: string, step: () => void): Effect.Effect<void, SqlError.SqlError> {
    return Effect.try({ try: step, catch: (cause) => this.#writer.toError(cause, operation) })
  }
}
