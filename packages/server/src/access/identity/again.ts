/**
 * The caller of something that continues without a credential, with its present rights. It is needed at every step of
 * every run, and cached per epoch of rights.
 */
import { type AccessContext, type Caller, Missing, type Principal } from "@stoa/contract"
import { Effect } from "effect"

const most = 10_000

export const makeAgain = (
  get: (id: string) => Effect.Effect<Principal, Missing>,
  epochNow: () => Effect.Effect<number>,
): ((id: string, context: AccessContext) => Effect.Effect<Caller["Service"], Missing>) => {
  // One object per epoch: other code caches by it what it may see.
  const known = new Map<string, Caller["Service"]>()
  let since = -1
  return Effect.fnUntraced(function* (id, context) {
    const epoch = yield* epochNow()
    if (epoch > since || known.size >= most) {
      known.clear()
      since = Math.max(epoch, since)
    }
    const key = `${context} ${id}`
    const standing = known.get(key)
    if (standing !== undefined && standing.epoch === epoch) return standing
    const principal = yield* get(id)
    if (principal.retiredAt !== null) return yield* new Missing({ noun: "principal", ref: id })
    const caller = { principal, context, token: null, expiresAt: null, epoch }
    if (epoch === since) known.set(key, caller)
    return caller
  })
}
