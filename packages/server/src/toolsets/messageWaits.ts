/**
 * Waiting to be spoken to. One look at the journal for all who wait: each is rung for messages of the spaces it last looked
 * at, and for whatever may change which those are.
 */
import type { Event, EventKind } from "@stoa/contract"
import { Effect } from "effect"
import { Bell } from "../store/journal/Bell.ts"
import { Journal } from "../store/journal/Journal.ts"

/** What may let somebody see more, or less. */
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
  /** Those it looks at; undefined while it looks, when every message is for it. */
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

  /** One that is rung from now on, for as long as the scope lives. */
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
