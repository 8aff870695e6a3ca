/**
 * The newest events of the journal, in memory, so that readers near the end find here what a query would find. Only committed
 * events are added, in order, and none between them is missing.
 */
export interface TailEntry<Row> {
  readonly cursor: number
  readonly row: Row
  decoded?: unknown
}

/** Some hundredths of a second of a busy house; who is further behind asks the table. */
const most = 1024

export class Tail<Row> {
  // Places that are taken again and again: what is let go of one by one dies young, and costs nothing to forget.
  readonly #places: Array<TailEntry<Row> | undefined> = Array.from({ length: most })
  /** How many were ever put in, and which of them is the oldest that is kept. */
  #count = 0
  #oldest = 0
  /** Everything after this cursor, up to the end, is kept. */
  #from = 0
  #end: number | undefined
  #highest = 0

  /** The cursor of the newest; nothing, before it has begun. */
  get end(): number | undefined {
    return this.#end
  }

  /** Begins here: what stands up to this cursor is the table's. */
  begin(cursor: number): void {
    this.clear()
    this.#from = this.#end = cursor
    this.#highest = Math.max(this.#highest, cursor)
  }

  #put(row: Row, cursor: number): void {
    if (this.#count - this.#oldest === most) this.#from = this.#places[this.#oldest++ % most]!.cursor
    this.#places[this.#count++ % most] = { cursor, row }
    this.#end = cursor
  }

  /**
   * What one commit has written. False, and nothing is added, where it is not what comes next: one that was not told yet would
   * be missed by whoever reads on.
   */
  add(rows: ReadonlyArray<Row>, cursors: ReadonlyArray<{ readonly cursor: number }>): boolean {
    const first = cursors[0]!.cursor
    const last = cursors.at(-1)!.cursor
    const isNew = first > this.#highest
    this.#highest = Math.max(this.#highest, last)
    if (last - first + 1 !== rows.length) return false
    // Before it has begun, it begins with what is newer than all it was told of.
    if (this.#end === undefined && isNew) this.begin(first - 1)
    if (first - 1 !== this.#end) return false
    for (const [at, row] of rows.entries()) this.#put(row, first + at)
    return true
  }

  /** What the table holds after the end, without a gap that will be filled; what is known already is passed over. */
  fill<Found extends Row & { readonly cursor: number }>(rows: ReadonlyArray<Found>): ReadonlyArray<Found> {
    const fresh = rows.filter(({ cursor }) => cursor > (this.#end ?? Infinity))
    for (const row of fresh) this.#put(row, row.cursor)
    this.#highest = Math.max(this.#highest, this.#end ?? 0)
    return fresh
  }

  /** Nothing is kept any more: the table is asked. */
  clear(): void {
    this.#places.fill(undefined)
    this.#oldest = this.#count
    this.#end = undefined
  }

  /** What came after a cursor; nothing, where that may be more than is kept here. */
  after(cursor: number): ReadonlyArray<TailEntry<Row>> | undefined {
    if (this.#end === undefined || cursor < this.#from) return undefined
    // Who asks is near the end.
    let first = this.#count
    while (first > this.#oldest && this.#places[(first - 1) % most]!.cursor > cursor) first--
    const found: Array<TailEntry<Row>> = []
    for (let at = first; at < this.#count; at++) found.push(this.#places[at % most]!)
    return found
  }
}
