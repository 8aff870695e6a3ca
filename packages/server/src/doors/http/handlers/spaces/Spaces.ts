import { Api, Caller, Message, wireMessageOn } from "@stoa/contract"
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../../access/rights/Grants.ts"
import { Messages } from "../../../../spaces/messages/Messages.ts"
import { Spaces } from "../../../../spaces/Spaces.ts"
import { Journal } from "../../../../store/journal/Journal.ts"
import { makeWatch } from "../../streams/watch.ts"

const encodeMessage = Schema.encodeSync(Message)

export const spacesHandlers = HttpApiBuilder.group(
  Api,
  "spaces",
  Effect.fn(function* (handlers) {
    const spaces = yield* Spaces
    const messages = yield* Messages
    const { transact } = yield* Journal
    const viewer = (yield* Grants).viewer("spaces")
    const watch = yield* makeWatch

    /** A space the caller may see, and the caller as its viewer. Other rights are checked by the room. */
    const reach = Effect.fnUntraced(function* (ref: string) {
      const who = yield* viewer
      return { space: yield* spaces.get(ref, who), who }
    })

    /** An act there, judged by the space as it is in the act's own transaction: somebody may just have changed it. */
    const acting = <A, E, R>(
      ref: string,
      act: (there: Effect.Success<ReturnType<typeof reach>>) => Effect.Effect<A, E, R>,
    ) => transact(Effect.flatMap(reach(ref), act))

    return handlers
      .handleAll({
        list: ({ query }) => Effect.flatMap(viewer, (who) => spaces.list(who, query)),
        get: ({ params }) => Effect.map(reach(params.space), ({ space }) => space),
        add: ({ payload }) => Effect.flatMap(viewer, (who) => transact(spaces.add(payload, who))),
        change: Effect.fnUntraced(function* ({ params, payload }) {
          const { space, who } = yield* acting(params.space, (there) =>
            Effect.as(spaces.change(there.space, payload, there.who), there),
          )
          return yield* spaces.get(space.id, who)
        }),
        addMember: Effect.fnUntraced(function* ({ params }) {
          const { principal, space: ref } = params
          yield* acting(ref, ({ space, who }) =>
            Effect.flatMap(spaces.memberNamed(space, principal, who), (member) => spaces.addMember(space, member, who)),
          )
        }),
        removeMember: Effect.fnUntraced(function* ({ params }) {
          const { principal, space: ref } = params
          yield* acting(ref, ({ space, who }) =>
            Effect.flatMap(spaces.memberNamed(space, principal, who), (member) =>
              spaces.removeMember(space, member, who),
            ),
          )
        }),
        post: ({ params, payload }) => acting(params.space, ({ space, who }) => messages.post(space, who, payload)),
        messages: Effect.fnUntraced(function* ({ params, query }) {
          const { space, who } = yield* reach(params.space)
          const { names, ...wanted } = query
          const page = yield* messages.list(space, who, wanted)
          if (names === undefined) return page
          const items = page.items.map((message) => wireMessageOn(names, encodeMessage(message)))
          return HttpServerResponse.jsonUnsafe({ items, next: page.next })
        }),
        read: ({ params, payload }) =>
          acting(params.space, ({ space, who }) => spaces.markRead(space, who, payload.seq)),
        typing: Effect.fnUntraced(function* ({ params }) {
          const { space, who } = yield* reach(params.space)
          yield* spaces.typing(space, who)
        }),
      })
      .handleRaw("watch", ({ headers, params, query }) =>
        Effect.gen(function* () {
          const { space } = yield* reach(params.space)
          const after = headers["last-event-id"] ?? query.after
          return yield* watch({ caller: yield* Caller, face: query.names, after, space: space.id })
        }),
      )
  }),
)
