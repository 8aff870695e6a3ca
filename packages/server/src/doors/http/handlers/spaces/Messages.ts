import { Api, Message, wireMessageOn } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Messages } from "../../../../spaces/messages/Messages.ts"
import { Spaces } from "../../../../spaces/Spaces.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

const encodeMessage = Schema.encodeSync(Message)

export const messagesHandlers = HttpApiBuilder.group(
  Api,
  "messages",
  Effect.fn(function* (handlers) {
    const spaces = yield* Spaces
    const messages = yield* Messages
    const { transact } = yield* Journal
    const viewer = (yield* Grants).viewer("spaces")

    return handlers.handleAll({
      search: Effect.fnUntraced(function* ({ query }) {
        const who = yield* viewer
        const space = query.space === undefined ? undefined : yield* spaces.get(query.space, who)
        return yield* messages.search({
          words: query.q,
          viewer: who,
          ...(space === undefined ? {} : { space }),
          ...(query.limit === undefined ? {} : { limit: query.limit }),
          ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
        })
      }),
      get: Effect.fnUntraced(function* ({ params, query }) {
        const message = yield* messages.get(params.message, yield* viewer)
        return query.names === undefined
          ? message
          : HttpServerResponse.jsonUnsafe(wireMessageOn(query.names, encodeMessage(message)))
      }),
      history: ({ params }) => Effect.flatMap(viewer, (who) => messages.history(params.message, who)),
      edit: ({ params, payload }) =>
        Effect.flatMap(viewer, (who) => transact(messages.edit(params.message, who, payload.text))),
      remove: ({ params }) => Effect.flatMap(viewer, (who) => transact(messages.remove(params.message, who))),
      react: ({ params }) =>
        Effect.flatMap(viewer, (who) => transact(messages.react(params.message, who, params.emoji))),
      unreact: ({ params }) =>
        Effect.flatMap(viewer, (who) => transact(messages.unreact(params.message, who, params.emoji))),
      pin: ({ params }) => Effect.flatMap(viewer, (who) => transact(messages.pin(params.message, who, true))),
      unpin: ({ params }) => Effect.flatMap(viewer, (who) => transact(messages.pin(params.message, who, false))),
    })
  }),
)
