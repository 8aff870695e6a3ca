/**
 * Only in a chat session, an agent's last message is its answer: it is posted with the end of its run, in one
 * transaction, so that it appears exactly once, beside its question (S2-81).
 */
import { Caller, type ChatSession, type MessageId } from "@stoa/contract"
import { Effect, Option } from "effect"
import { nameKey } from "../../access/identity/Principals.ts"
import { Grants } from "../../access/rights/Grants.ts"
import { ChatSessions, sessionIdOf } from "../../sessions/ChatSessions.ts"
import { ChosenModels } from "../../sessions/ChosenModels.ts"
import { type Companion, isCompanion } from "../../sessions/Companions.ts"
import { Messages } from "../../spaces/messages/Messages.ts"
import { Spaces } from "../../spaces/Spaces.ts"
import type { RunRow } from "../record/rows.ts"

export const makeSessionReply = Effect.gen(function* () {
  const sessions = yield* ChatSessions
  const chosen = yield* ChosenModels
  const spaces = yield* Spaces
  const messages = yield* Messages
  const grants = yield* Grants

  return {
    /** The session a run was woken in, if it was in one. */
    sessionOf: Effect.fnUntraced(function* ({ triggerSpace }: RunRow, caller: Caller["Service"]) {
      if (triggerSpace === null) return undefined
      const viewer = yield* grants.viewerOf(caller, "spaces")
      const id = sessionIdOf(triggerSpace.slice(triggerSpace.indexOf("_") + 1))
      return Option.getOrUndefined(yield* Effect.option(sessions.get(id, viewer)))
    }),
    /** The model that the session's owner has chosen for this agent (S2-56). */
    modelOf: ({ owner }: ChatSession, name: string) => {
      const key = nameKey(name)
      return isCompanion(key)
        ? Effect.map(chosen.of(owner, key as Companion), (model) => model?.name)
        : Effect.succeed(undefined)
    },
    /** Marks what woke it as read, when its run completes: after a failed run it is still new (S1-107). */
    seen: (row: RunRow, caller: Caller["Service"], message: MessageId | null) =>
      row.triggerSpace === null || message === null
        ? []
        : [
            Effect.gen(function* () {
              const viewer = yield* grants.viewerOf(caller, "spaces")
              const { seq } = yield* messages.get(message, viewer)
              const space = yield* spaces.get(row.triggerSpace!, viewer)
              if (space.lastSeq - space.unread < seq) yield* spaces.markRead(space, viewer, seq)
            }).pipe(Effect.ignore),
          ],
    /** If a space takes no more posts, the run has no answer, but ends. A refusal is recorded with its step. */
    post: (row: RunRow, caller: Caller["Service"], text: string) =>
      Effect.gen(function* () {
        const viewer = yield* grants.viewerOf(caller, "spaces")
        const space = yield* spaces.get(row.triggerSpace!, viewer)
        yield* messages.post(space, viewer, { text }, { run: row.id })
      }).pipe(
        Effect.tapErrorTag("Forbidden", grants.recordDenial),
        Effect.catch((error) => Effect.logWarning(`Run ${row.id} could not answer in its session: ${error.message}`)),
        Effect.provideService(Caller, caller),
      ),
  }
})
