import { Api, Caller, type MemoryRecord } from "@stoa/contract"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { makeVisiblePrincipal } from "../../../../access/rights/VisiblePrincipal.ts"
import { Embedding } from "../../../../memory/meaning/Embedding.ts"
import { Portability } from "../../../../memory/portability/Portability.ts"
import { Memories } from "../../../../memory/Memories.ts"
import { Shares } from "../../../../memory/Shares.ts"
import { Journal } from "../../../../store/journal/Journal.ts"

export const memoryHandlers = HttpApiBuilder.group(
  Api,
  "memory",
  Effect.fn(function* (handlers) {
    const memories = yield* Memories
    const shares = yield* Shares
    const visible = yield* makeVisiblePrincipal
    const portability = yield* Portability
    const embedding = yield* Embedding
    const { transact } = yield* Journal
    const me = Effect.map(Caller, ({ principal }) => principal)
    const idOf = (ref: string) => Effect.map(visible(ref), ({ id }) => id)
    const receiverOf = (ref: string | undefined) => (ref === undefined ? Effect.map(me, ({ id }) => id) : idOf(ref))
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { deleted, owner, ...query } }) {
        return yield* memories.list(yield* me, {
          ...query,
          ...(owner === undefined ? {} : { owner: yield* idOf(owner) }),
          ...(deleted === "true" ? { deleted: true } : {}),
        })
      }),
      put: ({ payload }) =>
        Effect.flatMap(me, (by) =>
          Effect.map(transact(memories.put(by, by.id, payload)), ({ record }): MemoryRecord => record),
        ),
      export: ({ query }) => Effect.flatMap(me, (by) => portability.export(by, query)),
      embedding: () => Effect.flatMap(me, ({ id }) => embedding.progress(id)),
      import: ({ payload: { lines } }) => Effect.flatMap(me, (by) => transact(portability.import(by, lines))),
      erase: Effect.fnUntraced(function* ({ payload: { confirm, dryRun = false } }) {
        return { erased: yield* portability.eraseOwn(yield* me, { confirm, dryRun }) }
      }),
      diff: ({ params: { id }, query }) => Effect.flatMap(me, (by) => memories.diff(by, id, query)),
      get: ({ params: { id } }) => Effect.flatMap(me, (by) => memories.get(by, id)),
      change: ({ params: { id }, payload }) => Effect.flatMap(me, (by) => transact(memories.change(by, id, payload))),
      remove: ({ params: { id }, query: { permanent } }) =>
        Effect.flatMap(me, (by) => transact(memories.remove(by, id, permanent === "true"))),
      restore: ({ params: { id } }) => Effect.flatMap(me, (by) => transact(memories.restore(by, id))),
      history: ({ params: { id }, query }) => Effect.flatMap(me, (by) => memories.history(by, id, query)),
      revert: ({ params: { id }, payload: { version } }) =>
        Effect.flatMap(me, (by) => transact(memories.revert(by, id, version))),
      offers: Effect.fnUntraced(function* ({ query: { for: ref, text, ...query } }) {
        return yield* shares.offers(yield* receiverOf(ref), { ...query, withText: text === "true" })
      }),
      waiting: () => shares.waiting,
      answer: Effect.fnUntraced(function* ({ params: { id }, payload: { for: ref, taken } }) {
        yield* transact(shares.answer(yield* receiverOf(ref), id, taken))
      }),
      shares: ({ params: { id } }) => Effect.flatMap(me, (by) => shares.of(by, id)),
      share: Effect.fnUntraced(function* ({ params: { id, principal }, payload: { right } }) {
        const reader = yield* idOf(principal)
        yield* transact(shares.share(yield* me, id, reader, right))
      }),
      unshare: Effect.fnUntraced(function* ({ params: { id, principal } }) {
        const by = yield* me
        const { items } = yield* shares.of(by, id)
        const reader = items.find((one) => one.principal === principal)?.principal ?? (yield* idOf(principal))
        yield* transact(Effect.catchTag(shares.share(by, id, reader, null), "WrongState", () => Effect.void))
      }),
    })
  }),
)
