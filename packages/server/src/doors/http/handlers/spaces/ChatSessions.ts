import { Api } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Principals } from "../../../../access/identity/Principals.ts"
import { Grants } from "../../../../access/rights/Grants.ts"
import { ChatSessions } from "../../../../sessions/ChatSessions.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

export const chatSessionsHandlers = HttpApiBuilder.group(
  Api,
  "chatSessions",
  Effect.fn(function* (handlers) {
    const sessions = yield* ChatSessions
    const principals = yield* Principals
    const { transact } = yield* Journal
    const viewer = (yield* Grants).viewer("spaces")
    const talker = Effect.map(viewer, (who) => ({ viewer: who }))
    /** Sessions are stored under their agent's name. */
    const nameOf = (ref: string) =>
      Effect.match(principals.get(ref), { onFailure: () => ref, onSuccess: ({ name }) => name })
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { agent, ...page } }) {
        return yield* sessions.list(yield* viewer, {
          ...page,
          ...(agent === undefined ? {} : { agent: yield* nameOf(agent) }),
        })
      }),
      add: ({ payload }) => Effect.flatMap(talker, (by) => transact(sessions.add(by, payload))),
      get: ({ params: { id } }) => Effect.flatMap(viewer, (who) => sessions.get(id, who)),
      change: ({ params: { id }, payload }) =>
        Effect.flatMap(talker, (by) => transact(sessions.change(by, id, payload))),
      remove: ({ params: { id } }) => Effect.flatMap(talker, (by) => transact(sessions.remove(by, id))),
      messages: ({ params: { id }, query }) => Effect.flatMap(viewer, (who) => sessions.messages(id, who, query)),
      post: ({ params: { id }, payload }) => Effect.flatMap(talker, (by) => transact(sessions.post(by, id, payload))),
    })
  }),
)
