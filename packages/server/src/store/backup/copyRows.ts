/** Rows from Postgres into a backup, and from a backup into either database. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { SQLInputValue } from "node:sqlite"
import { CopyWriter, type OpenBackup } from "./backupFile.ts"
import { versionOf, versionTable } from "../Schemas.ts"
import { refuse } from "../StartError.ts"
import { type Column, columnsOf, derivedTables, parentsFirst, tableNames } from "./tables.ts"

/** How many rows are held at a time. Rows with bytes are fewer, because a file may have 8 MiB. */
const rowsAtOnce = 200
const bytesAtOnce = 4
const whole = (value: unknown) => BigInt(value as number | bigint | string)

interface Kind {
  /** The cast in the query to Postgres, if one is needed. */
  readonly as?: string
  readonly toFile: (value: unknown) => SQLInputValue
  readonly fromFile?: (value: unknown) => unknown
}
const asIs: Kind = { toFile: (value) => value as SQLInputValue }
const asText: Kind = { as: "::text", toFile: (value) => value as string }
const integer: Kind = { toFile: whole, fromFile: String }

/** Every type that a migration may use. Another type is refused here, so that it is not copied wrongly. */
const kinds: Record<string, Kind> = {
  text: asIs,
  "character varying": asIs,
  integer,
  bigint: integer,
  smallint: integer,
  boolean: { toFile: (value) => (value === true ? 1n : 0n), fromFile: (value) => Number(value) === 1 },
  bytea: asIs,
  "double precision": { toFile: (value) => value as number, fromFile: Number },
  "timestamp with time zone": asText,
  "timestamp without time zone": asText,
}

const kindOf = (table: string, column: Column) => {
  const kind = kinds[column.type]
  return kind === undefined
    ? Effect.fail(
        refuse(`The column ${table}.${column.name} of type ${column.type} cannot be carried by a backup. Report this.`),
      )
    : Effect.succeed(kind)
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const counterOf = (table: string) =>
  Effect.map(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{
        counter: string
        column: string
      }>`SELECT pg_get_serial_sequence(quote_ident(table_name), column_name) AS counter,
        column_name::text AS column FROM information_schema.columns WHERE table_schema = current_schema()
        AND table_name = ${table} AND pg_get_serial_sequence(quote_ident(table_name), column_name) IS NOT NULL`,
    ),
    (rows) => rows[0],
  )

/** One state of a Postgres database, as it was when the copy began. Later writes are not in it. */
export const copyPostgres = (to: string) =>
  Effect.gen(function* () {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const file = yield* Effect.acquireRelease(
      Effect.sync(() => new CopyWriter(to)),
      (writer) => Effect.sync(() => writer.end()),
    )
    const counts: Record<string, number> = {}
    const counters: Record<string, number> = {}
    for (const table of yield* tableNames) {
      const columns = yield* columnsOf(table)
      const kept = yield* Effect.forEach(columns, (column) => kindOf(table, column))
      const put = file.table(
        table,
        columns.map((column) => column.name),
      )
      const wanted = columns.map((column, n) => `${quoted(column.name)}${kept[n]!.as ?? ""} AS ${quoted(column.name)}`)
      yield* sql.unsafe(`DECLARE stoa_copy NO SCROLL CURSOR FOR SELECT ${wanted.join(", ")} FROM ${quoted(table)}`)
        .unprepared
      const some = columns.some((column) => column.type === "bytea") ? bytesAtOnce : rowsAtOnce
      counts[table] = 0
      while (true) {
        const rows = yield* sql.unsafe<Record<string, unknown>>(`FETCH ${some} FROM stoa_copy`).unprepared
        if (rows.length === 0) break
        put(rows.map((row) => columns.map(({ name }, n) => (row[name] === null ? null : kept[n]!.toFile(row[name])))))
        counts[table] += rows.length
      }
      yield* sql`CLOSE stoa_copy`.unprepared
      const counter = yield* counterOf(table)
      if (counter === undefined) continue
      const last = yield* sql<{
        last: number | null
      }>`SELECT pg_sequence_last_value(${counter.counter}::regclass) AS last`
      counters[table] = last[0]?.last ?? 0
    }
    return { counts, counters, schema: yield* versionOf }
  }).pipe(Effect.scoped, (copy) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.provideService(
        sql.withTransaction(copy),
        SqlClient.BeginTransaction,
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
      ),
    ),
  )

/** Drops everything, so that a backup can replace it. Only inside the transaction that restores the backup. */
export const dropTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = [...(yield* parentsFirst(yield* tableNames)), ...(yield* derivedTables)]
  yield* Effect.forEach(tables.toReversed(), (table) => sql`DROP TABLE ${sql(table)}`, { discard: true })
})

const setCounter = Effect.fnUntraced(function* (table: string, value: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.onDialectOrElse({
    pg: () =>
      Effect.gen(function* () {
        const counter = yield* counterOf(table)
        if (counter === undefined || value === 0) return
        yield* sql`SELECT setval(${counter.counter}::regclass, ${value})`
      }),
    orElse: () =>
      Effect.andThen(
        sql`DELETE FROM sqlite_sequence WHERE name = ${table}`,
        Effect.asVoid(sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${value})`),
      ),
  })
})

/** Copies the rows of a backup into tables of the same version, in place of the rows that the migrations inserted. */
export const copyIn = Effect.fnUntraced(function* (from: OpenBackup) {
  const sql = yield* SqlClient.SqlClient
  const here = yield* tableNames
  const unknown = from.tables.filter((table) => !here.includes(table) && from.about.counts[table]! > 0)
  if (unknown.length > 0)
    return yield* refuse(
      `The backup has tables that this Stoa does not know (${unknown.join(", ")}). Restore it with the Stoa that made it.`,
    )
  const ordered = (yield* parentsFirst(here)).filter((table) => table !== versionTable)
  yield* Effect.forEach(ordered.toReversed(), (table) => sql`DELETE FROM ${sql(table)}`, { discard: true })
  const isPostgres = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  for (const table of ordered.filter((one) => from.tables.includes(one))) {
    const types = new Map((yield* columnsOf(table)).map((column) => [column.name, column]))
    const names = from.columns(table)
    const strange = names.filter((name) => !types.has(name))
    if (strange.length > 0)
      return yield* refuse(
        `The backup's table ${table} has columns that this Stoa does not know: ${strange.join(", ")}.`,
      )
    const columns = names.map((name) => types.get(name)!)
    const convert = isPostgres
      ? (yield* Effect.forEach(columns, (column) => kindOf(table, column))).map((kind) => kind.fromFile ?? same)
      : columns.map(() => same)
    const some = columns.some(({ type }) => type === "bytea" || type === "blob") ? bytesAtOnce : rowsAtOnce
    for (const rows of from.rows(table, some)) yield* insert(sql, table, names, rows, convert)
  }
  yield* Effect.forEach(
    Object.entries(from.about.counters).filter(([table]) => here.includes(table)),
    ([table, value]) => setCounter(table, value),
    { discard: true },
  )
})

const same = (value: unknown): unknown => value

const insert = (
  sql: SqlClient.SqlClient,
  table: string,
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<unknown>>,
  convert: ReadonlyArray<(value: unknown) => unknown>,
): Effect.Effect<unknown, SqlError.SqlError> => {
  let placed = 0
  const place = sql.onDialectOrElse({ pg: () => () => `$${++placed}`, orElse: () => () => "?" })
  const values = rows.map(() => `(${columns.map(place).join(", ")})`).join(", ")
  const params = rows.flatMap((row) => row.map((value, n) => (value === null ? null : convert[n]!(value))))
  return sql.unsafe(`INSERT INTO ${quoted(table)} (${columns.map(quoted).join(", ")}) VALUES ${values}`, params)
}
