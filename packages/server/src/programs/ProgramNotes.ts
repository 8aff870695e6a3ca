/**
 * What the program of an agent needs and does not have (yet), so that its turns would fail: a sentence for each, with
 * the next step. Starts nothing.
 */
import { isAbsolute } from "node:path"
import type { Agent } from "@stoa/contract"
import { isProgramHere } from "@stoa/tools"
import { Effect } from "effect"
import { makeUnsetPlaceholders, placeholdersOf } from "../access/secrets/UnsetPlaceholders.ts"

export const makeProgramNotes = Effect.gen(function* () {
  const unset = yield* makeUnsetPlaceholders

  return Effect.fnUntraced(function* ({ name, thinker }: Pick<Agent, "name" | "thinker">) {
    if (thinker.kind !== "program") return []
    const whose = `The agent "${name}"`
    const notes = [...(yield* unset(whose, placeholdersOf(thinker.env)))]
    const command = thinker.command?.[0] ?? thinker.program
    // A path in its workspace may come with the workspace.
    const isInside = command.includes("/") && !isAbsolute(command)
    if (!isInside && !(yield* isProgramHere(command, thinker.env)))
      notes.push(
        `${whose} is the program "${command}", which is not on this machine; install it, or change its thinker.`,
      )
    return notes
  })
})
