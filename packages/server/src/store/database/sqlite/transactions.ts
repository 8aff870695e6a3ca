/**
 * Transactions of a client: the outermost begins and commits, nested ones are savepoints. It does what
 * `SqlClient.makeWithTransaction` does, but does not copy all services of the fiber three times per transaction and as
 * often again for the work after it (effect 4.1): a house has more than a hundred services.
 */
import { Context, Effect, Exit, Scope, Semaphore, Tracer } from "effect"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"

type Step = Effect.Effect<void, SqlError.SqlError>

/** The steps of a transaction on a connection. Nested transactions are numbered from 1. */
export interface TransactionSteps<Connection> {
  readonly acquire: (
    restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<Connection, SqlError.SqlError, Scope.Scope>
  readonly begin: (on: Connection) => Step
  readonly commit: (on: Connection) => Step
  readonly rollback: (on: Connection) => Step
  readonly savepoint: (on: Connection, id: number) => Step
  readonly rollbackSavepoint: (on: Connection, id: number) => Step
  readonly releaseSavepoint: (on: Connection, id: number) => Step
}

/** A transaction that is open, or was. The client's statements find their connection by its `Handle`. */
interface Level {
  readonly outer: Level | undefined
  /** Nested transactions run one after the other: savepoints are a stack. */
  readonly within: Semaphore.Semaphore
  readonly after: Array<Effect.Effect<void>>
  isOpen: boolean
}

const runAfter = <R>(effect: Effect.Effect<void, never, R>): Effect.Effect<void, never, R> =>
  Effect.ignoreCause(effect, { log: "Error", message: "An after-commit action failed" })

export const makeTransactions = <Connection extends SqlConnection.Connection>(
  service: Context.Service<SqlClient.TransactionConnection, SqlClient.TransactionConnection.Service>,
  spanAttributes: ReadonlyArray<readonly [string, string]>,
  steps: TransactionSteps<Connection>,
): Pick<SqlClient.SqlClient, "withTransaction" | "afterCommit"> => {
  type Handle = readonly [Connection, number]
  const levels = new WeakMap<object, Level>()
  const handleIn = (context: Context.Context<never>): Handle | undefined =>
    Context.getOrUndefined(context, service) as unknown as Handle | undefined

  const afterCommit: SqlClient.SqlClient["afterCommit"] = (effect) =>
    Effect.withFiber((fiber) => {
      const { context } = fiber
      const handle = handleIn(context)
      const level = handle === undefined ? undefined : levels.get(handle)
      if (level === undefined) return runAfter(effect)
      for (let one: Level | undefined = level; one !== undefined; one = one.outer)
        if (!one.isOpen) return Effect.die(new Error("this transaction has ended; nothing runs after its commit"))
      // Runs later, with the services of now, and without the transaction.
      const later = runAfter(effect) as Effect.Effect<void>
      level.after.push(Effect.updateContext(later, () => Context.omit(service)(context)))
      return Effect.void
    })

  /** Runs the body on its connection, then ends it: commit or release after success, otherwise rollback. */
  const run = <A, E, R>(
    body: Effect.Effect<A, E, R>,
    context: Context.Context<never>,
    handle: Handle,
    level: Level,
    span: Tracer.Span,
  ): Effect.Effect<A, E | SqlError.SqlError, R> => {
    const [on, id] = handle
    levels.set(handle, level)
    const inside = Context.add(context, service, handle as unknown as SqlClient.TransactionConnection.Service).pipe(
      Context.add(Tracer.ParentSpan, span),
    )
    return Effect.onExit(
      Effect.updateContext(body, () => inside as Context.Context<R>),
      (exit) => {
        if (id === 0) return Exit.isSuccess(exit) ? steps.commit(on) : Effect.orDie(steps.rollback(on))
        const release = Effect.orDie(steps.releaseSavepoint(on, id))
        return Exit.isSuccess(exit) ? release : Effect.andThen(Effect.orDie(steps.rollbackSavepoint(on, id)), release)
      },
    )
  }

  /**
   * Runs after the end, when the connection is returned: runs the work that was registered for after the commit, or
   * passes it to the outer transaction.
   */
  const ended = (level: Level) => (exit: Exit.Exit<unknown, unknown>) => {
    level.isOpen = false
    if (Exit.isFailure(exit) || level.after.length === 0) return Effect.void
    if (level.outer === undefined) return Effect.forEach(level.after, (one) => one, { discard: true })
    level.outer.after.push(...level.after)
    return Effect.void
  }

  const withTransaction: SqlClient.SqlClient["withTransaction"] = (body) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.useSpan("sql.transaction", { kind: "internal" }, (span) =>
        Effect.withFiber((fiber) => {
          for (const [key, value] of spanAttributes) span.attribute(key, value)
          const { context } = fiber
          const outerHandle = handleIn(context)
          const outer = outerHandle === undefined ? undefined : levels.get(outerHandle)
          const level: Level = { outer, within: Semaphore.makeUnsafe(1), after: [], isOpen: true }
          if (outerHandle !== undefined) {
            const [on, id] = [outerHandle[0], outerHandle[1] + 1]
            const nested = Effect.andThen(steps.savepoint(on, id), run(restore(body), context, [on, id], level, span))
            const whole = Effect.onExit(nested, ended(level))
            return outer === undefined ? whole : outer.within.withPermit(whole)
          }
          const alone = Effect.scopedWith((scope) =>
            Effect.flatMap(Scope.provide(steps.acquire(restore), scope), (on) =>
              Effect.andThen(steps.begin(on), run(restore(body), context, [on, 0], level, span)),
            ),
          )
          return Effect.onExit(alone, ended(level))
        }),
      ),
    )

  return { withTransaction, afterCommit }
}
