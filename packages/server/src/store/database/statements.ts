/** What both drivers share: snake_case names in the database, camelCase in the program. */

// Columns are few and asked for in every statement: each name is worked out once.
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

/** Renames the columns of a result. Only names change: a JSON value inside a column stays as it was. */
export const camelRows = <A extends object>(rows: ReadonlyArray<A>): ReadonlyArray<A> => {
  const first = rows[0]
  if (first === undefined) return rows
  // All rows of a result have the same columns, so the names are worked out once.
  const names = Object.keys(first).map((column) => [column, toCamel(column)] as const)
  return rows.map((row) => {
    const out: Record<string, unknown> = {}
    for (const [column, name] of names) out[name] = (row as Record<string, unknown>)[column]
    return out as A
  })
}

/** A bounded cache: prepared statements, and names of them. The oldest goes first. */
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

/** Why a batch was not written that would have hit fewer rows than it must. */
export const tooFew = "not all of these rows are as they must be"

/** In parts of 128, 64, 32 … rows: a statement is prepared once for each size, not for every number there may be. */
const largest = 128
export const chunksOf = <Row>(rows: ReadonlyArray<Row>): ReadonlyArray<ReadonlyArray<Row>> => {
  const chunks: Array<ReadonlyArray<Row>> = []
  let at = 0
  for (let size = largest; at < rows.length;)
    if (rows.length - at >= size) chunks.push(rows.slice(at, (at += size)))
    else size /= 2
  return chunks
}
