/** Faults in the models of a configuration file that the schema cannot detect. Pure. */
import type { Configuration as Declared, Issue } from "@stoa/contract"

/** An agent uses models that the file declares; at most one model embeds. */
export const modelFaults = ({ agents = [], models = {} }: Declared): ReadonlyArray<Issue> => {
  const embedding = Object.keys(models).filter((name) => models[name]!.purpose === "embedding")
  return [
    ...agents.flatMap(({ model = [] }, place) =>
      [model].flat().flatMap((name) => {
        const path = `agents.${place}.model`
        if (!Object.hasOwn(models, name)) return [{ path, message: `there is no model "${name}" under models` }]
        return embedding.includes(name)
          ? [{ path, message: `the model "${name}" has the purpose "embedding"; an agent needs a language model` }]
          : []
      }),
    ),
    ...embedding.slice(1).map((name) => ({
      path: `models.${name}.purpose`,
      message: `Only one model may have the purpose "embedding"; "${embedding[0]}" has it`,
    })),
  ]
}
