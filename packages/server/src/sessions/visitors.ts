/** Who is behind a chat session, told from its space alone. */
import type { ChatSessionId, MemoryRecord, PrincipalId } from "@stoa/contract"
import { Effect, Option } from "effect"
import type { Principals } from "../access/identity/Principals.ts"
import { houseViewer } from "../access/rights/Viewer.ts"
import type { Spaces } from "../spaces/Spaces.ts"
import { contentOf, sessionOf } from "./sessionRecord.ts"

/**
 * The owner of the session that a space belongs to; undefined once the session is over. No session at all: undefined
 * instead of an answer.
 */
export type VisitorOf = (space: string) => Effect.Effect<{ readonly owner: PrincipalId | undefined } | undefined>

export const spaceNameOf = (id: ChatSessionId): string => `chat-${id.slice(4)}`

export const makeVisitorOf = ({
  principals,
  recordOf,
  spaces,
}: {
  readonly principals: Principals["Service"]
  readonly spaces: Spaces["Service"]
  readonly recordOf: (owner: PrincipalId, id: ChatSessionId) => Effect.Effect<MemoryRecord | undefined>
}): VisitorOf =>
  Effect.fnUntraced(function* (space) {
    const id = sessionOf(space)
    const owners = yield* spaces.ownersOf(space)
    for (const owner of owners) {
      const record = yield* recordOf(owner, id)
      if (record !== undefined && contentOf(record) !== undefined) return { owner }
    }
    // The space outlives its session, and keeps its name.
    const viewer = owners[0] === undefined ? undefined : houseViewer(yield* Effect.orDie(principals.get(owners[0])))
    const left = viewer && Option.getOrUndefined(yield* Effect.option(spaces.get(space, viewer)))
    return left?.name === spaceNameOf(id) ? { owner: undefined } : undefined
  })
