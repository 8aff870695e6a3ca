/**
 * Statements: snake_case names in the database and camelCase in the program, a cache of prepared statements, and
 * batches. A batch is written on the writer thread, or on the event loop if the round trip to the thread would take
 * longer.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

// There are few columns, and every statement needs them: each name is converted once.
const once = (change: (name: string) => string) => {
  const known = new Map<string, string>()
  return (name: string): string => {
    let changed = known.get(name)
    if (changed === undefined) known.set(name, (changed = change(name)))
    return changed
  }
}
export const toSnake = once((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
const toCamel = once((name) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))

/** Renames the columns of a result. JSON values inside a column stay as they are. */
export const camelRows = <A extends object>(rows: ReadonlyArray<A>): ReadonlyArray<A> => {
  const first = rows[0]
  if (first === undefined) return rows
  // All rows of a result have the same columns, so the names are converted once.
  const names = Object.keys(first).map((column) => [column, toCamel(column)] as const)
  return rows.map((row) => {
    const out: Record<string, unknown> = {}
    for (const [column, name] of names) out[name] = (row as Record<string, unknown>)[column]
    return out as A
  })
}

/** A bounded cache for prepared statements and their names. The oldest entry goes first. */
export class Recent<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #most: number
  constructor(most: number) {
    this.#most = most
  }
  get(key: K, make: () => V): V {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const made = make()
    if (this.#entries.size >= this.#most) {
      const oldest = this.#entries.keys().next()
      if (!oldest.done) this.#entries.delete(oldest.value)
    }
    this.#entries.set(key, made)
    return made
  }
}

/** Why a batch was not written: it would have changed fewer rows than it must. */
export const tooFew = "not all of these rows are as they must be"

/** Chunks of 128, 64, 32 … rows: a statement is prepared once per size, not once per possible number of rows. */
const largest = 128
export const chunksOf = <Row>(rows: ReadonlyArray<Row>): ReadonlyArray<ReadonlyArray<Row>> => {
  const chunks: Array<ReadonlyArray<Row>> = []
  let at = 0
  for (let size = largest; at < rows.length;)
    if (rows.length - at >= size) chunks.push(rows.slice(at, (at += size)))
    else size /= 2
  return chunks
}

/** One statement for many rows. */
export type BatchStatement = Inserts | Changes
/** Inserts rows: lists of values in the order of the columns, or all of them as one text of JSON. */
interface Inserts {
  /** `INSERT INTO table (columns) VALUES`. */
  readonly into: string
  /** What follows the values, such as an ON CONFLICT clause. */
  readonly after?: string
  readonly rows: ReadonlyArray<ReadonlyArray<unknown>> | string
  readonly expects?: never
}
/**
 * Takes all rows as one JSON text, and must return exactly `expects` rows; otherwise nothing of the batch is written.
 */
export interface Changes {
  readonly sql: string
  readonly rows: string
  readonly expects: number
}

/** For another thread: sending one text is quicker than a thousand values. */
export const asText = (statement: BatchStatement): BatchStatement =>
  typeof statement.rows === "string" ? statement : { ...statement, rows: JSON.stringify(statement.rows) }

/** Writes batches over one connection, each in its own transaction. Returns the number of each statement's last row. */
export const batchWriter = (db: DatabaseSync) => {
  const known = new Recent<string, StatementSync>(500)
  const change = ({ expects, rows, sql }: Changes): number => {
    if (known.get(sql, () => db.prepare(sql)).all(rows).length !== expects) throw new Error(tooFew)
    return 0
  }
  const insert = ({ after = "", into, rows }: Inserts): number => {
    let last: number | bigint = 0
    const all = (typeof rows === "string" ? JSON.parse(rows) : rows) as ReadonlyArray<ReadonlyArray<SQLInputValue>>
    for (const some of chunksOf(all)) {
      const statement = known.get(`${some.length} ${into} ${after}`, () => {
        const places = `(${some[0]!.map(() => "?").join(",")})`
        return db.prepare(`${into} ${some.map(() => places).join(",")} ${after}`)
      })
      last = statement.run(...some.flat()).lastInsertRowid
    }
    return Number(last)
  }
  const run = (statement: BatchStatement): number =>
    statement.expects === undefined ? insert(statement) : change(statement)
  return (statements: ReadonlyArray<BatchStatement>): ReadonlyArray<number> => {
    try {
      db.exec("BEGIN IMMEDIATE")
      const last = statements.map(run)
      db.exec("COMMIT")
      return last
    } catch (cause) {
      try {
        if (db.isTransaction) db.exec("ROLLBACK")
      } catch {
        // The next BEGIN reports what is wrong.
      }
      throw cause
    }
  }
}
