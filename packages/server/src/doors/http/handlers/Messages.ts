import { Api, Forbidden, type MessageId, WrongState } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/rights/Grants.ts"
import { mayPost, Messages } from "../../../spaces/Messages.ts"
import { memberOf, Spaces } from "../../../spaces/Spaces.ts"
import { Journal } from "../../../store/journal/Journal.ts"

export const messagesHandlers = HttpApiBuilder.group(
  Api,
  "messages",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const spaces = yield* Spaces
    const messages = yield* Messages
    const { transact } = yield* Journal
    const viewer = (yield* Grants).viewer("spaces")

    /** A message the caller may see. */
    const reach = Effect.fnUntraced(function* (id: MessageId, action: "read" | "write" = "read") {
      const who = yield* viewer
      const message = yield* messages.get(id, who)
      const space = yield* spaces.get(message.space, who)
      yield* require(action, `spaces/${space.name}`)
      return { message, space, who }
    })
    /** A message the caller may do something about. */
    const touch = Effect.fnUntraced(function* (id: MessageId) {
      const { message, space, who } = yield* reach(id, "write")
      if (!who.all && !mayPost(space, who.principal.id))
        return yield* new Forbidden({ action: "write in", resource: `spaces/${space.name}`, rule: "members only" })
      if (space.archivedAt !== null)
        return yield* new WrongState({ detail: `${space.name} is archived: it can be read, not written to.` })
      return { message, space, who }
    })

    return handlers.handleAll({
      search: Effect.fnUntraced(function* ({ query }) {
        yield* require("read", "spaces/*")
        const who = yield* viewer
        const space = query.space === undefined ? undefined : yield* spaces.get(query.space, who)
        return yield* messages.search({
          words: query.q,
          viewer: who,
          ...(space === undefined ? {} : { space }),
          ...(query.limit === undefined ? {} : { limit: query.limit }),
        })
      }),
      get: ({ params }) => Effect.map(reach(params.message), ({ message }) => message),
      history: ({ params }) => Effect.flatMap(reach(params.message), ({ message }) => messages.history(message.id)),
      edit: Effect.fnUntraced(function* ({ params, payload }) {
        const { message, who } = yield* touch(params.message)
        return yield* transact(messages.edit(message, who.principal, payload.text))
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { message, space, who } = yield* touch(params.message)
        const owner = memberOf(space, who.principal.id)?.role === "owner"
        if (message.author.id !== who.principal.id && !owner && !who.all)
          return yield* new Forbidden({
            action: "delete",
            resource: `messages/${message.id}`,
            rule: "its author's or the space's owner's",
          })
        yield* transact(messages.remove(message))
      }),
      react: Effect.fnUntraced(function* ({ params }) {
        const { message, who } = yield* touch(params.message)
        yield* transact(messages.react(message, who.principal, params.emoji))
      }),
      unreact: Effect.fnUntraced(function* ({ params }) {
        const { message, who } = yield* touch(params.message)
        yield* transact(messages.unreact(message, who.principal, params.emoji))
      }),
      pin: Effect.fnUntraced(function* ({ params }) {
        const { message } = yield* touch(params.message)
        yield* transact(messages.pin(message, true))
      }),
      unpin: Effect.fnUntraced(function* ({ params }) {
        const { message } = yield* touch(params.message)
        yield* transact(messages.pin(message, false))
      }),
    })
  }),
)
