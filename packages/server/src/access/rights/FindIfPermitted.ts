/**
 * Judges a request for something by name before saying whether it exists: to a caller without rights, used and free
 * names look alike.
 */
import { type Action, Caller, Forbidden, type Resource } from "@stoa/contract"
import { Effect, Exit } from "effect"
import type { Grants } from "./Grants.ts"
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
    const { rule, verdict } = viewer.judge(action, resource)
    return verdict === "allow" ? Effect.void : Effect.fail(new Forbidden({ action, resource, rule }))
  },
})

export const findIfPermitted = Effect.fnUntraced(function* <A extends { readonly name: string }, E, R>(
  { require }: Demands<R>,
  find: Effect.Effect<A, E>,
  { action, of, ref }: Asked,
) {
  const found = yield* Effect.exit(find)
  yield* require(action, `${of}/${Exit.isSuccess(found) ? found.value.name : ref}`)
  return yield* found
})

/**
 * For things that are judged later, by more than their name: an unknown name is refused if the caller may not use any.
 */
export const findOrRefuse = Effect.fnUntraced(function* <A, E>(
  { judge }: Pick<Grants["Service"], "judge">,
  find: Effect.Effect<A, E>,
  { action, of, ref }: Asked,
) {
  const found = yield* Effect.exit(find)
  if (Exit.isSuccess(found)) return found.value
  const resource = `${of}/${ref}`
  const { rule, verdict } = yield* judge(yield* Caller, action, resource)
  return yield* verdict === "deny" ? new Forbidden({ action, resource, rule }) : found
})
