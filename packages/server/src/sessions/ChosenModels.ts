/**
 * Which model an agent uses for one owner, if the owner has chosen one (S2-56). A choice affects no other owner and no
 * other agent. A model that was removed from the configuration file counts as no choice.
 */
import { type Model, type PrincipalId, WrongState } from "@stoa/contract"
import { Context, Effect, Layer } from "effect"
import { type MemoryActor, Memories } from "../memory/Memories.ts"
import { type Choice, chooseModel } from "../models/Choice.ts"
import { Languages } from "../models/Languages.ts"
import type { Transaction } from "../store/journal/Journal.ts"
import type { Companion } from "./Companions.ts"
import { makeSettings } from "./settings.ts"

/** The word that takes a choice back. */
export const ownModel = "default"
const noChoice = { chosen: undefined, alternatives: [] } as const

export class ChosenModels extends Context.Service<
  ChosenModels,
  {
    readonly of: (owner: PrincipalId, agent: Companion) => Effect.Effect<Model | undefined>
    /**
     * By a name or a keyword; without a match the previous choice stays. The word `default` takes the choice back: the
     * agent thinks with its own model again (unless a model has that name).
     */
    readonly choose: (
      by: MemoryActor,
      agent: Companion,
      query: string,
    ) => Effect.Effect<
      (Choice<Model> | typeof noChoice) & { readonly before: Model | undefined },
      WrongState,
      Transaction
    >
  }
>()("server/sessions/ChosenModels") {
  static readonly layer = Layer.effect(
    ChosenModels,
    Effect.gen(function* () {
      const languages = yield* Languages
      const settings = makeSettings(yield* Memories)
      const settingOf = (agent: Companion) => `${agent}.model`

      const of: ChosenModels["Service"]["of"] = Effect.fn("ChosenModels.of")(function* (owner, agent) {
        const name = yield* settings.get(owner, settingOf(agent))
        return name === undefined ? undefined : (yield* languages.list).find((one) => one.name === name)
      })

      const choose: ChosenModels["Service"]["choose"] = Effect.fn("ChosenModels.choose")(function* (by, agent, query) {
        const models = (yield* languages.list).filter(({ purpose }) => purpose === "thinking")
        const before = yield* of(by.id, agent)
        if (query.trim().toLowerCase() === ownModel && !models.some(({ name }) => name.toLowerCase() === ownModel)) {
          yield* Effect.orDie(settings.clear(by, settingOf(agent)))
          return { ...noChoice, before }
        }
        const found = chooseModel(query, models)
        if (found === undefined)
          return yield* new WrongState({
            detail:
              models.length === 0
                ? 'There are no models yet: the section "models" of the configuration file names them. Nothing was switched.'
                : `No model fits "${query}", and so nothing was switched. There are: ${models.map(({ name }) => name).join(", ")}; and ${ownModel}, the agent's own.`,
          })
        yield* Effect.orDie(settings.set(by, settingOf(agent), found.chosen.name))
        return { ...found, before }
      })

      return ChosenModels.of({ of, choose })
    }),
  )
}
