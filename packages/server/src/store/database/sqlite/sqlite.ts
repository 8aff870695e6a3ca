/**
 * effect/sql on node:sqlite: one connection that writes (in turns, with group commit) and one that only reads what is
 * committed. With WAL neither blocks the other.
 */
// edge: node:sqlite is synchronous; nothing above this file is.
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { Effect, Layer, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { batchWriter, camelRows, Recent, toSnake } from "../statements.ts"
import { giveBatches, makeBatches } from "./Batches.ts"
import { DiskState, giveDisk, isDiskFull } from "../disk/FullDisk.ts"
import { GroupCommit, type ConnectionTurn } from "./groupCommit.ts"
import { makeTransactions } from "./transactions.ts"

type Row = Record<string, unknown>
type Transform = Parameters<SqlConnection.Connection["execute"]>[2]

const bind = (value: unknown): SQLInputValue => {
  if (value === undefined) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (value instanceof Date) return value.toISOString()
  return value as SQLInputValue
}

/** SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID: Postgres calls all three a unique violation, and so do we. */
const taken = new Set([2067, 1555, 2579])
const toError = (cause: unknown, operation: string): SqlError.SqlError => {
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = (cause as { readonly errcode?: number }).errcode
  const reason =
    code !== undefined && taken.has(code)
      ? new SqlError.UniqueViolation({ cause, message, operation, constraint: message.split(": ").at(-1) ?? "" })
      : SqlError.classifySqliteError(Object.assign(cause as object, { errno: code }), { message, operation })
  return new SqlError.SqlError({ reason })
}

/**
 * A bare parameter as a limit makes SQLite plan the statement again at each run, because the plan depends on the value.
 */
const unseen = (sql: string): string => sql.replace(/\bLIMIT \?/g, "LIMIT ? + 0")

/** How long a statement waits for another connection. */
const busyMs = 5000

class Database {
  readonly db: DatabaseSync
  readonly #statements = new Recent<string, StatementSync>(500)

  constructor(file: string, options: { readonly readOnly: boolean }) {
    this.db = new DatabaseSync(file, { readOnly: options.readOnly, timeout: busyMs })
  }

  all(sql: string, params: ReadonlyArray<unknown>, bigInts: boolean): Array<Row> {
    const statement = this.#statements.get(sql, () => this.db.prepare(unseen(sql)))
    statement.setReadBigInts(bigInts)
    return statement.all(...params.map(bind))
  }
}

/** A statement that only reads. Anything unknown is treated as a write, which is merely slower. */
const reads = /^\s*(SELECT|EXPLAIN|VALUES)\b/i

const connection = (
  run: (sql: string, params: ReadonlyArray<unknown>, bigInts: boolean) => Effect.Effect<Array<Row>, SqlError.SqlError>,
): SqlConnection.Connection => {
  const rows = (sql: string, params: ReadonlyArray<unknown>) =>
    Effect.withFiber<Array<Row>, SqlError.SqlError>((fiber) => run(sql, params, fiber.getRef(SqlClient.SafeIntegers)))
  const execute = (sql: string, params: ReadonlyArray<unknown>, transform: Transform) =>
    transform === undefined ? rows(sql, params) : Effect.map(rows(sql, params), transform)
  const values = (sql: string, params: ReadonlyArray<unknown>) =>
    Effect.map(rows(sql, params), (all) => all.map((row) => Object.values(row)))
  return {
    execute,
    executeUnprepared: execute,
    executeRaw: rows,
    executeValues: values,
    executeValuesUnprepared: values,
    executeStream: (sql, params, transform) => Stream.fromIterableEffect(execute(sql, params, transform)),
  }
}

type Fail = (cause: unknown, operation: string) => SqlError.SqlError
const attempt =
  (database: Database, fail: Fail, check: () => void = () => {}) =>
  (sql: string, params: ReadonlyArray<unknown>, bigInts: boolean) =>
    Effect.try({
      try: () => {
        check()
        return database.all(sql, params, bigInts)
      },
      catch: (cause) => fail(cause, "execute"),
    })

const make = Effect.fnUntraced(function* (options: { readonly file: string }) {
  const inMemory = options.file === ":memory:"
  const open = (readOnly: boolean) =>
    Effect.acquireRelease(
      Effect.try({ try: () => new Database(options.file, { readOnly }), catch: (cause) => toError(cause, "open") }),
      (database) => Effect.sync(() => database.db.close()),
    )
  const writer = yield* open(false)
  writer.db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY")
  const log = inMemory ? undefined : yield* openLog(writer.db, options.file)
  // A memory database belongs to its connection, so there reads take turns like writes.
  const reader = inMemory ? writer : yield* open(true)

  const disk = new DiskState()
  const fail: Fail = (cause, operation) => disk.heard(toError(cause, operation))
  // A full disk ends the whole transaction: its other members get this error, not one that the transaction is gone.
  let endedBy: unknown
  const failWriting: Fail = (cause, operation) => {
    if (endedBy === undefined && isDiskFull(cause) && !writer.db.isTransaction) endedBy = cause
    return fail(endedBy ?? cause, operation)
  }

  const group = new GroupCommit({
    begin: () => {
      endedBy = undefined
      writer.db.exec("BEGIN IMMEDIATE")
    },
    commit: () => writer.db.exec("COMMIT"),
    sync: (done) => (log === undefined ? queueMicrotask(() => done(null)) : log.sync(done)),
    rollback: () => writer.db.exec("ROLLBACK"),
    exec: (sql) => writer.db.exec(sql),
    inTransaction: () => writer.db.isOpen && writer.db.isTransaction,
    toError: failWriting,
  })
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Effect.sync(() => group.flush()),
      group.settled,
    ),
  )

  const batches =
    log === undefined
      ? undefined
      : yield* makeBatches(options.file, group, (cause) => fail(cause, "batch"), {
          write: batchWriter(writer.db),
          sync: log.syncNow,
          syncFailed: log.syncFailed,
          movesLog: (does) => {
            if (writer.db.isOpen) writer.db.exec(`PRAGMA wal_autocheckpoint=${does ? 1000 : 0}`)
          },
        })

  const readBeside = attempt(reader, fail)
  const readHere = attempt(writer, fail)
  /**
   * Reads committed data. Prefers the writing connection, whose page cache is current: the other one rereads pages
   * after each commit.
   */
  const read: typeof readBeside = (sql, params, bigInts) =>
    Effect.suspend(() => (writer.db.isOpen && !writer.db.isTransaction ? readHere : readBeside)(sql, params, bigInts))
  const spanAttributes = [["db.system.name", "sqlite"]] as const
  const transactionService = SqlClient.TransactionConnection(nextClient++)

  // A turn's connection, with the turn itself for begin, commit and rollback.
  type TurnConnection = SqlConnection.Connection & { readonly turn: ConnectionTurn }
  const onTurn = (turn: ConnectionTurn, check: () => void): TurnConnection => {
    const guarded = attempt(writer, failWriting, () => {
      // A fiber forked inside would otherwise write into the next transaction.
      if (!turn.held) throw new Error("this transaction has ended; what outlives it must not use it")
      check()
    })
    return Object.assign(connection(guarded), { turn })
  }
  const inside = () => {
    // Otherwise a body that continued after such a failure would commit statement by statement.
    if (!writer.db.isTransaction) throw new Error("SQLite has rolled this transaction back")
  }
  type Restore = Parameters<GroupCommit["acquire"]>[0]
  const acquire = (restore: Restore): Effect.Effect<TurnConnection, never, Scope.Scope> =>
    Effect.map(group.acquire(restore), (turn) => onTurn(turn, inside))
  const control = (conn: TurnConnection, sql: string) => Effect.asVoid(conn.executeRaw(sql, []))

  const { afterCommit, withTransaction } = makeTransactions<TurnConnection>(transactionService, spanAttributes, {
    acquire,
    begin: ({ turn }) => group.begin(turn),
    commit: ({ turn }) => group.commit(turn),
    rollback: ({ turn }) => group.rollback(turn),
    savepoint: (conn, id) => control(conn, `SAVEPOINT nested_${id}`),
    rollbackSavepoint: (conn, id) => control(conn, `ROLLBACK TO nested_${id}`),
    releaseSavepoint: (conn, id) => control(conn, `RELEASE nested_${id}`),
  })

  // A single statement outside a transaction: reads see committed data; a write is a transaction of one statement.
  const single = connection((sql, params, bigInts) =>
    !inMemory && reads.test(sql)
      ? read(sql, params, bigInts)
      : withTransaction(attempt(writer, failWriting, inside)(sql, params, bigInts)),
  )

  const client = yield* SqlClient.make({
    driver: "sqlite-node",
    compiler: Statement.makeCompilerSqlite(toSnake),
    transformRows: camelRows,
    spanAttributes,
    transactionService,
    acquirer: Effect.succeed(single),
    borrower: (f) => f(single),
    transactionAcquirer: Effect.uninterruptibleMask((restore) =>
      Effect.tap(
        Effect.map(group.acquireAlone(restore), (turn) => onTurn(turn, () => {})),
        // Each statement commits by itself there, and waits for the disk itself.
        () =>
          Effect.acquireRelease(
            Effect.sync(() => writer.db.exec("PRAGMA synchronous=FULL")),
            () =>
              Effect.sync(() => {
                if (writer.db.isTransaction) writer.db.exec("ROLLBACK")
                if (log !== undefined) writer.db.exec("PRAGMA synchronous=NORMAL")
              }),
          ),
      ),
    ),
  })
  const whole = Object.assign(client, { withTransaction, afterCommit })
  if (batches !== undefined) giveBatches(whole, batches)
  giveDisk(whole, disk)
  return whole
})

/**
 * Opens the write-ahead log to sync it ourselves: `NORMAL` commits without waiting for the disk, and `fdatasync` of the
 * log on another thread is all that `FULL` would add (SQLite itself syncs before it checkpoints the log).
 */
const openLog = (db: DatabaseSync, file: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      db.exec("PRAGMA synchronous=NORMAL")
      // The log exists once something was committed, and stays the same file while a connection is open.
      let log: number | undefined
      const opened = () => (log ??= openSync(`${file}-wal`, "r+"))
      // Linux reports a failed write once: no later sync proves anything about it, until the whole log is checkpointed.
      let failed: Error | undefined
      const syncFailed = (cause: Error): void => void (failed = cause)
      const heal = (): void => {
        if (failed === undefined) return
        // A connection may read an older state for a long time; the event loop does not wait for it.
        db.exec("PRAGMA busy_timeout=100")
        try {
          const moved = db.prepare("PRAGMA wal_checkpoint(FULL)").get()
          if (moved?.["busy"] !== 0 || moved["log"] !== moved["checkpointed"]) throw failed
        } finally {
          db.exec(`PRAGMA busy_timeout=${busyMs}`)
        }
        failed = undefined
      }
      return {
        sync: (done: (cause: Error | null) => void): void => {
          try {
            heal()
            fdatasync(opened(), (cause) => {
              if (cause !== null) syncFailed(cause)
              done(cause)
            })
          } catch (cause) {
            queueMicrotask(() => done(cause as Error))
          }
        },
        /** The same on this thread, which blocks. */
        syncNow: () => {
          heal()
          try {
            fdatasyncSync(opened())
          } catch (cause) {
            syncFailed(cause as Error)
            throw cause
          }
        },
        /** For others that have the log open, too. */
        syncFailed,
        close: () => (log === undefined ? undefined : closeSync(log)),
      }
    }),
    (log) => Effect.sync(log.close),
  )

let nextClient = 1_000_000

export const layerSqlite = (options: { readonly file: string }): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))
