/**
 * How the house learns of commits: the tail of the newest events, the bells that ring for their kinds, and on Postgres
 * the loop that reads what other processes wrote. `me` is the id in this process's notices.
 */
import type { Event, EventKind } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Bell } from "../signals/Bell.ts"
import { eventFrom, type EventRow } from "./eventRows.ts"
import { repeatOnBell, type EventReads } from "../readers/Following.ts"
import { Notices } from "../signals/Notices.ts"
import { yieldToEventLoop } from "../../fibers/EventLoop.ts"

export interface TailEntry<Row> {
  readonly cursor: number
  readonly row: Row
  decoded?: unknown
}

/** A few hundredths of a second in a busy house; readers that are further behind query the table. */
const most = 1024

/**
 * The newest events of the journal in memory, so that readers near the end get here what a query would return. Only
 * committed events are added, in order and without gaps.
 */
export class Tail<Row> {
  // A ring buffer: entries that leave one by one die young, and are cheap to collect.
  readonly #places: Array<TailEntry<Row> | undefined> = Array.from({ length: most })
  /** How many were ever added, and the number of the oldest that is kept. */
  #count = 0
  #oldest = 0
  /** All events after this cursor, up to the end, are here. */
  #from = 0
  #end: number | undefined
  #highest = 0

  /** The cursor of the newest event; undefined before it has begun. */
  get end(): number | undefined {
    return this.#end
  }

  /** Begins here: events up to this cursor are only in the table. */
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
   * Adds the events of one commit. Returns false and adds nothing if they are not the next ones: readers would miss the
   * events between, which are not known yet.
   */
  add(rows: ReadonlyArray<Row>, cursors: ReadonlyArray<{ readonly cursor: number }>): boolean {
    const first = cursors[0]!.cursor
    const last = cursors.at(-1)!.cursor
    const isNew = first > this.#highest
    this.#highest = Math.max(this.#highest, last)
    if (last - first + 1 !== rows.length) return false
    // If it has not begun, it begins with the first commit that is newer than everything it was told.
    if (this.#end === undefined && isNew) this.begin(first - 1)
    if (first - 1 !== this.#end) return false
    for (const [at, row] of rows.entries()) this.#put(row, first + at)
    return true
  }

  /** Adds events that the table has after the end, which has no gaps that could still be filled. Skips known ones. */
  fill<Found extends Row & { readonly cursor: number }>(rows: ReadonlyArray<Found>): ReadonlyArray<Found> {
    const fresh = rows.filter(({ cursor }) => cursor > (this.#end ?? Infinity))
    for (const row of fresh) this.#put(row, row.cursor)
    this.#highest = Math.max(this.#highest, this.#end ?? 0)
    return fresh
  }

  /** Drops everything: readers query the table. */
  clear(): void {
    this.#places.fill(undefined)
    this.#oldest = this.#count
    this.#end = undefined
  }

  /** The events after a cursor; undefined if some of them may no longer be here. */
  after(cursor: number): ReadonlyArray<TailEntry<Row>> | undefined {
    if (this.#end === undefined || cursor < this.#from) return undefined
    // Callers are near the end.
    let first = this.#count
    while (first > this.#oldest && this.#places[(first - 1) % most]!.cursor > cursor) first--
    const found: Array<TailEntry<Row>> = []
    for (let at = first; at < this.#count; at++) found.push(this.#places[at % most]!)
    return found
  }
}

/** The most events of other processes to read at a time. */
const caughtUpAtOnce = 500
/** The most events to search for a kind at a time. */
const readThrough = 10_000

/** Decoded once, however many read it. */
const decoded = (one: TailEntry<EventRow>): Event =>
  (one.decoded ??= eventFrom({ ...one.row, cursor: one.cursor })) as Event

/** The newest events of the wanted kinds. */
const eventsOf = (
  some: Iterable<TailEntry<EventRow>>,
  wanted: ReadonlyArray<EventKind> | undefined,
  limit: number,
): ReadonlyArray<Event> => {
  const kindsWanted = wanted === undefined ? undefined : new Set(wanted)
  const events: Array<Event> = []
  for (const one of some) {
    if (events.length >= limit) break
    if (kindsWanted?.has(one.row.kind) === false) continue
    events.push(decoded(one))
  }
  return events
}

export const makeCommitNews = Effect.fnUntraced(function* (me: string) {
  const sql = yield* SqlClient.SqlClient
  const notices = yield* Notices
  // While anybody waits, all bells ring from time to time: a lost notice costs this delay, and no event.
  const someone = new Bell()
  let patient = false
  const onWait = () => {
    if (patient) return
    patient = true
    someone.ring()
  }
  const bell = new Bell(onWait)
  const bells = new Map<EventKind, Set<Bell>>()
  /** Bells that do not ring for every event of their kinds. */
  const choosy = new Set<Bell>()
  const bellOf = (of: ReadonlyArray<EventKind>, concerns?: (event: Event) => boolean): Bell => {
    const one = new Bell(onWait, concerns)
    for (const kind of of) bells.set(kind, (bells.get(kind) ?? new Set()).add(one))
    if (concerns !== undefined) choosy.add(one)
    return one
  }
  const ringAll = () => {
    bell.ring()
    for (const one of new Set([...bells.values()].flatMap((some) => [...some]))) one.ring()
  }
  // On Postgres others write too: a notice announces their commits, and one loop reads them from the table for
  // everybody.
  const foreign = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const tail = new Tail<EventRow>()
  const isFor = ({ concerns }: Bell, entry: TailEntry<EventRow>): boolean => {
    if (concerns === undefined) return true
    try {
      return concerns(decoded(entry))
    } catch {
      // An event that cannot be decoded is the reader's problem.
      return true
    }
  }
  /** Rings for what was just added to the tail. */
  const ringAfter = (cursor: number): void => {
    const entries = tail.after(cursor)
    if (entries === undefined) return ringAll()
    const rung = new Set<Bell>()
    for (const entry of entries)
      for (const one of bells.get(entry.row.kind) ?? []) if (!rung.has(one) && isFor(one, entry)) rung.add(one)
    const last = entries.at(-1)?.cursor
    if (last !== undefined) for (const one of choosy) if (!rung.has(one)) one.pass(last)
    for (const one of rung) one.ring()
  }
  /** Rings when the tail is behind the journal. */
  const behind = new Bell()
  const tell = (events: ReadonlyArray<EventRow>, cursors: ReadonlyArray<{ readonly cursor: number }>): void => {
    const begins = tail.end === undefined
    if (tail.add(events, cursors)) {
      // At the beginning, earlier commits may not be known yet: nobody may skip them.
      if (begins) ringAll()
      else ringAfter(cursors[0]!.cursor - 1)
      if (foreign) bell.ring()
    } else if (foreign) behind.ring()
    else {
      // The table has everything, and the tail begins again.
      tail.clear()
      ringAll()
    }
  }

  const one = (query: Effect.Effect<ReadonlyArray<{ readonly cursor: number | null }>, unknown>) =>
    Effect.map(Effect.orDie(query), (rows) => rows[0]?.cursor ?? 0)
  const floor = one(sql<{ cursor: number }>`SELECT cursor FROM journal_floor`)
  // If retention has emptied the journal, its end is the floor.
  const endStored = one(sql<{ cursor: number | null }>`SELECT max(cursor) AS cursor
    FROM (SELECT max(cursor) AS cursor FROM journal UNION ALL SELECT cursor FROM journal_floor) AS ends`)
  // If there is a tail, its end counts: later events have not been announced to anybody.
  const endKnown = Effect.suspend(() => (tail.end === undefined ? endStored : Effect.succeed(tail.end)))
  type StoredRow = EventRow & { readonly cursor: number }
  const between = (
    after: number,
    upTo: number | undefined,
    wanted: ReadonlyArray<EventKind> | undefined,
    limit: number,
  ) =>
    Effect.orDie(
      sql<StoredRow>`SELECT cursor, kind, version, at, space, actor, provenance, correlation_id, body FROM journal
        WHERE cursor > ${after} ${upTo === undefined ? sql`` : sql`AND cursor <= ${upTo}`}
        ${wanted === undefined ? sql`` : sql`AND kind IN ${sql.in(wanted)}`} ORDER BY cursor LIMIT ${limit}`,
    )
  const firstAfter = (after: number) =>
    one(sql<{ cursor: number | null }>`SELECT min(cursor) AS cursor FROM journal WHERE cursor > ${after}`)
  /**
   * Some kinds are rare: a reader far behind reads a part of the journal at a time, and others have their turn in
   * between.
   */
  const stored = Effect.fnUntraced(function* ({ after, kinds: wanted, limit }: Parameters<EventReads["read"]>[0]) {
    if (wanted?.length === 0) return []
    const last = yield* endKnown
    if (wanted === undefined || last - after <= readThrough) return yield* between(after, undefined, wanted, limit)
    const found: Array<StoredRow> = []
    // Not the floor: events with longer retention are below it.
    let from = (yield* firstAfter(after)) - 1
    while (found.length < limit) {
      const upTo = from + readThrough < last ? from + readThrough : undefined
      found.push(...(yield* between(from, upTo, wanted, limit - found.length)))
      if (upTo === undefined) break
      from = upTo
      yield* yieldToEventLoop
    }
    return found
  })
  const readStored: EventReads["read"] = (options) => Effect.map(stored(options), (rows) => rows.map(eventFrom))
  const readKnown: EventReads["read"] = (options) =>
    Effect.suspend(() => {
      const some = tail.after(options.after)
      return some === undefined ? readStored(options) : Effect.succeed(eventsOf(some, options.kinds, options.limit))
    })

  const known = { read: readKnown, end: endKnown }
  // On SQLite nobody else writes: the known events are all events.
  const { end, read } = foreign ? { read: readStored, end: endStored } : known

  /** Reads what others have committed, once for all readers. */
  const catchUp = Effect.gen(function* () {
    if (tail.end === undefined) {
      const at = yield* endStored
      if (tail.end === undefined) tail.begin(at)
      ringAll()
    }
    for (;;) {
      const rows = yield* stored({ after: tail.end ?? 0, limit: caughtUpAtOnce })
      const [first] = tail.fill(rows)
      if (first !== undefined) {
        ringAfter(first.cursor - 1)
        bell.ring()
      }
      if (rows.length < caughtUpAtOnce) return
    }
  })
  if (foreign) yield* repeatOnBell("reading what other houses wrote", behind, catchUp)
  yield* notices.listen("journal", (payload) => {
    if (!foreign) return bell.ring()
    const [writer, cursor] = payload.split(" ")
    // Listening has begun again, or something that is not an event has changed.
    if (cursor === undefined) {
      behind.ring()
      ringAll()
    } else if (writer !== me && Number(cursor) > (tail.end ?? 0)) behind.ring()
  })

  // A lost notice costs `maxDelay`: after that, one look is made for everybody, or all bells ring.
  const look = Effect.gen(function* () {
    const heard = someone.rung
    if (!patient) yield* someone.waitPast(heard)
    yield* Effect.sleep(notices.maxDelay)
    patient = false
    ringAll()
  })
  const lookForAll = Effect.andThen(Effect.sleep(notices.maxDelay), Effect.ignoreCause(catchUp))
  yield* Effect.forkScoped(Effect.forever(foreign ? lookForAll : look))

  const readAnew = Effect.sync(() => {
    tail.clear()
    behind.ring()
    ringAll()
  })
  return { foreign, bell, bellOf, tell, known, read, end, committed: endStored, floor, readAnew }
})
