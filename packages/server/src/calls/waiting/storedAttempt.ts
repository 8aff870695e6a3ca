/** A stored call goes on as it was made, with its caller's present rights, and only where it may still be called. */
import { type Failure, Road } from "@stoa/tools"
import { Effect } from "effect"
import { Tokens } from "../../access/identity/Tokens.ts"
import { type Attempt, attemptFrom, credentialOf } from "../road/attempt.ts"
import { makeCallSpace } from "../road/CallSpace.ts"
import type { CallRow } from "../road/record/rows.ts"

const refusal = (message: string): Failure => ({ tag: "ToolAuthorizationError", message })

/** Why an approved call did not run: to find no tool means something else than it meant before. */
export const sinceAsked = (tool: string, cause: unknown): Failure => {
  const error = Road.failureOf(cause)
  const gone = `"${tool}" was removed, or its caller may no longer see it, after it was asked: the approved call did not run`
  return error.tag === "ToolNotFoundError" ? { ...error, message: gone } : error
}

export const makeStoredAttempt = Effect.gen(function* () {
  const tokens = yield* Tokens
  const callSpace = yield* makeCallSpace

  /** `more`: what has been added since. */
  return Effect.fnUntraced(function* (
    row: CallRow,
    more: Parameters<typeof attemptFrom>[2],
  ): Effect.fn.Return<Attempt, Failure> {
    const caller = yield* Effect.mapError(tokens.callerNow(row.principal, row.context, credentialOf(row)), () =>
      refusal("The caller of this call has been retired"),
    )
    // The token of a turn ends with the turn, and its calls go on.
    if (caller.token !== null && caller.turn === undefined && (yield* tokens.isRevoked(caller.token)))
      return yield* Effect.fail(refusal("The token that this call was made with was revoked. Make the call again"))
    if (row.space !== null)
      yield* Effect.mapError(callSpace(row.space, caller), ({ message }) =>
        refusal(`It may no longer be called in its space: ${message}`),
      )
    return attemptFrom(row, caller, more)
  })
})
