/** The most that a step may cost: what is reserved before a model is asked. */
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { Effect, Option } from "effect"
import { Languages } from "../../models/Languages.ts"
import { carefulLettersPerToken, usualOutput, usualWindow } from "../../models/text/Estimate.ts"
import type { PastStep, PromptEntry } from "../prompt/conversation.ts"
import { sizeOfStep } from "../prompt/fit.ts"
import type { Estimate } from "../spend/Spend.ts"

interface Asked {
  readonly models: ReadonlyArray<string>
  readonly promptRows: ReadonlyArray<PromptEntry>
  readonly steps: ReadonlyArray<PastStep>
  readonly tools: ReadonlyArray<LanguageModelV4FunctionTool>
  readonly maxTokens: number | undefined
}

export const makeEstimate = Effect.gen(function* () {
  const languages = yield* Languages

  /** Of the dearest model of the list: if the first fails, the next is asked. */
  return Effect.fnUntraced(function* ({ maxTokens = Infinity, models, promptRows, steps, tools }: Asked) {
    const letters =
      promptRows.reduce((sum, { body }) => sum + body.length, 0) +
      steps.reduce((sum, step) => sum + sizeOfStep(step), 0) +
      JSON.stringify(tools).length
    let most: Estimate = { tokens: 0, costMicros: 0 }
    for (const name of models) {
      const access = Option.getOrUndefined(yield* Effect.option(languages.access(name)))
      if (access === undefined) continue
      const { maxOutput = usualOutput, price, window = usualWindow } = access.declared
      const said = Math.min(Math.ceil(letters / carefulLettersPerToken), window)
      const answer = Math.min(maxOutput, maxTokens)
      // A price is in dollars for a million tokens, so one token costs that many millionths.
      const costMicros = price === undefined ? 0 : Math.ceil(said * price.in + answer * price.out)
      most = { tokens: Math.max(most.tokens, said + answer), costMicros: Math.max(most.costMicros, costMicros) }
    }
    return most
  })
})
