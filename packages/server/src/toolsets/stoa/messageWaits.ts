/**
 * Waits for new messages. One reader of the journal for all who wait: each is rung for messages in the spaces it last
 * looked at, and for events that may change which spaces it sees.
 */
import type { Event, EventKind } from "@stoa/contract"
import { Effect } from "effect"
import { Bell } from "../../store/journal/signals/Bell.ts"
import { Journal } from "../../store/journal/Journal.ts"

/** Events that may let a principal see more, or less. */
const changes: ReadonlyArray<EventKind> = [
  "house.reloaded",
  "principal.changed",
  "principal.retired",
  "token.revoked",
  "grant.added",
  "grant.revoked",
  "delegation.added",
  "delegation.revoked",
  "space.added",
  "space.changed",
  "member.added",
  "member.removed",
]

export interface MessageWait {
  readonly bell: Bell
  /** The spaces it watches; undefined while it looks them up, when every message rings it. */
  spaces: ReadonlySet<string> | undefined
}

export const makeMessageWaits = Effect.gen(function* () {
  const journal = yield* Journal
  const waits = new Set<MessageWait>()
  const ring = (event: Event): void => {
    for (const { bell, spaces } of waits)
      if (event.kind !== "message.created" || spaces === undefined || spaces.has(event.space!)) bell.ring()
  }
  const following = yield* journal.follow({
    name: "waiting for messages",
    kinds: ["message.created", ...changes],
    wanted: () => waits.size > 0,
    hear: (events) => Effect.sync(() => events.forEach(ring)),
  })

  /** A waiter that is rung from now on, while the scope lives. */
  return Effect.acquireRelease(
    Effect.suspend(() => {
      const wait: MessageWait = { bell: new Bell(), spaces: undefined }
      return Effect.as(
        following.begin(() => void waits.add(wait)),
        wait,
      )
    }),
    (wait) => Effect.sync(() => void waits.delete(wait)),
  )
})
