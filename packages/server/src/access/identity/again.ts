/**
 * The caller of something that goes on without a credential, as it stands now. Asked at every step of every run: who somebody is
 * changes with the epoch of rights, and not otherwise.
 */
import { type AccessContext, type Caller, Missing, type Principal } from "@stoa/contract"
import { Effect } from "effect"

const most = 10_000

export const makeAgain = (
  get: (id: string) => Effect.Effect<Principal, Missing>,
  epochNow: () => Effect.Effect<number>,
): ((id: string, context: AccessContext) => Effect.Effect<Caller["Service"], Missing>) => {
  const known = new Map<string, Principal>()
  let since = -1
  return Effect.fnUntraced(function* (id, context) {
    const epoch = yield* epochNow()
    if (epoch > since || known.size >= most) {
      known.clear()
      since = Math.max(epoch, since)
    }
    const principal = known.get(id) ?? (yield* get(id))
    if (epoch === since) known.set(id, principal)
    if (principal.retiredAt !== null) return yield* new Missing({ noun: "principal", ref: id })
    return { principal, context, token: null, expiresAt: null, epoch }
  })
}
