/** An agent whose model is not declared (any more), so that its runs would fail: a sentence for each, with the next step. */
import type { Agent } from "@stoa/contract"
import { Effect } from "effect"
import { Agents } from "../access/identity/Agents.ts"
import { Languages } from "../models/Languages.ts"

const undeclared = (name: string, model: string): string =>
  `The agent "${name}" thinks with the model "${model}", which the configuration file does not declare; give it another, or declare it.`

/** Which of its models cannot be used: those that are not declared, and with `problems` also those that lack something. */
export const makeModelNotes = Effect.gen(function* () {
  const languages = yield* Languages

  return Effect.fnUntraced(function* (
    agents: ReadonlyArray<Pick<Agent, "models" | "name" | "thinker">>,
    { problems }: { readonly problems: boolean },
  ) {
    // A program thinks by itself.
    const thinking = agents.filter(({ models, thinker }) => thinker.kind === "model" && models.length > 0)
    if (thinking.length === 0) return []
    const there = new Map((yield* languages.list).map((one) => [one.name, one]))
    return thinking.flatMap(({ models, name }) =>
      models.flatMap((model) => {
        const found = there.get(model)
        if (found === undefined) return undeclared(name, model)
        return problems ? (found.problem ?? []) : []
      }),
    )
  })
})

/** For all agents of the house. The problems of a model are told once, with the model. */
export const makeHouseModelNotes = Effect.gen(function* () {
  const agents = yield* Agents
  const notesOf = yield* makeModelNotes
  return Effect.flatMap(agents.living, (living) => notesOf(living, { problems: false }))
})
