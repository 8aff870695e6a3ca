/** One model request of a run: retried, and then sent to the next model of the agent's list. */
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import type { ModelPrice } from "@stoa/contract"
import { Data, Effect } from "effect"
import type { Access } from "../../models/request/Access.ts"
import type { ModelFailure } from "../../models/request/ModelFailure.ts"
import { usualWindow } from "../../models/text/Estimate.ts"
import { Languages } from "../../models/Languages.ts"
import type { ModelOutput, OutputDelta } from "../../models/request/ModelOutput.ts"
import { conversation, type PastStep, type PromptEntry } from "../prompt/conversation.ts"
import { fitToWindow, fitTools } from "../prompt/fit.ts"

/** No model gave an answer: the run ends with this message. */
class ThinkFailure extends Data.TaggedError("ThinkFailure")<{
  readonly message: string
  readonly stop: "error" | "no_answer"
}> {}

/** Why one model of the list failed. */
interface Fault {
  readonly message: string
  readonly unanswered: boolean
}

interface Thought extends ModelOutput {
  readonly model: string
  readonly costMicros: number
}

export interface ThoughtInput {
  /** In the order in which they are tried. */
  readonly models: ReadonlyArray<string>
  readonly promptRows: ReadonlyArray<PromptEntry>
  readonly steps: ReadonlyArray<PastStep>
  readonly tools: ReadonlyArray<LanguageModelV4FunctionTool>
  /** What a scripted model sees besides the prompt. */
  readonly scene: Readonly<Record<string, unknown>>
  /** The tokens left in the run's limit. */
  readonly maxTokens: number | undefined
}

const tries = 3
/** If a provider asks for a longer pause, the next model is tried, or the run can be retried by hand. */
const longestWaitMs = 60_000
const firstWaitMs = 500

/** A model without a price costs nothing. Cached input may be cheaper. */
const costOf = (price: ModelPrice | undefined, usage: ModelOutput["usage"]): number => {
  if (price === undefined) return 0
  const cached = Math.min(usage.cached, usage.in)
  // Prices are dollars per million tokens, so one token costs that many millionths.
  return Math.round((usage.in - cached) * price.in + cached * (price.cached ?? price.in) + usage.out * price.out)
}

export const makeThink = Effect.gen(function* () {
  const languages = yield* Languages

  const optionsFor = ({ declared, name }: Access, input: ThoughtInput): LanguageModelV4CallOptions => {
    const window = declared.window ?? usualWindow
    const { left, tools } = fitTools(input.tools, window)
    const { promptRows, steps } = fitToWindow(input.steps, input.promptRows, window, JSON.stringify(tools).length)
    const rest = {
      kind: "system",
      body: `You have ${left} more tools, for which there is no room here.`,
      step: 0,
    } as const
    const most = [declared.maxOutput, input.maxTokens].filter((one) => one !== undefined)
    return {
      prompt: conversation(left === 0 ? promptRows : [rest, ...promptRows], steps, name),
      ...(tools.length === 0 ? {} : { tools: [...tools], toolChoice: { type: "auto" } }),
      ...(most.length === 0 ? {} : { maxOutputTokens: Math.max(1, Math.min(...most)) }),
      ...(declared.provider === "scripted" ? { providerOptions: { stoa: input.scene as never } } : {}),
    }
  }

  /** Retries while that may help. The shown part of an interrupted answer is withdrawn. */
  const askOne = (
    access: Access,
    input: ThoughtInput,
    show: (delta: OutputDelta) => void,
    restart: Effect.Effect<void>,
  ) =>
    Effect.gen(function* () {
      const options = optionsFor(access, input)
      for (let tried = 1; ; tried++) {
        const answer = yield* Effect.result(languages.ask(access, options, show))
        if (answer._tag === "Success") return answer.success
        const failure: ModelFailure = answer.failure
        const wait = failure.afterMs ?? firstWaitMs * 2 ** (tried - 1)
        if (!failure.again || tried > tries || wait > longestWaitMs) {
          const { message, unanswered = false } = failure
          return yield* Effect.fail<Fault>({ message, unanswered })
        }
        yield* restart
        yield* Effect.sleep(wait)
      }
    })

  return Effect.fn("Think.model")(function* (
    input: ThoughtInput,
    show: (delta: OutputDelta) => void,
    restart: Effect.Effect<void>,
  ) {
    const faults: Array<Fault> = []
    for (const name of input.models) {
      const asked = yield* Effect.result(
        languages.access(name).pipe(
          Effect.mapError((message): Fault => ({ message, unanswered: false })),
          Effect.flatMap((access) => Effect.map(askOne(access, input, show, restart), (said) => ({ said, access }))),
        ),
      )
      if (asked._tag === "Success") {
        const { access, said } = asked.success
        return { ...said, model: name, costMicros: costOf(access.declared.price, said.usage) } satisfies Thought
      }
      faults.push(asked.failure)
      yield* restart
    }
    return yield* new ThinkFailure({
      message: faults.map(({ message }) => message).join(" "),
      stop: faults.length > 0 && faults.every(({ unanswered }) => unanswered) ? "no_answer" : "error",
    })
  })
})
