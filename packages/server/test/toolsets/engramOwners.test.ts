/** Whatever one owner does, another's private records stay as they are and are never seen. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { ask, house } from "../house.ts"
import { content, create, holder, type Holder } from "./engramKit.ts"

const secret = "kumquat-7731"

/** What an attacker may say, of a victim's keys, ids and sessions or its own. */
const moves = fc.array(
  fc.record({
    tool: fc.constantFrom(
      "engram_create",
      "engram_get",
      "engram_search",
      "engram_update",
      "engram_delete",
      "engram_list_by_type",
      "user_profile_get",
      "user_profile_update",
      "hecate_new_session",
      "hecate_list_sessions",
      "hecate_resume_session",
      "hecate_delete_session",
      "hecate_remember",
      "hecate_cleanup",
      "hecate_pin_engram",
      "hecate_unpin_engram",
      "moros_remember",
      "moros_cleanup",
      "moros_pin_engram",
      "moros_unpin_engram",
    ),
    own: fc.boolean(),
    at: fc.nat(3),
    type: fc.constantFrom("persona", "preference", "knowledge", "conversation", "setting"),
    query: fc.constantFrom(undefined, secret, "kumquat", "base", "%"),
  }),
  { minLength: 1, maxLength: 12 },
)
type Move = typeof moves extends fc.Arbitrary<ReadonlyArray<infer A>> ? A : never

for (const store of ["sqlite", "postgres"] as const)
  layer(house({ store }), { excludeTestServices: true, timeout: 120_000 })(`owners of engrams on ${store}`, (it) => {
    it.effect(
      "S2-17 S2-21 S2-28 S2-78 X-32 no sequence of one owner's tools changes or reveals another's private record",
      () =>
        Effect.gen(function* () {
          const [victim, thief] = [yield* holder("victim"), yield* holder("thief")]
          const ids: Array<string> = []
          for (const [at, type] of ["persona", "preference", "knowledge"].entries())
            ids.push(
              (yield* create(victim, `k.${at}`, { engram_type: type, content: content(secret), tags: [secret] })).id,
            )
          yield* victim.done("user_profile_update", {
            wallet_address: victim.wallet,
            field: "base",
            content: content(secret),
          })
          const session = yield* victim.done("hecate_new_session", { wallet_address: victim.wallet })
          yield* ask(() => victim.stoa.chatSessions.post(session.session_id, { text: secret }))
          ids.push(session.engram_id)
          const dump = (who: Holder) =>
            ask(async () => {
              const { items } = await who.stoa.memory.list({ limit: 100 })
              const said = await who.stoa.chatSessions.messages(session.session_id, {})
              const histories = await Promise.all(items.map(({ id }) => who.stoa.memory.history(id, {})))
              return JSON.stringify([items, histories, said])
            })
          const before = yield* dump(victim)
          const own = (yield* create(thief, "own")).id

          const argsOf = ({ at, own: mine, query, tool, type }: Move): object => {
            const wallet_address = mine ? thief.wallet : victim.wallet
            const key = ["k.0", "k.1", "user.profile.base", `chat.session.${session.session_id.slice(4)}`][at]!
            const id = mine ? own : ids[at]!
            if (/^engram_(update|delete)$|pin_engram$/.test(tool))
              return tool === "engram_update" ? { id, content: content("stolen") } : { id }
            if (tool === "engram_create") return { wallet_address, engram_type: type, key, content: content("stolen") }
            if (tool === "engram_get") return { wallet_address, key }
            if (tool === "engram_list_by_type") return { wallet_address, engram_type: type }
            if (tool === "engram_search")
              return {
                ...(at === 0 ? {} : { wallet_address }),
                ...(at === 1 ? { tags: [secret] } : {}),
                ...(query === undefined ? {} : { query }),
              }
            if (tool.endsWith("_remember")) return { wallet_address, key, content: "stolen" }
            if (tool === "user_profile_update") return { wallet_address, field: "base", content: "1" }
            if (/_(resume|delete)_session$/.test(tool)) return { wallet_address, session_id: session.session_id }
            return { wallet_address }
          }
          yield* ask(() =>
            fc.assert(
              fc.asyncProperty(moves, async (sequence) => {
                for (const move of sequence) {
                  const args = argsOf(move)
                  const { result } = await Effect.runPromise(thief.call(move.tool, args))
                  const text = JSON.stringify(result ?? "")
                  assert.notInclude(text, secret, move.tool)
                }
              }),
              { numRuns: 25 },
            ),
          )
          assert.strictEqual(yield* dump(victim), before)
        }),
      { timeout: 120_000 },
    )
  })
