/**
 * Which runs are visits: those that the owner of a chat session woke by what they said in it. In them the agent uses the
 * wallet of its visitor, as long as the session lasts. Whoever else wakes the agent there lends it nothing.
 */
import type { PrincipalId } from "@stoa/contract"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Principals } from "../access/identity/Principals.ts"
import { Wallets } from "../access/identity/wallets/Wallets.ts"
import { ChatSessions } from "../sessions/ChatSessions.ts"

export const layerVisits = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wallets = yield* Wallets
    const sessions = yield* ChatSessions
    const principals = yield* Principals

    /** None if anybody else, or the house, is among those who woke it. */
    const wokenBy = (run: string) =>
      Effect.orDie(sql<{ author: PrincipalId | null }>`SELECT DISTINCT author FROM triggers WHERE run = ${run} LIMIT 2`)

    wallets.learn(
      Effect.fn("Visits.of")(function* (run) {
        const rows = yield* Effect.orDie(
          sql<{ triggerSpace: string | null }>`SELECT trigger_space FROM runs WHERE id = ${run}`,
        )
        const space = rows[0]?.triggerSpace ?? null
        const session = space === null ? undefined : yield* sessions.visitorOf(space)
        if (session === undefined) return undefined
        const { owner } = session
        const authors = owner === undefined ? [] : yield* wokenBy(run)
        if (owner === undefined || authors.length !== 1 || authors[0]!.author !== owner) return { visitor: undefined }
        const visitor = Option.getOrUndefined(yield* Effect.option(principals.get(owner)))
        return { visitor: visitor?.retiredAt === null ? visitor : undefined }
      }),
    )
  }),
)
