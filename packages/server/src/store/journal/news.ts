/**
 * How the house hears of what is committed: the tail of the newest events, the bells that ring for their kinds, and on Postgres
 * the one who reads what other houses wrote. `me` stands in the notices of this process.
 */
import type { Event, EventKind } from "@stoa/contract"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Bell } from "./Bell.ts"
import { eventFrom, type EventRow } from "./eventRows.ts"
import { repeatOnBell, type View } from "./Following.ts"
import { Notices } from "./Notices.ts"
import { yieldToEventLoop } from "../EventLoop.ts"

export interface TailEntry<Row> {
  readonly cursor: number
  readonly row: Row
  decoded?: unknown
}

/** Some hundredths of a second of a busy house; who is further behind asks the table. */
const most = 1024

/**
 * The newest events of the journal, in memory, so that readers near the end find here what a query would find. Only committed
 * events are added, in order, and none between them is missing.
 */
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

/** What others wrote is read so many at a time. */
const caughtUpAtOnce = 500
/** So many events are looked at for their kind at a time. */
const readThrough = 10_000

/** Each is decoded once, however many read it. */
const decoded = (one: TailEntry<EventRow>): Event =>
  (one.decoded ??= eventFrom({ ...one.row, cursor: one.cursor })) as Event

/** What is asked for of the newest events. */
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

export const makeNews = Effect.fnUntraced(function* (me: string) {
  const sql = yield* SqlClient.SqlClient
  const notices = yield* Notices
  // While anybody waits, all bells ring now and then: a lost notice costs this much patience, and no event.
  const someone = new Bell()
  let patient = false
  const onWait = () => {
    if (patient) return
    patient = true
    someone.ring()
  }
  const bell = new Bell(onWait)
  const bells = new Map<EventKind, Set<Bell>>()
  /** Those that are not rung for every event of their kinds. */
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
  // On Postgres others write too: their commits are told by notice, and read from the table once for all who follow.
  const foreign = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
  const tail = new Tail<EventRow>()
  const isFor = ({ concerns }: Bell, entry: TailEntry<EventRow>): boolean => {
    if (concerns === undefined) return true
    try {
      return concerns(decoded(entry))
    } catch {
      // What cannot be read is a matter for whoever reads it.
      return true
    }
  }
  /** For what was just added to the tail. */
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
  /** The tail is not where the journal is. */
  const behind = new Bell()
  const tell = (events: ReadonlyArray<EventRow>, cursors: ReadonlyArray<{ readonly cursor: number }>): void => {
    const begins = tail.end === undefined
    if (tail.add(events, cursors)) {
      // Where it begins, something before it may be committed and not told yet: nobody passes over that unread.
      if (begins) ringAll()
      else ringAfter(cursors[0]!.cursor - 1)
      if (foreign) bell.ring()
    } else if (foreign) behind.ring()
    else {
      // The table has all, and this begins anew.
      tail.clear()
      ringAll()
    }
  }

  const one = (query: Effect.Effect<ReadonlyArray<{ readonly cursor: number | null }>, unknown>) =>
    Effect.map(Effect.orDie(query), (rows) => rows[0]?.cursor ?? 0)
  const floor = one(sql<{ cursor: number }>`SELECT cursor FROM journal_floor`)
  // A journal that retention has emptied still ends where it ended.
  const endStored = one(sql<{ cursor: number | null }>`SELECT max(cursor) AS cursor
    FROM (SELECT max(cursor) AS cursor FROM journal UNION ALL SELECT cursor FROM journal_floor) AS ends`)
  // Where there is a tail, it ends where the tail ends: what is not in it yet has not been told to anybody.
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
  /** Some kinds may be rare: whoever is far behind reads a part of the journal at a time, and others have their turn between. */
  const stored = Effect.fnUntraced(function* ({ after, kinds: wanted, limit }: Parameters<View["read"]>[0]) {
    if (wanted?.length === 0) return []
    const last = yield* endKnown
    if (wanted === undefined || last - after <= readThrough) return yield* between(after, undefined, wanted, limit)
    const found: Array<StoredRow> = []
    // Not the floor: below it stands what is kept longer than others.
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
  const readStored: View["read"] = (options) => Effect.map(stored(options), (rows) => rows.map(eventFrom))
  const readKnown: View["read"] = (options) =>
    Effect.suspend(() => {
      const some = tail.after(options.after)
      return some === undefined ? readStored(options) : Effect.succeed(eventsOf(some, options.kinds, options.limit))
    })

  const known = { read: readKnown, end: endKnown }
  // On SQLite nobody else writes: what is known is what there is.
  const { end, read } = foreign ? { read: readStored, end: endStored } : known

  /** One look for all: what others have committed since. */
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
    // Listening has begun anew, or something is to be looked at that is no event.
    if (cursor === undefined) {
      behind.ring()
      ringAll()
    } else if (writer !== me && Number(cursor) > (tail.end ?? 0)) behind.ring()
  })

  // A lost notice costs as long as silence is trusted: then one looks for all, or all are rung.
  const look = Effect.gen(function* () {
    const heard = someone.rung
    if (!patient) yield* someone.waitPast(heard)
    yield* Effect.sleep(notices.patience)
    patient = false
    ringAll()
  })
  const lookForAll = Effect.andThen(Effect.sleep(notices.patience), Effect.ignoreCause(catchUp))
  yield* Effect.forkScoped(Effect.forever(foreign ? lookForAll : look))

  const readAnew = Effect.sync(() => {
    tail.clear()
    behind.ring()
    ringAll()
  })
  return { foreign, bell, bellOf, tell, known, read, end, committed: endStored, floor, readAnew }
})
