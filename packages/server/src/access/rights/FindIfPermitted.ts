/**
 * Judges a request for something by name before saying whether it exists: to a caller without rights, used and free
 * names look alike.
 */
import { type Action, Caller, Forbidden, type Principal, type PrincipalId, type Resource } from "@stoa/contract"
import { Effect, Exit } from "effect"
import type { Grants } from "./Grants.ts"
import { lacksRight, refusedOutright } from "./lacksRight.ts"
import type { Viewer } from "./Viewer.ts"

interface Asked {
  readonly ref: string
  readonly action: Action
  readonly of: "principals" | "agents" | "tokens" | "grants" | "servers"
}

/** What is asked whether the caller may: `Grants`, or a viewer (`demandsOf`). */
interface Demands<R> {
  readonly require: (action: Action, resource: Resource) => Effect.Effect<void, Forbidden, R>
}

/** The same question as that of `Grants`, to the rules of a viewer. The house itself is refused nothing. */
export const demandsOf = (viewer: Pick<Viewer, "judge">): Demands<never> => ({
  require: (action, resource) => {
    const judged = viewer.judge(action, resource)
    return judged.verdict === "allow" ? Effect.void : Effect.fail(refusedOutright(action, resource, judged))
  },
})

/** Judged by its name. The refusal tells that name only to those who may see it: the others gave an id or a spelling. */
const requireNamed = Effect.fnUntraced(function* <R>(
  { require }: Demands<R>,
  { action, of, ref }: Asked,
  name: string,
) {
  const asGiven = Effect.fnUntraced(function* (denied: Forbidden) {
    const seen = yield* Effect.exit(require("read", `${of === "servers" ? of : "principals"}/${name}`))
    if (name === ref || Exit.isSuccess(seen)) return yield* denied
    yield* require(action, `${of}/${ref}`)
    const { instead, rule } = denied
    return yield* new Forbidden({
      action,
      resource: `${of}/${ref}`,
      rule,
      ...(instead === undefined ? {} : { instead }),
    })
  })
  yield* Effect.catchTag(require(action, `${of}/${name}`), "Forbidden", asGiven)
})

export const findIfPermitted = Effect.fnUntraced(function* <A extends { readonly name: string }, E, R>(
  demands: Demands<R>,
  find: Effect.Effect<A, E>,
  asked: Asked,
) {
  const found = yield* Effect.exit(find)
  yield* requireNamed(demands, asked, Exit.isSuccess(found) ? found.value.name : asked.ref)
  return yield* found
})

/** A principal that the caller names: its own, or one that it may see. */
export const findVisible = <E, R>(
  demands: Demands<R>,
  find: Effect.Effect<Principal, E>,
  { ref, self }: { readonly ref: string; readonly self: PrincipalId },
): Effect.Effect<Principal, E | Forbidden, R> =>
  Effect.flatMap(Effect.exit(find), (found) =>
    Exit.isSuccess(found) && found.value.id === self
      ? found
      : findIfPermitted(demands, found, { ref, action: "read", of: "principals" }),
  )

/**
 * For things that are judged later, by more than their name, and may wait for a person: only a rule that denies them
 * refuses here.
 */
export const findOrRefuse = Effect.fnUntraced(function* <A extends { readonly name: string }, E>(
  { judge }: Pick<Grants["Service"], "judge">,
  find: Effect.Effect<A, E>,
  asked: Asked,
) {
  const found = yield* Effect.exit(find)
  const caller = yield* Caller
  const require = Effect.fnUntraced(function* (action: Action, resource: Resource) {
    const { rule, verdict } = yield* judge(caller, action, resource)
    if (verdict === "deny") return yield* lacksRight(caller.context, { action, resource, rule })
  })
  yield* requireNamed({ require }, asked, Exit.isSuccess(found) ? found.value.name : asked.ref)
  return yield* found
})
