/** The values of a call's placeholders, looked up at each call. */
import { type Placeholder, ToolExecutionError } from "@stoa/contract"
import { Effect } from "effect"
import { makeReveal } from "../../../access/secrets/Reveal.ts"
import type { Traces } from "../../road/Handler.ts"
import { nameOf } from "./template.ts"

/** From a name such as `secret.KEY` to its value. */
type Values = ReadonlyMap<string, string>

export const makeValues = Effect.gen(function* () {
  const reveal = yield* makeReveal
  return Effect.fnUntraced(function* (
    tool: string,
    places: ReadonlyArray<Placeholder>,
    { redactor }: Traces,
  ): Effect.fn.Return<Values, ToolExecutionError> {
    const values = new Map<string, string>()
    for (const place of places) {
      const value = yield* Effect.mapError(
        reveal(place, redactor),
        (message) => new ToolExecutionError({ message, toolName: tool }),
      )
      values.set(nameOf(place), value)
    }
    return values
  })
})
