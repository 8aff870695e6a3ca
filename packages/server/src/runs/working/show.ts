/** Shows a model's output while it is produced, its calls included, only to those who may see its run (S1-74). */
import type { CallId } from "@stoa/contract"
import { Clock, DateTime, Effect, type Schema } from "effect"
import type { CallPart, OutputDelta } from "../../models/request/ModelOutput.ts"
import { newId } from "../../store/journal/Correlation.ts"
import { Deltas } from "../../store/journal/signals/Deltas.ts"
import { requestContext } from "../../store/fibers/RequestContext.ts"
import type { RunRow } from "../record/rows.ts"

export const makeShow = Effect.gen(function* () {
  const deltas = yield* Deltas
  const clock = yield* Clock.Clock
  const run = Effect.runForkWith(yield* requestContext)
  return (row: RunRow, step: number) => {
    const ids = new Map<string, CallId>()
    /** A call has its id from its first piece on, so that the pieces of several calls do not mix (S1-73). */
    const callOf = (id: string): CallId => {
      const known = ids.get(id)
      if (known !== undefined) return known
      const made = newId<CallId>("call")
      ids.set(id, made)
      return made
    }
    const emit = (kind: "run.text" | "run.reasoning" | "run.call" | "run.restarted", body: Schema.Json) => {
      // wall clock: the moment it is shown with.
      const at = DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
      return deltas.emit({ kind, at, space: null, actor: row.agent, body: { run: row.id, step, ...(body as object) } })
    }
    return {
      say: (delta: OutputDelta): void => {
        if (delta.kind !== "input") run(emit(`run.${delta.kind}`, { text: delta.text }))
        // Not the call itself: whoever sees the call sees it begin when it is made, with its whole input (S1-69).
        else run(emit("run.call", { call: callOf(delta.id), tool: delta.tool, text: delta.text }))
      },
      /** This step is requested again: viewers drop what was shown of it. */
      restart: Effect.suspend(() => {
        ids.clear()
        return emit("run.restarted", {})
      }),
      /** The ids under which the calls of this step were shown. */
      named: (part: CallPart): CallPart => ({ ...part, call: callOf(part.id) }),
    }
  }
})
