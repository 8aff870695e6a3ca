/**
 * Something that is asked for by its name, judged before it is said whether there is one: to whoever may not know of it, a
 * name that is taken and one that is free look alike.
 */
import type { Action } from "@stoa/contract"
import { Effect, Exit } from "effect"
import type { Grants } from "./Grants.ts"

export const judgedFirst = Effect.fnUntraced(function* <A extends { readonly name: string }, E>(
  { require }: Pick<Grants["Service"], "require">,
  find: Effect.Effect<A, E>,
  asked: {
    readonly ref: string
    readonly action: Action
    readonly of: "principals" | "agents" | "tokens" | "grants" | "servers"
  },
) {
  const found = yield* Effect.exit(find)
  yield* require(asked.action, `${asked.of}/${Exit.isSuccess(found) ? found.value.name : asked.ref}`)
  return yield* found
})
