/**
 * The newest events of the journal, in memory: on SQLite this process alone writes, so that whoever reads on from near the
 * end finds here what a query would find. Only what is committed comes in, in order and without gaps.
 */
export interface Kept<Row> {
  readonly cursor: number
  readonly row: Row
  decoded?: unknown
}

const most = 4096

export class Tail<Row> {
  #kept: Array<Kept<Row>> = []
  #highest = 0

  /** The cursor of the newest; nothing, before the first. */
  get end(): number | undefined {
    return this.#kept.at(-1)?.cursor
  }

  add(rows: ReadonlyArray<Row>, cursors: ReadonlyArray<{ readonly cursor: number }>): void {
    const first = cursors[0]!.cursor
    const { end } = this
    const follows = end === undefined ? first > this.#highest : first === end + 1
    this.#highest = Math.max(this.#highest, cursors.at(-1)!.cursor)
    // Out of order, one would be missed by whoever reads on: the table has all, and this begins anew.
    if (!follows) return this.clear()
    for (let at = 0; at < rows.length; at++) this.#kept.push({ cursor: cursors[at]!.cursor, row: rows[at]! })
    if (this.#kept.length > 2 * most) this.#kept = this.#kept.slice(-most)
  }

  /** Nothing is kept any more: the table is asked. */
  clear(): void {
    this.#kept = []
  }

  /** What came after a cursor; nothing, where that may be more than is kept here. */
  after(cursor: number): ReadonlyArray<Kept<Row>> | undefined {
    const first = this.#kept[0]?.cursor
    return first === undefined || cursor < first - 1 ? undefined : this.#kept.slice(cursor - first + 1)
  }
}
