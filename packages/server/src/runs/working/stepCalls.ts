/** Makes a step's calls through the one road, one after another. A waiting call does not block the next. */
import { Caller, type CallId, type CallRun, type Forbidden } from "@stoa/contract"
import { Data, Effect } from "effect"
import { Grants } from "../../access/rights/Grants.ts"
import { Calls } from "../../calls/Calls.ts"
import type { CallPart } from "../../models/request/ModelOutput.ts"
import { ActiveSpaces } from "../../spaces/ActiveSpaces.ts"
import { configOf, type RunRow } from "../record/rows.ts"

/** Longer than any tool may take: running calls are awaited, waiting ones are not. */
const longest = 310_000
const longestPause = 60_000
const maxTries = 5

class CallFailed extends Data.Error<{ readonly message: string }> {}

/** Why a model's call cannot be made, as the model is told. */
const faultOf = ({ fault, tool }: CallPart, tools: ReadonlyArray<string> | undefined): string | undefined => {
  if (fault !== undefined) return `The input of "${tool}" ${fault}. Nothing was run; call it again with a JSON object`
  if (tools === undefined || tools.includes(tool)) return undefined
  return `You do not have the tool "${tool}" here. You have: ${tools.join(", ")}`
}

export const makeStepCalls = Effect.gen(function* () {
  const calls = yield* Calls
  const active = yield* ActiveSpaces
  const grants = yield* Grants

  /** Makes the call of one place. A refused call has a row too, which the run reads. */
  const make = Effect.fnUntraced(function* (
    row: RunRow,
    caller: Caller["Service"],
    step: number,
    place: number,
    part: CallPart,
  ) {
    const { tools } = configOf(row)
    const fault = faultOf(part, tools)
    const run: CallRun = { id: row.id, step, place }
    const space = (yield* active.of(caller)) ?? row.triggerSpace ?? undefined
    const request = {
      tool: part.tool,
      input: part.input as Readonly<Record<string, unknown>>,
      run,
      root: row.root,
      ...(part.call === undefined ? {} : { id: part.call as CallId }),
      wait: longest,
      ...(fault === undefined ? {} : { fault }),
    }
    const once = (placed: boolean, more: { readonly fault?: string } = {}) =>
      calls.call({ ...request, ...(placed && space !== undefined ? { space } : {}), ...more }).pipe(
        Effect.provideService(Caller, caller),
        Effect.catchTags({
          // Refused, and recorded as such.
          ToolNotFoundError: () => Effect.void,
          ToolAuthorizationError: () => Effect.void,
          ToolValidationError: () => Effect.void,
          // This run has taken the place before: the existing call counts.
          WrongState: () => Effect.void,
          // The agent was retired meanwhile; the call goes on without it.
          Unauthenticated: () => Effect.void,
        }),
      )
    const nowhere = (more: { readonly fault?: string } = {}) =>
      Effect.catchTags(once(false, more), { Missing: Effect.die, Ambiguous: Effect.die, Forbidden: Effect.die })
    // It may not act in the space it was woken in: then it acts without a space, and the refusal is recorded once.
    let isRefused = false
    const refused = Effect.fnUntraced(function* (denied: Forbidden) {
      isRefused = true
      yield* Effect.provideService(grants.recordDenial(denied), Caller, caller)
      return yield* nowhere()
    })
    const anywhere = Effect.catchTags(once(true), {
      Missing: () => nowhere(),
      Ambiguous: () => nowhere(),
      Forbidden: refused,
    })
    for (let tried = 1; ; tried++) {
      const made = yield* Effect.result(isRefused ? nowhere() : anywhere)
      if (made._tag === "Success") return made.success
      const { message, retryAfter } = made.failure
      // Too many at once: it is tried again, and refused if there is no room for long.
      if (tried === maxTries) return yield* Effect.orDie(nowhere({ fault: message }))
      yield* Effect.sleep(Math.min(longestPause, Math.max(100, retryAfter * 1000)))
    }
  })

  /** The span ends as the call ended. Returns the row of a call that succeeded; others are read later. */
  return (row: RunRow, caller: Caller["Service"], step: number, place: number, part: CallPart) =>
    make(row, caller, step, place, part).pipe(
      Effect.flatMap((call) =>
        call !== undefined && !["failed", "refused", "expired"].includes(call.state)
          ? Effect.succeed(call)
          : Effect.fail(new CallFailed({ message: call?.error ?? "refused" })),
      ),
      Effect.withSpan(
        part.tool,
        { attributes: { "stoa.run": row.id, "stoa.step": step, "stoa.place": place } },
        { captureStackTrace: false },
      ),
      Effect.match({ onFailure: () => undefined, onSuccess: (call) => (call.state === "done" ? call : undefined) }),
    )
})
