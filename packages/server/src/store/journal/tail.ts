/**
 * The newest events of the journal, in memory: on SQLite only this process writes, so readers near the end find here
 * what a query would find. Only committed events are added, in order and without gaps.
 */
export interface Place<Row> {
  readonly cursor: number
  readonly row: Row
  decoded?: unknown
}

/** Some hundredths of a second of a busy house; who is further behind asks the table. */
const most = 1024

export class Tail<Row> {
  // Places that are taken again and again: what is let go of one by one dies young, and costs nothing to forget.
  readonly #places: Array<Place<Row> | undefined> = Array.from({ length: most })
  #first = 0
  #end = 0
  #highest = 0

  /** The cursor of the newest; nothing, before the first. */
  get end(): number | undefined {
    return this.#end === 0 ? undefined : this.#end
  }

  add(rows: ReadonlyArray<Row>, cursors: ReadonlyArray<{ readonly cursor: number }>): void {
    const first = cursors[0]!.cursor
    const follows = this.#end === 0 ? first > this.#highest : first === this.#end + 1
    this.#highest = Math.max(this.#highest, cursors.at(-1)!.cursor)
    // Out of order, one would be missed by whoever reads on: the table has all, and this begins anew.
    if (!follows) return this.clear()
    if (this.#end === 0) this.#first = first
    for (let at = 0; at < rows.length; at++) {
      const { cursor } = cursors[at]!
      this.#places[cursor % most] = { cursor, row: rows[at]! }
    }
    this.#end = this.#highest
    this.#first = Math.max(this.#first, this.#end - most + 1)
  }

  /** Nothing is kept any more: the table is asked. */
  clear(): void {
    this.#places.fill(undefined)
    this.#first = 0
    this.#end = 0
  }

  /** What came after a cursor; nothing, where that may be more than is kept here. */
  after(cursor: number): ReadonlyArray<Place<Row>> | undefined {
    if (this.#end === 0 || cursor < this.#first - 1) return undefined
    const found: Array<Place<Row>> = []
    for (let at = cursor + 1; at <= this.#end; at++) found.push(this.#places[at % most]!)
    return found
  }
}
