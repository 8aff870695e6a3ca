/** Claims work rows by lease. Several processes may claim at once; each row goes to one of them. */
import { DateTime, Duration, Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

/**
 * A lease that ends later than any lease given now comes from a clock that has since been set back, so it is ignored.
 * Clocks of several machines may differ by this much.
 */
const leaseSkew = Duration.minutes(2)

/** The times of a lease that is taken now, as they are stored. */
export const leaseTimes = (now: DateTime.Utc, lease: Duration.Duration) => ({
  now: DateTime.formatIso(now),
  until: DateTime.formatIso(DateTime.addDuration(now, lease)),
  far: DateTime.formatIso(DateTime.addDuration(now, leaseSkew)),
})

/** Whether an owner can take the lease of a row, or has it: it is free, or has ended, or its owner is gone. */
export const isTakable = (
  sql: SqlClient.SqlClient,
  table: string,
  owner: string,
  { far, now }: { readonly far: string; readonly now: string },
  /** Whether the process that a column names is gone. */
  gone: (column: string) => Statement.Fragment,
): Statement.Fragment => {
  const [by, until] = [`${table}.lease_owner`, `${table}.lease_until`]
  return sql`(${sql.literal(by)} IS NULL OR ${sql.literal(by)} = ${owner} OR ${sql.literal(until)} < ${now}
    OR ${sql.literal(until)} > ${far} OR ${gone(by)})`
}

/** The table has `id`, `due_at`, `lease_owner` and `lease_until`. */
export const claimDue = <Row extends object>(
  sql: SqlClient.SqlClient,
  options: {
    readonly table: string
    readonly owner: string
    readonly now: DateTime.Utc
    readonly lease: Duration.Duration
    readonly limit: number
    /** Matches rows whose lease owner is known to be dead: their leases are not waited for. */
    readonly orIf?: Statement.Fragment
  },
): Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError> => {
  const { far, now, until } = leaseTimes(options.now, options.lease)
  const table = sql(options.table)
  // Without SKIP LOCKED the second process would wait for the first and then find the rows taken.
  const skip = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE SKIP LOCKED`, orElse: () => sql`` })
  return sql<Row>`UPDATE ${table} SET lease_owner = ${options.owner}, lease_until = ${until}
    WHERE id IN (SELECT id FROM ${table} WHERE due_at <= ${now} AND (lease_until IS NULL OR lease_until < ${now} OR lease_until > ${far}
      ${options.orIf === undefined ? sql`` : sql`OR ${options.orIf}`})
      ORDER BY due_at LIMIT ${options.limit} ${skip}) RETURNING *`
}

/**
 * The folder's lock allows one process at a time on SQLite, so the rows that a dead process had claimed are freed at
 * once instead of when the lease ends.
 */
export const freeLeases = (sql: SqlClient.SqlClient, table: string): Effect.Effect<void, SqlError.SqlError> =>
  sql.onDialectOrElse({
    pg: () => Effect.void,
    orElse: () =>
      Effect.asVoid(sql`UPDATE ${sql(table)} SET lease_owner = NULL, lease_until = NULL WHERE lease_owner IS NOT NULL`),
  })
