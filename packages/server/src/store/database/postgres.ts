/** effect/sql on node-postgres: a pool, prepared statements, and connections that listen. */
// edge: pg speaks callbacks and promises; nothing above this file does.
import { Effect, Layer, Redacted, Scope, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import pg from "pg"
import { conflictOf, hearConflict } from "./dialect/Conflicts.ts"
import { DiskState, giveDisk } from "./disk/FullDisk.ts"
import { camelRows, Recent, toSnake } from "./statements.ts"

type Row = Record<string, unknown>

// int8 as a number if that is exact, otherwise as a bigint, as SQLite does.
const exact = (text: string): number | bigint => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: Parameters<typeof pg.types.getTypeParser>[0], format: "text") =>
    oid === pg.types.builtins.INT8 ? exact : pg.types.getTypeParser(oid, format)) as never,
}

const classes: Record<
  string,
  (props: { cause: unknown; message: string; operation: string }) => SqlError.SqlErrorReason
> = {
  "08": (props) => new SqlError.ConnectionError(props),
  "28": (props) => new SqlError.AuthenticationError(props),
  "42": (props) => new SqlError.SqlSyntaxError(props),
  "23": (props) => new SqlError.ConstraintError(props),
  "40P01": (props) => new SqlError.DeadlockError(props),
  "40001": (props) => new SqlError.SerializationError(props),
  "55P03": (props) => new SqlError.LockTimeoutError(props),
  "57014": (props) => new SqlError.StatementTimeoutError(props),
}

const toError = (cause: unknown, operation: string): SqlError.SqlError => {
  const error = cause as { readonly code?: string; readonly constraint?: string; readonly message?: string }
  // If a connection to a name with two addresses is refused, the error has a code but no message.
  const props = { cause, message: error.message || error.code || String(cause), operation }
  const code = error.code ?? "08"
  const reason =
    code === "23505"
      ? new SqlError.UniqueViolation({ ...props, constraint: error.constraint ?? "" })
      : (classes[code] ?? classes[code.slice(0, 2)] ?? ((p) => new SqlError.UnknownError(p)))(props)
  return new SqlError.SqlError({ reason })
}

class Ended extends Error {
  readonly code = "25000"
  override readonly message = "this transaction has ended; what outlives it must not use it"
}
class Aborted extends Error {
  readonly code = "25P02"
  override readonly message = "a statement of this transaction failed, so Postgres rolled all of it back"
}

type Queryable = Pick<pg.Pool, "query">

/** How long Postgres may take to accept a connection. */
const connectMs = 10_000
/**
 * How long a request waits for one of our own connections while all are used. That is a queue, not a Postgres that does
 * not answer: after a burst of writes on a busy machine the last one may wait long.
 */
const queueMs = 60_000

/** The pool's own timeout is for its queue; a new connection has its own. */
class Connection extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: connectMs })
  }
}

const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: (name, withoutTransform) =>
    `"${(withoutTransform ? name : toSnake(name)).replace(/"/g, '""').replace(/\./g, '"."')}"`,
  onRecordUpdate: (placeholders, alias, columns, values, returning) => [
    `(values ${placeholders}) AS ${alias}${columns}${returning ? ` RETURNING ${returning[0]}` : ""}`,
    returning ? [...values.flat(), ...returning[1]] : values.flat(),
  ],
  onCustom: () => ["", []],
})

const make = Effect.fnUntraced(function* (options: { readonly url: Redacted.Redacted; readonly connections: number }) {
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const made = new pg.Pool({
        connectionString: Redacted.value(options.url),
        max: options.connections,
        types,
        application_name: "stoa",
        Client: Connection,
        connectionTimeoutMillis: queueMs,
        keepAlive: true,
        // A process that is frozen or disconnected inside a transaction would block all others, for example with the
        // journal's lock.
        idle_in_transaction_session_timeout: 10_000,
      })
      // The pool replaces an idle connection that dies; without a listener the error would end the process.
      made.on("error", () => {})
      return made
    }),
    (made) => Effect.promise(() => made.end()),
  )

  const disk = new DiskState()
  const names = new Recent<string, string>(1000)
  let named = 0
  const query = (on: Queryable, sql: string, params: ReadonlyArray<unknown>, prepared: boolean) =>
    Effect.callback<pg.QueryResult<Row>, SqlError.SqlError>((resume) => {
      const values = params.map((value) => (value === undefined ? null : value))
      const config = prepared
        ? { name: names.get(sql, () => `stoa_${++named}`), text: sql, values }
        : { text: sql, values }
      on.query<Row>(config).then(
        (result) => resume(Effect.succeed(result)),
        (cause: unknown) => resume(Effect.fail(disk.heard(toError(cause, "execute")))),
      )
    }).pipe(Effect.uninterruptible)

  const connection = (on: Queryable): SqlConnection.Connection => {
    const rows = (sql: string, params: ReadonlyArray<unknown>, prepared: boolean) =>
      Effect.map(query(on, sql, params, prepared), (result) => result.rows)
    const execute =
      (prepared: boolean): SqlConnection.Connection["execute"] =>
      (sql, params, transform) =>
        transform === undefined ? rows(sql, params, prepared) : Effect.map(rows(sql, params, prepared), transform)
    const values = (prepared: boolean) => (sql: string, params: ReadonlyArray<unknown>) =>
      Effect.map(rows(sql, params, prepared), (all) => all.map((row) => Object.values(row)))
    return {
      execute: execute(true),
      executeUnprepared: execute(false),
      executeRaw: (sql, params) => query(on, sql, params, true),
      executeValues: values(true),
      executeValuesUnprepared: values(false),
      executeStream: (sql, params, transform) => Stream.fromIterableEffect(execute(true)(sql, params, transform)),
    }
  }

  const client = Effect.callback<pg.PoolClient, SqlError.SqlError>((resume) => {
    pool.connect((cause, made) => resume(made ? Effect.succeed(made) : Effect.fail(toError(cause, "connect"))))
  }).pipe(Effect.uninterruptible)

  // Fibers may share a leased connection, but pg takes one query at a time.
  const leased = Effect.acquireRelease(
    Effect.map(client, (made) => {
      const lease = { made, held: true, broken: undefined as Error | undefined }
      // The pool does not listen while a connection is leased: without a listener, its loss would end the process.
      made.on("error", (error) => void (lease.broken = error))
      return lease
    }),
    (lease) =>
      Effect.sync(() => {
        lease.held = false
        lease.made.removeAllListeners("error")
        lease.made.release(lease.broken)
      }),
  ).pipe(
    Effect.map((lease) => {
      const turns = Semaphore.makeUnsafe(1)
      const on = connection(lease.made)
      const inTurn =
        <Args extends ReadonlyArray<unknown>, A>(run: (...args: Args) => Effect.Effect<A, SqlError.SqlError>) =>
        (...args: Args) =>
          turns.withPermit(
            Effect.suspend(() => (lease.held ? run(...args) : Effect.fail(toError(new Ended(), "execute")))).pipe(
              Effect.tapError((error) => Effect.sync(() => hearConflict(whole, error))),
            ),
          )
      const execute = inTurn(on.execute)
      const whole: SqlConnection.Connection = {
        execute,
        executeUnprepared: inTurn(on.executeUnprepared),
        executeRaw: inTurn(on.executeRaw),
        executeValues: inTurn(on.executeValues),
        executeValuesUnprepared: inTurn(on.executeValuesUnprepared),
        executeStream: (sql, params, transform) => Stream.fromIterableEffect(execute(sql, params, transform)),
      }
      return whole
    }),
  )

  // If the body swallowed a failed statement, Postgres answers COMMIT with ROLLBACK and no error. A conflict must not be
  // swallowed in a savepoint either. The lease that ends with it is rolled back.
  const commit = (conn: SqlConnection.Connection) => {
    const conflict = conflictOf(conn)
    return Effect.flatMap(conn.executeRaw(conflict === undefined ? "COMMIT" : "ROLLBACK", []), (result) =>
      (result as pg.QueryResult).command === "COMMIT"
        ? Effect.void
        : Effect.fail(conflict ?? toError(new Aborted(), "commit")),
    )
  }

  const single = connection(pool)
  const made = yield* SqlClient.make({
    driver: "pg",
    compiler,
    transformRows: camelRows,
    spanAttributes: [["db.system.name", "postgresql"]],
    acquirer: Effect.succeed(single),
    borrower: (f) => f(single),
    transactionAcquirer: leased,
    commit,
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
  })
  giveDisk(made, disk)
  return made
})

export const layerPostgres = (options: {
  readonly url: Redacted.Redacted
  readonly connections: number
}): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))

/**
 * The version of the server, over a separate connection with short timeouts: a start fails quickly if Postgres does not
 * answer.
 */
export const askVersion = (url: Redacted.Redacted): Effect.Effect<string, SqlError.SqlError> =>
  Effect.tryPromise({
    try: async () => {
      const connectionString = Redacted.value(url)
      const client = new pg.Client({ connectionString, connectionTimeoutMillis: 3000, query_timeout: 3000 })
      client.on("error", () => {})
      try {
        await client.connect()
        const { rows } = await client.query<{ server_version: string }>("SHOW server_version")
        return rows[0]!.server_version
      } finally {
        await client.end().catch(() => {})
      }
    },
    catch: (cause) => toError(cause, "connect"),
  })

/** Calls `hear` for each notification of a channel. A lost connection is replaced after a second. */
export const listen = (
  url: Redacted.Redacted,
  channel: string,
  hear: (payload: string) => void,
): Effect.Effect<void, never, Scope.Scope> => {
  const once = Effect.callback<never, SqlError.SqlError>((resume) => {
    const client = new pg.Client({
      connectionString: Redacted.value(url),
      application_name: "stoa listener",
      keepAlive: true,
    })
    const end = Effect.promise(() => client.end().catch(() => {}))
    const fail = (cause: unknown) => resume(Effect.andThen(end, Effect.fail(toError(cause, "listen"))))
    client.on("error", fail)
    client.on("end", () => fail(new Error("the listening connection ended")))
    client.on("notification", ({ payload = "" }) => hear(payload))
    client
      .connect()
      .then(() => client.query(`LISTEN ${channel}`))
      // Readers now catch up on what was written while nobody listened.
      .then(() => hear(""), fail)
    return end
  })
  return Effect.forkScoped(
    Effect.catch(once, (error) =>
      Effect.logWarning("Lost the connection for journal notifications; reconnecting", error.message),
    ).pipe(Effect.andThen(Effect.sleep("1 second")), Effect.forever),
  ).pipe(Effect.asVoid)
}
