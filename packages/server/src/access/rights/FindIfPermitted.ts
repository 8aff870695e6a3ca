/**
 * Judges a request for something by name before saying whether it exists: to a caller without rights, used and free
 * names look alike.
 */
import { type Action, Caller, Forbidden } from "@stoa/contract"
import { Effect, Exit } from "effect"
import type { Grants } from "./Grants.ts"

interface Asked {
  readonly ref: string
  readonly action: Action
  readonly of: "principals" | "agents" | "tokens" | "grants" | "servers"
}

export const findIfPermitted = Effect.fnUntraced(function* <A extends { readonly name: string }, E>(
  { require }: Pick<Grants["Service"], "require">,
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
