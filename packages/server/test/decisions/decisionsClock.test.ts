/**
 * Who may answer follows the order of events: clocks are set, and each of two houses has its own. Whoever was there
 * before the question may answer it, and whoever came after may not, whatever the time says.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { callTool, configure, told } from "../calls/callsKit.ts"
import { ask, Guest, house, roomy } from "../house.ts"
import { call as request, fresh, type Someone } from "../spaces/spacesGuests.ts"
import { tempDatabase } from "../stores.ts"
import { ahead, back, wrongClock } from "../wrongClock.ts"

/** Does something at a house, with its clock. */
type At = <A, E>(body: Effect.Effect<A, E, Guest>) => Effect.Effect<A, E>

const person = Effect.fnUntraced(function* (more: object = {}) {
  const { admin } = yield* Guest
  const made = yield* ask(() => admin.principals.add({ kind: "person", name: fresh("person"), ...more }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: made.id }))
  return { id: made.id, name: made.name, token }
})

const agent = Effect.fnUntraced(function* () {
  const { admin } = yield* Guest
  const made = yield* ask(() => admin.principals.add({ kind: "agent", name: fresh("bot") }))
  const { token } = yield* ask(() => admin.tokens.add({ principal: made.id }))
  return { id: made.id, name: made.name, token }
})

/** `before` acts and then `after` acts; the clock at `after` is the one that is behind, and the other way round. */
const story = (before: At, after: At) =>
  Effect.gen(function* () {
    const members = yield* before(Effect.all([person(), person()]))
    const boss = yield* before(person({ roles: ["admin"] }))
    const bot = yield* before(agent())
    const { name: tool } = yield* before(
      configure({ requiresApproval: true, approval: { expiresInSeconds: 7 * 86_400 } }),
    )
    const space = yield* before(
      Effect.gen(function* () {
        const { admin } = yield* Guest
        const ids = [...members.map(({ id }) => id), bot.id]
        return yield* ask(() => admin.spaces.add({ name: fresh("room"), kind: "private", members: ids }))
      }),
    )
    const asked = (at: At) =>
      at(Effect.map(callTool(bot as Someone, tool, { space: space.id }), (answer) => told(answer).on!.id))
    const answer = (at: At, who: { readonly token: string }, decision: string) =>
      at(
        Effect.map(
          request(who as Someone, "POST", `/decisions/${decision}/answer`, { verdict: "approve" }),
          ({ status }) => status,
        ),
      )
    // Members, an admin and their tokens of before, wherever the question is asked and answered.
    for (const [who, where] of [
      [members[0], after],
      [boss, before],
      [members[1], after],
    ] as const)
      assert.strictEqual(yield* answer(where, who, yield* asked(after)), 200)

    // After the question: a token by another's hand, a member, an admin. The clock of `after` gives them any time.
    for (const [first, then] of [
      [after, before],
      [before, after],
      [after, after],
    ] as const) {
      const decision = yield* asked(first)
      const late = yield* then(
        Effect.gen(function* () {
          const { admin } = yield* Guest
          const { token } = yield* ask(() => admin.tokens.add({ principal: members[0].id }))
          const [joined, promoted] = [yield* person(), yield* person()]
          yield* ask(() => admin.spaces.addMember(space.id, joined.id))
          yield* ask(() => admin.principals.change(promoted.id, { roles: ["admin"] }))
          return { joined, promoted, tokens: [token, joined.token, promoted.token] }
        }),
      )
      for (const where of [first, then])
        for (const token of late.tokens) assert.include([403, 404], yield* answer(where, { token }, decision))
      assert.strictEqual(yield* answer(then, members[0], decision), 200)
      yield* then(
        Effect.flatMap(Guest, ({ admin }) =>
          Effect.all([
            ask(() => admin.spaces.removeMember(space.id, late.joined.id)),
            ask(() => admin.principals.retire(late.promoted.id)),
          ]),
        ),
      )
    }
  })

describe("decisions and clocks", () => {
  for (const store of ["sqlite", "postgres"] as const)
    for (const [way, off] of [
      ["back by two days", back(48)],
      ["ahead by two days", ahead(48)],
    ] as const)
      it.live(
        `G-13 G-15 a clock set ${way}, on ${store}: those who were there before may answer, others may not`,
        () => {
          const clock = wrongClock()
          return Effect.scoped(
            Effect.gen(function* () {
              const context = yield* Effect.context<Guest>()
              const at =
                (set: number): At =>
                (body) =>
                  Effect.suspend(() => {
                    clock.setOff(set)
                    return Effect.provideContext(body, context)
                  })
              yield* story(at(0), at(off))
            }),
          ).pipe(Effect.provide(Layer.fresh(house({ store })).pipe(Layer.provideMerge(clock.layer))))
        },
      )

  it.live("G-13 G-15 two houses, one of them an hour ahead: who may answer is the same at both", () =>
    Effect.gen(function* () {
      const { url } = yield* tempDatabase
      const env = {
        DATABASE_URL: Redacted.value(url),
        STOA_RUNNER: "cluster",
        STOA_SECRET_KEY: "a-key-that-both-houses-have-got",
        STOA_ADMIN_TOKEN: "an-admin-token-of-both-houses",
      }
      const open = (off: number) => {
        const clock = wrongClock()
        clock.setOff(off)
        return Effect.map(
          Layer.build(
            Layer.fresh(house({ store: "sqlite", config: roomy, env })).pipe(Layer.provideMerge(clock.layer)),
          ),
          (context): At =>
            (body) =>
              Effect.provideContext(body, Context.pick(Guest)(context)),
        )
      }
      const [right, fast] = [yield* open(0), yield* open(ahead(1))]
      yield* story(right, fast)
      yield* story(fast, right)
    }).pipe(Effect.scoped),
  )
})
