/** Removes the messages of a deleted session: some at once, and the rest in steps, by a timer. */
import type { PrincipalId, Space, SpaceId } from "@stoa/contract"
import { DateTime, Effect, type Schema } from "effect"
import { Principals } from "../access/identity/Principals.ts"
import { houseViewer, type Viewer } from "../access/rights/Viewer.ts"
import { Messages } from "../spaces/messages/Messages.ts"
import { Spaces } from "../spaces/Spaces.ts"
import { Journal } from "../store/journal/Journal.ts"
import { readerLayer } from "../store/journal/readers/Readers.ts"
import { Timers } from "../store/journal/Timers.ts"

/** Messages per transaction, so that others can write in between. */
export const messagesPerStep = 50

/** The purpose of the timer. */
const emptyPurpose = "chat-session"

/** Where the next step begins. */
interface Left {
  readonly space: SpaceId
  readonly owner: PrincipalId
  readonly after: number
}

export const makeSessionCleanup = Effect.gen(function* () {
  const principals = yield* Principals
  const spaces = yield* Spaces
  const messages = yield* Messages
  const timers = yield* Timers

  const emptied = Effect.fnUntraced(function* (space: Space, viewer: Viewer, left: Left, most: number) {
    const after = most === 0 ? left.after : yield* messages.clear(space, viewer, { after: left.after, limit: most })
    if (after === null && space.archivedAt !== null) return
    if (after === null)
      return yield* spaces
        .change(space, { archived: true }, viewer)
        .pipe(Effect.catchTag(["NameTaken", "OwnedByFile"], Effect.die))
    yield* timers.set({
      purpose: emptyPurpose,
      key: `${emptyPurpose} ${space.id}`,
      dueAt: yield* DateTime.now,
      payload: { ...left, after },
    })
  })

  /** The next step. Checks nobody's rights, because the session is already deleted. */
  const empty = Effect.fn("ChatSessions.empty")(function* (given: Schema.Json) {
    const left = given as unknown as Left
    const viewer = houseViewer(yield* principals.get(left.owner))
    yield* emptied(yield* spaces.get(left.space, viewer), viewer, left, messagesPerStep)
  }, Effect.orDie)

  return { emptied, empty }
})

/** Removes the rest of a deleted session, each step in its own transaction. */
export const layerSessionCleanup = readerLayer({
  name: "chat-sessions",
  atomic: false,
  kinds: ["timer.fired"],
  handle: Effect.fnUntraced(function* ([event]) {
    if (event?.kind !== "timer.fired" || event.body.purpose !== emptyPurpose) return
    const { empty } = yield* makeSessionCleanup
    yield* (yield* Journal).transact(empty(event.body.payload))
  }),
})
