import { Api, Caller, Forbidden, type Space } from "@stoa/contract"
import { DateTime, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Grants } from "../../../access/rights/Grants.ts"
import { Principals } from "../../../access/identity/Principals.ts"
import { DeclaredSpaces } from "../../../spaces/DeclaredSpaces.ts"
import { mayPost, Messages } from "../../../spaces/Messages.ts"
import { isMember, memberOf, Spaces } from "../../../spaces/Spaces.ts"
import { Journal } from "../../../store/journal/Journal.ts"
import { Deltas } from "../../../store/journal/Deltas.ts"
import { makeWatch } from "../watch.ts"

export const spacesHandlers = HttpApiBuilder.group(
  Api,
  "spaces",
  Effect.fn(function* (handlers) {
    const { require } = yield* Grants
    const principals = yield* Principals
    const spaces = yield* Spaces
    const messages = yield* Messages
    const declared = yield* DeclaredSpaces
    const deltas = yield* Deltas
    const { transact } = yield* Journal
    const viewer = (yield* Grants).viewer("spaces")
    const watch = yield* makeWatch

    /** A space the caller may see, and may do this in. */
    const reach = Effect.fnUntraced(function* (ref: string, action: "read" | "write") {
      const who = yield* viewer
      const space = yield* spaces.get(ref, who)
      yield* require(action, `spaces/${space.name}`)
      return { space, who }
    })
    /** Only those inside may change who is inside; an admin may from outside. */
    const inside = Effect.fnUntraced(function* (space: Space, action: string) {
      const who = yield* viewer
      if (!who.all && !isMember(space, who.principal.id))
        return yield* new Forbidden({ action, resource: `spaces/${space.name}`, rule: "members only" })
    })
    /** What all others would feel is its owner's: anybody may walk into a public space, and must not close it. */
    const owning = Effect.fnUntraced(function* (space: Space, action: string) {
      const who = yield* viewer
      if (!who.all && memberOf(space, who.principal.id)?.role !== "owner")
        return yield* new Forbidden({ action, resource: `spaces/${space.name}`, rule: "owner only" })
    })

    return handlers
      .handleAll({
        list: ({ query }) =>
          Effect.andThen(
            require("read", "spaces/*"),
            Effect.flatMap(viewer, (who) => spaces.list(who, query)),
          ),
        get: ({ params }) => Effect.map(reach(params.space, "read"), ({ space }) => space),
        add: Effect.fnUntraced(function* ({ payload }) {
          yield* require("write", `spaces/${payload.name}`)
          const who = yield* viewer
          return yield* transact(spaces.add(payload, who))
        }),
        change: Effect.fnUntraced(function* ({ params, payload }) {
          const { space, who } = yield* reach(params.space, "write")
          const { topic: _, ...rest } = payload
          yield* declared.free(space)
          yield* Object.keys(rest).length === 0 ? inside(space, "change") : owning(space, "change")
          yield* transact(spaces.change(space, payload))
          return yield* spaces.get(space.id, who)
        }),
        addMember: Effect.fnUntraced(function* ({ params }) {
          const { space, who } = yield* reach(params.space, "write")
          yield* declared.free(space)
          const member = yield* principals.get(params.principal)
          // Anybody may walk into a public space by themselves.
          if (!(space.kind === "public" && member.id === who.principal.id)) yield* inside(space, "add members to")
          yield* transact(spaces.addMember(space, member))
        }),
        removeMember: Effect.fnUntraced(function* ({ params }) {
          const { space, who } = yield* reach(params.space, "write")
          yield* declared.free(space)
          const member = yield* principals.get(params.principal)
          yield* member.id === who.principal.id ? inside(space, "leave") : owning(space, "remove members from")
          yield* transact(spaces.removeMember(space, member))
        }),
        post: Effect.fnUntraced(function* ({ params, payload }) {
          const { space, who } = yield* reach(params.space, "write")
          if (!mayPost(space, who.principal.id))
            return yield* new Forbidden({ action: "post to", resource: `spaces/${space.name}`, rule: "members only" })
          return yield* transact(messages.post(space, who.principal, payload))
        }),
        messages: ({ params, query }) =>
          Effect.flatMap(reach(params.space, "read"), ({ space }) => messages.list(space, query)),
        read: Effect.fnUntraced(function* ({ params, payload }) {
          const { space, who } = yield* reach(params.space, "read")
          yield* transact(spaces.markRead(space, who.principal, payload.seq))
        }),
        typing: Effect.fnUntraced(function* ({ params }) {
          const { space, who } = yield* reach(params.space, "write")
          if (!mayPost(space, who.principal.id)) return
          yield* deltas.emit({
            kind: "typing",
            at: yield* DateTime.now,
            space: space.id,
            actor: who.principal.id,
            body: { name: who.principal.name },
          })
        }),
      })
      .handleRaw("watch", ({ headers, params, query }) =>
        Effect.gen(function* () {
          const { space } = yield* reach(params.space, "read")
          const after = headers["last-event-id"] ?? query.after
          return yield* watch(yield* Caller, { names: query.names, after, space: space.id })
        }),
      )
  }),
)
