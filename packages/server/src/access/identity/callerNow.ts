/**
 * The caller of something that continues without a credential, with its present rights. It is needed at every step of
 * every run, and cached per epoch of rights.
 */
import { type AccessContext, type Caller, Missing, type Principal } from "@stoa/contract"
import { Effect } from "effect"

const most = 10_000

/** The same caller, with its present rights. */
export const makeRenewCaller =
  (callerNow: ReturnType<typeof makeCallerNow>) =>
  (caller: Caller["Service"]): Effect.Effect<Caller["Service"], Missing> =>
    Effect.map(callerNow(caller.principal.id, caller.context), ({ epoch, principal }) => ({
      ...caller,
      principal,
      epoch,
    }))

/** What a caller was identified by, as far as something stored knows it. */
export type Credential = Pick<Caller["Service"], "token" | "expiresAt" | "run" | "turn">

export const makeCallerNow = (
  get: (id: string) => Effect.Effect<Principal, Missing>,
  epochNow: () => Effect.Effect<number>,
): ((id: string, context: AccessContext, by?: Credential) => Effect.Effect<Caller["Service"], Missing>) => {
  // One object per epoch: other code caches by it what it may see.
  const known = new Map<string, Caller["Service"]>()
  let since = -1
  const callerNow = Effect.fnUntraced(function* (id: string, context: AccessContext) {
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
  return (id, context, by) =>
    by === undefined ? callerNow(id, context) : Effect.map(callerNow(id, context), (caller) => ({ ...caller, ...by }))
}
