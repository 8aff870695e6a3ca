/**
 * The caller of something that continues without a credential, with its present rights. It is needed at every step of
 * every run, and cached per epoch of rights.
 */
import { type AccessContext, type Caller, Missing, type Principal, type TokenId } from "@stoa/contract"
import { Effect } from "effect"
import { outerOf } from "./contexts.ts"

const most = 10_000

/** The same caller, with its present rights. */
export const makeRenewCaller =
  (callerNow: ReturnType<typeof makeCallerNow>) =>
  (caller: Caller["Service"]): Effect.Effect<Caller["Service"], Missing> =>
    callerNow(caller.principal.id, caller.context, caller)

/** What a caller was identified by, as far as something stored knows it. */
export type Credential = Pick<Caller["Service"], "token" | "expiresAt" | "run" | "turn">

export const makeCallerNow = (
  get: (id: string) => Effect.Effect<Principal, Missing>,
  epochNow: () => Effect.Effect<number>,
  /** The present context of a token: whoever is no admin any more has lost the one that they began with. */
  contextOf: (token: TokenId) => Effect.Effect<AccessContext | undefined>,
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
  return Effect.fnUntraced(function* (id, context, by) {
    if (by === undefined) return yield* callerNow(id, context)
    const present = by.token === null ? undefined : yield* contextOf(by.token)
    const { epoch, principal, ...now } = yield* callerNow(
      id,
      present === undefined ? context : outerOf(context, present),
    )
    return { ...by, epoch, principal, context: now.context }
  })
}
