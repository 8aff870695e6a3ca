/** The one loop for everything that follows the end of the journal, or changes of rights, while the house runs. */
import type { Event, EventKind } from "@stoa/contract"
import { Effect, type Scope } from "effect"
import { Bell } from "./Bell.ts"

/** Looks now, and again whenever the bell has rung since. A look that fails is logged and tried again. */
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

/** The journal as somebody sees it. */
export interface View {
  /** What happened after a cursor: everything, or the kinds that are asked for. */
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
  /** Everything, if none are named. */
  readonly kinds?: ReadonlyArray<EventKind>
  /** While nobody listens, nothing is read. */
  readonly wanted: () => boolean
  /** Called with what has happened, in order. What it fails on it hears again. */
  readonly hear: (events: ReadonlyArray<Event>) => Effect.Effect<void>
}

export interface Following {
  /** Where it stands: everything up to here has been heard, or is being heard now. */
  readonly cursor: () => number
  /** Lets somebody in who listens from the end of the journal on, which is returned. */
  readonly begin: (join: () => void) => Effect.Effect<number>
}

/** So many events at a time. */
const page = 500
/** Looks that found nothing of its kinds, after which what lies between is passed over: else each would read past it again. */
const passOver = 50

export const follow = Effect.fnUntraced(function* (
  journal: { readonly known: View; readonly end: View["end"] },
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
      // Asked before reading: what is appended in between is not passed over.
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
        // While nobody listened nothing was read: whoever comes first begins here.
        if (!wanted()) cursor = Math.max(cursor, end)
        join()
        begun.ring()
        return end
      }),
  }
  return following
})
