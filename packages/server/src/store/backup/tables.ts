/** Which tables and columns a database has. Asks the database, so that no list of ours can be out of date. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * All tables except the database's own; of a search index only the index itself, not the tables that SQLite derives
 * from it.
 */
export const tableNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.onDialectOrElse({
    pg: () => sql<{ name: string }>`SELECT table_name::text AS name FROM information_schema.tables
      WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`,
    orElse: () => sql<{ name: string }>`SELECT name FROM pragma_table_list
      WHERE schema = 'main' AND type IN ('table', 'virtual') AND substr(name, 1, 7) <> 'sqlite_'
      AND name NOT IN (SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % content=%') ORDER BY 1`,
  })
  return rows.map((row) => row.name)
})

/**
 * Tables that SQLite derives from another one by triggers. Backups do not contain them; they are dropped with the rest.
 */
export const derivedTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.onDialectOrElse({
    pg: () => Effect.succeed([]),
    orElse: () =>
      sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % content=%'`,
  })
  return rows.map((row) => row.name)
})

export interface Column {
  readonly name: string
  /** The database's name for it, in lower case. */
  readonly type: string
}

/** The columns that can be written, without generated ones. */
export const columnsOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.onDialectOrElse({
    pg: () => sql<Column>`SELECT column_name::text AS name, lower(data_type) AS type FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = ${table} AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    orElse: () =>
      sql<Column>`SELECT name, lower(type) AS type FROM pragma_table_xinfo(${table}) WHERE hidden = 0 ORDER BY cid`,
  })
})

/** The tables that a table references. */
const parentsOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.onDialectOrElse({
    pg: () => sql<{ name: string }>`SELECT DISTINCT parent.relname::text AS name FROM pg_constraint
      JOIN pg_class child ON child.oid = conrelid JOIN pg_class parent ON parent.oid = confrelid
      WHERE contype = 'f' AND child.relname = ${table} AND child.relnamespace = current_schema()::regnamespace`,
    orElse: () => sql<{ name: string }>`SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(${table})`,
  })
  return rows.map((row) => row.name).filter((name) => name !== table)
})

/** An order in which rows can be inserted: referenced tables come first. */
export const parentsFirst = Effect.fnUntraced(function* (tables: ReadonlyArray<string>) {
  const parents = new Map<string, ReadonlyArray<string>>()
  for (const table of tables) parents.set(table, yield* parentsOf(table))
  const ordered = new Set<string>()
  const visit = (table: string): void => {
    for (const parent of parents.get(table) ?? []) if (!ordered.has(parent)) visit(parent)
    ordered.add(table)
  }
  tables.forEach(visit)
  return [...ordered]
})
