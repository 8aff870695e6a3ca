/** The loop of everything that follows the end of the journal, or changes of rights, while the house runs. */
import type { Event, EventKind } from "@stoa/contract"
import { Effect, type Scope } from "effect"
import { Bell } from "../signals/Bell.ts"

/** Looks now, and again whenever the bell has rung. A look that fails is logged and retried. */
export const repeatOnBell = (
  name: string,
  bell: Bell,
  look: Effect.Effect<void>,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    const heard = bell.rung
    return Effect.andThen(look, bell.waitPast(heard))
  }).pipe(
    Effect.tapCause((cause) => Effect.logError(`Error while ${name}; trying again`, cause)),
    Effect.catchCause(() => Effect.sleep("1 second")),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid,
  )

/** What is read of the journal: all of it, or what this process knows of it. */
export interface EventReads {
  /** The events after a cursor: all, or the given kinds. */
  readonly read: (options: {
    readonly after: number
    readonly limit: number
    readonly kinds?: ReadonlyArray<EventKind>
  }) => Effect.Effect<ReadonlyArray<Event>>
  /** The cursor of the newest event. */
  readonly end: Effect.Effect<number>
}

export interface Follower {
  /** What it does, for the log: "Error while watching spaces; trying again". */
  readonly name: string
  /** Default: all kinds. */
  readonly kinds?: ReadonlyArray<EventKind>
  /** While this is false, nothing is read. */
  readonly wanted: () => boolean
  /** Called with new events, in order. Events on which it fails are delivered again. */
  readonly hear: (events: ReadonlyArray<Event>) => Effect.Effect<void>
}

export interface Following {
  /** Everything up to this cursor has been delivered, or is being delivered now. */
  readonly cursor: () => number
  /** Adds a listener that starts at the end of the journal, and returns that cursor. */
  readonly begin: (join: () => void) => Effect.Effect<number>
}

/** The most events at a time. */
const page = 500
/**
 * After this many looks without events of its kinds, the cursor moves on: otherwise each look would read past the same
 * events again.
 */
const passOver = 50

export const follow = Effect.fnUntraced(function* (
  journal: { readonly known: EventReads; readonly end: EventReads["end"] },
  bell: Bell,
  { hear, kinds, name, wanted }: Follower,
) {
  let cursor = yield* journal.end
  let empty = 0
  const begun = new Bell()

  const look = Effect.gen(function* () {
    for (;;) {
      const since = begun.rung
      if (!wanted()) yield* begun.waitPast(since)
      // Read before the events: events that are appended in between are not skipped.
      const end = empty < passOver ? undefined : yield* journal.known.end
      const events = yield* journal.known.read({
        after: cursor,
        limit: page,
        ...(kinds === undefined ? {} : { kinds }),
      })
      const last = events.at(-1)
      empty = last === undefined && end === undefined ? empty + 1 : 0
      if (last === undefined) {
        if (end !== undefined) cursor = Math.max(cursor, end)
        return
      }
      const before = cursor
      cursor = Math.max(cursor, last.cursor)
      yield* Effect.onError(hear(events), () => Effect.sync(() => void (cursor = before)))
    }
  })
  yield* repeatOnBell(name, bell, look)

  const following: Following = {
    cursor: () => cursor,
    begin: (join) =>
      Effect.map(journal.end, (end) => {
        // While nobody listened nothing was read: the first listener begins here.
        if (!wanted()) cursor = Math.max(cursor, end)
        join()
        begun.ring()
        return end
      }),
  }
  return following
})
