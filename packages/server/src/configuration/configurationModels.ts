/** Faults in the models of a configuration file that the schema cannot detect. Pure. */
import type { Configuration as Declared, Issue } from "@stoa/contract"
import { nearest } from "@stoa/tools"

const noModel = (name: string, declared: ReadonlyArray<string>): string => {
  const meant = nearest(name, declared)
  const instead =
    meant === undefined
      ? `there are: ${declared.toSorted().join(", ") || "none, declare it there"}`
      : `did you mean "${meant}"?`
  return `there is no model "${name}" under models; ${instead}`
}

/** An agent uses models that the file declares; at most one model embeds. */
export const modelFaults = ({ agents = [], models = {} }: Declared): ReadonlyArray<Issue> => {
  const languages = Object.keys(models).filter((name) => models[name]!.purpose !== "embedding")
  const embedding = Object.keys(models).filter((name) => models[name]!.purpose === "embedding")
  return [
    ...agents.flatMap(({ model = [] }, place) =>
      [model].flat().flatMap((name) => {
        const path = `agents.${place}.model`
        if (!Object.hasOwn(models, name)) return [{ path, message: noModel(name, languages) }]
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
