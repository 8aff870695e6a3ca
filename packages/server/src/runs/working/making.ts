/** A step's calls through the one road, one after another. One that waits does not hold up the next. */
import { Caller, type CallId, type CallRun } from "@stoa/contract"
import { Data, Effect } from "effect"
import { Calls } from "../../calls/Calls.ts"
import type { CallPart } from "../../models/ModelOutput.ts"
import { ActiveSpaces } from "../../spaces/ActiveSpaces.ts"
import { configOf, type RunRow } from "../rows.ts"

/** Longer than any tool may take: what runs is waited for, what waits for somebody is not. */
const longest = 310_000
const longestPause = 60_000
const mostTries = 5

class CallFailed extends Data.Error<{ readonly message: string }> {}

/** Why a call that a model asked for cannot be made, as the model is told. */
const faultOf = ({ fault, tool }: CallPart, tools: ReadonlyArray<string> | undefined): string | undefined => {
  if (fault !== undefined) return `The input of "${tool}" ${fault}. Nothing was run; call it again with a JSON object`
  if (tools === undefined || tools.includes(tool)) return undefined
  return `You do not have the tool "${tool}" here. You have: ${tools.join(", ")}`
}

export const makeMaking = Effect.gen(function* () {
  const calls = yield* Calls
  const active = yield* ActiveSpaces

  /** The call of one place. Refused, it has a row all the same, which the run reads. */
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
          // Refused, and written down as such.
          ToolNotFoundError: () => Effect.void,
          ToolAuthorizationError: () => Effect.void,
          ToolValidationError: () => Effect.void,
          // Taken by this run before: what is there stands.
          WrongState: () => Effect.void,
        }),
      )
    const nowhere = (more: { readonly fault?: string } = {}) =>
      Effect.catchTags(once(false, more), { Missing: Effect.die, Ambiguous: Effect.die, Forbidden: Effect.die })
    // It may not act where it was woken: then it acts nowhere.
    const anywhere = Effect.catchTags(once(true), {
      Missing: () => nowhere(),
      Ambiguous: () => nowhere(),
      Forbidden: () => nowhere(),
    })
    for (let tried = 1; ; tried++) {
      const made = yield* Effect.result(anywhere)
      if (made._tag === "Success") return made.success
      const { message, retryAfter } = made.failure
      // Too many at once: it comes again when there is room, and is told so if there is none for long.
      if (tried === mostTries) return yield* Effect.orDie(nowhere({ fault: message }))
      yield* Effect.sleep(Math.min(longestPause, Math.max(100, retryAfter * 1000)))
    }
  })

  /** How a call ended is how its span ends. Its row, where it has ended well; the others are read. */
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
